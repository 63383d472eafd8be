package main_test

import (
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// swapRequests are in all forms, and each answer differs between the two snapshots of these tests.
var swapRequests = []struct {
	path   string
	fields []string
}{
	{"/api/v2/coordination-context/conflict-events", nil},
	{"/api/v2/coordination-context/conflict-events?admin_level=2&end_date=2026-06", []string{"Accept-Encoding", "gzip"}},
	{"/api/v2/food-security-nutrition-poverty/food-prices-market-monitor?output_format=csv", nil},
	{"/api/v2/affected-people/humanitarian-needs?offset=100&limit=50", []string{"Accept-Encoding", "zstd"}},
	{"/api/v2/geography-infrastructure/baseline-population?gender=f", []string{"Accept-Encoding", "gzip"}},
	{"/api/v2/metadata/data-availability?location_name=a", nil},
}

// fingerprint is what must come from one snapshot: total, form and bytes.
func fingerprint(a *answer) string {
	h := a.header
	return fmt.Sprintf("%d %s %s %s\n%s",
		a.status, h.Get("X-Total-Count"), h.Get("Content-Type"), h.Get("Content-Encoding"), a.body)
}

// fingerprints sends every request once.
func (s *server) fingerprints(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, r := range swapRequests {
		a := ask(t, "GET", s.base+with(r.path), r.fields...)
		if a.status != 200 || a.header.Get("X-Total-Count") == "0" {
			t.Fatalf("%s: %d with %s rows", r.path, a.status, a.header.Get("X-Total-Count"))
		}
		all = append(all, fingerprint(&a))
	}
	return all
}

// callers send requests in a loop until they are stopped.
type callers struct {
	stop    atomic.Bool
	running sync.WaitGroup
	asked   atomic.Int64
}

// callerPause is the time between two requests of a caller.
var callerPause = time.Duration(testkit.Trials(0, 5)) * time.Millisecond

// start starts n callers. Check gets each answer, and returns whether the caller continues.
func (c *callers) start(n int, s *server, check func(request int, a answer, err error) bool) {
	for worker := range n {
		c.running.Go(func() {
			for i := worker; !c.stop.Load(); i++ {
				time.Sleep(callerPause) // the program shares its cores with other tests
				r := swapRequests[i%len(swapRequests)]
				a, err := tryAsk("GET", s.base+with(r.path), r.fields...)
				c.asked.Add(1)
				if !check(i%len(swapRequests), a, err) {
					return
				}
			}
		})
	}
}

func (c *callers) end() {
	c.stop.Store(true)
	c.running.Wait()
}

// TestSwapUnderLoad builds another snapshot into the served store and swaps back and forth during
// requests. No request may fail, and each answer must come from one snapshot.
func TestSwapUnderLoad(t *testing.T) {
	parallel(t)
	swaps := testkit.Trials(40, 15)
	store := sampleStore(t)
	s := serve(t, "--store", store)
	first, firstID := s.fingerprints(t), s.snapshotID(t)

	// The second snapshot's answers come from a copy of the store, into which it is built first.
	ahead := copyStore(t, store)
	buildOther(t, ahead, "2026-12-01T00:00:00Z")
	second := serve(t, "--store", ahead).fingerprints(t)
	for i, r := range swapRequests {
		if first[i] == second[i] {
			t.Fatalf("%s: both snapshots give the same answer, so the test would notice nothing", r.path)
		}
	}

	var c callers
	var seen [2]atomic.Int64
	c.start(6, s, func(i int, a answer, err error) bool {
		switch {
		case err != nil:
			t.Errorf("%s: %v", swapRequests[i].path, err)
			return false
		case fingerprint(&a) == first[i]:
			seen[0].Add(1)
		case fingerprint(&a) == second[i]:
			seen[1].Add(1)
		default:
			t.Errorf("%s: an answer of neither snapshot: %d, %d bytes, %.200s",
				swapRequests[i].path, a.status, len(a.body), a.body)
			return false
		}
		return true
	})
	pointer := filepath.Join(store, "channels", "stable.json")
	pointers := [2][]byte{testkit.ReadFile(t, pointer)}
	buildOther(t, store, "2026-12-01T00:00:00Z")
	pointers[1] = testkit.ReadFile(t, pointer)
	view, _ := inspect(t, store)
	ids := [2]string{firstID, view.ID}
	for i := range swaps {
		to := (i + 1) % 2
		testkit.ReplaceFile(t, pointer, pointers[to])
		s.signal(t, syscall.SIGHUP)
		testkit.WaitFor(t, "the swap to "+ids[to], func() bool { return s.snapshotID(t) == ids[to] })
	}
	c.end()
	if seen[0].Load() == 0 || seen[1].Load() == 0 {
		t.Errorf("%d answers of the first snapshot, %d of the second", seen[0].Load(), seen[1].Load())
	}
	t.Logf("%d requests during %d swaps: %d answers of the first snapshot, %d of the second",
		c.asked.Load(), swaps, seen[0].Load(), seen[1].Load())
	logged := func() int { return strings.Count(s.log.String(), "snapshot swapped") }
	testkit.WaitFor(t, "the last swap in the log", func() bool { return logged() >= swaps })
	if n := logged(); n != swaps {
		t.Errorf("%d swaps in the log, want %d", n, swaps)
	}
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestShutdownWaitsForSlowReader: an answer that is being sent when SIGTERM comes is sent to its
// end, however slowly the client reads.
func TestShutdownWaitsForSlowReader(t *testing.T) {
	parallel(t)
	s := serve(t)
	whole := ask(t, "GET", s.base+with("/api/v2/coordination-context/conflict-events"))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	testkit.Must(t, err)
	defer conn.Close()
	// A small buffer keeps most of the answer in the server. A very small one only slows TCP down.
	testkit.Must(t, conn.(*net.TCPConn).SetReadBuffer(32<<10))
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", with("/api/v2/coordination-context/conflict-events"))
	var got bytes.Buffer
	chunk := make([]byte, 16<<10)
	n, err := conn.Read(chunk)
	testkit.Must(t, err)
	got.Write(chunk[:n])
	s.signal(t, syscall.SIGTERM)
	for {
		testkit.Must(t, conn.SetReadDeadline(time.Now().Add(testkit.Patience)))
		time.Sleep(time.Millisecond)
		n, err := conn.Read(chunk)
		got.Write(chunk[:n])
		if err != nil {
			break
		}
	}
	_, body, _ := bytes.Cut(got.Bytes(), []byte("\r\n\r\n"))
	if !bytes.Equal(body, whole.body) {
		t.Errorf("%d bytes of %d received", len(body), len(whole.body))
	}
	if code := s.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
