package render

import "hdqs/snapshot"

// piece is a stretch of a row that is written at one go: a fragment, or a value and what stands behind it.
type piece struct {
	codes     snapshot.Packed // of rows; of no length where every row has the same fragment
	fragments *fragments      // nil for a value

	column *snapshot.Column
	after  []byte
	exact  *fragments // texts of the column's decimals that no ordinary Dec holds
	value  valueWriter
}

// maxPieces bounds the pieces of a row: the widest record has 16 fields.
const maxPieces = 32

// maxCodes bounds the distinct values of a column of rows that get fragments. Above, a text of its own for each value costs more
// memory than writing the value anew costs time.
const maxCodes = 1 << 16

// valueWriter appends the non-null value at position i of a column.
type valueWriter func(dst []byte, c *snapshot.Column, i uint32) []byte

// run is the fields of one piece.
type run struct {
	fields []boundField
	first  int  // position of fields[0] in the record
	value  bool // one field without fragments
}

// plan splits a record into pieces: neighbours of one group become one fragment a tuple, a coded column one fragment a code. Key names
// and separators in front of a value go to the end of the piece before it.
func plan(fields []boundField, d dialect) []piece {
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
		if r.value {
			pieces = append(pieces, valuePiece(r.fields[0].column, end, d))
		} else {
			pieces = append(pieces, fragmentPiece(r, end, d))
		}
	}
	return pieces
}

// fuse splits fields into the runs that become one piece each.
func fuse(fields []boundField) []run {
	var runs []run
	for i, f := range fields {
		g := f.column.Group
		if i > 0 && g != nil && g == fields[i-1].column.Group {
			r := &runs[len(runs)-1]
			r.fields = append(r.fields, f)
			continue
		}
		coded := f.column.Coded() && f.column.Cardinality() < maxCodes
		runs = append(runs, run{fields: fields[i : i+1 : i+1], first: i, value: g == nil && !coded})
	}
	return runs
}

// fragmentPiece makes a piece of fragments: of a group's tuples, or of the codes of one column of rows, null's last.
func fragmentPiece(r run, end []byte, d dialect) piece {
	before := make([][]byte, len(r.fields))
	values := make([]valueWriter, len(r.fields))
	exact := make([]*fragments, len(r.fields))
	for i, f := range r.fields {
		before[i] = d.before(r.first+i, f.name)
		exact[i] = exactFragments(f.column)
		values[i] = valueOf(f.column, exact[i], d)
	}
	null := d.null()
	c := r.fields[0].column
	if c.Group == nil {
		code := codeOf(c, exact[0], d)
		return piece{codes: c.Codes(), fragments: newFragments(c.Cardinality()+1, 1,
			func(dst []byte, cuts []uint32, i uint32) ([]byte, []uint32) {
				dst = append(dst, before[0]...)
				if int(i) == c.Cardinality() {
					dst = append(dst, null...)
				} else {
					dst = code(dst, i)
				}
				return append(dst, end...), append(cuts, 0)
			})}
	}
	return piece{codes: c.Group.Codes, fragments: newFragments(c.Group.Tuples, len(r.fields),
		func(dst []byte, cuts []uint32, tuple uint32) ([]byte, []uint32) {
			start := len(dst)
			for i, f := range r.fields {
				cuts = append(cuts, uint32(len(dst)-start))
				dst = append(dst, before[i]...)
				if f.column.IsNull(tuple) {
					dst = append(dst, null...)
				} else {
					dst = values[i](dst, f.column, tuple)
				}
			}
			return append(dst, end...), cuts
		})}
}

// constantPiece is the same for every row.
func constantPiece(text []byte) piece {
	return piece{fragments: newFragments(1, 1, func(dst []byte, cuts []uint32, _ uint32) ([]byte, []uint32) {
		return append(dst, text...), append(cuts, 0)
	})}
}

func valuePiece(c *snapshot.Column, after []byte, d dialect) piece {
	exact := exactFragments(c)
	return piece{column: c, after: after, exact: exact, value: valueOf(c, exact, d)}
}

// exactFragments are the texts of the decimals of c that no ordinary Dec holds.
func exactFragments(c *snapshot.Column) *fragments {
	if c.Kind != snapshot.Decimal {
		return nil
	}
	return newFragments(c.ExactTexts(), 0, func(dst []byte, cuts []uint32, i uint32) ([]byte, []uint32) {
		return appendExact(dst, c.DecString(snapshot.Dec{Mantissa: int64(i), Scale: snapshot.DecText})), cuts
	})
}

// valueOf is how the values of c are written by position.
func valueOf(c *snapshot.Column, exact *fragments, d dialect) valueWriter {
	switch c.Kind {
	case snapshot.Text, snapshot.Enum:
		return func(dst []byte, c *snapshot.Column, i uint32) []byte { return d.appendText(dst, c.Text(i)) }
	case snapshot.Bool:
		return func(dst []byte, c *snapshot.Column, i uint32) []byte { return d.appendBool(dst, c.Int(i) != 0) }
	case snapshot.Time:
		return func(dst []byte, c *snapshot.Column, i uint32) []byte { return d.appendTime(dst, c.Int(i)) }
	case snapshot.Int:
		return func(dst []byte, c *snapshot.Column, i uint32) []byte { return appendInt(dst, c.Int(i)) }
	case snapshot.Decimal:
		return func(dst []byte, c *snapshot.Column, i uint32) []byte { return appendDecimal(dst, c.Dec(i), exact) }
	}
	panic("render: column " + c.Name + " has no known kind") // a segment has no others
}

// codeOf is how the values of c are written by code.
func codeOf(c *snapshot.Column, exact *fragments, d dialect) func(dst []byte, code uint32) []byte {
	switch c.Kind {
	case snapshot.Text, snapshot.Enum:
		return func(dst []byte, code uint32) []byte { return d.appendText(dst, c.TextOf(code)) }
	case snapshot.Bool:
		return func(dst []byte, code uint32) []byte { return d.appendBool(dst, c.IntOf(code) != 0) }
	case snapshot.Time:
		return func(dst []byte, code uint32) []byte { return d.appendTime(dst, c.IntOf(code)) }
	case snapshot.Int:
		return func(dst []byte, code uint32) []byte { return appendInt(dst, c.IntOf(code)) }
	case snapshot.Decimal:
		return func(dst []byte, code uint32) []byte { return appendDecimal(dst, c.DecOf(code), exact) }
	}
	panic("render: column " + c.Name + " has no known kind") // a segment has no others
}

func appendDecimal(dst []byte, v snapshot.Dec, exact *fragments) []byte {
	if v.Scale == snapshot.DecText {
		return append(dst, exact.at(uint32(v.Mantissa))...)
	}
	return appendDec(dst, v.Mantissa, v.Scale)
}
