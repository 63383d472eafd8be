package columnar

import (
	"reflect"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// leafOf is the type and encoding of a field. Values that repeat are written as a dictionary for
// each row group, like the column itself.
func leafOf(f *Field) parquet.Node {
	switch f.Type() {
	case String:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case Int64:
		if f.Column.Coded() {
			return parquet.Encoded(parquet.Int(64), &parquet.RLEDictionary)
		}
		return parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	case Double:
		if f.Column.Coded() {
			return parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.RLEDictionary)
		}
		return parquet.Leaf(parquet.DoubleType)
	case Timestamp:
		return parquet.Encoded(parquet.TimestampAdjusted(parquet.Microsecond, false), &parquet.RLEDictionary)
	}
	return parquet.Encoded(parquet.Leaf(parquet.ByteArrayType), &parquet.RLEDictionary)
}

// orderedGroup is a record whose fields keep their order. A parquet.Group sorts them by name.
type orderedGroup struct {
	parquet.Group // empty, for the other methods
	fields        []parquet.Field
}

// Fields implements parquet.Node.
func (g orderedGroup) Fields() []parquet.Field { return g.fields }

type namedNode struct {
	parquet.Node
	name string
}

// Name implements parquet.Field.
func (n namedNode) Name() string { return n.name }

// Value implements parquet.Field, for records of Go types, of which there are none here.
func (n namedNode) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// viewOf is the bytes of a text, which must not be changed.
func viewOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
