package objectstest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hdqs/internal/objects"
	"hdqs/internal/testkit"
)

// answer is a Fault of a Bucket.
type answer = func(w http.ResponseWriter, r *http.Request, name string) bool

// cutAfter breaks the connection of the first answers after so many bytes of each.
func cutAfter(n, answers int64) answer {
	var asked atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if asked.Add(1) > answers {
			return false
		}
		from := 0
		if ranged := r.Header.Get("Range"); ranged != "" {
			from, _ = strconv.Atoi(strings.Trim(ranged, "bytes=-"))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(data)-1, len(data)))
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(data)-from))
		w.Header().Set("ETag", Object{Data: data}.ETag())
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(data[from : from+int(n)])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// testCut: a download that is cut goes on where it ended, with the same object only.
func testCut(t *testing.T, k Kind) {
	if k.Bucket == nil {
		return
	}
	other := slices.Concat([]byte("0"), data[1:])
	for what, c := range map[string]struct {
		then   answer // answers the second request
		want   []byte
		ranges string
	}{
		"same object": {nil, data, "[ bytes=5000-]"},
		"twice":       {cutAfter(5000, 1), data, "[ bytes=5000- bytes=10000-]"},
		"replaced": {func(http.ResponseWriter, *http.Request, string) bool {
			k.Write(name, other)
			return false
		}, other, ""},
		"other range": {func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("ETag", Object{Data: data}.ETag())
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 4999-%d/%d", len(data)-1, len(data)))
			w.Header().Set("Content-Length", strconv.Itoa(len(data)-4999))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(data[4999:])
			return true
		}, data, "[ bytes=5000- ]"},
	} {
		k.Write(name, data)
		var ranges []string
		first := cutAfter(5000, 1)
		k.Bucket.Set(func(b *Bucket) {
			b.Fault = func(w http.ResponseWriter, r *http.Request, name string) bool {
				ranges = append(ranges, r.Header.Get("Range"))
				if len(ranges) == 2 && c.then != nil {
					return c.then(w, r, name)
				}
				return first(w, r, name)
			}
		})
		path := filepath.Join(t.TempDir(), "file")
		before := k.Store.Traffic()
		if _, err := k.Store.Download(t.Context(), objects.Request{Name: name}, path); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		mustBe(t, path, c.want)
		if got := fmt.Sprint(ranges); c.ranges != "" && got != c.ranges {
			t.Errorf("%s: ranges %s, want %s", what, got, c.ranges)
		}
		if got := k.Store.Traffic().Minus(before); what == "twice" && got.Received != int64(len(data)) {
			t.Errorf("%s: %+v, want the %d bytes of the object", what, got, len(data))
		}
	}
}

// testFailures: what passes is retried, and what stays is an error after a few tries. It does not
// say that the object is missing.
func testFailures(t *testing.T, k Kind) {
	if k.Bucket == nil {
		return
	}
	k.Write(name, data)
	for what, fault := range map[string]func(http.ResponseWriter){
		"broken":       func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"error":        func(w http.ResponseWriter) { Error(w, 503, "SlowDown") },
		"page":         func(w http.ResponseWriter) { w.WriteHeader(502); fmt.Fprint(w, "<html>Bad Gateway</html>") },
		"other status": func(w http.ResponseWriter) { w.WriteHeader(500) },
	} {
		for _, stays := range []bool{false, true} {
			if stays && what != "error" { // one suffices: the waits between tries take long
				continue
			}
			var asked atomic.Int64
			k.Bucket.Set(func(b *Bucket) {
				b.Fault = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
					if asked.Add(1) > 1 && !stays {
						return false
					}
					fault(w)
					return true
				}
			})
			got, _, readErr := k.Store.Read(t.Context(), name, "", 1<<20)
			asked.Store(0)
			_, err := k.Store.Download(t.Context(), request(), filepath.Join(t.TempDir(), "file"))
			switch {
			case !stays && (readErr != nil || err != nil || len(got) != len(data)):
				t.Errorf("%s once: %v; %v", what, readErr, err)
			case stays && (readErr == nil || err == nil || asked.Load() > 20 || errors.Is(err, fs.ErrNotExist)):
				t.Errorf("%s: %v; %v after %d requests", what, readErr, err, asked.Load())
			}
		}
	}
}

// testHang: a server that accepts a request and does not answer, or sends a byte now and then, is
// waited for until the context ends, whatever the retries are.
func testHang(t *testing.T, k Kind) {
	if k.Bucket == nil {
		return
	}
	k.Write(name, data)
	for _, drips := range []bool{false, true} {
		k.Bucket.Set(func(b *Bucket) {
			b.Fault = func(w http.ResponseWriter, r *http.Request, _ string) bool {
				if drips {
					w.Header().Set("Content-Length", "1000")
					w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
				}
				for r.Context().Err() == nil {
					if drips {
						fmt.Fprint(w, "1")
						_ = http.NewResponseController(w).Flush()
					}
					time.Sleep(10 * time.Millisecond)
				}
				return true
			}
		})
		path := filepath.Join(t.TempDir(), "file")
		testkit.WriteFile(t, path, []byte("earlier"))
		for what, do := range map[string]func(context.Context) error{
			"read": func(ctx context.Context) error {
				_, _, err := k.Store.Read(ctx, name, "", 1<<20)
				return err
			},
			"download": func(ctx context.Context) error {
				_, err := k.Store.Download(ctx, request(), path)
				return err
			},
			"list": func(ctx context.Context) error {
				_, err := k.Store.List(ctx, "folder")
				return err
			},
			"put": func(ctx context.Context) error { return objects.PutBytes(ctx, k.Store, name, []byte("1")) },
		} {
			if k.ReadOnly && (what == "list" || what == "put") || drips && what == "put" {
				continue // a response to a write has no body to wait for
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			began := time.Now()
			err := do(ctx)
			cancel()
			// A response that has stalled takes half a minute.
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 25*time.Second {
				t.Errorf("%s, drips %v: %v after %s", what, drips, err, took)
			}
		}
		mustBe(t, path, []byte("earlier"))
	}
}

// testTooLarge: a body that is longer than the limit, or has no end, is not read to its end.
func testTooLarge(t *testing.T, k Kind) {
	if k.Bucket == nil {
		return
	}
	k.Write(name, data)
	var asked atomic.Int64
	k.Bucket.Set(func(b *Bucket) {
		b.Fault = func(w http.ResponseWriter, r *http.Request, _ string) bool {
			asked.Add(1)
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, strings.Repeat("1", 4096)); err != nil {
					break
				}
			}
			return true
		}
	})
	_, _, err := k.Store.Read(t.Context(), name, "", 1<<16)
	if !errors.Is(err, objects.ErrTooLarge) || asked.Load() != 1 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}
