package render

import (
	"slices"
	"sync/atomic"

	"hdqs/index"
	"hdqs/snapshot"
)

// Form is the rows of one segment in one output format: what a body has around its rows, and the pieces of a row.
// It may be shared like its Renderer.
type Form struct {
	head   []byte
	tail   []byte
	cut    int
	null   []byte
	pieces []piece
	ids    []uint32 // of each piece, the number of its first fragment; the last is the count of all

	bodySize atomic.Uint64 // of the last body of some rows: its bytes a row, in sixteenths
}

// batch is how many rows are rendered at a time: so many that a column's codes are unpacked in one sweep, so few that the codes of
// all pieces stay in the first cache.
const batch = 64

// guess is the bytes of a field while no body has been rendered.
const guess = 24

func newForm(fields []boundField, d dialect) *Form {
	f := &Form{head: d.head(fields), tail: d.tail(), cut: d.cut(), null: d.null(), pieces: plan(fields, d)}
	f.bodySize.Store(uint64(guess * 16 * len(fields)))
	f.ids = make([]uint32, 1, len(f.pieces)+1)
	for i := range f.pieces {
		id := f.ids[i]
		if fr := f.pieces[i].fragments; fr != nil {
			id += uint32(fr.n)
		}
		f.ids = append(f.ids, id)
	}
	return f
}

// Head is what a body has in front of its rows.
func (f *Form) Head() []byte { return f.head }

// Tail is what a body has behind its rows.
func (f *Form) Tail() []byte { return f.tail }

// Cut is how many of the last row's bytes a body leaves out: AppendRows ends every row as if another followed.
func (f *Form) Cut() int { return f.cut }

// SizeHint is about how long a body of so many rows is, by the last ones.
func (f *Form) SizeHint(rows int) int {
	// An eighth more, so that a body slightly longer than the last does not grow its memory at the very end.
	return len(f.head) + len(f.tail) + int(uint64(rows)*f.bodySize.Load()/16*9/8)
}

// Append appends the body of the rows of ranges, which are ids below the segment's Rows.
func (f *Form) Append(dst []byte, ranges []index.Range) []byte {
	rows := 0
	for _, r := range ranges {
		rows += int(r.To - r.From)
	}
	if need := f.SizeHint(rows); cap(dst)-len(dst) < need {
		dst = slices.Grow(dst, need)
	}
	start := len(dst)
	dst = append(dst, f.head...)
	if rows > 0 {
		dst = f.AppendRows(dst, ranges)
		dst = dst[:len(dst)-f.cut]
		f.bodySize.Store(uint64(len(dst)-start) * 16 / uint64(rows))
	}
	return append(dst, f.tail...)
}

// AppendRows appends the rows of ranges without what encloses them, each ended as if another row followed.
func (f *Form) AppendRows(dst []byte, ranges []index.Range) []byte {
	var b rowBatch
	for i := 0; i < len(ranges); {
		i = b.take(ranges, i)
		dst = f.appendBatch(dst, &b)
	}
	return dst
}

// rowBatch gathers up to batch rows, and the codes of one piece after the other for them.
type rowBatch struct {
	n      int
	parts  [batch]index.Range // where the rows are
	nparts int
	skip   uint32 // rows of the next range that are in an earlier batch
	codes  [maxPieces][batch]uint32
}

// take fills the batch from ranges[i] on and tells where to go on.
func (b *rowBatch) take(ranges []index.Range, i int) int {
	b.n, b.nparts = 0, 0
	for ; i < len(ranges) && b.n < batch; i++ {
		r := ranges[i]
		r.From += b.skip
		if room := uint32(batch - b.n); r.To-r.From > room {
			r.To = r.From + room
			b.skip += room
			b.parts[b.nparts] = r
			b.nparts++
			b.n = batch
			return i
		}
		b.skip = 0
		if r.From == r.To {
			continue
		}
		b.parts[b.nparts] = r
		b.nparts++
		b.n += int(r.To - r.From)
	}
	return i
}

// unpack sets codes to the numbers of p at the batch's rows.
func (b *rowBatch) unpack(codes *[batch]uint32, p *snapshot.Packed) {
	k := 0
	for _, r := range b.parts[:b.nparts] {
		n := int(r.To - r.From)
		if n == 1 {
			codes[k] = uint32(p.At(r.From))
			k++
			continue
		}
		p.Unpack(codes[k:k+n], r.From)
		k += n
	}
}

// rows sets codes to the batch's row ids.
func (b *rowBatch) rows(codes *[batch]uint32) {
	k := 0
	for _, r := range b.parts[:b.nparts] {
		for row := r.From; row < r.To; row++ {
			codes[k] = row
			k++
		}
	}
}

func (f *Form) appendBatch(dst []byte, b *rowBatch) []byte {
	f.load(b)
	for k := range b.n {
		for i := range f.pieces {
			p := &f.pieces[i]
			code := b.codes[i][k]
			if p.fragments != nil {
				dst = append(dst, p.fragments.at(code)...)
				continue
			}
			dst = p.appendValue(dst, code, f.null)
		}
	}
	return dst
}

// load unpacks the codes of all pieces; a piece without codes gets row ids.
func (f *Form) load(b *rowBatch) {
	for i := range f.pieces {
		if p := &f.pieces[i]; p.fragments != nil {
			b.unpack(&b.codes[i], &p.codes)
		} else {
			b.rows(&b.codes[i])
		}
	}
}
