package replica

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"hdqs/internal/objects/objectstest"
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
			if err := reader.Verify(p.shown.ID); err != nil {
				t.Errorf("stopped at write %d: %v", n, err)
			}
		}
		if n%2 == 0 { // the next load is another one
			id += "-again"
			publish(t, p.writer, id, table("a", int64(n)), table("b", -int64(n)))
		}
		p.push()
		if f := p.fresh(); f.ID != id {
			t.Errorf("after a stop at write %d: %s, want %s", n, f.ID, id)
		}
	}
	if stops != 6 { // three segments, report, manifest, channel
		t.Errorf("%d writes were stopped, want 6", stops)
	}
}
