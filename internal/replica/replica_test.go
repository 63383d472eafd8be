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
	return testkit.Value(store.Open(filepath.Join(t.TempDir(), "store")))(t)
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
		ref := testkit.Value(s.Segments.PutSegment(table))(t)
		m.Tables = append(m.Tables, ref)
	}
	report := []byte(`{"rows":1}`)
	testkit.Must(t, errors.Join(s.Snapshots.PutManifest(m), s.Snapshots.PutReport(id, report),
		s.Channels.Publish("stable", id, noon)))
	return m
}

func mustPush(t *testing.T, r *Remote, s *store.Store, base Version) Version {
	t.Helper()
	return testkit.Value(r.Push(t.Context(), s, "stable", base, false))(t)
}

// mustFetch fetches and keeps the snapshot, and verifies the local store.
func mustFetch(t *testing.T, replica *Replica, s *store.Store) *FetchResult {
	t.Helper()
	f := testkit.Value(replica.Fetch(t.Context()))(t)
	testkit.Must(t, errors.Join(replica.Keep(f.Version), s.Verify(f.ID)))
	return f
}

func TestPushAndFetch(t *testing.T) {
	p := newPair(t)
	if _, err := p.replica.Fetch(t.Context()); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnavailable) {
		t.Fatalf("no channel: %v", err)
	}
	p.put("s1", table("a", 1), table("b", 1))
	puts := p.Take("PUT")
	if n := len(puts); n != 5 || puts[n-1] != "PUT channels/stable.json" || puts[n-2] != "PUT manifests/s1.json" {
		t.Errorf("requests %q", puts)
	}
	f := p.fetch()
	if !f.Changed || f.Files != 2 || f.ID != "s1" {
		t.Errorf("fetched %+v", f)
	}
	if report, err := p.reader.Snapshots.Report("s1"); err != nil || string(report) != `{"rows":1}` {
		t.Errorf("report %s, %v", report, err)
	}

	p.Take("")
	before := p.remote.Traffic()
	if f = p.fetch(); f.Changed || f.Files != 0 || f.ID != "s1" {
		t.Errorf("fetched again %+v", f)
	}
	if d := p.remote.Traffic().Minus(before); d.Requests != 1 || d.Received != 0 || len(p.Take("GET")) != 1 {
		t.Errorf("checking an unchanged channel: %+v; want one request and no bytes", d)
	}

	m := p.put("s2", table("a", 1), table("b", 2))
	segment := store.SegmentName(m.Tables[1].SHA256)
	if puts := p.Take("PUT segments"); len(puts) != 1 || puts[0] != "PUT "+segment {
		t.Errorf("uploaded after a change: %q, want one segment", puts)
	}
	f = p.fetch()
	if !f.Changed || f.Files != 1 || f.Bytes != m.Tables[1].Bytes || f.Previous[0].ID != "s1" {
		t.Errorf("fetched a change %+v", f)
	}
	if gets := p.Take("GET segments"); len(gets) != 1 || gets[0] != "GET "+segment {
		t.Errorf("downloaded after a change: %q, want one segment", gets)
	}
	if p.push(); len(p.Take("PUT")) != 0 {
		t.Errorf("pushing an unchanged snapshot sends something")
	}
}

// TestManifestAlone checks that Manifest requests only the manifest and its signature, and keeps
// nothing.
func TestManifestAlone(t *testing.T) {
	p := newPair(t)
	p.put("s1", table("a", 1))
	p.put("s2", table("a", 2))
	for _, c := range []struct {
		id, want string
		requests int
	}{{"s1", "s1", 2}, {"s2", "s2", 2}, {"", "s2", 3}} {
		p.Take("")
		m, err := p.replica.Manifest(t.Context(), c.id)
		if asked := p.Take(""); err != nil || m.ID != c.want || len(asked) != c.requests {
			t.Errorf("%q: %v, %v after %q", c.id, m, err, asked)
		}
	}
	if ids, err := p.reader.Snapshots.Manifests(); err != nil || len(ids) > 0 {
		t.Errorf("kept %v, %v", ids, err)
	}
	p.fetch()
	p.Take("")
	if m, err := p.replica.Manifest(t.Context(), ""); err != nil || m.ID != "s2" || len(p.Take("")) != 1 {
		t.Errorf("of the kept snapshot: %v, %v", m, err)
	}
	_, err := p.replica.Manifest(t.Context(), "s9")
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("of a missing snapshot: %v", err)
	}
	p.Set(func(b *objectstest.Bucket) { delete(b.Objects, "manifests/s2.json") })
	_, err = NewReplica(p.remote, newStore(t), "stable").Manifest(t.Context(), "")
	testkit.Is(t, err, snapshot.ErrCorrupt, "of a missing manifest that a channel shows")
}

// TestConflict checks that of two writers that began from the same channel one succeeds, also when
// there was no channel.
func TestConflict(t *testing.T) {
	p := newPair(t)
	two := newStore(t)
	publish(t, two, "two", table("a", 2))
	refused := func(shown string) {
		t.Helper()
		before := p.shown
		p.put(shown, table("a", 1))
		_, err := p.remote.Push(t.Context(), two, "stable", before, false)
		if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "snapshot "+shown) {
			t.Errorf("a second writer beside that of %s: %v", shown, err)
		}
	}
	refused("one")
	refused("three")
	testkit.Equal(t, testkit.Value(p.remote.Channel(t.Context(), "stable"))(t).ID, "three", "the channel shows")
}

// TestLostAnswer moves a channel but drops the response. The next try of the same write is refused,
// which is no conflict.
func TestLostAnswer(t *testing.T) {
	p := newPair(t)
	publish(t, p.writer, "s1", table("a", 1))
	var cut atomic.Bool
	p.Set(func(b *objectstest.Bucket) {
		b.After = func(r *http.Request, name string) bool {
			return r.Method == http.MethodPut && name == "channels/stable.json" && !cut.Swap(true)
		}
	})
	if v := p.push(); v.ID != "s1" || v.etag == "" {
		t.Errorf("%+v", v)
	}
	if puts := p.Take("PUT channels"); len(puts) != 2 {
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
	p := newPair(t)
	p.put("s1", table("a", 1))
	p.fetch()
	m := p.put("s2", table("a", 2))
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
		p.Set(func(b *objectstest.Bucket) {
			good = b.Objects[fault.object]
			if fault.data == nil {
				delete(p.Objects, fault.object)
				return
			}
			data := fault.data(bytes.Clone(good.Data))
			b.Objects[fault.object] = objectstest.Object{Data: data, Modified: good.Modified}
		})
		if _, err := p.replica.Fetch(t.Context()); !errors.Is(err, fault.want) || errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		testkit.Equal(t, testkit.Value(p.replica.Last())(t).ID, "s1", "%s: last", name)
		testkit.Is(t, p.reader.Verify("s1"), nil, "%s", name)
		if p.reader.Segments.HasSegment(m.Tables[0], false) {
			t.Errorf("%s: the segment is in the local store", name)
		}
		p.Set(func(b *objectstest.Bucket) { b.Objects[fault.object] = good })
	}
	left := testkit.Value(filepath.Glob(filepath.Join(p.reader.Dir(), "segments", ".*")))(t)
	testkit.Equal(t, len(left), 0, "temporary files")
	if f := p.fetch(); f.ID != "s2" {
		t.Errorf("after the faults: %+v", f)
	}
}

// TestUnavailable checks the error of a service that does not respond, refuses access, or has no
// such bucket, and what it says. The suite of internal/objects has more failures.
func TestUnavailable(t *testing.T) {
	p := newPair(t)
	p.put("s1", table("a", 1))
	p.fetch()
	for name, fault := range map[string]func(http.ResponseWriter){
		"broken":    func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"error":     func(w http.ResponseWriter) { objectstest.Error(w, 503, "SlowDown") },
		"forbidden": func(w http.ResponseWriter) { objectstest.Error(w, 403, "AccessDenied") },
		"no bucket": func(w http.ResponseWriter) { objectstest.Error(w, 404, "NoSuchBucket") },
	} {
		p.Set(func(b *objectstest.Bucket) {
			b.Fault = func(w http.ResponseWriter, _ *http.Request, _ string) bool { fault(w); return true }
		})
		if _, err := p.replica.Fetch(t.Context()); !errors.Is(err, ErrUnavailable) ||
			name == "no bucket" && !strings.Contains(err.Error(), "there is no such bucket") {
			t.Errorf("%s: %v", name, err)
		}
		testkit.Equal(t, testkit.Value(p.replica.Last())(t).ID, "s1", "%s: last", name)
	}
	publish(t, p.writer, "s2", table("a", 2))
	testkit.Fails(p.remote.Push(t.Context(), p.writer, "stable", p.shown, false))(t, ErrUnavailable, "push")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Fails(p.replica.Fetch(ended))(t, context.Canceled, "canceled")
}

// TestLast checks that the local channel counts only if it comes from this remote store.
func TestLast(t *testing.T) {
	p := newPair(t)
	p.put("s1", table("a", 1))
	testkit.Fails(p.replica.Last())(t, fs.ErrNotExist, "empty")
	p.fetch()
	other := testkit.Value(Open("s3://bucket/other", fetch.Options{}))(t)
	if p, err := NewReplica(other, p.reader, "stable").Last(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("from another address: %+v, %v", p, err)
	}
	// A load of its own into the same directory.
	publish(t, p.reader, "own", table("a", 9))
	if p, err := p.replica.Last(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after another load: %+v, %v", p, err)
	}
	p.Take("")
	if f := p.fetch(); f.ID != "s1" || !f.Changed {
		t.Errorf("fetched after another load: %+v", f)
	}
	if p, err := p.replica.Last(); err != nil || p.ID != "s1" {
		t.Errorf("last %+v, %v", p, err)
	}
	// The process ends between the two steps of Keep: the channel still shows the snapshot before.
	p.put("s2", table("a", 2))
	f := testkit.Value(p.replica.Fetch(t.Context()))(t)
	before := testkit.ReadFile(t, filepath.Join(p.reader.Dir(), "channels", "stable.json"))
	testkit.Must(t, p.replica.Keep(f.Version))
	testkit.Must(t, os.WriteFile(filepath.Join(p.reader.Dir(), "channels", "stable.json"), before, 0o644))
	if p, err := p.replica.Last(); err != nil || p.ID != "s1" {
		t.Errorf("after half a Keep: %+v, %v", p, err)
	}
	if f := p.fetch(); f.ID != "s2" {
		t.Errorf("fetched after half a Keep: %+v", f)
	}
}

// TestSignedFetch checks that no segment of an unsigned snapshot is downloaded.
func TestSignedFetch(t *testing.T) {
	p := newPair(t)
	key, keys := testkit.SigningKey(t)
	p.require(keys)
	p.put("s1", table("a", 1))
	p.Take("")
	testkit.Fails(p.replica.Fetch(t.Context()))(t, store.ErrSignature, "an unsigned snapshot")
	if gets := p.Take("GET segments"); len(gets) != 0 {
		t.Errorf("downloaded %q", gets)
	}
	testkit.Must(t, p.writer.Signing(key).Snapshots.Sign("s1"))
	p.push()
	_, err := p.replica.Fetch(t.Context())
	if !errors.Is(err, store.ErrSignature) || !strings.Contains(err.Error(), "channel stable has no signature") {
		t.Errorf("an unsigned channel: %v", err)
	}
	p.writer = p.writer.Signing(key)
	v := p.push()
	if puts := p.Take("PUT"); len(puts) != 2 || puts[1] != "PUT channels/stable.json" {
		t.Errorf("signing a present snapshot uploads %q", puts)
	}
	if again := p.push(); again.etag != v.etag || len(p.Take("PUT")) > 0 {
		t.Error("pushing a signed snapshot uploads something")
	}
	p.fetch()
}

// TestRewound checks that an older file of a channel is refused, and that of another channel, but
// that a rollback by a writer with the key is not.
func TestRewound(t *testing.T) {
	p := newPair(t)
	keys, trusting := p.sign(), newStore(t)
	const channel = "channels/stable.json"
	unsigned := NewReplica(p.remote, trusting, "stable")
	p.put("s1", table("a", 1))
	old := p.Objects[channel]
	p.fetch()
	p.put("s2", table("a", 2))
	v := p.shown
	if !v.PublishedAt.After(noon) {
		t.Errorf("published at %s, not after %s", v.PublishedAt, noon)
	}
	p.fetch()
	mustFetch(t, unsigned, trusting)
	testkit.Value(p.move("canary", "s1", noon.Add(time.Hour), p.writer))(t)
	good := p.Objects[channel]
	for name, put := range map[string]objectstest.Object{
		"an older file":               old,
		"the file of another channel": p.Objects["channels/canary.json"],
	} {
		p.Set(func(b *objectstest.Bucket) { b.Objects[channel] = put })
		testkit.Fails(p.replica.Fetch(t.Context()))(t, store.ErrSignature, "%s", name)
		testkit.Fails(p.replica.Manifest(t.Context(), ""))(t, store.ErrSignature, "%s, Manifest", name)
		if p, err := p.replica.Last(); err != nil || p.ID != "s2" {
			t.Errorf("%s: last is %+v, %v", name, p, err)
		}
		if f, err := unsigned.Fetch(t.Context()); err != nil || f.ID != "s1" {
			t.Errorf("%s: a replica without keys gets %v, %v", name, f, err)
		}
	}
	// A channel that was kept before signatures were required does not count.
	future := v.Channel
	future.PublishedAt, future.Signature = noon.Add(1000*time.Hour), ""
	text := testkit.Value(future.Encode())(t)
	p.Set(func(b *objectstest.Bucket) { b.Objects[channel] = objectstest.Object{Data: text, Modified: noon} })
	mustFetch(t, unsigned, trusting)
	p.Set(func(b *objectstest.Bucket) { b.Objects[channel] = good })
	f, err := NewReplica(p.remote, trusting.Trusting(keys), "stable").Fetch(t.Context())
	if err != nil || f.ID != "s2" {
		t.Errorf("after an unsigned channel: %v, %v", f, err)
	}
	testkit.Value(p.move("stable", "s1", noon, p.writer))(t)
	if f := p.fetch(); f.ID != "s1" || !f.PublishedAt.After(v.PublishedAt) {
		t.Errorf("after a rollback: %+v", f)
	}
}

// TestCollectRemote checks that a collection removes unused files but none that are rewritten while
// it runs, and that Push uploads again what was removed meanwhile.
func TestCollectRemote(t *testing.T) {
	p := newPair(t)
	p.put("s1", table("a", 1), table("b", 1))
	p.put("s2", table("a", 2), table("b", 1))
	old := func(b *objectstest.Bucket) {
		for name, o := range p.Objects {
			o.Modified = o.Modified.Add(-48 * time.Hour)
			b.Objects[name] = o
		}
	}
	p.Set(old)
	o := store.CollectOptions{Grace: 24 * time.Hour}
	found, err := store.Collect(t.Context(), p.remote, o)
	if err != nil || len(found.Manifests) != 1 || found.Segments != 1 || found.Kept != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	p.fresh()

	// The table of s1 comes back while its segment, which nobody needs, waits for a collection that
	// has listed it already.
	p.put("s3", table("a", 3), table("b", 1))
	p.Set(old)
	m := publish(t, p.writer, "s4", table("a", 2), table("b", 1))
	segment := store.SegmentName(m.Tables[0].SHA256)
	var collected atomic.Bool
	p.Set(func(b *objectstest.Bucket) {
		b.Fault = func(_ http.ResponseWriter, q *http.Request, name string) bool {
			if q.Method == http.MethodHead && name == segment && !collected.Swap(true) {
				p.push()
			}
			return false
		}
	})
	testkit.Value(store.Collect(t.Context(), p.remote, o))(t)
	if !collected.Load() {
		t.Fatal("the collection did not check the segment before it removed it")
	}
	if f := p.fresh(); f.ID != "s4" {
		t.Errorf("%+v", f)
	}

	// A segment is removed between the first check of Push and the last.
	m = publish(t, p.writer, "s5", table("a", 5), table("b", 5))
	segment = store.SegmentName(m.Tables[0].SHA256)
	p.Set(func(b *objectstest.Bucket) {
		b.Fault = func(_ http.ResponseWriter, q *http.Request, name string) bool {
			if q.Method == http.MethodPut && name == "manifests/s5.json" {
				p.Set(func(b *objectstest.Bucket) { delete(b.Objects, segment) })
			}
			return false
		}
	})
	p.push()
	p.fresh()
}

// TestMove: a channel of a bucket moves to a complete snapshot, unless it was moved meanwhile, and
// reports of replicas are objects.
func TestMove(t *testing.T) {
	p := newPair(t)
	p.put("s1", table("a", 1))
	before := p.shown
	m := p.put("s2", table("a", 2))
	later := noon.Add(time.Hour)
	next := store.PublishAt(later)
	if now, err := p.remote.Move(t.Context(), "stable", before, "s1", next, p.writer); !errors.Is(err, ErrConflict) {
		t.Errorf("moved from s1, which it does not show: %+v, %v", now, err)
	}
	canary, start := store.CanaryOf("stable"), store.StartCanary(p.shown.Channel, 5, noon)
	if c, err := p.remote.Move(t.Context(), canary, Version{}, "s1", start, p.writer); err != nil ||
		!c.IsOf(p.shown.Channel) || c.ID != "s1" {
		t.Errorf("canary %+v, %v", c, err)
	}
	if c, err := p.remote.Move(t.Context(), canary, Version{}, "s2", next, p.writer); !errors.Is(err, ErrConflict) {
		t.Errorf("a second canary: %+v, %v", c, err)
	}
	now, err := p.move("stable", "s1", later, p.writer)
	if err != nil || now.ID != "s1" || now.Previous[0].ID != "s2" || !now.PublishedAt.Equal(later) {
		t.Errorf("%+v, %v", now, err)
	}
	p.Set(func(b *objectstest.Bucket) { delete(b.Objects, store.SegmentName(m.Tables[0].SHA256)) })
	testkit.Fails(p.move("stable", "s2", noon, p.writer))(t, snapshot.ErrCorrupt, "an incomplete snapshot")
	testkit.Fails(p.move("stable", "s9", noon, p.writer))(t, fs.ErrNotExist, "a missing snapshot")
	name, err := store.ReplicaName("stable", "r1")
	testkit.Must(t, errors.Join(err, objects.PutBytes(t.Context(), p.remote, name, []byte("{}"))))
	listed, err := p.remote.List(t.Context(), store.ReplicasDir+"/stable")
	if err != nil || len(listed) != 1 || listed[0].Name != name {
		t.Errorf("reports %+v, %v", listed, err)
	}
}

// TestPublishSigned: a signed channel of a bucket is not moved without the key, neither by a push
// nor by a publication, and one with the key signs a manifest that has no signature.
func TestPublishSigned(t *testing.T) {
	p := newPair(t)
	plain := p.writer
	p.put("s1", table("a", 1))
	p.sign()
	p.put("s2", table("a", 2))
	p.Take("")
	later := noon.Add(time.Hour)
	testkit.Fails(p.move("stable", "s1", later, plain))(t, store.ErrUnsigned, "published without the key")
	other := newStore(t)
	publish(t, other, "s3", table("a", 3))
	if _, err := p.remote.Push(t.Context(), other, "stable", p.shown, false); !errors.Is(err, store.ErrUnsigned) {
		t.Errorf("pushed without the key: %v", err)
	}
	if puts := p.Take("PUT channels"); len(puts) > 0 {
		t.Errorf("wrote %q", puts)
	}
	testkit.Value(p.move("stable", "s1", later, p.writer))(t)
	testkit.Equal(t, p.fetch().ID, "s1", "fetched")
}

// TestWeb checks that a store behind a web server is not written. TestFetchByDelta reads one.
func TestWeb(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	publish(t, s, "s1", table("a", 1))
	server := httptest.NewServer(http.FileServer(http.Dir(s.Dir())))
	defer server.Close()
	r := testkit.Value(Open(server.URL+"/", fetch.Options{AllowHTTP: true, AllowPrivate: true}))(t)
	testkit.Fails(r.Push(t.Context(), s, "stable", Version{}, false))(t, objects.ErrReadOnly, "push")
	testkit.Fails(store.Collect(t.Context(), r, store.CollectOptions{}))(t, objects.ErrReadOnly, "collect")
	testkit.Is(t, objects.PutBytes(t.Context(), r, "a", []byte("{}")), objects.ErrReadOnly, "a report")
	r = testkit.Value(Open(server.URL, fetch.Options{AllowHTTP: true}))(t)
	testkit.Fails(NewReplica(r, newStore(t), "stable").Fetch(t.Context()))(t, fetch.ErrRefused, "private address")
}

// TestCopyTree checks that only changed files are written, and the list of files last.
func TestCopyTree(t *testing.T) {
	p := newPair(t)
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
		p.Take("")
		for _, to := range []objects.Store{p.remote, local} {
			c, err := CopyTree(t.Context(), dir, "list.json", to)
			if err != nil || c.Sent != step.sent || c.Files != 4 {
				t.Errorf("%s to %T: %+v, %v", step.name, to, c, err)
			}
		}
		if puts := p.Take("PUT"); step.name == "all" && puts[len(puts)-1] != "PUT list.json" {
			t.Errorf("order %q", puts)
		}
	}
	if data, err := os.ReadFile(filepath.Join(string(local), "a", "x.csv")); err != nil || string(data) != "y" {
		t.Errorf("%s, %v", data, err)
	}
	p.Set(func(b *objectstest.Bucket) {
		testkit.Equal(t, string(b.Objects["a/x.csv"].Data), "y", "%s", b.Objects["a/x.csv"].Data)
	})
}
