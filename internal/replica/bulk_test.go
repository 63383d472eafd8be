package replica

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/bulk"
	"hdqs/internal/fetch"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// addBulk adds bulk files to a snapshot of a local store: one of each text, of table a.
func addBulk(t *testing.T, s *store.Store, of *store.Manifest, texts ...string) *bulk.Manifest {
	t.Helper()
	b := bulk.Open(s)
	table := bulk.Table{Table: "a", Rows: of.Tables[0].Rows, Segment: of.Tables[0].SHA256, Files: []bulk.File{}}
	for i, text := range texts {
		f := bulk.File{
			Path: fmt.Sprintf("a/c=%d/part-0.parquet", i), Format: bulk.Parquet, Bytes: int64(len(text)),
			SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text))),
		}
		testkit.WriteFile(t, b.Path(&f), []byte(text))
		table.Files = append(table.Files, f)
	}
	m := &bulk.Manifest{
		Format: bulk.ManifestFormat, Snapshot: of.ID, Created: noon, Tables: []bulk.Table{table}, Files: []bulk.File{},
	}
	testkit.Must(t, b.PutManifest(m))
	return m
}

// TestBulkPushAndFetch: bulk files go with the snapshot, before the channel, and only those that
// the bucket lacks. Replicas get them when they ask.
func TestBulkPushAndFetch(t *testing.T) {
	p := newPair(t)
	first := publish(t, p.writer, "s1", table("a", 1))
	addBulk(t, p.writer, first, "one", "two")
	p.push()
	puts := p.Take("PUT")
	if n := len(puts); n != 7 || puts[n-1] != "PUT channels/stable.json" || puts[n-2] != "PUT bulk/snapshots/s1.json" {
		t.Errorf("requests %q", puts)
	}
	p.fetch()
	testkit.Fails(bulk.Open(p.reader).Manifest("s1"))(t, fs.ErrNotExist, "bulk files were fetched unasked")
	got, err := p.replica.FetchBulk(t.Context(), "s1", false)
	if err != nil || got.Files != 2 || got.Bytes != 6 {
		t.Fatalf("fetched %+v, %v", got, err)
	}
	testkit.Must(t, bulk.Open(p.reader).Verify(first))
	p.Take("")
	if got, err = p.replica.FetchBulk(t.Context(), "s1", false); err != nil || got.Files != 0 || len(p.Take("")) != 0 {
		t.Errorf("fetched again: %+v, %v", got, err)
	}

	second := publish(t, p.writer, "s2", table("a", 2))
	addBulk(t, p.writer, second, "one", "three")
	p.push()
	if puts = p.Take("PUT bulk/data"); len(puts) != 1 {
		t.Errorf("the second snapshot uploads %q, want one file", puts)
	}
	p.fetch()
	if got, err = p.replica.FetchBulk(t.Context(), "s2", false); err != nil || got.Files != 1 {
		t.Errorf("fetched %+v, %v", got, err)
	}
	third := p.put("s3", table("a", 3))
	testkit.Fails(p.replica.FetchBulk(t.Context(), "s3", false))(t, fs.ErrNotExist, "a snapshot without bulk files")
	// They can come later, without a new snapshot.
	addBulk(t, p.writer, third, "four")
	p.push()
	if got, err = p.replica.FetchBulk(t.Context(), "s3", false); err != nil || got.Files != 1 {
		t.Errorf("fetched %+v, %v", got, err)
	}
}

// TestBulkFetchRefuses: a damaged or missing file gets no name, and the snapshot no manifest.
func TestBulkFetchRefuses(t *testing.T) {
	p := newPair(t)
	m := addBulk(t, p.writer, publish(t, p.writer, "s1", table("a", 1)), "some text", "another")
	p.push()
	name := m.Tables[0].Files[0].Name()
	good := p.Objects[name]
	for what, damage := range map[string]func(){
		"missing": func() { delete(p.Objects, name) },
		"changed": func() { p.Objects[name] = objectstest.Object{Data: []byte("Some text"), Modified: noon} },
		"cut":     func() { p.Objects[name] = objectstest.Object{Data: []byte("some"), Modified: noon} },
		"longer":  func() { p.Objects[name] = objectstest.Object{Data: bytes.Repeat([]byte("a"), 99), Modified: noon} },
	} {
		p.Set(func(b *objectstest.Bucket) { damage() })
		_, err := NewReplica(p.remote, p.reader, "stable").FetchBulk(t.Context(), "s1", false)
		if !errors.Is(err, snapshot.ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", what, err)
		}
		testkit.Fails(bulk.Open(p.reader).Manifest("s1"))(t, fs.ErrNotExist, "%s: there is a manifest", what)
		if bulk.Open(p.reader).Has(&m.Tables[0].Files[0], false) {
			t.Errorf("%s: the file is there", what)
		}
	}
	p.Set(func(b *objectstest.Bucket) { b.Objects[name] = good })
	testkit.Value(NewReplica(p.remote, p.reader, "stable").FetchBulk(t.Context(), "s1", false))(t)
	// A file that is damaged here is not uploaded.
	testkit.Must(t, os.WriteFile(bulk.Open(p.writer).Path(&m.Tables[0].Files[1]), []byte("ANOTHER"), 0o644))
	fresh := testkit.Value(Open(objectstest.NewBucket("other").Address(), fetch.Options{}))(t)
	if _, err := fresh.Push(t.Context(), p.writer, "stable", Version{}, false); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("a damaged file was uploaded: %v", err)
	}
}

// TestBulkSigned: a replica that requires signatures fetches only files of a signed manifest.
func TestBulkSigned(t *testing.T) {
	p := newPair(t)
	keys := p.sign()
	addBulk(t, p.writer, publish(t, p.writer, "s1", table("a", 1)), "one")
	p.push()
	testkit.Value(p.replica.FetchBulk(t.Context(), "s1", false))(t)
	p.Set(func(b *objectstest.Bucket) { delete(b.Objects, bulk.SignatureName("s1")) })
	replica := NewReplica(p.remote, newStore(t).Trusting(keys), "stable")
	testkit.Fails(replica.FetchBulk(t.Context(), "s1", false))(t, store.ErrSignature, "without a signature")
	testkit.Equal(t, len(p.Take("GET bulk/data")), 1, "downloads of files")
}

// TestIcebergPushAndFetch: metadata goes to the bucket before the hint that publishes it, and a
// fresh writer begins with it.
func TestIcebergPushAndFetch(t *testing.T) {
	p := newPair(t)
	folder := func(s *store.Store) string { return filepath.Join(s.Dir(), "bulk", "iceberg", "a", "metadata") }
	testkit.Must(t, p.remote.PushIceberg(t.Context(), p.writer))
	for name, text := range map[string]string{"v1.metadata.json": "{}", "version-hint.text": "1"} {
		testkit.Must(t, os.MkdirAll(folder(p.writer), 0o755))
		testkit.WriteFile(t, filepath.Join(folder(p.writer), name), []byte(text))
	}
	testkit.Must(t, p.remote.PushIceberg(t.Context(), p.writer))
	want := []string{"PUT bulk/iceberg/a/metadata/v1.metadata.json", "PUT bulk/iceberg/a/metadata/version-hint.text"}
	testkit.EqualLists(t, p.Take("PUT"), want, "requests")
	testkit.Must(t, p.replica.FetchIceberg(t.Context()))
	for _, name := range []string{"v1.metadata.json", "version-hint.text"} {
		a := testkit.ReadFile(t, filepath.Join(folder(p.writer), name))
		b := testkit.ReadFile(t, filepath.Join(folder(p.reader), name))
		if !bytes.Equal(a, b) {
			t.Errorf("%s: %q, want %q", name, b, a)
		}
	}
}
