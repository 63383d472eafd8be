package render

import (
	"fmt"
	"slices"

	"hdqs/snapshot"
)

// piece is a part of a row that is written at once: a fragment, or a value and the text after it.
type piece struct {
	factors   []factor   // of the fragments' codes; empty if every row has the same fragment
	fragments *fragments // nil for a value
	end       int        // bytes of a fragment after its last field
	part      *part      // the only field of the fragments that is written; nil for all

	first, fields int // the first field of the record that the piece writes, and how many

	column  *snapshot.Column
	numbers *packedNumbers // of the column; nil if it has a dictionary
	after   []byte
	exact   *fragments                        // texts of the column's decimals that do not fit a Dec
	value   func(dst []byte, i uint32) []byte // appends the non-null value at a position
	point   bool                              // value appends points, and nulls
	number  bool                              // the value is the row's number, see RowKeyDigits
}

// factor is one of the columns that form a code in mixed radix, the last one the least significant.
type factor struct {
	codes snapshot.Packed // of the rows, below n
	n     uint32
}

// maxPieces bounds the pieces of a row: the widest record has 16 fields.
const maxPieces = 32

// maxCodes bounds the distinct values of a column with fragments. For more values, a text for each
// costs more in memory than writing the values again costs in time.
const maxCodes = 1 << 16

// maxProduct bounds the number of fragments of neighbouring columns that are joined to one piece:
// most combinations of codes never occur, and each that does builds 128 fragments.
const maxProduct = 1 << 12

// run is the fields of one piece.
type run struct {
	fields []boundField
	first  int  // position of fields[0] in the record
	value  bool // one field without fragments
	codes  int  // number of combinations of codes; 0 unless all fields are coded columns
}

// plan divides a record into pieces. Neighbouring fields of a group become one piece with a
// fragment for each tuple. Coded columns have a fragment for each code, or, where there are few,
// for each combination of codes. Key names and separators before a value are the end of the
// previous piece. Fragments that shared has already are used again.
func plan(fields []boundField, d dialect, shared sharedFragments) []piece {
	var pieces []piece
	runs := fuse(fields)
	if len(runs) > 0 && runs[0].value {
		pieces = append(pieces, constantPiece(d.before(0, fields[0].name)))
	}
	for i, r := range runs {
		var end []byte
		if i == len(runs)-1 {
			end = d.end()
		} else if next := runs[i+1]; next.value {
			end = d.before(next.first, next.fields[0].name)
		}
		var p piece
		if r.value {
			p = valuePiece(r.fields[0], end, d)
		} else {
			p = shared.piece(r, end, d, isSplit(runs, i))
			p.end = len(end)
		}
		p.first, p.fields = r.first, len(r.fields)
		pieces = append(pieces, p)
	}
	return pieces
}

// sharedFragments are the fragments of a segment's forms, by what their texts are made of. Forms
// whose names differ share those in which no name differs. JSON and CSV never have the same text
// before a field, so a form in CSV shares nothing with one in JSON.
type sharedFragments map[string]*fragments

// piece returns the piece of a run without values.
func (s sharedFragments) piece(r run, end []byte, d dialect, split bool) piece {
	key := fmt.Appendf(nil, "%q %t", end, split)
	for i, f := range r.fields {
		key = fmt.Appendf(key, " %q %q %d", d.before(r.first+i, f.name), f.column.Name, f.times)
	}
	p := fragmentPiece(r, end, d)
	if known := s[string(key)]; known != nil {
		p.fragments = known
		return p
	}
	if split {
		p.fragments.same = &sameTexts{first: map[string]uint32{}}
	}
	s[string(key)] = p.fragments
	return p
}

// isSplit reports whether the group of a run has fields in other runs too. Different tuples can
// then have the same text in this run: there are many organisations, and few types of organisation.
func isSplit(runs []run, i int) bool {
	g := runs[i].fields[0].column.Group
	for k, r := range runs {
		if g != nil && k != i && r.fields[0].column.Group == g {
			return true
		}
	}
	return false
}

// fuse divides fields into runs that become one piece each.
func fuse(fields []boundField) []run {
	var runs []run
	var before *snapshot.Group // of the field before
	for i, f := range fields {
		g := f.column.Group
		if f.lon != nil && f.lon.Group != g {
			g = nil // a point of two groups is a value of the row
		}
		joins := g != nil && g == before
		if before = g; joins {
			r := &runs[len(runs)-1]
			r.fields = append(r.fields, f)
			continue
		}
		r := run{fields: fields[i : i+1 : i+1], first: i}
		if g == nil {
			if r.value = f.lon != nil || !f.column.Coded() || f.column.Cardinality() >= maxCodes; !r.value {
				r.codes = f.column.Cardinality() + 1
			}
		}
		runs = append(runs, r)
	}
	return multiply(runs)
}

// multiply joins neighbouring coded columns to one run, starting from the right, where columns tend
// to vary most: records go from where to what to how many.
func multiply(runs []run) []run {
	var out []run
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		for r.codes > 0 && i > 0 && runs[i-1].codes > 0 && r.codes*runs[i-1].codes <= maxProduct {
			i--
			r = run{fields: append(runs[i].fields, r.fields...), first: runs[i].first, codes: r.codes * runs[i].codes}
		}
		out = append(out, r)
	}
	slices.Reverse(out)
	return out
}

// fragmentPiece returns a piece of fragments: of a group's tuples, or of the codes of columns, with
// null's code last.
func fragmentPiece(r run, end []byte, d dialect) piece {
	writers := make([]fieldWriter, len(r.fields))
	for i, f := range r.fields {
		writers[i] = newFieldWriter(f, d.before(r.first+i, f.name), d)
	}
	if g := r.fields[0].column.Group; g != nil {
		return piece{factors: []factor{{g.Codes, uint32(g.Tuples)}}, fragments: newFragments(g.Tuples, len(r.fields),
			func(dst []byte, cuts []uint32, tuple uint32) ([]byte, []uint32) {
				start := len(dst)
				for i := range writers {
					cuts = append(cuts, uint32(len(dst)-start))
					dst = writers[i].appendAt(dst, tuple)
				}
				return append(dst, end...), cuts
			})}
	}
	factors := make([]factor, len(r.fields))
	for i, f := range r.fields {
		factors[i] = factor{f.column.Codes(), uint32(f.column.Cardinality()) + 1}
	}
	return piece{factors: factors, fragments: newFragments(r.codes, len(r.fields),
		func(dst []byte, cuts []uint32, code uint32) ([]byte, []uint32) {
			start, rest := len(dst), uint32(r.codes)
			for i := range writers {
				rest /= factors[i].n
				cuts = append(cuts, uint32(len(dst)-start))
				dst = writers[i].appendCode(dst, code/rest)
				code %= rest
			}
			return append(dst, end...), cuts
		})}
}

func constantPiece(text []byte) piece {
	return piece{fragments: newFragments(1, 1, func(dst []byte, cuts []uint32, _ uint32) ([]byte, []uint32) {
		return append(dst, text...), append(cuts, 0)
	})}
}

func valuePiece(f boundField, after []byte, d dialect) piece {
	if f.column == rowNumbers {
		return piece{column: f.column, after: append([]byte{'"'}, after...), number: true}
	}
	w := newFieldWriter(f, nil, d)
	p := piece{column: f.column, after: after, exact: w.exact, value: w.at, point: f.lon != nil}
	if !p.point {
		p.numbers = newPackedNumbers(f.column)
	}
	return p
}
