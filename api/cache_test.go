package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"hdqs/api/encode"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
)

// testKey returns the n-th cache key.
func testKey(n int) list.BodyKey {
	return list.BodyKey{
		Tag:    reply.NewEntityTag([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 0, 1, 2}),
		Coding: encode.Gzip,
	}
}

// TestSingleFlight checks that of a thousand concurrent requests for one body, one renders it and
// the others share the result.
func TestSingleFlight(t *testing.T) {
	t.Parallel()
	c := list.NewBodyCache(0, wire.NewBudget(0))
	var made atomic.Int64
	s := &c.Shards[(&list.BodyKey{Tag: testKey(1).Tag}).Shard()]
	var wg sync.WaitGroup
	want := []byte("body")
	for range 1000 {
		wg.Go(func() {
			got, m, _ := c.Begin(testKey(1))
			if got == nil {
				made.Add(1)
				waitFor(t, "the other 999 requests to wait", func() bool {
					s.Lock()
					defer s.Unlock()
					return m.Waiters == 999
				})
				body := append([]byte(nil), want...)
				c.End(m, list.Finished{Body: body, Rows: 3, Total: 7}, nil)
				clear(body) // the response owns this memory and reuses it
				return
			}
			if !bytes.Equal(got.Body, want) || got.Rows != 3 || got.Total != 7 {
				t.Errorf("got %q, %d of %d rows", got.Body, got.Rows, got.Total)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("the body was rendered %d times", made.Load())
	}
	if n := len(s.InFlight); n != 0 {
		t.Errorf("%d in-flight entries are left", n)
	}
}

// TestFailedInFlightEntry checks what waiters get when the body they wait for is not rendered:
// permission to render it themselves, or the renderer's error.
func TestFailedInFlightEntry(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{nil, &reply.Busy{Rule: reply.RuleQueries}} {
		c := list.NewBodyCache(0, wire.NewBudget(0))
		_, m, _ := c.Begin(testKey(1))
		alone := make(chan error)
		for range 3 {
			go func() {
				got, own, err := c.Begin(testKey(1))
				if got != nil || own != nil {
					err = errors.New("got a body that nobody rendered")
				}
				alone <- err
			}()
		}
		s := &c.Shards[m.Key.Shard()]
		waitFor(t, "three waiters", func() bool {
			s.Lock()
			defer s.Unlock()
			return m.Waiters == 3
		})
		c.End(m, list.Finished{}, fault)
		for range 3 {
			if err := <-alone; !errors.Is(err, fault) {
				t.Errorf("a waiter got the error %v, want %v", err, fault)
			}
		}
		if got, m, err := c.Begin(testKey(1)); got != nil || m == nil || err != nil {
			t.Error("the next request may not render the body")
		}
	}
}

// TestCachedOnSecondRequest checks that a body is cached when it is requested for the second time,
// whatever was requested in between.
func TestCachedOnSecondRequest(t *testing.T) {
	t.Parallel()
	c := list.NewBodyCache(0, wire.NewBudget(0))
	ask := func(n int) bool {
		got, m, _ := c.Begin(testKey(n))
		c.End(m, list.Finished{Body: fmt.Append(nil, n)}, nil)
		return got != nil
	}
	for turn, want := range []bool{false, false, true, true} {
		for n := range 20 {
			if got := ask(n); got != want {
				t.Errorf("turn %d, body %d: cached: %v", turn, n, got)
			}
		}
	}
	without := list.NewBodyCache(-1, wire.NewBudget(0))
	if got, m, err := without.Begin(testKey(1)); got != nil || m != nil || err != nil {
		t.Error("a disabled cache returned an entry")
	}
	without.End(nil, list.Finished{}, nil)
}

// plainBody returns the decoded body of an answer.
func plainBody(t *testing.T, a Answer) []byte {
	t.Helper()
	coding, _ := a.field("Content-Encoding")
	body, err := decodeBody(coding, a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestConcurrentRequests requests the same pages over many connections in all codings, and compares
// the bodies.
func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	rows := trials(20_000, 5_000)
	table := numberedLocations(rows, nil)
	s := testServer(t, state.Options{Queries: 64}, []*testTable{table})
	address := listen(t, s)
	var wg sync.WaitGroup
	var first atomic.Pointer[string]
	client := &http.Client{Transport: &http.Transport{
		DisableCompression: true, MaxConnsPerHost: 32,
		MaxIdleConnsPerHost: 32,
	}}
	for worker := range 24 {
		wg.Go(func() {
			for turn := range 15 {
				k := (worker + turn) % 3
				target := fmt.Sprintf("http://%s/api/v2/metadata/location?app_identifier=%s&offset=%d", address, goodIdentifier, rows/4*(turn%2))
				request, _ := http.NewRequest("GET", target, nil)
				coding := []string{"identity", "gzip", "zstd"}[k]
				request.Header.Set("Accept-Encoding", coding)
				response, err := client.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				sent, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || response.StatusCode != 200 {
					t.Errorf("status %d, %v", response.StatusCode, err)
					return
				}
				body, err := decodeBody(response.Header.Get("Content-Encoding"), sent)
				if err != nil {
					t.Error(err)
					return
				}
				text := string(body)
				if turn%2 == 0 && !first.CompareAndSwap(nil, &text) && *first.Load() != text {
					t.Errorf("%s: got a different body of %d bytes", coding, len(text))
				}
			}
		})
	}
	wg.Wait()
	waitFor(t, "all bytes in flight to be sent", func() bool { return s.Budget.Bytes() == 0 })
}

// TestSentBodiesKeepTheirBytes requests bodies of a small cache from several goroutines, all of
// which hold some that they got for a while. The bytes of those must stay, although the memory of
// others is used again.
func TestSentBodiesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	c := list.NewBodyCache(list.BodyShards*40_000, wire.NewBudget(0))
	fill := func(dst []byte, n int) []byte {
		for i := range 4000 + n%7*100 {
			dst = append(dst, byte(n+i))
		}
		return dst
	}
	type held struct {
		n    int
		body *list.CachedBody
	}
	var all sync.WaitGroup
	var given, reused atomic.Int64
	for g := range 4 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			var kept []held
			var buffer, want []byte
			seen := map[*byte]int{}
			for range 20_000 {
				n := r.IntN(400)
				known, m, _ := c.Begin(testKey(n))
				if known != nil {
					given.Add(1)
					kept = append(kept, held{n, known})
					if first := &known.Body[0]; seen[first] != n {
						reused.Add(1)
						seen[first] = n
					}
				} else if m != nil {
					buffer = fill(buffer[:0], n)
					c.End(m, list.Finished{Body: buffer}, nil)
				}
				if len(kept) > 20 {
					for _, h := range kept {
						if want = fill(want[:0], h.n); !bytes.Equal(h.body.Body, want) {
							t.Errorf("body %d has changed while it was sent", h.n)
							return
						}
						h.body.Release()
					}
					kept = kept[:0]
				}
			}
		})
	}
	all.Wait()
	if given.Load() < 1000 || reused.Load() < 100 {
		t.Errorf("%d bodies came from the cache, %d in memory of another", given.Load(), reused.Load())
	}
}
