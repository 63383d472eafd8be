package render

import "hdqs/snapshot"

// fieldWriter writes the values of one field with the text before them. It is used to build
// fragments, and for the few values that are neither fragments nor numbers.
type fieldWriter struct {
	column *snapshot.Column
	before []byte
	null   []byte
	exact  *fragments // texts of decimals that do not fit a Dec

	at   func(dst []byte, i uint32) []byte    // appends the non-null value at a position
	code func(dst []byte, code uint32) []byte // appends the value of a code
}

func newFieldWriter(f boundField, before []byte, d dialect) fieldWriter {
	if f.lon != nil {
		return newPointWriter(f, before, d)
	}
	c := f.column
	w := fieldWriter{column: c, before: before, null: d.null()}
	switch c.Kind {
	case snapshot.Text, snapshot.Enum:
		w.at = func(dst []byte, i uint32) []byte { return d.appendText(dst, c.Text(i)) }
		w.code = func(dst []byte, code uint32) []byte { return d.appendText(dst, c.TextOf(code)) }
	case snapshot.Bool:
		w.at = func(dst []byte, i uint32) []byte { return d.appendBool(dst, c.Int(i) != 0) }
		w.code = func(dst []byte, code uint32) []byte { return d.appendBool(dst, c.IntOf(code) != 0) }
	case snapshot.Time:
		appendTime := f.times.writer(d)
		w.at = func(dst []byte, i uint32) []byte { return appendTime(dst, c.Int(i)) }
		w.code = func(dst []byte, code uint32) []byte { return appendTime(dst, c.IntOf(code)) }
	case snapshot.Int:
		w.at = func(dst []byte, i uint32) []byte { return appendInt(dst, c.Int(i)) }
		w.code = func(dst []byte, code uint32) []byte { return appendInt(dst, c.IntOf(code)) }
	case snapshot.Decimal:
		w.exact = exactFragments(c)
		w.at = func(dst []byte, i uint32) []byte { return w.appendDecimal(dst, c.Dec(i)) }
		w.code = func(dst []byte, code uint32) []byte { return w.appendDecimal(dst, c.DecOf(code)) }
	default:
		panic("render: column " + c.Name + " has no known kind") // a segment has no others
	}
	return w
}

// appendAt appends the field's value at a position.
func (w *fieldWriter) appendAt(dst []byte, i uint32) []byte {
	if w.code != nil && w.column.Coded() { // which reads the code once
		return w.appendCode(dst, uint32(w.column.Codes().At(i)))
	}
	dst = append(dst, w.before...)
	if w.column.IsNull(i) {
		return append(dst, w.null...)
	}
	return w.at(dst, i)
}

// appendCode appends the field's value with a code. The code after all others is null's.
func (w *fieldWriter) appendCode(dst []byte, code uint32) []byte {
	dst = append(dst, w.before...)
	if int(code) == w.column.Cardinality() {
		return append(dst, w.null...)
	}
	return w.code(dst, code)
}

func (w *fieldWriter) appendDecimal(dst []byte, v snapshot.Dec) []byte {
	if v.Scale == snapshot.DecText {
		return append(dst, w.exact.at(uint32(v.Mantissa))...)
	}
	return appendDec(dst, v.Mantissa, v.Scale)
}

// exactFragments returns the texts of the decimals of c that do not fit a Dec.
func exactFragments(c *snapshot.Column) *fragments {
	return newFragments(c.ExactTexts(), 0, func(dst []byte, cuts []uint32, i uint32) ([]byte, []uint32) {
		return appendExact(dst, c.DecString(snapshot.Dec{Mantissa: int64(i), Scale: snapshot.DecText})), cuts
	})
}
