package replica

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"hdqs/internal/objects/objectstest"
)

// TestTimeout: a store that does not answer fails each small file within the Timeout. Segments may
// take longer. That a server is not waited for any longer is in the suite of internal/objects.
func TestTimeout(t *testing.T) {
	t.Parallel()
	b, r := newFake(t)
	writer := newStore(t)
	publish(t, writer, "s1", table("a", 1))
	mustPush(t, r, writer, Version{})
	hang := func(part string, longest time.Duration) {
		b.Set(func(b *objectstest.Bucket) {
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
	r.Waiting = func(what string) { waits <- what }
	for _, part := range []string{"channels/", "manifests/s1.json"} {
		hang(part, time.Hour)
		r.Timeout = 1100 * time.Millisecond
		_, err := NewReplica(r, newStore(t), "stable").Fetch(t.Context())
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "within 1.1s (--store-timeout)") {
			t.Errorf("%s hangs: %v, want ErrUnavailable with the limit", part, err)
		}
		if what := <-waits; !strings.HasPrefix(what, "reading "+part) {
			t.Errorf("%s hangs: waiting for %q", part, what)
		}
	}
	r.Timeout = 5 * time.Second // of small files, on a busy machine
	hang("segments/", 6*time.Second)
	reader := newStore(t)
	mustFetch(t, NewReplica(r, reader, "stable"), reader)
}
