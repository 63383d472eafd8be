package render

import "unsafe"

// blockBytes is the limit of a renderer's own cache of stored blocks, for that many rows.
func blockBytes(rows int) int64 { return cachedBytes*int64(rows) + minCache }

// BlockBytes is the default limit of the renderer's stored blocks.
func (r *Renderer) BlockBytes() int64 { return blockBytes(r.seg.Rows()) }

// SetBlockBytes changes the limit of the stored blocks, and drops the blocks above it.
func (r *Renderer) SetBlockBytes(bytes int64) { r.options.Cache.SetLimit(bytes) }

// counted is the part of each form that counts, one in so many: hardly any table is requested in
// all formats, and counted whole NDJSON would be a seventh of all.
var counted = [formKinds]int64{
	jsonForm: 1, csvForm: 1, linesForm: 4, pointsForm: 1, featuresForm: 4, entitiesForm: 4,
}

// FullBytes estimates the memory of renderers once every fragment has been requested, without their
// caches of stored blocks. Fragments that they share count once. The texts of a piece are taken to
// be as long as those of some of its codes.
func FullBytes(renderers ...*Renderer) (n int64) {
	seen := map[*fragments]bool{}
	for _, r := range renderers {
		for kind, f := range r.forms {
			if f != nil {
				n += f.fullBytes(seen) / counted[kind]
			}
		}
	}
	return n
}

// fullBytes leaves out fragments that were seen, and adds the others to them.
func (f *Form) fullBytes(seen map[*fragments]bool) int64 {
	const (
		// Pointers to the stored blocks of 128 and of 32 rows, in two codings, and to row blocks.
		pointersPerRow = 2*(8.0/128+8.0/32) + 8.0/32
		lengthPerRow   = (4.0 + 8.0) / measuredRows // and a pointer to those of single rows
	)
	n := int64(float64(f.rows) * (pointersPerRow + lengthPerRow))
	for i := range f.pieces {
		for _, fr := range []*fragments{f.pieces[i].fragments, f.pieces[i].exact} {
			if fr != nil && !seen[fr] {
				seen[fr] = true
				n += fr.fullBytes()
			}
		}
	}
	return n
}

// fullBytes estimates the memory of all fragments from 32 of them, spread evenly over the codes.
func (f *fragments) fullBytes() int64 {
	const (
		samples   = 32
		sameEntry = 48 // of a map with texts, besides the text
	)
	var text []byte
	var cuts []uint32
	read, step := 0, max(1, f.n/samples)
	for code := step / 2; code < f.n; code += step {
		text, cuts = f.appendFragment(text[:len(text):cap(text)], cuts[:0], uint32(code))
		read++
	}
	if read == 0 {
		return 0
	}
	length := int64(len(text)) / int64(read)
	n := int64(f.n) * (length + 4*int64(f.fields))
	chunks := int64(len(f.chunks))
	n += chunks * (8 + int64(unsafe.Sizeof(chunk{})) + overshoot) // pointer, chunk, memory after the text
	if f.same != nil {
		n += chunks*4*chunkSize + min(int64(f.n), maxSameTexts)*(length+sameEntry)
	}
	return n + n/8 // the allocator rounds up by at most an eighth
}
