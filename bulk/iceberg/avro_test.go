package iceberg

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"
)

// avroReader reads Avro by the schema of the file, and knows nothing of the writer.
type avroReader struct {
	t    *testing.T
	rest []byte
}

func (r *avroReader) long() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.t.Fatal("a number is cut off")
	}
	r.rest = r.rest[n:]
	return v
}

func (r *avroReader) take(n int64) []byte {
	if n < 0 || n > int64(len(r.rest)) {
		r.t.Fatalf("%d bytes are wanted, %d are left", n, len(r.rest))
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// value reads a value of a type: records are maps by name, bytes are texts.
func (r *avroReader) value(of any) any {
	switch of := of.(type) {
	case string:
		switch of {
		case "null":
			return nil
		case "int", "long":
			return r.long()
		case "boolean":
			return r.take(1)[0] == 1
		case "string", "bytes":
			return string(r.take(r.long()))
		}
	case []any:
		return r.value(of[r.long()])
	case map[string]any:
		switch of["type"] {
		case "record":
			record := map[string]any{}
			for _, f := range of["fields"].([]any) {
				field := f.(map[string]any)
				if field["field-id"] == nil {
					r.t.Errorf("field %s has no id", field["name"])
				}
				record[field["name"].(string)] = r.value(field["type"])
			}
			return record
		case "array":
			items := []any{}
			for n := r.long(); n != 0; n = r.long() {
				for range n {
					items = append(items, r.value(of["items"]))
				}
			}
			return items
		}
	}
	r.t.Fatalf("unknown type %v", of)
	return nil
}

// readAvro returns the header and the records of a file.
func readAvro(t *testing.T, file []byte) (header map[string]string, records []map[string]any) {
	t.Helper()
	r := &avroReader{t, file}
	if magic := string(r.take(4)); magic != "Obj\x01" {
		t.Fatalf("the file begins with %q", magic)
	}
	header = map[string]string{}
	for n := r.long(); n != 0; n = r.long() {
		for range n {
			key := string(r.take(r.long()))
			header[key] = string(r.take(r.long()))
		}
	}
	var schema any
	if err := json.Unmarshal([]byte(header["avro.schema"]), &schema); err != nil {
		t.Fatalf("schema: %v\n%s", err, header["avro.schema"])
	}
	between := string(r.take(16))
	for len(r.rest) > 0 {
		n := r.long()
		block := &avroReader{t, r.take(r.long())}
		for range n {
			records = append(records, block.value(schema).(map[string]any))
		}
		if len(block.rest) > 0 || string(r.take(16)) != between {
			t.Fatal(fmt.Errorf("%d bytes follow the last record of a block, or its end mark is wrong", len(block.rest)))
		}
	}
	return header, records
}
