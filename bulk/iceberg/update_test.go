package iceberg

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"hdqs/bulk"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

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
	_, err := w.Write(rows)
	testkit.Must(t, err)
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
	st, err := store.Open(dir)
	testkit.Must(t, err)
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
		data, err := m.Encode()
		testkit.Must(t, err)
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
	entries, err := os.ReadDir(dir)
	testkit.Must(t, err)
	for _, e := range entries {
		r.made.Files[e.Name()] = testkit.ReadFile(t, filepath.Join(dir, e.Name()))
	}
	name := fmt.Sprintf("v%s.metadata.json", r.made.Files[hintName])
	testkit.Must(t, json.Unmarshal(r.made.Files[name], &r.json))
	return r
}
