package replica

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hdqs/internal/fetch"
)

// TestTimeout: a store that accepts requests and does not answer them, or that sends a byte now and
// then, fails each small file within the Timeout, whatever the retries are. Segments may take
// longer.
func TestTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 300 * time.Millisecond
	b, bucket := newFake(t)
	writer := newStore(t)
	publish(t, writer, "s1", table("a", 1))
	mustPush(t, bucket, writer, Version{})
	files := http.FileServer(http.Dir(writer.Dir()))
	hang := func(part string, drip bool) func(http.ResponseWriter, *http.Request, string) bool {
		return func(w http.ResponseWriter, r *http.Request, _ string) bool {
			if part == "" || !strings.Contains(r.URL.Path, part) {
				return false
			}
			if drip {
				w.Header().Set("Content-Length", "1000")
			}
			for r.Context().Err() == nil {
				if drip {
					fmt.Fprint(w, " ")
					_ = http.NewResponseController(w).Flush()
				}
				time.Sleep(10 * time.Millisecond)
			}
			return true
		}
	}
	for _, part := range []string{"/channels/", "/manifests/s1.json"} {
		for _, drip := range []bool{false, true} {
			fault := hang(part, drip)
			b.set(func(b *fakeBucket) { b.fault = fault })
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !fault(w, r, "") {
					files.ServeHTTP(w, r)
				}
			}))
			defer server.Close()
			web, err := Open(server.URL, fetch.Options{AllowHTTP: true, AllowPrivate: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []*Remote{bucket, web} {
				replica := NewReplica(r, newStore(t), "stable")
				r.Timeout = timeout
				began := time.Now()
				_, err := replica.Fetch(t.Context())
				took := time.Since(began)
				if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "within 300ms") {
					t.Errorf("%s of %s hangs (drip %v): %v, want ErrUnavailable with the limit",
						part, r.address, drip, err)
				}
				if took < timeout || took > 25*time.Second { // a stalled response takes 30s
					t.Errorf("%s of %s hangs (drip %v): the error came after %s", part, r.address, drip, took)
				}
			}
		}
	}

	// A segment that takes longer than the Timeout arrives.
	slow := func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if strings.Contains(r.URL.Path, "/segments/") {
			time.Sleep(27 * timeout)
		}
		return false
	}
	b.set(func(b *fakeBucket) { b.fault = slow })
	reader := newStore(t)
	replica := NewReplica(bucket, reader, "stable")
	bucket.Timeout = 25 * timeout // the machine may be busy
	mustFetch(t, replica, reader)
}
