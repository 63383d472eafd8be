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

func testKey(n int) bodyKey {
	return bodyKey{tag: newEntityTag([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 0, 1, 2}), coding: encode.Gzip}
}

// TestOneMaker: of a thousand requests for one body at once, one makes it, and all others get it
// from there.
func TestOneMaker(t *testing.T) {
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
				waitFor(t, "all others to wait", func() bool {
					s.Lock()
					defer s.Unlock()
					return m.waiters == 999
				})
				body := append([]byte(nil), want...)
				c.end(m, finished{body: body, rows: 3, total: 7}, nil)
				clear(body) // its memory is the response's, and used again
				return
			}
			if !bytes.Equal(got.body, want) || got.rows != 3 || got.total != 7 {
				t.Errorf("got %q, %d of %d rows", got.body, got.rows, got.total)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("the body was made %d times", made.Load())
	}
	if n := len(s.inFlight); n != 0 {
		t.Errorf("%d bodies are still in the making", n)
	}
}

// TestMakerGivesUp: those who wait for a body that does not come make their own, or get its maker's
// error.
func TestMakerGivesUp(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{nil, &Busy{Rule: ruleQueries}} {
		c := newBodyCache(0, wire.NewBudget(0))
		_, m, _ := c.begin(testKey(1))
		alone := make(chan error)
		for range 3 {
			go func() {
				got, making, err := c.begin(testKey(1))
				if got != nil || making != nil {
					err = errors.New("a body that nobody made")
				}
				alone <- err
			}()
		}
		s := &c.shards[m.key.shard()]
		waitFor(t, "three who wait", func() bool {
			s.Lock()
			defer s.Unlock()
			return m.waiters == 3
		})
		c.end(m, finished{}, fault)
		for range 3 {
			if err := <-alone; !errors.Is(err, fault) {
				t.Errorf("%v, want %v", err, fault)
			}
		}
		if got, m, err := c.begin(testKey(1)); got != nil || m == nil || err != nil {
			t.Error("nobody may make the body again")
		}
	}
}

// TestKeptOnSecondRequest: a body asked for once is not kept, one asked for twice is, whatever was
// asked for in between.
func TestKeptOnSecondRequest(t *testing.T) {
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
				t.Errorf("turn %d, body %d: kept %v", turn, n, got)
			}
		}
	}
	without := newBodyCache(-1, wire.NewBudget(0))
	if got, m, err := without.begin(testKey(1)); got != nil || m != nil || err != nil {
		t.Error("there is a cache where none is wanted")
	}
	without.end(nil, finished{}, nil)
}

// TestCacheBound: whatever comes, the memory stays below the limit, what is used stays longer than
// what is not, and no body longer than a quarter of a shard is kept.
func TestCacheBound(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	c := newBodyCache(limit, wire.NewBudget(0))
	r := rand.New(rand.NewPCG(1, 2))
	often := 0
	rounds := trials(200_000, 100_000)
	for i := range rounds {
		n := r.IntN(10)
		if i%4 > 0 {
			n = r.IntN(20_000)
		}
		got, m, _ := c.begin(testKey(n))
		if n < 10 && got != nil {
			often++
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
				t.Errorf("%v stands where %v should", k.key, key)
			}
		}
		if bytes != s.bytes || bytes > s.limit || len(s.clock) != len(s.kept) {
			t.Errorf("shard %d: %d bytes, counted %d, limit %d; %d in the clock, %d in the map", i, bytes, s.bytes,
				s.limit, len(s.clock), len(s.kept))
		}
		sum += bytes
	}
	if sum < limit/2 || often < rounds/4*9/10 {
		t.Errorf("%d bytes are kept; the ten most asked for were there %d of %d times", sum, often, rounds/4)
	}
}

// TestCachedAnswersAreTheSame asks servers with and without a cache for everything, several times,
// in all codings.
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
						t.Fatalf("%s, %s, turn %d: other rows", target, accept, turn)
					}
				}
			}
		}
	}
}

// plainBody is an answer's body without its coding.
func plainBody(t *testing.T, a Answer) []byte {
	t.Helper()
	coding, _ := a.field("Content-Encoding")
	body, err := decoded(coding, a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestManyAskAtOnce asks over a network for the same pages from many connections in all codings,
// and compares the bodies.
func TestManyAskAtOnce(t *testing.T) {
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
					t.Errorf("%d, %v", response.StatusCode, err)
					return
				}
				body, err := decoded(response.Header.Get("Content-Encoding"), sent)
				if err != nil {
					t.Error(err)
					return
				}
				text := string(body)
				if turn%2 == 0 && !first.CompareAndSwap(nil, &text) && *first.Load() != text {
					t.Errorf("%s: another body of %d bytes", coding, len(text))
				}
			}
		})
	}
	wg.Wait()
	waitFor(t, "all bytes taken", func() bool { return s.budget.Bytes() == 0 })
}
