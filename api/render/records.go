package render

import "hdqs/snapshot"

// Records are records that are not rows of a segment.
type Records interface {
	Len() int
	// AppendCell appends a value: as JSON, or as a cell of CSV, with quotes where it needs them.
	AppendCell(dst []byte, record, field int, csv bool) []byte
}

// AppendRecords appends the whole body of records whose fields have the given names, in the same
// syntax as that of rows.
func AppendRecords(dst []byte, names []string, records Records, csv bool) []byte {
	d := dialectOf(csv)
	fields := make([]boundField, len(names))
	before := make([][]byte, len(names))
	for i, name := range names {
		fields[i].name, before[i] = name, d.before(i, name)
	}
	end := d.end()
	dst = append(dst, d.head(fields)...)
	n := records.Len()
	for k := range n {
		for i := range before {
			dst = append(dst, before[i]...)
			dst = appendCell(dst, records, k, i, len(before), csv)
		}
		dst = append(dst, end...)
	}
	if n > 0 {
		dst = dst[:len(dst)-d.cut()]
	}
	return append(dst, d.tail()...)
}

// AppendRecord appends one record: a JSON object, or a line of CSV.
func AppendRecord(dst []byte, names []string, records Records, record int, csv bool) []byte {
	d := dialectOf(csv)
	for i, name := range names {
		dst = appendCell(append(dst, d.before(i, name)...), records, record, i, len(names), csv)
	}
	dst = append(dst, d.end()...)
	return dst[:len(dst)-d.cut()]
}

func dialectOf(csv bool) dialect {
	if csv {
		return csvDialect{}
	}
	return jsonDialect{}
}

// AppendText appends a text as JSON or as a cell of CSV.
func AppendText(dst []byte, s string, csv bool) []byte { return dialectOf(csv).appendText(dst, s) }

// AppendBool appends a truth value as JSON or as a cell of CSV.
func AppendBool(dst []byte, b, csv bool) []byte { return dialectOf(csv).appendBool(dst, b) }

// AppendTime appends microseconds since 1970 as JSON or as a cell of CSV.
func AppendTime(dst []byte, micros int64, csv bool) []byte {
	return dialectOf(csv).appendTime(dst, micros)
}

// AppendTimeText appends microseconds since 1970 as text.
func AppendTimeText(dst []byte, micros int64) []byte { return appendTime(dst, micros, 'T') }

// AppendFloat appends a number in the form of decimals in records.
func AppendFloat(dst []byte, f float64) []byte { return appendFloat(dst, f) }

// AppendExact appends a decimal, given as digits, in the form of decimals in records.
func AppendExact(dst []byte, text string) []byte { return appendExact(dst, text) }

// AppendNull appends the absence of a value as JSON or as a cell of CSV.
func AppendNull(dst []byte, csv bool) []byte { return append(dst, dialectOf(csv).null()...) }

// Values appends the values of a column as records of rows have them.
type Values struct {
	column    *snapshot.Column
	json, csv fieldWriter
}

// NewValues prepares a column of a segment. It may be used concurrently, until the segment's Close.
func NewValues(c *snapshot.Column) *Values {
	f := boundField{column: c}
	return &Values{c, newFieldWriter(f, nil, jsonDialect{}), newFieldWriter(f, nil, csvDialect{})}
}

// AppendRow appends the value of a row.
func (v *Values) AppendRow(dst []byte, row uint32, csv bool) []byte {
	if g := v.column.Group; g != nil {
		row = uint32(g.Codes.At(row))
	}
	return v.AppendAt(dst, row, csv)
}

// AppendText appends the value of a row as text: strings and times as they are, others as in JSON.
// ok is false for null.
func (v *Values) AppendText(dst []byte, row uint32) (text []byte, ok bool) {
	c := v.column
	if c.Group != nil {
		row = uint32(c.Group.Codes.At(row))
	}
	switch {
	case c.IsNull(row):
		return dst, false
	case c.Kind == snapshot.Text || c.Kind == snapshot.Enum:
		return append(dst, c.Text(row)...), true
	case c.Kind == snapshot.Time:
		return appendTime(dst, c.Int(row), 'T'), true
	}
	return v.json.appendAt(dst, row), true
}

// AppendAt appends the value at a position of the column: of a row, or of a tuple of its group.
func (v *Values) AppendAt(dst []byte, position uint32, csv bool) []byte {
	if csv {
		return v.csv.appendAt(dst, position)
	}
	return v.json.appendAt(dst, position)
}
