package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// swapRequests have other answers in another snapshot, in every form.
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

// shape is an answer with what must not be mixed from two snapshots: total, kind, bytes.
func shape(a *answer) string {
	return fmt.Sprintf("%d %s %s %s\n%s", a.status, a.header.Get("X-Total-Count"), a.header.Get("Content-Type"), a.header.Get("Content-Encoding"), a.body)
}

// shapes asks every request once.
func (s *server) shapes(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, r := range swapRequests {
		a := ask(t, "GET", s.base+with(r.path), r.fields...)
		if a.status != 200 || a.header.Get("X-Total-Count") == "0" {
			t.Fatalf("%s: %d with %s rows", r.path, a.status, a.header.Get("X-Total-Count"))
		}
		all = append(all, shape(&a))
	}
	return all
}

// snapshotID is what the second listener says is served.
func (s *server) snapshotID(t *testing.T) string {
	t.Helper()
	return decode[struct{ Snapshot string }](t, ask(t, "GET", s.admin+"/readyz").body).Snapshot
}

// callers ask again and again until they are stopped, and judge each answer.
type callers struct {
	stop    atomic.Bool
	running sync.WaitGroup
	asked   atomic.Int64
}

// start also tells judge how long it took until a request was sent.
func (c *callers) start(n int, s *server, judge func(request int, a answer, err error, sending time.Duration) (goOn bool)) {
	for worker := range n {
		c.running.Go(func() {
			for i := worker; !c.stop.Load(); i++ {
				r := swapRequests[i%len(swapRequests)]
				began := time.Now()
				var sending atomic.Int64
				ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
					WroteRequest: func(httptrace.WroteRequestInfo) { sending.Store(int64(time.Since(began))) },
				})
				a, err := tryAskWithin(ctx, "GET", s.base+with(r.path), r.fields...)
				c.asked.Add(1)
				if !judge(i%len(swapRequests), a, err, time.Duration(sending.Load())) {
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

// TestSwapUnderLoad builds another snapshot into the served store and swaps to and fro while callers ask. No request may fail, and each
// answer must be one snapshot's.
func TestSwapUnderLoad(t *testing.T) {
	swaps := 40
	if testing.Short() {
		swaps = 10
	}
	store := newStore(t, newCatalog(t, 1))
	s := serve(t, "--store", store, "--queue-wait", "30s") // none is turned away where there are fewer cores than callers
	first, firstID := s.shapes(t), s.snapshotID(t)

	// What the second snapshot answers is known from a copy of the store, into which it is built first.
	another := newCatalog(t, 2)
	rebuild := func(store string) {
		// The catalogs have few rows in common, so the check against shrinking could step in.
		wants(t, 0, "build", "--catalog", another, "--store", store, "--snapshot-time", "2026-12-01T00:00:00Z", "--allow-shrink")
	}
	ahead := copyStore(t, store)
	rebuild(ahead)
	second := serve(t, "--store", ahead).shapes(t)
	for i, r := range swapRequests {
		if first[i] == second[i] {
			t.Fatalf("%s: both snapshots answer alike, so the test would see nothing", r.path)
		}
	}

	var c callers
	var seen [2]atomic.Int64
	c.start(6, s, func(i int, a answer, err error, _ time.Duration) bool {
		switch {
		case err != nil:
			t.Errorf("%s: %v", swapRequests[i].path, err)
			return false
		case shape(&a) == first[i]:
			seen[0].Add(1)
		case shape(&a) == second[i]:
			seen[1].Add(1)
		default:
			t.Errorf("%s: an answer of neither snapshot: %d, %d rows, %.200s", swapRequests[i].path, a.status, len(a.body), a.body)
			return false
		}
		return true
	})
	pointer := filepath.Join(store, "channels", "stable.json")
	pointers := [2][]byte{readFile(t, pointer)}
	rebuild(store)
	pointers[1] = readFile(t, pointer)
	view, _ := inspect(t, store)
	ids := [2]string{firstID, view.ID}
	for i := range swaps {
		to := (i + 1) % 2
		replace(t, pointer, pointers[to])
		s.signal(t, syscall.SIGHUP)
		waitFor(t, "the swap to "+ids[to], func() bool { return s.snapshotID(t) == ids[to] })
	}
	c.end()
	if seen[0].Load() == 0 || seen[1].Load() == 0 {
		t.Errorf("%d answers of the first snapshot, %d of the second", seen[0].Load(), seen[1].Load())
	}
	t.Logf("%d requests during %d swaps: %d answers of the first snapshot, %d of the second", c.asked.Load(), swaps, seen[0].Load(), seen[1].Load())
	waitFor(t, "the log to tell of the last swap", func() bool { return strings.Count(s.said.String(), "snapshot swapped") >= swaps })
	if n := strings.Count(s.said.String(), "snapshot swapped"); n != swaps {
		t.Errorf("the log tells of %d swaps, want %d", n, swaps)
	}
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// replace puts a file in another's place at once.
func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	writeFile(t, path+".new", data)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestPollFindsSnapshot: without a signal the channel is looked at now and then, and only another snapshot is opened.
func TestPollFindsSnapshot(t *testing.T) {
	store := newStore(t, newCatalog(t, 1))
	s := serve(t, "--store", store, "--snapshot-poll", "50ms")
	wants(t, 0, "build", "--catalog", newCatalog(t, 2), "--store", store, "--snapshot-time", "2026-12-01T00:00:00Z", "--allow-shrink")
	view, _ := inspect(t, store)
	waitFor(t, "the new snapshot", func() bool { return s.snapshotID(t) == view.ID })
	waitFor(t, "the log to tell of it", func() bool { return strings.Contains(s.said.String(), "snapshot swapped") })
	time.Sleep(300 * time.Millisecond) // some more looks
	if n := strings.Count(s.said.String(), "snapshot swapped"); n != 1 {
		t.Errorf("the log tells of %d swaps, want 1:\n%s", n, s.said)
	}
}

// TestShownAnew: a replica that looks seldom tells when its snapshot was shown anew, though it has not seen the one in between: clients of others have.
func TestShownAnew(t *testing.T) {
	store := newStore(t, newCatalog(t, 1))
	first, _ := inspect(t, store)
	wants(t, 0, "build", "--catalog", newCatalog(t, 2), "--store", store, "--snapshot-time", "2026-11-21T01:03:00Z", "--allow-shrink")
	second, _ := inspect(t, store)
	wants(t, 0, "publish", "--store", store, first.ID)
	s := serve(t, "--store", store, "--snapshot-poll", "1h")
	modified := func() time.Time {
		t.Helper()
		a := ask(t, "GET", s.base+with(swapRequests[0].path))
		at, err := http.ParseTime(a.header.Get("Last-Modified"))
		if err != nil && a.header.Get("Last-Modified") != "" { // none as long as it is still to come
			t.Fatal(err)
		}
		return at
	}
	waitFor(t, "the first time of publication", func() bool { return !modified().IsZero() })
	before := modified()
	wants(t, 0, "publish", "--store", store, second.ID)
	wants(t, 0, "publish", "--store", store, first.ID)
	s.signal(t, syscall.SIGHUP)
	waitFor(t, "the last one", func() bool { return modified().Sub(before) >= 2*time.Second })
	if id := s.snapshotID(t); id != first.ID || strings.Contains(s.said.String(), "snapshot swapped") {
		t.Errorf("%s is served, not %s:\n%s", id, first.ID, s.said)
	}
}

// TestBrokenSnapshotIsNotServed: whatever is wrong with the channel's next snapshot, the old one goes on answering and the log says why.
func TestBrokenSnapshotIsNotServed(t *testing.T) {
	whole := newStore(t, newCatalog(t, 1))
	both := copyStore(t, whole)
	wants(t, 0, "build", "--catalog", newCatalog(t, 2), "--store", both, "--snapshot-time", "2026-12-01T00:00:00Z", "--allow-shrink")
	view, _ := inspect(t, both)
	segment := filepath.Base(segmentOf(t, both, "conflict_event"))
	manifest := view.ID + ".json"
	for _, d := range []struct {
		name, path string
		with       func([]byte) []byte
	}{
		{"segment with a flipped bit", "segments/" + segment, flip(5000)},
		{"segment truncated", "segments/" + segment, cut},
		{"segment empty", "segments/" + segment, nothing},
		{"manifest of another program", "manifests/" + manifest, otherJSON},
		{"manifest truncated", "manifests/" + manifest, cut},
		{"pointer truncated", "channels/stable.json", cut},
		{"pointer empty", "channels/stable.json", nothing},
		{"pointer to nothing", "channels/stable.json", func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(view.ID), []byte("no-such-snapshot")) }},
		{"segment of a later version", "segments/" + segment, func(b []byte) []byte { return versioned(b, 2, 0, 0, 0) }},
		{"segment of the other byte order", "segments/" + segment, func(b []byte) []byte { return versioned(b, 0, 0, 0, 1) }},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			store := copyStore(t, whole)
			s := serve(t, "--store", store)
			old, id := s.shapes(t), s.snapshotID(t)
			for _, dir := range []string{"segments", "manifests", "channels"} {
				files, err := filepath.Glob(filepath.Join(both, dir, "*"))
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					data := readFile(t, file)
					if path := dir + "/" + filepath.Base(file); path == d.path {
						data = d.with(data)
					}
					replace(t, filepath.Join(store, dir, filepath.Base(file)), data)
				}
			}
			s.signal(t, syscall.SIGHUP)
			waitFor(t, "the log to say it", func() bool { return strings.Contains(s.said.String(), "the old one stays") })
			if now := s.snapshotID(t); now != id {
				t.Errorf("%s is served, not the old %s", now, id)
			}
			for i, want := range old {
				a := ask(t, "GET", s.base+with(swapRequests[i].path), swapRequests[i].fields...)
				if shape(&a) != want {
					t.Errorf("%s: another answer than before", swapRequests[i].path)
				}
			}
			// Whole files in their place are served after the next look.
			replace(t, filepath.Join(store, filepath.FromSlash(d.path)), readFile(t, filepath.Join(both, filepath.FromSlash(d.path))))
			s.signal(t, syscall.SIGHUP)
			waitFor(t, "the repaired snapshot", func() bool { return s.snapshotID(t) == view.ID })
		})
	}
}

// TestPointerFlips moves a channel to and fro while the server is told to look, again and again, faster than it can: each answer is one snapshot's, and in
// the end it serves what the channel shows.
func TestPointerFlips(t *testing.T) {
	store := newStore(t, newCatalog(t, 1))
	first, _ := inspect(t, store)
	wants(t, 0, "build", "--catalog", newCatalog(t, 2), "--store", store, "--snapshot-time", "2026-12-01T00:00:00Z", "--allow-shrink")
	second, _ := inspect(t, store)
	s := serve(t, "--store", store, "--snapshot-poll", "20ms")
	var pointers [2][]byte
	pointers[1] = readFile(t, filepath.Join(store, "channels", "stable.json"))
	wants(t, 0, "rollback", "--store", store)
	pointers[0] = readFile(t, filepath.Join(store, "channels", "stable.json"))
	of := func(path string) func() string {
		return func() string {
			a := ask(t, "GET", s.base+with(path))
			return a.header.Get("X-Snapshot-Id") + " " + a.header.Get("X-Total-Count")
		}
	}("/api/v2/coordination-context/conflict-events?limit=1")
	rows := map[string]string{}
	for i := range 300 {
		replace(t, filepath.Join(store, "channels", "stable.json"), pointers[i%2])
		if i%3 == 0 {
			s.signal(t, syscall.SIGHUP)
		}
		id, total, _ := strings.Cut(of(), " ")
		if was, seen := rows[id]; id != first.ID && id != second.ID || seen && was != total {
			t.Fatalf("%s rows of snapshot %s, before %s", total, id, was)
		}
		rows[id] = total
	}
	for i, want := range []string{first.ID, second.ID} {
		replace(t, filepath.Join(store, "channels", "stable.json"), pointers[i])
		waitFor(t, "the last pointer's snapshot", func() bool { return s.snapshotID(t) == want })
	}
	if strings.Contains(s.said.String(), "ERROR") || strings.Contains(s.said.String(), "panic") {
		t.Errorf("%s", s.said)
	}
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestEndUnderLoad sends SIGTERM while callers ask: every request that the server had begun to read is answered whole, later ones find
// no listener, and the exit code is 0.
func TestEndUnderLoad(t *testing.T) {
	store := newStore(t, newCatalog(t, 1))
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		s := serve(t, "--store", store, "--shutdown-delay", "200ms", "--queue-wait", "30s")
		want := s.shapes(t)
		var c callers
		c.start(6, s, func(i int, a answer, err error, sending time.Duration) bool {
			if err == nil && shape(&a) != want[i] {
				t.Errorf("%s: another answer near the end: %d, %d bytes", swapRequests[i].path, a.status, len(a.body))
			}
			var opening *net.OpError
			late := sending >= lastWait && a.status == 0 // the machine is so busy that the new connection may have been given up before its request came
			if err != nil && (!errors.As(err, &opening) || opening.Op != "dial") && !late {
				t.Errorf("%s, sent after %s: %v", swapRequests[i].path, sending, err)
			}
			return err == nil
		})
		time.Sleep(300 * time.Millisecond)
		if code := s.stop(t); code != 0 {
			t.Errorf("exit code %d\n%s", code, s.said)
		}
		c.running.Wait()
		t.Logf("%d requests", c.asked.Load())
	}
}

// TestEndWaitsForSlowReader: an answer that is being sent when SIGTERM comes is sent to its end, however slowly it is read.
func TestEndWaitsForSlowReader(t *testing.T) {
	s := serve(t)
	whole := ask(t, "GET", s.base+with("/api/v2/coordination-context/conflict-events"))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// A small buffer keeps most of the answer in the server; a very small one would only make TCP slow.
	if err := conn.(*net.TCPConn).SetReadBuffer(32 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", with("/api/v2/coordination-context/conflict-events"))
	var got bytes.Buffer
	chunk := make([]byte, 16<<10)
	n, err := conn.Read(chunk)
	if err != nil {
		t.Fatal(err)
	}
	got.Write(chunk[:n])
	s.signal(t, syscall.SIGTERM)
	for {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		n, err := conn.Read(chunk)
		got.Write(chunk[:n])
		if err != nil {
			break
		}
	}
	_, body, _ := bytes.Cut(got.Bytes(), []byte("\r\n\r\n"))
	if !bytes.Equal(body, whole.body) {
		t.Errorf("%d bytes of %d arrived", len(body), len(whole.body))
	}
	if code := s.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
