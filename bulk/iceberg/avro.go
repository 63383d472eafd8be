package iceberg

import (
	"crypto/sha256"
	"encoding/binary"
)

// record appends values in Avro's binary encoding.
type record struct{ bytes []byte }

// long appends an int or a long, which Avro encodes alike.
func (r *record) long(v int64) { r.bytes = binary.AppendVarint(r.bytes, v) }

func (r *record) bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	r.bytes = append(r.bytes, b)
}

func (r *record) text(v string) {
	r.long(int64(len(v)))
	r.bytes = append(r.bytes, v...)
}

// null and present begin a value of a type that may be null; the types here list null first.
func (r *record) null()    { r.long(0) }
func (r *record) present() { r.long(1) }

// some appends bytes that may be null.
func (r *record) some(v []byte) {
	if v == nil {
		r.null()
		return
	}
	r.present()
	r.text(string(v))
}

// array appends n items. Avro ends an array with an empty block.
func (r *record) array(n int, item func(i int)) {
	if n > 0 {
		r.long(int64(n))
	}
	for i := range n {
		item(i)
	}
	r.long(0)
}

// property is a key of an Avro file's header with its value.
type property struct{ name, value string }

// avroFile returns an Avro object container file with one block.
func avroFile(schema string, properties []property, records int, block []byte) []byte {
	properties = append([]property{{"avro.schema", schema}, {"avro.codec", "null"}}, properties...)
	file := record{bytes: []byte("Obj\x01")}
	file.array(len(properties), func(i int) {
		file.text(properties[i].name)
		file.text(properties[i].value)
	})
	// Other writers take random bytes between blocks, so that readers find a block in the middle of
	// a file. A hash serves as well, and is the same each time.
	sum := sha256.Sum256(append(file.bytes, block...))
	between := sum[:16]
	file.bytes = append(file.bytes, between...)
	if records > 0 {
		file.long(int64(records))
		file.text(string(block))
		file.bytes = append(file.bytes, between...)
	}
	return file.bytes
}
