package replica

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
)

// TestPushStopped stops a push at each of its writes, as a writer that is killed stops. Until the
// channel is written readers find the complete snapshot before, or nothing to read in an empty
// bucket. The next push of the same snapshot or of another one succeeds.
func TestPushStopped(t *testing.T) {
	p := newPair(t)
	stops := 0
	for n := 1; ; n++ {
		id := fmt.Sprint("s", n)
		publish(t, p.writer, id, table("a", int64(n)), table("b", int64(n)), table("c", int64(n)))
		ctx, cancel := context.WithCancel(t.Context())
		var puts atomic.Int64
		p.Set(func(b *objectstest.Bucket) {
			b.Fault = func(_ http.ResponseWriter, r *http.Request, _ string) bool {
				if r.Method == http.MethodPut && puts.Add(1) == int64(n) {
					cancel()
					panic(http.ErrAbortHandler)
				}
				return false
			}
		})
		_, err := p.remote.Push(ctx, p.writer, "stable", p.shown, false)
		cancel()
		p.Set(func(b *objectstest.Bucket) { b.Fault = nil })
		if err == nil { // it has fewer writes
			break
		}
		stops++
		reader := newStore(t)
		switch f, err := NewReplica(p.remote, reader, "stable").Fetch(t.Context()); {
		case p.shown.ID == "" && err == nil:
			t.Errorf("stopped at write %d: the empty bucket shows %s", n, f.ID)
		case p.shown.ID != "" && (err != nil || f.ID != p.shown.ID):
			t.Errorf("stopped at write %d: %+v, %v, want %s", n, f, err, p.shown.ID)
		case p.shown.ID != "":
			testkit.Is(t, reader.Verify(p.shown.ID), nil, "stopped at write %d", n)
		}
		if n%2 == 0 { // the next load is another one
			id += "-again"
			publish(t, p.writer, id, table("a", int64(n)), table("b", -int64(n)))
		}
		p.push()
		testkit.Equal(t, p.fresh().ID, id, "after a stop at write %d", n)
	}
	if stops != 6 { // three segments, report, manifest, channel
		t.Errorf("%d writes were stopped, want 6", stops)
	}
}

// TestTimeout: a store that does not answer fails each small file within the Timeout. Segments may
// take longer. That a server is not waited for any longer is in the suite of internal/objects.
func TestTimeout(t *testing.T) {
	p := newPair(t)
	p.put("s1", table("a", 1))
	hang := func(part string, longest time.Duration) {
		p.Set(func(b *objectstest.Bucket) {
			b.Fault = func(_ http.ResponseWriter, r *http.Request, name string) bool {
				if strings.HasPrefix(name, part) {
					select {
					case <-r.Context().Done():
					case <-time.After(longest):
					}
				}
				return false
			}
		})
	}
	waits := make(chan string, 100)
	p.remote.Waiting = func(what string) { waits <- what }
	for _, part := range []string{"channels/", "manifests/s1.json"} {
		hang(part, time.Hour)
		p.remote.Timeout = 1100 * time.Millisecond
		_, err := NewReplica(p.remote, newStore(t), "stable").Fetch(t.Context())
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "within 1.1s (--store-timeout)") {
			t.Errorf("%s hangs: %v, want ErrUnavailable with the limit", part, err)
		}
		if what := <-waits; !strings.HasPrefix(what, "reading "+part) {
			t.Errorf("%s hangs: waiting for %q", part, what)
		}
	}
	p.remote.Timeout = 5 * time.Second // of small files, on a busy machine
	hang("segments/", 6*time.Second)
	p.fetch()
}
