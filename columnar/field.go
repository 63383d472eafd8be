package columnar

import (
	"iter"
	"slices"

	"hdqs/index"
	"hdqs/snapshot"
)

// Field is one column of the output.
type Field struct {
	Name    string
	Column  *snapshot.Column
	Lon     *snapshot.Column // the field is a point: Column is its latitude, this its longitude
	Meaning string           // what the values mean, for the file's metadata
	Unit    string           // of the values, empty if they have none

	TimeText bool // times become text, as 2006-01-02T15:04:05; in Parquet only
}

// Type is what the values of an output column are.
type Type uint8

// The types. A Point is well-known binary (WKB), little-endian.
const (
	String Type = 1 + iota
	Boolean
	Int64
	Double
	Timestamp
	Point
)

var typeNames = [...]string{
	String: "string", Boolean: "boolean", Int64: "int64", Double: "double", Timestamp: "timestamp", Point: "geometry",
}

// String is the type's name in manifests.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return ""
}

// ParseType finds a type by its name.
func ParseType(name string) (Type, bool) {
	i := slices.Index(typeNames[1:], name)
	return Type(i + 1), i >= 0
}

// Type is the type of the field.
func (f *Field) Type() Type {
	switch {
	case f.Lon != nil:
		return Point
	case f.Column.Kind == snapshot.Text || f.Column.Kind == snapshot.Enum,
		f.Column.Kind == snapshot.Time && f.TimeText:
		return String
	case f.Column.Kind == snapshot.Bool:
		return Boolean
	case f.Column.Kind == snapshot.Int:
		return Int64
	case f.Column.Kind == snapshot.Decimal:
		return Double
	}
	return Timestamp
}

// Rows yields the rows to write: ranges of row ids, ascending unless they come from Sorted, none of
// them empty. slices.Values makes Rows of a slice of ranges.
type Rows = iter.Seq[index.Range]

// All is all rows of a segment.
func All(seg *snapshot.Segment) Rows {
	return func(yield func(index.Range) bool) {
		if n := seg.Rows(); n > 0 {
			yield(index.Range{From: 0, To: uint32(n)})
		}
	}
}

// appendFloats appends the values of a column of kind Decimal in the rows of a batch. Null is NaN,
// which no value is.
func appendFloats(dst []float64, b *index.Batch, c *snapshot.Column) []float64 {
	for _, d := range b.Decs(c) {
		dst = append(dst, c.Float(d))
	}
	return dst
}
