package render

import (
	"bytes"
	"slices"

	"hdqs/api/encode"
)

// A subset is a form of records with some of their fields. It has no texts of its own: each field
// is cut out of the fragments of the whole record. So the memory of subsets is their stored blocks,
// in the cache of the whole form's, and a few kilobytes each, however many are requested.

// part is a field within fragments.
type part struct {
	field int // among those of a fragment
	skip  int // bytes at its beginning that are left out
	end   int // bytes after the last field of a fragment, which belong to no field

	empty []byte // in place of an empty text
}

// cut returns the part's position within the text of a code of c.
func (p *part) cut(c *chunk, i uint32, fields int) (from, to uint32) {
	cuts := c.cuts[int(i)*fields : (int(i)+1)*fields]
	from = c.starts[i] + cuts[p.field] + uint32(p.skip)
	if p.field+1 < fields {
		return from, c.starts[i] + cuts[p.field+1]
	}
	return from, c.starts[i+1] - uint32(p.end)
}

// lookUpPart sets a lane to a part of the texts of codes and returns their total length. Codes
// whose texts differ elsewhere only, such as those of neighbouring places in one country, become
// the first of them.
func (f *fragments) lookUpPart(l *lane, codes []uint32, p *part) int {
	texts := l.texts[:len(codes)]
	size, changes := 0, 0
	last := ^codes[0]
	var first uint32
	var text []byte
	for k, code := range codes {
		if code != last {
			last = code
			number := code >> chunkBits
			c := f.chunks[number].Load()
			if c == nil {
				c = f.fill(number)
			}
			from, to := p.cut(c, code&(chunkSize-1), f.fields)
			next := c.text[from:to]
			if from == to && p.empty != nil {
				next = p.empty
			}
			if k == 0 || !bytes.Equal(next, text) {
				first, text = code, next
				changes++
			}
		}
		codes[k], texts[k] = first, text
		size += len(text)
	}
	if changes == 1 {
		l.same = text
	}
	return size
}

func (f *fragments) measurePart(lengths, codes []uint32, p *part) {
	length, last := uint32(0), ^codes[0]
	for k, code := range codes {
		if code != last {
			last = code
			c := f.chunks[code>>chunkBits].Load()
			if c == nil {
				c = f.fill(code >> chunkBits)
			}
			from, to := p.cut(c, code&(chunkSize-1), f.fields)
			if length = to - from; length == 0 {
				length = uint32(len(p.empty))
			}
		}
		lengths[k] += length
	}
}

// subset returns a form of some fields of a record, which are given by their positions in f.
func (f *Form) subset(positions []int, o encode.Options) *Form {
	fields := make([]boundField, len(positions))
	for i, at := range positions {
		fields[i] = f.fields[at]
	}
	d := f.dialect
	if points, ok := d.(pointsDialect); ok {
		points.properties = len(fields) - 1
		d = points
	}
	var empty []byte
	if _, csv := d.(csvDialect); csv && len(fields) == 1 {
		d, empty = aloneDialect{d}, quotedEmpty
	}
	var pieces []piece
	// constant adds a text that every row has, to the end of the previous piece if it has room.
	constant := func(text []byte) {
		switch last := len(pieces) - 1; {
		case len(text) == 0:
		case last >= 0 && pieces[last].fragments == nil:
			pieces[last].after = append(slices.Clip(pieces[last].after), text...)
		default:
			pieces = append(pieces, constantPiece(text))
		}
	}
	for i, at := range positions {
		before := d.before(i, f.fields[at].name)
		from, field := f.pieceOf(at)
		p := f.pieces[from]
		if p.fragments == nil {
			constant(before)
			if p.after = nil; p.number {
				p.after = []byte{'"'}
			}
			pieces = append(pieces, p)
			continue
		}
		has := f.dialect.before(at, f.fields[at].name)
		same := commonSuffix(before, has)
		constant(before[:len(before)-same])
		p.part = &part{field: field, skip: len(has) - same, end: p.end, empty: empty}
		pieces = append(pieces, p)
	}
	constant(d.end())
	return newFormOf(f.rows, fields, d, pieces, o)
}

// pieceOf returns the piece of a field, and the field's position among those of the piece.
func (f *Form) pieceOf(at int) (number, field int) {
	for number = range f.pieces {
		if p := &f.pieces[number]; p.first <= at && at < p.first+p.fields {
			return number, at - p.first
		}
	}
	panic("render: no piece has the field " + f.fields[at].name) // plan makes one for each
}

func commonSuffix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// subsetKey says of which form a subset is, and which fields it has: a byte each.
type subsetKey struct {
	of     *Form
	fields string
}

// maxSubsets bounds the number of subsets that are kept.
const maxSubsets = 8

// Subset returns the form of records with some of their fields, which are given by their positions
// in the record, in ascending order. Those of features are their properties. Up to a few forms are
// kept for the next calls.
func (r *Renderer) Subset(of *Form, fields []int) *Form {
	positions := fields
	if of == r.Points() {
		positions = []int{0} // the geometry
		for _, at := range fields {
			if property := r.properties[at]; property > 0 {
				positions = append(positions, property)
			}
		}
	}
	var key [maxPieces]byte
	for i, at := range positions {
		key[i] = byte(at)
	}
	k := subsetKey{of, string(key[:len(positions)])}
	form, known := r.subsets.Get(k)
	if !known {
		form = of.subset(positions, r.options)
		r.subsets.Put(k, form, 1)
	}
	return form
}
