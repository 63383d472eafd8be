package browse

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzRecords: whatever records the scanner reads, encoding/json reads the same.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"data":[]}`))
	f.Add([]byte(`{"data":[{"a":"x","b":-1.5e3,"c":null,"d":true}]}` + "\n"))
	f.Add([]byte(`{"data":[{"a":"\u00fc\\ \"y\"","b":2},{"a":"","b":null}]}`))
	f.Add([]byte(`{"data":[{"a":1},{"b":1}]}`))
	f.Add([]byte(`{"data":[{"a":1,"a":2}]}`))
	f.Add([]byte(`{"data":[{"a":[1]}]}`))
	f.Add([]byte(`{"data":[{"a":"\`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if !utf8.Valid(body) {
			return // the renderer writes UTF-8, and encoding/json replaces other bytes
		}
		got, err := (&Answer{Body: body}).records()
		if err != nil {
			return
		}
		var want struct {
			Data []map[string]any `json:"data"`
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			return // texts and numbers that the renderer does not write
		}
		if len(got) != len(want.Data) {
			t.Fatalf("%d records, want %d", len(got), len(want.Data))
		}
		for i, w := range want.Data {
			if len(got[i].values) != len(w) {
				t.Fatalf("record %d has %d fields, want %v", i, len(got[i].values), w)
			}
			for name, v := range w {
				text, ok := got[i].text(name)
				want := ""
				switch x := v.(type) {
				case string:
					want = x
				case json.Number:
					want = x.String()
				case bool:
					want = map[bool]string{true: "true", false: "false"}[x]
				}
				if ok != (v != nil) || text != want {
					t.Fatalf("record %d: %s is %q, %v, want %v", i, name, text, ok, v)
				}
			}
		}
	})
}

// TestRecordsMistakes: what is no list of flat records is an error.
func TestRecordsMistakes(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, `{}`, `{"data":[`, `{"data":[{"a":1}`, `{"data":[{"a":1},{"b":1}]}`, `{"data":[{"a":1},{}]}`,
		`{"data":[{"a":[1]}]}`, `{"data":[{"a":1,"a":1}]}`, `{"data":[{"a":x}]}`, `{"data":[{"a":"x}]}`, `{"data":[]}x`, `{"data":[{null:1}]}`,
	} {
		if all, err := (&Answer{Body: []byte(body)}).records(); err == nil {
			t.Errorf("%s: %v", body, all)
		}
	}
}
