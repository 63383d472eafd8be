package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hdqs/internal/fetch"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// publishNext publishes a snapshot and writes the deltas to it.
func publishNext(
	t *testing.T, s *store.Store, before *store.Manifest, id string, tables ...*snapshot.TableData,
) *store.Manifest {
	t.Helper()
	m := publish(t, s, id, tables...)
	if n, err := s.PutDeltas(before, m); err != nil || n.Files == 0 {
		t.Fatalf("wrote %+v, %v", n, err)
	}
	return m
}

// TestFetchByDelta: a replica with the segment before downloads a delta, from a bucket and from a
// web server, and a new replica the whole segment.
func TestFetchByDelta(t *testing.T) {
	p := newPair(t)
	first := p.put("s1", tables.Wide("a", 1), tables.Wide("b", 1))
	server := httptest.NewServer(http.FileServer(http.Dir(p.writer.Dir())))
	t.Cleanup(server.Close)
	web := testkit.Value(Open(server.URL, fetch.Options{AllowHTTP: true, AllowPrivate: true}))(t)
	readers := []*store.Store{p.reader, newStore(t)}
	replicas := []*Replica{p.replica, NewReplica(web, readers[1], "stable")}
	for i, replica := range replicas {
		if f := mustFetch(t, replica, readers[i]); f.Files != 2 || f.Deltas != 0 || f.Fallbacks != 0 {
			t.Errorf("fetched first %+v", f.Fetched)
		}
	}
	p.Take("")
	second := publishNext(t, p.writer, first, "s2", tables.Wide("a", 2), tables.Wide("b", 1))
	p.push()
	d := store.Delta{From: first.Tables[0], To: second.Tables[0]}
	puts := p.Take("PUT")
	at, last := slices.Index(puts, "PUT "+d.Name()), slices.Index(puts, "PUT channels/stable.json")
	if at < 0 || at > last {
		t.Errorf("uploaded %q, want the delta before the channel", puts)
	}
	info := testkit.Value(os.Stat(filepath.Join(p.writer.Dir(), filepath.FromSlash(d.Name()))))(t)
	for i, replica := range replicas {
		beside := 0
		replica.Beside = func(work func()) { beside++; work() }
		before := replica.remote.Traffic()
		f := mustFetch(t, replica, readers[i])
		want := Fetched{Files: 1, Deltas: 1, DeltaBytes: info.Size()}
		if f.Fetched != want || beside != 1 {
			t.Errorf("fetched by a delta of %d bytes: %+v, %d runs", info.Size(), f.Fetched, beside)
		}
		if !readers[i].Segments.HasSegment(d.To, true) {
			t.Error("the segment is not there")
		}
		if n := replica.remote.Traffic().Minus(before).Received; n > second.Tables[0].Bytes/10 {
			t.Errorf("received %d bytes, the segment has %d", n, second.Tables[0].Bytes)
		}
	}
	p.Take("")
	if p.push(); len(p.Take("PUT")) > 0 {
		t.Error("a second push uploads something")
	}
	f := p.fresh()
	if f.Files != 2 || f.Deltas != 0 || f.Fallbacks != 0 {
		t.Errorf("a new replica fetched %+v", f.Fetched)
	}
	if gets := p.Take("GET deltas"); len(gets) > 0 {
		t.Errorf("a new replica asked for %q", gets)
	}
}

// TestDeltaFaults: whatever a delta is, the replica gets exactly the segment of the manifest.
func TestDeltaFaults(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		name      string
		fault     func(delta []byte) []byte // nil: there is none
		own       func(t *testing.T, file string)
		fallbacks int
	}{
		{name: "damaged", fault: func(b []byte) []byte { return flip(bytes.Clone(b)) }, fallbacks: 1},
		{name: "cut off", fault: func(b []byte) []byte { return b[:len(b)/2] }, fallbacks: 1},
		{name: "empty", fault: func([]byte) []byte { return nil }, fallbacks: 1},
		{name: "larger than the segment", fault: zeros(1 << 20), fallbacks: 1},
		{name: "missing"},
		{
			name: "of a damaged segment", fault: func(b []byte) []byte { return b }, fallbacks: 1,
			own: func(t *testing.T, file string) {
				data := testkit.Value(os.ReadFile(file))(t)
				data[len(data)/2] ^= 1
				testkit.Must(t, os.WriteFile(file, data, 0o600))
			},
		},
		{
			name: "of a segment that is gone", fault: func(b []byte) []byte { return b },
			own: func(t *testing.T, file string) { testkit.Must(t, os.Remove(file)) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPairNamed(t, fmt.Sprintf("deltafaults%d", i))
			p.sign()
			first := p.put("s1", tables.Wide("a", 1))
			p.fetch()
			second := publishNext(t, p.writer, first, "s2", tables.Wide("a", 2))
			p.push()
			d := store.Delta{From: first.Tables[0], To: second.Tables[0]}
			p.Set(func(b *objectstest.Bucket) {
				o := b.Objects[d.Name()]
				if delete(b.Objects, d.Name()); c.fault != nil {
					o.Data = c.fault(o.Data)
					b.Objects[d.Name()] = o
				}
			})
			if c.own != nil {
				path := testkit.Value(p.reader.Segments.SegmentPath(d.From.SHA256))(t)
				c.own(t, path)
			}
			f := p.fetch()
			if f.Deltas != 0 || f.Fallbacks != c.fallbacks || (f.Fault != nil) != (c.fallbacks > 0) ||
				f.Bytes != d.To.Bytes {
				t.Errorf("%+v, want the whole segment and %d fallbacks", f.Fetched, c.fallbacks)
			}
			if !p.reader.Segments.HasSegment(d.To, true) {
				t.Error("the segment is not that of the manifest")
			}
		})
	}
}

// TestDeltaInterrupted: the end of the context is no fault of a delta.
func TestDeltaInterrupted(t *testing.T) {
	p := newPair(t)
	first := p.put("s1", tables.Wide("a", 1))
	p.fetch()
	second := publishNext(t, p.writer, first, "s2", tables.Wide("a", 2))
	p.push()
	ctx, cancel := context.WithCancel(t.Context())
	d := store.Delta{From: first.Tables[0], To: second.Tables[0]}
	p.Set(func(b *objectstest.Bucket) {
		b.Fault = func(_ http.ResponseWriter, _ *http.Request, name string) bool {
			if name == d.Name() {
				cancel()
			}
			return false
		}
	})
	f, err := p.replica.Fetch(ctx)
	if !errors.Is(err, context.Canceled) || f == nil || f.Fallbacks != 0 {
		t.Errorf("%+v, %v; want the end of the context", f, err)
	}
}
