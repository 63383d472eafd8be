package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/internal/atomicfile"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestCanary: a canary is for the replicas of its share, as long as the main channel stays. It ends
// with a step forward, and a collection keeps what the replicas of both channels need.
func TestCanary(t *testing.T) {
	t.Parallel()
	key, keys := testkit.SigningKey(t)
	s := newStore(t).Signing(key)
	for i, id := range []string{"s1", "s2", "s3"} {
		putSnapshot(t, s, id, smallTable("a", int64(i)))
	}
	testkit.Must(t, s.Channels.Publish("stable", "s1", noon))
	read := func(name string) Channel {
		t.Helper()
		return testkit.Value(s.Trusting(keys).Channels.History(name))(t)
	}
	const share = 30
	canaryName := CanaryOf("stable")
	testkit.Must(t, s.Channels.Move(canaryName, "s2", StartCanary(read("stable"), share, noon.Add(time.Hour))))
	main, canary := read("stable"), read(canaryName)
	followers := 0
	for i := range 1000 {
		name := fmt.Sprintf("replica-%d", i)
		if follows := canary.Concerns(name, main); follows != (Bucket(name) < share) {
			t.Errorf("%s: %t with the number %d", name, follows, Bucket(name))
		} else if follows {
			followers++
		}
	}
	if followers < 240 || followers > 360 {
		t.Errorf("%d of 1000 replicas follow a canary for 30 per cent", followers)
	}
	if all := (Channel{Pointer: canary.Pointer, Canary: &Canary{100, main.Pointer}}); all.Concerns("", main) {
		t.Error("a replica without a name follows a canary")
	}
	if main.ID != "s1" || canary.ID != "s2" || canary.Previous[0].ID != "s1" {
		t.Errorf("channel %s, canary %+v", main.ID, canary)
	}
	for what, change := range map[string]func(*Canary){
		"percent": func(c *Canary) { c.Percent++ }, "snapshot": func(c *Canary) { c.Of.ID = "s3" },
		"time": func(c *Canary) { c.Of.PublishedAt = noon.Add(1) },
	} {
		forged := canary
		forged.Canary = &Canary{canary.Canary.Percent, canary.Canary.Of}
		change(forged.Canary)
		testkit.Is(t, s.Trusting(keys).Keys.CheckChannel(canaryName, forged), ErrSignature, "another %s", what)
	}
	forged := canary
	forged.Canary = nil
	testkit.Is(t, s.Trusting(keys).Keys.CheckChannel(canaryName, forged), ErrSignature, "no canary")

	age(t, s, time.Now(), 100*time.Hour)
	found, err := Collect(t.Context(), s.Files(), CollectOptions{})
	if err != nil || len(found.Manifests) != 1 || found.Manifests[0] != "s3" {
		t.Errorf("collected %+v, %v; want s3", found, err)
	}

	putSnapshot(t, s, "s3", smallTable("a", 2))
	testkit.Must(t, s.Channels.Move(canaryName, "s1", EndCanary(noon))) // the clock has gone back
	ended := read(canaryName)
	if ended.ID != "s1" || !ended.PublishedAt.After(canary.PublishedAt) || !ended.IsOf(main) ||
		ended.Previous[0].ID != "s2" {
		t.Errorf("ended: %+v", ended)
	}
	testkit.Must(t, s.Channels.Move(canaryName, "s3", StartCanary(main, 1, noon)))
	if next := read(canaryName); !next.PublishedAt.After(ended.PublishedAt) {
		t.Errorf("the next canary is of %s, the one before of %s", next.PublishedAt, ended.PublishedAt)
	}
	testkit.Must(t, s.Channels.Publish("stable", "s2", noon.Add(time.Minute)))
	if moved := read("stable"); read(canaryName).IsOf(moved) {
		t.Error("the canary goes on though the main channel has moved")
	}
	for _, percent := range []int{-1, 0, 101} {
		bad := ended
		bad.Canary = &Canary{percent, main.Pointer}
		text := testkit.Value(bad.Encode())(t)
		testkit.Fails(ParseChannel(text))(t, snapshot.ErrCorrupt, "%d per cent", percent)
	}
}

// TestReplicaReports: reports have their names, and a collection removes those that nobody renews.
func TestReplicaReports(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, name := range []string{"", "..", "../x", "a/b", ".a"} {
		if got, err := ReplicaName("stable", name); err == nil {
			t.Errorf("%q: %s", name, got)
		}
	}
	for name, age := range map[string]time.Duration{"new": time.Hour, "old": forgetAfter + time.Hour} {
		path := testkit.Value(ReplicaName("stable", name))(t)
		testkit.Must(t, s.Snapshots.PutFile(path, []byte("{}")))
		at := time.Now().Add(-age)
		testkit.Must(t, os.Chtimes(filepath.Join(s.Dir(), path), at, at))
	}
	testkit.Value(Collect(t.Context(), s.Files(), CollectOptions{}))(t)
	left, err := NamesIn(filepath.Join(s.Dir(), ReplicasDir, "stable"))
	if err != nil || len(left) != 1 || left[0] != "new" {
		t.Errorf("left %q, %v", left, err)
	}
}

var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

func newStore(t *testing.T) *Store {
	t.Helper()
	return testkit.Value(Open(filepath.Join(t.TempDir(), "store")))(t)
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
		ref := testkit.Value(s.Segments.PutSegment(table))(t)
		m.Tables = append(m.Tables, ref)
	}
	testkit.Must(t, s.Snapshots.PutManifest(m))
	return m
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

// TestStoreKeepsWhatItHas: the same table is one file, which the second write does not touch, and
// snapshots share it when opened.
func TestStoreKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m1 := putSnapshot(t, s, "s1", smallTable("same", 1), smallTable("other", 1))
	path, _ := s.Segments.SegmentPath(m1.Tables[0].SHA256)
	before := testkit.Value(os.Stat(path))(t)
	putSnapshot(t, s, "s2", smallTable("same", 1), smallTable("other", 2))
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file of an unchanged table was written again (%v)", err)
	}
	a := testkit.Value(s.Snapshots.Open("s1"))(t)
	b := testkit.Value(s.Snapshots.OpenAfter("s2", a))(t)
	same := b.Segments["same"]
	if same != a.Segments["same"] || b.Segments["other"] == a.Segments["other"] {
		t.Error("segments are not shared")
	}
	testkit.Must(t, a.Close())
	testkit.Equal(t, testkit.Value(same.Column("n"))(t).Int(1), 2, "shared segment after one close")
	testkit.Must(t, b.Close())
	// Writing the same manifest again changes nothing; another one with the same id is refused.
	testkit.Must(t, s.Snapshots.PutManifest(m1))
	m1.CatalogURL = "https://elsewhere.example"
	testkit.Is(t, s.Snapshots.PutManifest(m1), fs.ErrExist, "another manifest with the same id")
}

// TestStoreOpensWhatWasPublished: a manifest that was changed after publishing is not served, even
// if it is valid.
func TestStoreOpensWhatWasPublished(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	putSnapshot(t, s, "s1", smallTable("n", 1))
	testkit.Must(t, s.Channels.Publish("current", "s1", noon))
	p := testkit.Value(s.Channels.Channel("current"))(t)
	snap := testkit.Value(s.Snapshots.OpenPointer(p, nil))(t)
	defer snap.Close()
	path := filepath.Join(s.Snapshots.dir, manifestsDir, "s1.json")
	data := testkit.ReadFile(t, path)
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), "catalog.example", "cata1og.example", 1)),
		0o644); err != nil {
		t.Fatal(err)
	}
	testkit.Fails(s.Snapshots.OpenPointer(p, snap))(t, snapshot.ErrCorrupt, "opening a changed manifest")
	testkit.Is(t, s.Verify("s1"), snapshot.ErrCorrupt, "verifying a changed manifest")
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
			testkit.Is(t, err, ErrName, "name %q", name)
		}
	}
	for _, hash := range []string{"", "..", strings.Repeat("A", 64), strings.Repeat("a", 63), strings.Repeat("g", 64)} {
		testkit.Fails(s.Segments.SegmentPath(hash))(t, ErrName, "hash %q", hash)
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
	testkit.Equal(t, len(testkit.Value(os.ReadDir(filepath.Join(s.Snapshots.dir, segmentsDir)))(t)), 3, "segments")
}

func TestDeltas(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	before := putSnapshot(t, s, "s1", tables.Wide("a", 1), tables.Wide("b", 1), smallTable("c", 1))
	after := putSnapshot(t, s, "s2", tables.Wide("a", 2), tables.Wide("b", 1), smallTable("c", 2), tables.Wide("d", 1))
	written, err := s.PutDeltas(before, after)
	if err != nil || written.Files != 1 || written.Whole != after.Tables[0].Bytes || written.Bytes > written.Whole/50 {
		t.Fatalf("%+v, %v; want one small delta", written, err)
	}
	d := Delta{before.Tables[0], after.Tables[0]}
	names, err := s.DeltasTo(after)
	if err != nil || len(names) != 1 || names[0] != d.Name() {
		t.Errorf("deltas %q, %v", names, err)
	}
	if names, err = s.DeltasTo(before); err != nil || len(names) != 0 {
		t.Errorf("deltas to the first snapshot %q, %v", names, err)
	}
	file := filepath.Join(s.Dir(), filepath.FromSlash(d.Name()))
	delta := testkit.Value(os.ReadFile(file))(t)

	// Another store that has the first segment gets the second one. It must be exactly that.
	other := newStore(t)
	putSnapshot(t, other, "s1", tables.Wide("a", 1))
	wrong := Delta{d.From, before.Tables[1]}
	err = other.Segments.AddByDelta(wrong, delta, new(snapshot.DeltaApplier))
	testkit.Is(t, err, snapshot.ErrCorrupt, "a delta to another segment")
	if other.Segments.HasSegment(d.To, false) {
		t.Error("the store has the segment already")
	}
	err = other.Segments.AddByDelta(d, delta, new(snapshot.DeltaApplier))
	if err != nil || !other.Segments.HasSegment(d.To, true) {
		t.Errorf("the delta was not applied: %v", err)
	}
	if err := newStore(t).Segments.AddByDelta(d, delta, new(snapshot.DeltaApplier)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the first segment: %v", err)
	}

	// What is there is not made again; what cannot be made is not an error.
	testkit.Must(t, os.WriteFile(file, []byte("x"), 0o600))
	if written, err = s.PutDeltas(before, after); err != nil || written.Bytes != 1 {
		t.Errorf("made again: %+v, %v", written, err)
	}
	empty := newStore(t)
	putSnapshot(t, empty, "s2", tables.Wide("a", 2))
	if written, err = empty.PutDeltas(before, after); err != nil || written.Files != 0 {
		t.Errorf("without the first segments: %+v, %v", written, err)
	}
}

// TestCollectDeltas: a delta stays as long as the segment that it makes.
func TestCollectDeltas(t *testing.T) {
	t.Parallel()
	s, now := newStore(t), time.Now()
	manifests := []*Manifest{
		putSnapshot(t, s, "s1", tables.Wide("a", 1)), putSnapshot(t, s, "s2", tables.Wide("a", 2)),
		putSnapshot(t, s, "s3", tables.Wide("a", 3)),
	}
	for i := range 2 {
		testkit.Value(s.PutDeltas(manifests[i], manifests[i+1]))(t)
	}
	stray := filepath.Join(s.Dir(), deltasDir, "notes.txt")
	testkit.Must(t, os.WriteFile(stray, nil, 0o600))
	testkit.Must(t, s.Channels.Publish("channel", "s3", noon))
	o := CollectOptions{Grace: time.Hour, Now: now.Add(time.Minute)}
	_, err := Collect(t.Context(), s.Files(), o)
	if err != nil || !exists(s, Delta{manifests[0].Tables[0], manifests[1].Tables[0]}) {
		t.Errorf("a young delta was removed, %v", err)
	}
	o.Now = now.Add(2 * time.Hour)
	testkit.Value(Collect(t.Context(), s.Files(), o))(t)
	if exists(s, Delta{manifests[0].Tables[0], manifests[1].Tables[0]}) {
		t.Error("a delta to a segment that was removed is still there")
	}
	if !exists(s, Delta{manifests[1].Tables[0], manifests[2].Tables[0]}) {
		t.Error("the delta to the shown segment was removed")
	}
	if _, err := os.Stat(stray); err != nil {
		t.Errorf("another file was removed: %v", err)
	}
}

func exists(s *Store, d Delta) bool {
	_, err := os.Stat(filepath.Join(s.Dir(), filepath.FromSlash(d.Name())))
	return err == nil
}
