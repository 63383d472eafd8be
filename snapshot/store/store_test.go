package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/internal/atomicfile"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "store"))
	testkit.Must(t, err)
	return s
}

func smallTable(name string, value int64) *snapshot.TableData {
	return &snapshot.TableData{
		Name: name, Rows: 2,
		Columns: []snapshot.ColumnData{{Name: "n", Kind: snapshot.Int, Ints: []int64{value, value + 1}}},
	}
}

// putSnapshot stores tables under an id.
func putSnapshot(t *testing.T, s *Store, id string, tables ...*snapshot.TableData) *Manifest {
	t.Helper()
	m := &Manifest{
		Format: 1, ID: id, SnapshotTime: noon, CatalogURL: "https://catalog.example",
		State: json.RawMessage(`{"seen": [1, 2]}`),
	}
	for _, table := range tables {
		ref, err := s.Segments.PutSegment(table)
		testkit.Must(t, err)
		m.Tables = append(m.Tables, ref)
	}
	testkit.Must(t, s.Snapshots.PutManifest(m))
	return m
}

// mixedTable has a group, text, nulls and decimals.
func mixedTable() *snapshot.TableData {
	return &snapshot.TableData{
		Name: "mixed", Rows: 3,
		Groups: []snapshot.GroupData{{Name: "g", Codes: []uint32{1, 0, 1}, Tuples: 2, Columns: []snapshot.ColumnData{
			{Name: "place", Kind: snapshot.Text, Codes: []uint32{0, snapshot.NullCode}, Values: []string{"x"}},
		}}},
		Columns: []snapshot.ColumnData{
			{Name: "n", Kind: snapshot.Int, Ints: []int64{7, snapshot.NullInt, -7}},
			{Name: "d", Kind: snapshot.Decimal, Decimals: []snapshot.Dec{
				{Mantissa: 15, Scale: 1},
				{Scale: snapshot.DecNull},
				{Mantissa: 2},
			}},
		},
	}
}

// compareSegment checks that the store's file of a table has the bytes of WriteSegment, and that
// the opened segment is that table.
func compareSegment(t *testing.T, s *Store, snap *Snapshot, want *snapshot.TableData) {
	t.Helper()
	var data bytes.Buffer
	testkit.Must(t, snapshot.WriteSegment(&data, want))
	for _, ref := range snap.Manifest.Tables {
		if ref.Table != want.Name {
			continue
		}
		path, err := s.Segments.SegmentPath(ref.SHA256)
		testkit.Must(t, err)
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data.Bytes()) {
			t.Errorf("%s: file differs from WriteSegment's bytes, %v", want.Name, err)
		}
	}
	segment := snap.Segments[want.Name]
	if segment == nil || segment.Name() != want.Name || segment.Rows() != want.Rows ||
		segment.Bytes() != int64(data.Len()) {
		t.Fatalf("segment of %s: %+v", want.Name, segment)
	}
	n, err := segment.Column("n")
	testkit.Must(t, err)
	for i, c := range want.Columns {
		if c.Name != "n" {
			continue
		}
		for row, v := range want.Columns[i].Ints {
			if got := n.Int(uint32(row)); got != v {
				t.Errorf("%s, row %d: n is %d, want %d", want.Name, row, got, v)
			}
		}
	}
}

// TestPutSegmentReadsBack: a table whose segment cannot be read gets no file.
func TestPutSegmentReadsBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	table := smallTable("t", 5)
	table.Rows = 3
	if ref, err := s.Segments.PutSegment(table); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("%+v, %v, want ErrCorrupt", ref, err)
	}
	if files, err := os.ReadDir(s.Segments.folder); err != nil || len(files) > 0 {
		t.Errorf("the folder has %d files, %v", len(files), err)
	}
}

func TestStoreRoundTrip(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if _, err := s.Channels.Channel("current"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("channel of an empty store: %v", err)
	}
	one, two := mixedTable(), smallTable("other", 5)
	putSnapshot(t, s, "s1", one, two)
	testkit.Must(t, s.Channels.Publish("current", "s1", noon))
	testkit.Must(t, s.Snapshots.PutReport("s1", []byte(`{"rows": 7}`)))
	p, err := s.Channels.Channel("current")
	if err != nil || p.ID != "s1" || !p.PublishedAt.Equal(noon) {
		t.Fatalf("channel %+v, %v", p, err)
	}
	if _, hash, err := s.Snapshots.manifest("s1"); err != nil || hash != p.SHA256 {
		t.Fatalf("manifest has hash %s (%v), channel says %s", hash, err, p.SHA256)
	}
	snap, err := s.Snapshots.Open(p.ID)
	testkit.Must(t, err)
	defer snap.Close()
	for _, want := range []*snapshot.TableData{one, two} {
		compareSegment(t, s, snap, want)
	}
	if snap.Manifest.CatalogURL != "https://catalog.example" || !snap.Manifest.SnapshotTime.Equal(noon) {
		t.Errorf("manifest %+v", snap.Manifest)
	}
	if report, err := s.Snapshots.Report("s1"); err != nil || string(report) != `{"rows": 7}` {
		t.Errorf("report %s, %v", report, err)
	}
	if ids, err := s.Snapshots.Manifests(); err != nil || strings.Join(ids, " ") != "s1" {
		t.Errorf("manifests %v, %v", ids, err)
	}
	if names, err := s.Channels.Names(); err != nil || strings.Join(names, " ") != "current" {
		t.Errorf("channels %v, %v", names, err)
	}
	testkit.Must(t, s.Verify("s1"))
}

// TestStoreKeepsWhatItHas: the same table is one file, which the second write does not touch, and
// snapshots share it when opened.
func TestStoreKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m1 := putSnapshot(t, s, "s1", smallTable("same", 1), smallTable("other", 1))
	path, _ := s.Segments.SegmentPath(m1.Tables[0].SHA256)
	before, err := os.Stat(path)
	testkit.Must(t, err)
	putSnapshot(t, s, "s2", smallTable("same", 1), smallTable("other", 2))
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file of an unchanged table was written again (%v)", err)
	}
	a, err := s.Snapshots.Open("s1")
	testkit.Must(t, err)
	b, err := s.Snapshots.OpenAfter("s2", a)
	testkit.Must(t, err)
	same := b.Segments["same"]
	if same != a.Segments["same"] || b.Segments["other"] == a.Segments["other"] {
		t.Error("segments are not shared")
	}
	testkit.Must(t, a.Close())
	c, err := same.Column("n")
	if err != nil || c.Int(1) != 2 {
		t.Errorf("shared segment after one close: %v", err)
	}
	testkit.Must(t, b.Close())
	// Writing the same manifest again changes nothing; another one with the same id is refused.
	testkit.Must(t, s.Snapshots.PutManifest(m1))
	m1.CatalogURL = "https://elsewhere.example"
	if err := s.Snapshots.PutManifest(m1); !errors.Is(err, fs.ErrExist) {
		t.Errorf("another manifest with the same id: %v", err)
	}
}

// TestStoreOpensWhatWasPublished: a manifest that was changed after publishing is not served, even
// if it is valid.
func TestStoreOpensWhatWasPublished(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	putSnapshot(t, s, "s1", smallTable("n", 1))
	testkit.Must(t, s.Channels.Publish("current", "s1", noon))
	p, err := s.Channels.Channel("current")
	testkit.Must(t, err)
	snap, err := s.Snapshots.OpenPointer(p, nil)
	testkit.Must(t, err)
	defer snap.Close()
	path := filepath.Join(s.Snapshots.dir, manifestsDir, "s1.json")
	data := testkit.ReadFile(t, path)
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), "catalog.example", "cata1og.example", 1)),
		0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshots.OpenPointer(p, snap); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("opening a changed manifest: %v", err)
	}
	if err := s.Verify("s1"); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("verifying a changed manifest: %v", err)
	}
}

// TestStoreHealsASegment: a file damaged in place is replaced by the next write of its table.
func TestStoreHealsASegment(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ref := putSnapshot(t, s, "s1", smallTable("n", 1)).Tables[0]
	path, _ := s.Segments.SegmentPath(ref.SHA256)
	data := testkit.ReadFile(t, path)
	data[9] ^= 1
	testkit.Must(t, os.WriteFile(path, data, 0o644))
	if _, err := s.Snapshots.Open("s1"); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Fatalf("opening a damaged segment: %v", err)
	}
	if err := s.Verify("s1"); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Fatalf("verifying a damaged segment: %v", err)
	}
	putSnapshot(t, s, "s2", smallTable("n", 1))
	testkit.Must(t, s.Verify("s1"))
}

func TestStoreNames(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	putSnapshot(t, s, "s1", smallTable("n", 1))
	for _, name := range []string{
		"", ".", "..", "../s1", "a/b", `a\b`, ".s1", "-s1", "s1.report", "s 1", "s\x00", "ä",
		strings.Repeat("x", maxID+1), "/etc/passwd", "s1\n",
	} {
		_, errOpen := s.Snapshots.Open(name)
		_, errChannel := s.Channels.Channel(name)
		for _, err := range []error{
			errOpen, errChannel, s.Channels.Publish(name, "s1", noon), s.Channels.Publish("c", name, noon),
			s.Snapshots.PutReport(name, []byte("{}")),
		} {
			if !errors.Is(err, ErrName) {
				t.Errorf("name %q: %v", name, err)
			}
		}
	}
	for _, hash := range []string{"", "..", strings.Repeat("A", 64), strings.Repeat("a", 63), strings.Repeat("g", 64)} {
		if _, err := s.Segments.SegmentPath(hash); !errors.Is(err, ErrName) {
			t.Errorf("hash %q: %v", hash, err)
		}
	}
}

// TestStoreConcurrentWriters: concurrent writers of the same and of other tables leave a complete
// store.
func TestStoreConcurrentWriters(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := s.Segments.PutSegment(smallTable("n", int64(i%3))); err != nil {
				t.Error(err)
			}
			if err := atomicfile.Write(filepath.Join(s.Snapshots.dir, channelsDir, "c.json"), []byte(`{}`)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(filepath.Join(s.Snapshots.dir, segmentsDir))
	if err != nil || len(entries) != 3 {
		t.Errorf("%d segments, want 3 (%v): %v", len(entries), err, entries)
	}
}
