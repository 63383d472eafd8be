package replica

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hdqs/internal/fetch"
	"hdqs/internal/objects"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "store"))
	testkit.Must(t, err)
	return s
}

// table returns 3000 distinct numbers that depend on seed.
func table(name string, seed int64) *snapshot.TableData {
	ints := make([]int64, 3000)
	for i := range ints {
		ints[i] = seed + int64(i*i*7919)
	}
	columns := []snapshot.ColumnData{{Name: "n", Kind: snapshot.Int, Ints: ints}}
	return &snapshot.TableData{Name: name, Rows: len(ints), Columns: columns}
}

// publish stores tables as a snapshot and moves the channel stable to it.
func publish(t *testing.T, s *store.Store, id string, tables ...*snapshot.TableData) *store.Manifest {
	t.Helper()
	m := &store.Manifest{Format: 1, ID: id, SnapshotTime: noon, CatalogURL: "https://catalog.example"}
	for _, table := range tables {
		ref, err := s.Segments.PutSegment(table)
		testkit.Must(t, err)
		m.Tables = append(m.Tables, ref)
	}
	report := []byte(`{"rows":1}`)
	testkit.Must(t, errors.Join(s.Snapshots.PutManifest(m), s.Snapshots.PutReport(id, report),
		s.Channels.Publish("stable", id, noon)))
	return m
}

func mustPush(t *testing.T, r *Remote, s *store.Store, base Version) Version {
	t.Helper()
	v, err := r.Push(t.Context(), s, "stable", base, false)
	testkit.Must(t, err)
	return v
}

// mustFetch fetches and keeps the snapshot, and verifies the local store.
func mustFetch(t *testing.T, replica *Replica, s *store.Store) *FetchResult {
	t.Helper()
	f, err := replica.Fetch(t.Context())
	testkit.Must(t, err)
	testkit.Must(t, errors.Join(replica.Keep(f.Version), s.Verify(f.ID)))
	return f
}

func TestPushAndFetch(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	writer, reader := newStore(t), newStore(t)
	replica := NewReplica(r, reader, "stable")
	if _, err := replica.Fetch(t.Context()); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnavailable) {
		t.Fatalf("no channel: %v", err)
	}
	publish(t, writer, "s1", table("a", 1), table("b", 1))
	v := mustPush(t, r, writer, Version{})
	puts := b.Take("PUT")
	if n := len(puts); n != 5 || puts[n-1] != "PUT channels/stable.json" || puts[n-2] != "PUT manifests/s1.json" {
		t.Errorf("requests %q", puts)
	}
	f := mustFetch(t, replica, reader)
	if !f.Changed || f.Files != 2 || f.ID != "s1" {
		t.Errorf("fetched %+v", f)
	}
	if report, err := reader.Snapshots.Report("s1"); err != nil || string(report) != `{"rows":1}` {
		t.Errorf("report %s, %v", report, err)
	}

	b.Take("")
	before := r.Traffic()
	if f = mustFetch(t, replica, reader); f.Changed || f.Files != 0 || f.ID != "s1" {
		t.Errorf("fetched again %+v", f)
	}
	if d := r.Traffic().Minus(before); d.Requests != 1 || d.Received != 0 || len(b.Take("GET")) != 1 {
		t.Errorf("checking an unchanged channel: %+v; want one request and no bytes", d)
	}

	m := publish(t, writer, "s2", table("a", 1), table("b", 2))
	v = mustPush(t, r, writer, v)
	segment := store.SegmentName(m.Tables[1].SHA256)
	if puts := b.Take("PUT segments"); len(puts) != 1 || puts[0] != "PUT "+segment {
		t.Errorf("uploaded after a change: %q, want one segment", puts)
	}
	f = mustFetch(t, replica, reader)
	if !f.Changed || f.Files != 1 || f.Bytes != m.Tables[1].Bytes || f.Previous[0].ID != "s1" {
		t.Errorf("fetched a change %+v", f)
	}
	if gets := b.Take("GET segments"); len(gets) != 1 || gets[0] != "GET "+segment {
		t.Errorf("downloaded after a change: %q, want one segment", gets)
	}
	if again := mustPush(t, r, writer, v); again.ID != v.ID || len(b.Take("PUT")) != 0 {
		t.Errorf("pushing an unchanged snapshot sends something")
	}
}

// TestManifestAlone checks that Manifest requests only the manifest and its signature, and keeps
// nothing.
func TestManifestAlone(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	writer, reader := newStore(t), newStore(t)
	replica := NewReplica(r, reader, "stable")
	publish(t, writer, "s1", table("a", 1))
	v := mustPush(t, r, writer, Version{})
	publish(t, writer, "s2", table("a", 2))
	mustPush(t, r, writer, v)
	for _, c := range []struct {
		id, want string
		requests int
	}{{"s1", "s1", 2}, {"s2", "s2", 2}, {"", "s2", 3}} {
		b.Take("")
		m, err := replica.Manifest(t.Context(), c.id)
		if asked := b.Take(""); err != nil || m.ID != c.want || len(asked) != c.requests {
			t.Errorf("%q: %v, %v after %q", c.id, m, err, asked)
		}
	}
	if ids, err := reader.Snapshots.Manifests(); err != nil || len(ids) > 0 {
		t.Errorf("kept %v, %v", ids, err)
	}
	mustFetch(t, replica, reader)
	b.Take("")
	if m, err := replica.Manifest(t.Context(), ""); err != nil || m.ID != "s2" || len(b.Take("")) != 1 {
		t.Errorf("of the kept snapshot: %v, %v", m, err)
	}
	_, err := replica.Manifest(t.Context(), "s9")
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("of a missing snapshot: %v", err)
	}
	b.Set(func(b *objectstest.Bucket) { delete(b.Objects, "manifests/s2.json") })
	if _, err := NewReplica(r, newStore(t), "stable").Manifest(t.Context(), ""); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("of a missing manifest that a channel shows: %v", err)
	}
}

// TestConflict checks that of two writers that began from the same channel one succeeds, also when
// there was no channel.
func TestConflict(t *testing.T) {
	t.Parallel()
	_, r := newFake(t)
	one, two := newStore(t), newStore(t)
	publish(t, one, "one", table("a", 1))
	publish(t, two, "two", table("a", 2))
	v := mustPush(t, r, one, Version{})
	_, err := r.Push(t.Context(), two, "stable", Version{}, false)
	if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "snapshot one") {
		t.Errorf("second writer of a new channel: %v", err)
	}
	publish(t, one, "three", table("a", 3))
	mustPush(t, r, one, v)
	_, err = r.Push(t.Context(), two, "stable", v, false)
	if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "snapshot three") {
		t.Errorf("second writer of a channel: %v", err)
	}
	if now, err := r.Channel(t.Context(), "stable"); err != nil || now.ID != "three" {
		t.Errorf("the channel shows %s, %v", now.ID, err)
	}
}

// TestLostAnswer moves a channel but drops the response. The next try of the same write is refused,
// which is no conflict.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	s := newStore(t)
	publish(t, s, "s1", table("a", 1))
	var cut atomic.Bool
	b.Set(func(b *objectstest.Bucket) {
		b.After = func(r *http.Request, name string) bool {
			return r.Method == http.MethodPut && name == "channels/stable.json" && !cut.Swap(true)
		}
	})
	if v := mustPush(t, r, s, Version{}); v.ID != "s1" || v.etag == "" {
		t.Errorf("%+v", v)
	}
	if puts := b.Take("PUT channels"); len(puts) != 2 {
		t.Errorf("%q: want two tries", puts)
	}
}

func flip(b []byte) []byte {
	b[len(b)/2] ^= 1
	return b
}

func extend(b []byte) []byte { return append(b, make([]byte, 1<<20)...) }

// zeros replaces a file by one of n zero bytes.
func zeros(n int) func([]byte) []byte {
	return func([]byte) []byte { return make([]byte, n) }
}

// elsewhere replaces a channel by one whose id leads out of the store.
func elsewhere([]byte) []byte { return []byte(`{"id":"../s2"}`) }

// TestFetchRefuses checks that damaged files do not get into the local store, and that the kept
// snapshot stays.
func TestFetchRefuses(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	writer, reader := newStore(t), newStore(t)
	replica := NewReplica(r, reader, "stable")
	publish(t, writer, "s1", table("a", 1))
	v := mustPush(t, r, writer, Version{})
	mustFetch(t, replica, reader)
	m := publish(t, writer, "s2", table("a", 2))
	mustPush(t, r, writer, v)
	segment := store.SegmentName(m.Tables[0].SHA256)
	for name, fault := range map[string]struct {
		object string
		data   func([]byte) []byte
		want   error
	}{
		"flipped segment":   {segment, flip, snapshot.ErrCorrupt},
		"endless segment":   {segment, extend, snapshot.ErrCorrupt},
		"short segment":     {segment, func(b []byte) []byte { return b[:10] }, snapshot.ErrCorrupt},
		"missing segment":   {segment, nil, snapshot.ErrCorrupt},
		"flipped manifest":  {"manifests/s2.json", flip, snapshot.ErrCorrupt},
		"huge manifest":     {"manifests/s2.json", zeros(store.MaxManifest + 1), snapshot.ErrCorrupt},
		"missing manifest":  {"manifests/s2.json", nil, snapshot.ErrCorrupt},
		"huge channel":      {"channels/stable.json", zeros(store.MaxChannel + 1), snapshot.ErrCorrupt},
		"channel elsewhere": {"channels/stable.json", elsewhere, snapshot.ErrCorrupt},
		"no channel":        {"channels/stable.json", nil, fs.ErrNotExist},
	} {
		var good objectstest.Object
		b.Set(func(b *objectstest.Bucket) {
			good = b.Objects[fault.object]
			if fault.data == nil {
				delete(b.Objects, fault.object)
				return
			}
			data := fault.data(bytes.Clone(good.Data))
			b.Objects[fault.object] = objectstest.Object{Data: data, Modified: good.Modified}
		})
		if _, err := replica.Fetch(t.Context()); !errors.Is(err, fault.want) || errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		if p, err := replica.Last(); err != nil || p.ID != "s1" {
			t.Errorf("%s: last is %s, %v", name, p.ID, err)
		}
		if err := reader.Verify("s1"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if reader.Segments.HasSegment(m.Tables[0], false) {
			t.Errorf("%s: the segment is in the local store", name)
		}
		b.Set(func(b *objectstest.Bucket) { b.Objects[fault.object] = good })
	}
	left, err := filepath.Glob(filepath.Join(reader.Dir(), "segments", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %q", left)
	}
	if f := mustFetch(t, replica, reader); f.ID != "s2" {
		t.Errorf("after the faults: %+v", f)
	}
}

// TestUnavailable checks the error of a service that does not respond, refuses access, or has no
// such bucket, and what it says. The suite of internal/objects has more failures.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	writer, reader := newStore(t), newStore(t)
	replica := NewReplica(r, reader, "stable")
	publish(t, writer, "s1", table("a", 1))
	v := mustPush(t, r, writer, Version{})
	mustFetch(t, replica, reader)
	for name, fault := range map[string]func(http.ResponseWriter){
		"broken":    func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"error":     func(w http.ResponseWriter) { objectstest.Error(w, 503, "SlowDown") },
		"forbidden": func(w http.ResponseWriter) { objectstest.Error(w, 403, "AccessDenied") },
		"no bucket": func(w http.ResponseWriter) { objectstest.Error(w, 404, "NoSuchBucket") },
	} {
		b.Set(func(b *objectstest.Bucket) {
			b.Fault = func(w http.ResponseWriter, _ *http.Request, _ string) bool { fault(w); return true }
		})
		if _, err := replica.Fetch(t.Context()); !errors.Is(err, ErrUnavailable) ||
			name == "no bucket" && !strings.Contains(err.Error(), "there is no such bucket") {
			t.Errorf("%s: %v", name, err)
		}
		if p, err := replica.Last(); err != nil || p.ID != "s1" {
			t.Errorf("%s: last is %s, %v", name, p.ID, err)
		}
	}
	publish(t, writer, "s2", table("a", 2))
	if _, err := r.Push(t.Context(), writer, "stable", v, false); !errors.Is(err, ErrUnavailable) {
		t.Errorf("push: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replica.Fetch(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestLast checks that the local channel counts only if it comes from this remote store.
func TestLast(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	writer, reader := newStore(t), newStore(t)
	publish(t, writer, "s1", table("a", 1))
	v := mustPush(t, r, writer, Version{})
	replica := NewReplica(r, reader, "stable")
	if _, err := replica.Last(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty: %v", err)
	}
	mustFetch(t, replica, reader)
	other, err := Open("s3://bucket/other", fetch.Options{})
	testkit.Must(t, err)
	if p, err := NewReplica(other, reader, "stable").Last(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("from another address: %+v, %v", p, err)
	}
	// A load of its own into the same directory.
	publish(t, reader, "own", table("a", 9))
	if p, err := replica.Last(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after another load: %+v, %v", p, err)
	}
	b.Take("")
	if f := mustFetch(t, replica, reader); f.ID != "s1" || !f.Changed {
		t.Errorf("fetched after another load: %+v", f)
	}
	if p, err := replica.Last(); err != nil || p.ID != "s1" {
		t.Errorf("last %+v, %v", p, err)
	}
	// The process ends between the two steps of Keep: the channel still shows the snapshot before.
	publish(t, writer, "s2", table("a", 2))
	mustPush(t, r, writer, v)
	f, err := replica.Fetch(t.Context())
	testkit.Must(t, err)
	before := testkit.ReadFile(t, filepath.Join(reader.Dir(), "channels", "stable.json"))
	testkit.Must(t, replica.Keep(f.Version))
	testkit.Must(t, os.WriteFile(filepath.Join(reader.Dir(), "channels", "stable.json"), before, 0o644))
	if p, err := replica.Last(); err != nil || p.ID != "s1" {
		t.Errorf("after half a Keep: %+v, %v", p, err)
	}
	if f := mustFetch(t, replica, reader); f.ID != "s2" {
		t.Errorf("fetched after half a Keep: %+v", f)
	}
}

// TestSignedFetch checks that no segment of an unsigned snapshot is downloaded.
func TestSignedFetch(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	key, keys := testkit.SigningKey(t)
	writer, reader := newStore(t), newStore(t).Trusting(keys)
	replica := NewReplica(r, reader, "stable")
	publish(t, writer, "s1", table("a", 1))
	v := mustPush(t, r, writer, Version{})
	b.Take("")
	if _, err := replica.Fetch(t.Context()); !errors.Is(err, store.ErrSignature) {
		t.Errorf("an unsigned snapshot: %v", err)
	}
	if gets := b.Take("GET segments"); len(gets) != 0 {
		t.Errorf("downloaded %q", gets)
	}
	testkit.Must(t, writer.Signing(key).Snapshots.Sign("s1"))
	v = mustPush(t, r, writer, v)
	_, err := replica.Fetch(t.Context())
	if !errors.Is(err, store.ErrSignature) || !strings.Contains(err.Error(), "channel stable has no signature") {
		t.Errorf("an unsigned channel: %v", err)
	}
	signing := writer.Signing(key)
	v = mustPush(t, r, signing, v)
	if puts := b.Take("PUT"); len(puts) != 2 || puts[1] != "PUT channels/stable.json" {
		t.Errorf("signing a present snapshot uploads %q", puts)
	}
	if again := mustPush(t, r, signing, v); again.etag != v.etag || len(b.Take("PUT")) > 0 {
		t.Error("pushing a signed snapshot uploads something")
	}
	mustFetch(t, replica, reader)
}

// TestRewound checks that an older file of a channel is refused, and that of another channel, but
// that a rollback by a writer with the key is not.
func TestRewound(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	key, keys := testkit.SigningKey(t)
	const channel = "channels/stable.json"
	writer, reader, trusting := newStore(t).Signing(key), newStore(t).Trusting(keys), newStore(t)
	replica, unsigned := NewReplica(r, reader, "stable"), NewReplica(r, trusting, "stable")
	publish(t, writer, "s1", table("a", 1))
	v := mustPush(t, r, writer, Version{})
	old := b.Objects[channel]
	mustFetch(t, replica, reader)
	publish(t, writer, "s2", table("a", 2))
	v = mustPush(t, r, writer, v)
	if !v.PublishedAt.After(noon) {
		t.Errorf("published at %s, not after %s", v.PublishedAt, noon)
	}
	mustFetch(t, replica, reader)
	mustFetch(t, unsigned, trusting)
	_, err := publishRemote(t, r, "canary", "s1", noon.Add(time.Hour), writer)
	testkit.Must(t, err)
	good := b.Objects[channel]
	for name, put := range map[string]objectstest.Object{
		"an older file":               old,
		"the file of another channel": b.Objects["channels/canary.json"],
	} {
		b.Set(func(b *objectstest.Bucket) { b.Objects[channel] = put })
		if _, err := replica.Fetch(t.Context()); !errors.Is(err, store.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := replica.Manifest(t.Context(), ""); !errors.Is(err, store.ErrSignature) {
			t.Errorf("%s, Manifest: %v", name, err)
		}
		if p, err := replica.Last(); err != nil || p.ID != "s2" {
			t.Errorf("%s: last is %+v, %v", name, p, err)
		}
		if f, err := unsigned.Fetch(t.Context()); err != nil || f.ID != "s1" {
			t.Errorf("%s: a replica without keys gets %v, %v", name, f, err)
		}
	}
	// A channel that was kept before signatures were required does not count.
	future := v.Channel
	future.PublishedAt, future.Signature = noon.Add(1000*time.Hour), ""
	text, err := future.Encode()
	testkit.Must(t, err)
	b.Set(func(b *objectstest.Bucket) { b.Objects[channel] = objectstest.Object{Data: text, Modified: noon} })
	mustFetch(t, unsigned, trusting)
	b.Set(func(b *objectstest.Bucket) { b.Objects[channel] = good })
	f, err := NewReplica(r, trusting.Trusting(keys), "stable").Fetch(t.Context())
	if err != nil || f.ID != "s2" {
		t.Errorf("after an unsigned channel: %v, %v", f, err)
	}
	_, err = publishRemote(t, r, "stable", "s1", noon, writer)
	testkit.Must(t, err)
	if f := mustFetch(t, replica, reader); f.ID != "s1" || !f.PublishedAt.After(v.PublishedAt) {
		t.Errorf("after a rollback: %+v", f)
	}
}

// TestCollectRemote checks that a collection removes unused files but none that are rewritten while
// it runs, and that Push uploads again what was removed meanwhile.
func TestCollectRemote(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	s := newStore(t)
	publish(t, s, "s1", table("a", 1), table("b", 1))
	v := mustPush(t, r, s, Version{})
	publish(t, s, "s2", table("a", 2), table("b", 1))
	v = mustPush(t, r, s, v)
	old := func(b *objectstest.Bucket) {
		for name, o := range b.Objects {
			o.Modified = o.Modified.Add(-48 * time.Hour)
			b.Objects[name] = o
		}
	}
	b.Set(old)
	o := store.CollectOptions{Grace: 24 * time.Hour}
	found, err := store.Collect(t.Context(), r, o)
	if err != nil || len(found.Manifests) != 1 || found.Segments != 1 || found.Kept != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	reader := newStore(t)
	mustFetch(t, NewReplica(r, reader, "stable"), reader)

	// The table of s1 comes back while its segment, which nobody needs, waits for a collection that
	// has listed it already.
	publish(t, s, "s3", table("a", 3), table("b", 1))
	v = mustPush(t, r, s, v)
	b.Set(old)
	m := publish(t, s, "s4", table("a", 2), table("b", 1))
	segment := store.SegmentName(m.Tables[0].SHA256)
	var collected atomic.Bool
	b.Set(func(b *objectstest.Bucket) {
		b.Fault = func(_ http.ResponseWriter, q *http.Request, name string) bool {
			if q.Method == http.MethodHead && name == segment && !collected.Swap(true) {
				v = mustPush(t, r, s, v)
			}
			return false
		}
	})
	_, err = store.Collect(t.Context(), r, o)
	testkit.Must(t, err)
	if !collected.Load() {
		t.Fatal("the collection did not check the segment before it removed it")
	}
	fresh := newStore(t)
	if f := mustFetch(t, NewReplica(r, fresh, "stable"), fresh); f.ID != "s4" {
		t.Errorf("%+v", f)
	}

	// A segment is removed between the first check of Push and the last.
	m = publish(t, s, "s5", table("a", 5), table("b", 5))
	segment = store.SegmentName(m.Tables[0].SHA256)
	b.Set(func(b *objectstest.Bucket) {
		b.Fault = func(_ http.ResponseWriter, q *http.Request, name string) bool {
			if q.Method == http.MethodPut && name == "manifests/s5.json" {
				b.Set(func(b *objectstest.Bucket) { delete(b.Objects, segment) })
			}
			return false
		}
	})
	mustPush(t, r, s, v)
	fresh = newStore(t)
	mustFetch(t, NewReplica(r, fresh, "stable"), fresh)
}

func TestPublishRemote(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	s := newStore(t)
	publish(t, s, "s1", table("a", 1))
	v := mustPush(t, r, s, Version{})
	m := publish(t, s, "s2", table("a", 2))
	mustPush(t, r, s, v)
	now, err := publishRemote(t, r, "stable", "s1", noon.Add(time.Hour), s)
	if err != nil || now.ID != "s1" || now.Previous[0].ID != "s2" || !now.PublishedAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v, %v", now, err)
	}
	b.Set(func(b *objectstest.Bucket) { delete(b.Objects, store.SegmentName(m.Tables[0].SHA256)) })
	if _, err := publishRemote(t, r, "stable", "s2", noon, s); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("an incomplete snapshot: %v", err)
	}
	if _, err := publishRemote(t, r, "stable", "s9", noon, s); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing snapshot: %v", err)
	}
}

// TestMoveFrom: a channel of a bucket that was moved meanwhile is not moved again, and reports of
// replicas are objects. Behind a web server there are none.
func TestMoveFrom(t *testing.T) {
	t.Parallel()
	_, r := newFake(t)
	s := newStore(t)
	publish(t, s, "s1", table("a", 1))
	v := mustPush(t, r, s, Version{})
	publish(t, s, "s2", table("a", 2))
	mustPush(t, r, s, v)
	next := store.PublishAt(noon.Add(time.Hour))
	if now, err := r.Move(t.Context(), "stable", v, "s1", next, s); !errors.Is(err, ErrConflict) {
		t.Errorf("moved from s1, which it does not show: %+v, %v", now, err)
	}
	now, err := r.Channel(t.Context(), "stable")
	testkit.Must(t, err)
	canary := store.CanaryOf("stable")
	if c, err := r.Move(t.Context(), canary, Version{}, "s1", store.StartCanary(now.Channel, 5, noon), s); err != nil ||
		!c.IsOf(now.Channel) || c.ID != "s1" {
		t.Errorf("canary %+v, %v", c, err)
	}
	if c, err := r.Move(t.Context(), canary, Version{}, "s2", next, s); !errors.Is(err, ErrConflict) {
		t.Errorf("a second canary: %+v, %v", c, err)
	}
	name, err := store.ReplicaName("stable", "r1")
	testkit.Must(t, errors.Join(err, objects.PutBytes(t.Context(), r, name, []byte("{}"))))
	listed, err := r.List(t.Context(), store.ReplicasDir+"/stable")
	if err != nil || len(listed) != 1 || listed[0].Name != name {
		t.Errorf("reports %+v, %v", listed, err)
	}
	web, err := Open("https://store.example.org", fetch.Options{})
	testkit.Must(t, err)
	if err := objects.PutBytes(t.Context(), web, name, []byte("{}")); !errors.Is(err, objects.ErrReadOnly) {
		t.Errorf("behind a web server: %v", err)
	}
}

// TestPublishSigned: a signed channel of a bucket is not moved without the key, neither by a push
// nor by a publication, and one with the key signs a manifest that has no signature.
func TestPublishSigned(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	key, keys := testkit.SigningKey(t)
	plain := newStore(t)
	signing := plain.Signing(key)
	publish(t, plain, "s1", table("a", 1))
	v := mustPush(t, r, plain, Version{})
	publish(t, signing, "s2", table("a", 2))
	v = mustPush(t, r, signing, v)
	b.Take("")
	later := noon.Add(time.Hour)
	if _, err := publishRemote(t, r, "stable", "s1", later, plain); !errors.Is(err, store.ErrUnsigned) {
		t.Errorf("published without the key: %v", err)
	}
	other := newStore(t)
	publish(t, other, "s3", table("a", 3))
	if _, err := r.Push(t.Context(), other, "stable", v, false); !errors.Is(err, store.ErrUnsigned) {
		t.Errorf("pushed without the key: %v", err)
	}
	if puts := b.Take("PUT channels"); len(puts) > 0 {
		t.Errorf("wrote %q", puts)
	}
	_, err := publishRemote(t, r, "stable", "s1", later, signing)
	testkit.Must(t, err)
	reader := newStore(t).Trusting(keys)
	if f := mustFetch(t, NewReplica(r, reader, "stable"), reader); f.ID != "s1" {
		t.Errorf("fetched %s, want s1", f.ID)
	}
}

// TestWeb checks that a store behind a web server is read the same way, and not written.
func TestWeb(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	publish(t, s, "s1", table("a", 1), table("b", 1))
	server := httptest.NewServer(http.FileServer(http.Dir(s.Dir())))
	defer server.Close()
	o := fetch.Options{AllowHTTP: true, AllowPrivate: true}
	r, err := Open(server.URL+"/", o)
	testkit.Must(t, err)
	reader := newStore(t)
	if f := mustFetch(t, NewReplica(r, reader, "stable"), reader); f.Files != 2 {
		t.Errorf("%+v", f)
	}
	if _, err := r.Push(t.Context(), s, "stable", Version{}, false); !errors.Is(err, objects.ErrReadOnly) {
		t.Errorf("push: %v", err)
	}
	if _, err := store.Collect(t.Context(), r, store.CollectOptions{}); !errors.Is(err, objects.ErrReadOnly) {
		t.Errorf("collect: %v", err)
	}
	o.AllowPrivate = false
	r, err = Open(server.URL, o)
	testkit.Must(t, err)
	if _, err := NewReplica(r, reader, "stable").Fetch(t.Context()); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("private address: %v", err)
	}
}

// TestCopyTree checks that only changed files are written, and the list of files last.
func TestCopyTree(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		testkit.Must(t, err)
	}
	write("list.json", "1")
	write("a/x.csv", "x")
	write("z.csv", "z")
	write("empty.csv", "")
	local := objects.Dir(filepath.Join(t.TempDir(), "copy"))
	for _, step := range []struct {
		name string
		sent int
	}{{"all", 4}, {"nothing", 0}, {"one", 1}} {
		if step.name == "one" {
			write("a/x.csv", "y")
		}
		b.Take("")
		for _, to := range []objects.Store{r, local} {
			c, err := CopyTree(t.Context(), dir, "list.json", to)
			if err != nil || c.Sent != step.sent || c.Files != 4 {
				t.Errorf("%s to %T: %+v, %v", step.name, to, c, err)
			}
		}
		if puts := b.Take("PUT"); step.name == "all" && puts[len(puts)-1] != "PUT list.json" {
			t.Errorf("order %q", puts)
		}
	}
	if data, err := os.ReadFile(filepath.Join(string(local), "a", "x.csv")); err != nil || string(data) != "y" {
		t.Errorf("%s, %v", data, err)
	}
	b.Set(func(b *objectstest.Bucket) {
		if string(b.Objects["a/x.csv"].Data) != "y" {
			t.Errorf("%s", b.Objects["a/x.csv"].Data)
		}
	})
}
