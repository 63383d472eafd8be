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
	"time"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/wire"
)

// testKey returns the n-th cache key.
func testKey(n int) bodyKey {
	return bodyKey{tag: newEntityTag([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 0, 1, 2}), coding: encode.Gzip}
}

// TestSingleFlight checks that of a thousand concurrent requests for one body, one renders it and
// the others share the result.
func TestSingleFlight(t *testing.T) {
	t.Parallel()
	c := newBodyCache(0, wire.NewBudget(0))
	var made atomic.Int64
	s := &c.shards[(&bodyKey{tag: testKey(1).tag}).shard()]
	var wg sync.WaitGroup
	want := []byte("body")
	for range 1000 {
		wg.Go(func() {
			got, m, _ := c.begin(testKey(1))
			if got == nil {
				made.Add(1)
				waitFor(t, "the other 999 requests to wait", func() bool {
					s.Lock()
					defer s.Unlock()
					return m.waiters == 999
				})
				body := append([]byte(nil), want...)
				c.end(m, finished{body: body, rows: 3, total: 7}, nil)
				clear(body) // the response owns this memory and reuses it
				return
			}
			if !bytes.Equal(got.body, want) || got.rows != 3 || got.total != 7 {
				t.Errorf("got %q, %d of %d rows", got.body, got.rows, got.total)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("the body was rendered %d times", made.Load())
	}
	if n := len(s.inFlight); n != 0 {
		t.Errorf("%d in-flight entries are left", n)
	}
}

// TestFailedInFlightEntry checks what waiters get when the body they wait for is not rendered:
// permission to render it themselves, or the renderer's error.
func TestFailedInFlightEntry(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{nil, &Busy{Rule: ruleQueries}} {
		c := newBodyCache(0, wire.NewBudget(0))
		_, m, _ := c.begin(testKey(1))
		alone := make(chan error)
		for range 3 {
			go func() {
				got, own, err := c.begin(testKey(1))
				if got != nil || own != nil {
					err = errors.New("got a body that nobody rendered")
				}
				alone <- err
			}()
		}
		s := &c.shards[m.key.shard()]
		waitFor(t, "three waiters", func() bool {
			s.Lock()
			defer s.Unlock()
			return m.waiters == 3
		})
		c.end(m, finished{}, fault)
		for range 3 {
			if err := <-alone; !errors.Is(err, fault) {
				t.Errorf("a waiter got the error %v, want %v", err, fault)
			}
		}
		if got, m, err := c.begin(testKey(1)); got != nil || m == nil || err != nil {
			t.Error("the next request may not render the body")
		}
	}
}

// TestCachedOnSecondRequest checks that a body is cached when it is requested for the second time,
// whatever was requested in between.
func TestCachedOnSecondRequest(t *testing.T) {
	t.Parallel()
	c := newBodyCache(0, wire.NewBudget(0))
	ask := func(n int) bool {
		got, m, _ := c.begin(testKey(n))
		c.end(m, finished{body: fmt.Append(nil, n)}, nil)
		return got != nil
	}
	for turn, want := range []bool{false, false, true, true} {
		for n := range 20 {
			if got := ask(n); got != want {
				t.Errorf("turn %d, body %d: cached: %v", turn, n, got)
			}
		}
	}
	without := newBodyCache(-1, wire.NewBudget(0))
	if got, m, err := without.begin(testKey(1)); got != nil || m != nil || err != nil {
		t.Error("a disabled cache returned an entry")
	}
	without.end(nil, finished{}, nil)
}

// TestCacheLimit checks under random load that memory stays below the limit, that frequently used
// bodies stay, and that no body longer than a quarter of a shard is cached.
func TestCacheLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	c := newBodyCache(limit, wire.NewBudget(0))
	r := rand.New(rand.NewPCG(1, 2))
	frequentHits := 0
	rounds := trials(200_000, 100_000)
	for i := range rounds {
		n := r.IntN(10)
		if i%4 > 0 {
			n = r.IntN(20_000)
		}
		got, m, _ := c.begin(testKey(n))
		if n < 10 && got != nil {
			frequentHits++
		}
		if got != nil && (len(got.body) < 8 || got.rows != n || len(got.body) > c.maxBody) {
			t.Fatalf("body %d: %d bytes, %d rows", n, len(got.body), got.rows)
		}
		c.end(m, finished{body: make([]byte, 8+n%100*200), rows: n}, nil)
	}
	sum := 0
	for i := range c.shards {
		s := &c.shards[i]
		bytes := 0
		for key, k := range s.kept {
			bytes += k.Size()
			if key != k.key {
				t.Errorf("found the entry of key %v under key %v", k.key, key)
			}
		}
		if bytes != s.bytes || bytes > s.limit || len(s.clock) != len(s.kept) {
			t.Errorf("shard %d: %d bytes, counted %d, limit %d; %d in the clock, %d in the map", i, bytes, s.bytes,
				s.limit, len(s.clock), len(s.kept))
		}
		sum += bytes
	}
	if sum < limit/2 || frequentHits < rounds/4*9/10 {
		t.Errorf("%d bytes are cached; %d of %d requests for the ten most requested bodies were hits", sum,
			frequentHits, rounds/4)
	}
}

// TestCachedAnswersAreTheSame compares the answers of servers with and without a cache, several
// times each, in all codings.
func TestCachedAnswersAreTheSame(t *testing.T) {
	t.Parallel()
	with, without := sampleServer(t, Options{}, 500), sampleServer(t, Options{CacheBytes: -1}, 500)
	for i := trials(0, 2); i < len(contract.Endpoints); i += trials(1, 3) {
		for _, query := range []string{"", "&limit=2&offset=1", "&limit=0", "&output_format=csv", "&offset=1000"} {
			target := contract.Endpoints[i].Path + "?app_identifier=" + goodIdentifier + query
			for _, accept := range []string{"identity", "gzip", "zstd", "gzip, identity;q=0"} {
				header := []HeaderField{{"Accept-Encoding", accept}}
				want := without.Answer("GET", target, header)
				for turn := range 3 {
					got := with.Answer("GET", target, header)
					if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) && accept == "identity" ||
						fmt.Sprint(got.Header) != fmt.Sprint(want.Header) && accept == "identity" {
						t.Fatalf("%s, %s, turn %d:\n got %v\nwant %v", target, accept, turn, got.Header, want.Header)
					}
					if accept != "identity" && !bytes.Equal(plainBody(t, got), plainBody(t, want)) {
						t.Fatalf("%s, %s, turn %d: the decoded bodies differ", target, accept, turn)
					}
				}
			}
		}
	}
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
	table := numberedLocations(20_000, nil)
	s := testServer(t, Options{Queries: 64, QueueWait: 10 * time.Second}, []*testTable{table})
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
				target := fmt.Sprintf("http://%s/api/v2/metadata/location?app_identifier=%s&offset=%d", address, goodIdentifier, 5000*(turn%2))
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
	waitFor(t, "all bytes in flight to be sent", func() bool { return s.budget.Bytes() == 0 })
}
