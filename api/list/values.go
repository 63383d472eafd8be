package list

import (
	"hdqs/aggregate"
	"hdqs/api/render"
)

// Valued are records whose values can be read, too: those of aggregates, facets and figures.
type Valued interface {
	Records
	Value(record, field int) aggregate.Value // its text may be of the segment
}

// AppendOne appends a value as JSON. A list of texts is one text, with blanks between them, since
// clients of standards have one type for each field.
func AppendOne(dst []byte, found Valued, record, field int) []byte {
	if v := found.Value(record, field); v.Kind == aggregate.Text {
		return render.AppendJSONText(dst, v.Text)
	}
	return found.AppendCell(dst, record, field, false)
}
