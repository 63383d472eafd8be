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
