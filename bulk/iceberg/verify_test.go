package iceberg

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"hdqs/bulk"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestVerify: tables agree as they are written, and after a collection. Any changed byte and any
// missing file is found, and the next update mends it.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	st := testkit.Value(store.Open(dir))(t)
	b, at := bulk.Open(st), time.Unix(1_700_000_000, 0).UTC()
	place := func(s string) []cells { return []cells{{Place: &s}} }
	one, two := putFile(t, b, "event/part-0.parquet", place("b")), putFile(t, b, "event/part-1.parquet", place("c"))
	put := func(id string, at time.Time, files ...bulk.File) *bulk.Manifest {
		m := &bulk.Manifest{Format: bulk.ManifestFormat, Snapshot: id, Created: at, Tables: []bulk.Table{{
			Table: "event", Segment: strings.Repeat("0", 64), Files: files,
			Schema: []bulk.Column{{Name: "place", Type: "string", Meaning: "where"}},
		}}}
		testkit.WriteFile(t, filepath.Join(dir, bulk.ManifestName(id)), must(m.Encode()))
		return m
	}
	update := func() {
		t.Helper()
		testkit.Must(t, Update(b, dir, "", nil))
	}
	agrees := func(what string, m *bulk.Manifest, want bool) {
		t.Helper()
		if err := Verify(dir, m, m.Snapshot == "s3"); (err == nil) != want {
			t.Errorf("%s, snapshot %s: %v", what, m.Snapshot, err)
		}
	}
	first := put("s1", at, one)
	agrees("no table", first, true)
	update()
	second, third := put("s2", at.Add(time.Hour), one, two), put("s3", at.Add(2*time.Hour), two)
	agrees("before the update", second, true)
	agrees("before the update", third, false) // which is the latest one
	update()
	for _, m := range []*bulk.Manifest{first, second, third} {
		agrees("all", m, true)
	}
	testkit.Must(t, Expire(dir, map[string]bool{"s2": true, "s3": true}))
	agrees("collected", second, true)
	agrees("collected", third, true)
	other := *third
	other.Tables = slices.Clone(third.Tables)
	other.Tables[0].Files = []bulk.File{putFile(t, b, "event/part-2.parquet", place("d"))}
	agrees("a manifest with another file", &other, false)

	metadata := filepath.Join(dir, filepath.FromSlash(Folder), "event", "metadata")
	entries, err := os.ReadDir(metadata)
	if err != nil || len(entries) < 6 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		path := filepath.Join(metadata, e.Name())
		good := testkit.ReadFile(t, path)
		for at := range good {
			for _, bit := range []byte{1, 32} {
				bad := slices.Clone(good)
				bad[at] ^= bit
				if e.Name() != hintName && isWhole(e.Name(), bad) {
					t.Fatalf("%s: byte %d, %q to %q, is not noticed", e.Name(), at, good[at], bad[at])
				}
				if at%199 == 0 {
					testkit.WriteFile(t, path, bad)
					agrees(e.Name()+" changed", third, false)
				}
			}
		}
		longer := append(slices.Clip(good), 'x')
		for what, bad := range map[string][]byte{"cut": good[:len(good)-1], "empty": nil, "longer": longer} {
			testkit.WriteFile(t, path, bad)
			agrees(e.Name()+" "+what, third, false)
		}
		testkit.WriteFile(t, path, good)
	}
	agrees("whole again", third, true)

	update()
	version, text, err := currentVersion(metadata)
	names, ok := filesOf(text)
	if err != nil || !ok {
		t.Fatal(version, err)
	}
	for name := range names {
		path := filepath.Join(metadata, name)
		for _, bad := range [][]byte{bytes.Repeat([]byte{7}, len(testkit.ReadFile(t, path))), nil} {
			testkit.WriteFile(t, path, bad)
			agrees(name, third, false)
			update()
			agrees(name+" written again", third, true)
		}
		testkit.Must(t, os.Remove(path))
		agrees(name+" removed", third, false)
		update()
	}
	agrees("mended", third, true)
}

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

// cells is a row of a test table.
type cells struct {
	Place *string `parquet:"place,optional"`
	N     *int64  `parquet:"n,optional"`
	Point *string `parquet:"point,optional"`
	X     float64 `parquet:"x"`
}

// putFile writes rows as a Parquet file of a store, in row groups of two rows.
func putFile(t *testing.T, b *bulk.Bulk, path string, rows []cells) bulk.File {
	t.Helper()
	var data bytes.Buffer
	w := parquet.NewGenericWriter[cells](&data, parquet.MaxRowsPerRowGroup(2))
	testkit.Value(w.Write(rows))(t)
	testkit.Must(t, w.Close())
	sum := sha256.Sum256(data.Bytes())
	f := bulk.File{
		Path: path, Format: bulk.Parquet, Rows: len(rows), Bytes: int64(data.Len()), SHA256: hex.EncodeToString(sum[:]),
	}
	testkit.WriteFile(t, b.Path(&f), data.Bytes())
	return f
}

func TestUpdateReadsFooters(t *testing.T) {
	dir := t.TempDir()
	st := testkit.Value(store.Open(dir))(t)
	b := bulk.Open(st)
	text := func(s string) *string { return &s }
	n := func(v int64) *int64 { return &v }
	long := strings.Repeat("z", 40)
	file := putFile(t, b, "event/part-0.parquet", []cells{
		{text("b"), n(5), nil, 1.5}, {nil, n(-7), nil, -2}, {text("a"), nil, nil, 0}, {text(long), nil, nil, 3},
	})
	empty := putFile(t, b, "event/part-1.parquet", []cells{{text(""), nil, nil, 1}, {text("a"), nil, nil, 1}})
	put := func(id string, at time.Time, files ...bulk.File) {
		m := &bulk.Manifest{Format: bulk.ManifestFormat, Snapshot: id, Created: at, Tables: []bulk.Table{{
			Table: "event", Segment: strings.Repeat("0", 64), Files: files, Schema: []bulk.Column{
				{Name: "place", Type: "string", Meaning: "where"},
				{Name: "n", Type: "int64"},
				{Name: "point", Type: "geometry"},
				{Name: "x", Type: "double"},
			},
		}}}
		data := testkit.Value(m.Encode())(t)
		testkit.WriteFile(t, filepath.Join(dir, bulk.ManifestName(id)), data)
	}
	at := time.Unix(1_700_000_000, 0).UTC()
	put("z-older", at, file)
	put("a-newer", at.Add(time.Hour), file, empty)
	testkit.WriteFile(t, filepath.Join(dir, "bulk/iceberg/gone/metadata/version-hint.text"), []byte("1"))
	want := dir
	for _, location := range []string{"", "s3://bucket/prefix/", ""} {
		testkit.Must(t, Update(b, dir, location, nil))
		if location != "" {
			want = "s3://bucket/prefix"
		}
		r := readWritten(t, filepath.Join(dir, "bulk/iceberg/event/metadata"))
		if r.json.Location != want+"/bulk/iceberg/event" || len(r.json.Snapshots) != 2 ||
			r.json.Refs["z-older"].Snapshot !=
				r.json.Snapshots[0].ID {
			t.Fatalf("the table is at %s with the states %v", r.json.Location, r.json.Refs)
		}
		files := r.files(&r.json.Snapshots[1])
		got := files[want+"/"+file.Name()]
		for i := range got.Columns {
			got.Columns[i].Bytes = 0 // depends on the library
		}
		columns := []Column{
			{ID: 1, Nulls: 1, Least: []byte("a"), Most: []byte(strings.Repeat("z", 15) + "{")},
			{ID: 2, Nulls: 2, Least: number(^uint64(6)), Most: number(5)},
			{ID: 4, Least: []byte{0, 0, 0, 0, 0, 0, 0, 0xc0}, Most: []byte{0, 0, 0, 0, 0, 0, 8, 0x40}},
		}
		if got.Rows != 4 || got.Bytes != file.Bytes || !reflect.DeepEqual(got.Columns, columns) {
			t.Errorf("the file is %+v, want the columns %+v", got, columns)
		}
		if second := files[want+"/"+empty.Name()]; len(second.Columns) != 3 || string(second.Columns[0].Least) > "" {
			t.Errorf("the file with an empty text is %+v", second)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "bulk/iceberg/gone")); err == nil {
		t.Error("a table without files was not removed")
	}
	testkit.Must(t, os.Remove(b.Path(&empty)))
	if err := Update(b, dir, "", nil); err == nil || !strings.Contains(err.Error(),
		"event/part-1.parquet of snapshot a-newer") {
		t.Errorf("error %v, want one that names the file that is not there", err)
	}
}

// readWritten reads the current metadata of a table from its folder.
func readWritten(t *testing.T, dir string) *read {
	t.Helper()
	r := &read{t: t, made: &Metadata{Files: map[string][]byte{}}}
	entries := testkit.Value(os.ReadDir(dir))(t)
	for _, e := range entries {
		r.made.Files[e.Name()] = testkit.ReadFile(t, filepath.Join(dir, e.Name()))
	}
	name := fmt.Sprintf("v%s.metadata.json", r.made.Files[hintName])
	testkit.Must(t, json.Unmarshal(r.made.Files[name], &r.json))
	return r
}
