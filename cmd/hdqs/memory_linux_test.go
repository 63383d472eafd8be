package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// usualGarbage lets the program choose how often it collects garbage, where GOGC is set for tests.
var usualGarbage = []string{"GOGC="}

var anonymous = regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`)

// anonymousBytes returns the memory of the process without the pages of mapped files.
func (p *process) anonymousBytes(t *testing.T) int64 {
	t.Helper()
	status := testkit.ReadFile(t, fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	found := anonymous.FindSubmatch(status)
	if found == nil {
		t.Fatalf("no RssAnon in\n%s", status)
	}
	n := testkit.Value(strconv.ParseInt(string(found[1]), 10, 64))(t)
	return n << 10
}

// TestSwapUnderLoad swaps back and forth between two snapshots during requests. No request may
// fail, and each answer must come from one snapshot. There is a limit with room for only one beside
// its replacement, where the system allows in a control group of that size, and the process stays
// below it: replaced snapshots are dropped, and their memory is free at once, not only when
// --keep-previous is over. Under the race detector, with which a server takes several times as
// much, there is none.
func TestSwapUnderLoad(t *testing.T) {
	parallel(t)
	const limit = 168 << 20
	swaps := testkit.Trials(20, 6)
	store := newStoreOf(t, generator.Options{Seed: 1, Scale: 0.1})
	pointer := filepath.Join(store, "channels", "stable.json")
	pointers := [2][]byte{testkit.ReadFile(t, pointer)}
	other := generated(t, generator.Options{Seed: 2, Scale: 0.1})
	mustExit(t, 0, "build", "--catalog", other, "--store", store, "--snapshot-time", "2026-12-01T00:00:00Z",
		"--allow-shrink")
	pointers[1] = testkit.ReadFile(t, pointer)
	second := serve(t, "--store", store).fingerprints(t)
	testkit.ReplaceFile(t, pointer, pointers[0])
	args := []string{"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--store", store, "--snapshot-poll", "1h"}
	if !raceDetector {
		args = append(args, "--memory-limit", strconv.Itoa(limit))
	}
	s := serveWith(t, usualGarbage, args...)
	if !raceDetector {
		inGroup(t, s.process, limit)
	}
	first := s.fingerprints(t)
	for i, r := range swapRequests {
		if first[i] == second[i] {
			t.Fatalf("%s: both snapshots give the same answer, so the test would notice nothing", r.path)
		}
	}
	var c callers
	var seen [2]atomic.Int64
	c.start(4, s, func(i int, a answer, err error) bool {
		switch got := fingerprint(&a); {
		case err != nil:
			t.Errorf("%s: %v", swapRequests[i].path, err)
			return false
		case got == first[i]:
			seen[0].Add(1)
		case got == second[i]:
			seen[1].Add(1)
		default:
			t.Errorf("%s: an answer of neither snapshot: %d, %d bytes, %.200s",
				swapRequests[i].path, a.status, len(a.body), a.body)
			return false
		}
		return true
	})
	most := int64(0)
	for i := range swaps {
		testkit.ReplaceFile(t, pointer, pointers[(i+1)%2])
		s.signalAndWait(t, "a swap", "snapshot swapped")
		before := c.asked.Load()
		testkit.WaitFor(t, "requests to the new snapshot", func() bool { return c.asked.Load() > before+60 })
		most = max(most, s.anonymousBytes(t))
	}
	c.end()
	t.Logf("at most %d MiB; %d requests, %d answers of the first snapshot, %d of the second",
		most>>20, c.asked.Load(), seen[0].Load(), seen[1].Load())
	if seen[0].Load() == 0 || seen[1].Load() == 0 || strings.Count(s.log.String(), "snapshot swapped") != swaps {
		t.Errorf("%d and %d answers; %d swaps\n%s", seen[0].Load(), seen[1].Load(), swaps, s.log)
	}
	if raceDetector {
		return
	}
	if most > limit {
		t.Errorf("%d bytes in use, the limit is %d", most, limit)
	}
	metrics := string(ask(t, "GET", s.admin+"/metrics").body)
	for _, line := range []string{
		fmt.Sprintf("hdqs_memory_limit_bytes %g", float64(limit)),
		fmt.Sprintf(`hdqs_snapshots_dropped_total{reason="memory"} %d`, swaps),
		`hdqs_swaps_refused_total{reason="memory"} 0`, "hdqs_snapshots_held 1",
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %q", line)
		}
	}
}

// TestMemoryOfEnvironment: GOMEMLIMIT counts where it is set.
func TestMemoryOfEnvironment(t *testing.T) {
	parallel(t)
	s := serveWith(t, []string{"GOMEMLIMIT=100MiB"}, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--memory-limit", "1GiB")
	metrics := string(ask(t, "GET", s.admin+"/metrics").body)
	for _, line := range []string{"hdqs_memory_limit_bytes 1.073741824e+09", "go_gc_gomemlimit_bytes 1.048576e+08"} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %q", line)
		}
	}
	if !s.logged("go=\"100.0 MiB\"") {
		t.Errorf("the log does not name the limit:\n%s", s.log)
	}
}

// Paths of lists for requests that are made to fill memory.
const (
	eventsPath   = "/api/v2/coordination-context/conflict-events"
	presencePath = "/api/v2/coordination-context/operational-presence"
	needsPath    = "/api/v2/affected-people/humanitarian-needs"
	rainPath     = "/api/v2/climate/rainfall"
	marketsPath  = "/api/v2/metadata/agency-market"
)

// bomb is requests of one kind.
type bomb struct {
	name  string
	paths []string
	raw   string // sent in place of requests, by connections that wait then
	many  int    // of these
}

// bombs are all requests that are known to take much memory.
func bombs(t *testing.T) []bomb {
	pages, exports := bomb{name: "pages of 10,000 rows"}, bomb{name: "exports"}
	for _, path := range []string{eventsPath, presencePath, needsPath, pricesPath, rainPath} {
		for _, more := range []string{
			"", "&output_format=csv", "&has_hrp=true", "&offset=20011", "&fields=location_code,admin1_name",
		} {
			pages.paths = append(pages.paths, path+"?limit=10000"+more)
		}
		for _, form := range contract.ExportFormatNames() {
			if form == contract.FormatGeoJSON {
				continue
			}
			exports.paths = append(exports.paths, path+"/export?output_format="+form)
		}
	}
	exports.paths = append(exports.paths, pricesPath+"/export?output_format=geojson",
		marketsPath+"/export?output_format=geojson")
	var junk strings.Builder
	for i := 0; junk.Len() < 38<<10; i++ {
		fmt.Fprintf(&junk, "&q%d=x", i)
	}
	unknown := bomb{name: "38 KB of unknown parameters"}
	for _, path := range []string{eventsPath, "/browse/conflict-events", eventsPath + "/facets", "/docs"} {
		unknown.paths = append(unknown.paths, path+"?limit=1"+junk.String())
	}
	bombs := []bomb{pages, exports, unknown}
	for _, c := range testkit.Cases(t, "testdata/bombs.txt", ": ", 2) {
		if bombs[len(bombs)-1].name != c[0] {
			bombs = append(bombs, bomb{name: c[0]})
		}
		b := &bombs[len(bombs)-1]
		b.paths = append(b.paths, c[1])
	}
	header := "GET " + with(eventsPath) + " HTTP/1.1\r\nHost: a\r\nX-A: "
	return append(bombs, []bomb{
		{name: "idle connections", raw: " ", many: 4000},
		{name: "half requests", raw: header + strings.Repeat("a", 12<<10), many: 4000},
		{name: "long half requests", raw: header + strings.Repeat("a", 60<<10), many: 4000},
		{
			name: "pages that nobody reads", raw: "GET " + rainPath + "?limit=10000 HTTP/1.1\r\nHost: a\r\n\r\n",
			many: 400,
		},
		{name: "compressed bodies", many: 400, raw: "GET " + with(eventsPath) + " HTTP/1.1\r\nHost: a\r\n" +
			"Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n" + strings.Repeat("\x00", 1000)},
	}...)
}

// from is a client with an address of its own.
func from(address string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: testkit.Patience}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableCompression: true}}
}

// TestMemoryUnderBombs sends everything that is known to take much memory to a replica with 200
// MiB, where the system allows in a control group of that size, from forty clients with an address
// each. It survives, stays below its part of the limit, and answers afterwards. In the long form
// requests go on for three seconds, and come again from one address.
func TestMemoryUnderBombs(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("takes a minute, and with the race detector more memory than the limit")
	}
	const limit, clients = 200 << 20, 40
	store := newStoreOf(t, generator.Options{Seed: 1, Scale: 0.1})
	s := serveWith(t, usualGarbage, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--store", store,
		"--memory-limit", strconv.Itoa(limit), "--identifier", "off")
	inGroup(t, s.process, limit)
	for _, b := range bombs(t) {
		for _, addresses := range []int{clients, 1}[:testkit.Trials(2, 1)] {
			most, statuses := s.explode(t, b, clients, addresses)
			t.Logf("%-28s %2d addresses: at most %3d MiB; %v", b.name, addresses, most>>20, statuses)
			if most > limit-limit/8 { // the rest is the kernel's
				t.Errorf("%s: %d MiB in use of %d", b.name, most>>20, limit>>20)
			}
		}
	}
	testkit.WaitFor(t, "an answer once no bytes are in flight", func() bool {
		return ask(t, "GET", s.base+eventsPath+"?limit=1").status == 200
	})
}

// inGroup moves a process into a control group of version 1 or 2 with a limit of memory, if one can
// be made.
func inGroup(t *testing.T, p *process, limit int) {
	root, file := "/sys/fs/cgroup", "memory.max"
	if _, err := os.Stat(root + "/memory"); err == nil {
		root, file = root+"/memory", "memory.limit_in_bytes"
	}
	dir := filepath.Join(root, fmt.Sprintf("hdqs-%s-%d", t.Name(), os.Getpid()))
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		t.Cleanup(func() {
			p.kill()
			_ = os.Remove(dir)
		})
		err = os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(limit)), 0)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(p.cmd.Process.Pid)), 0)
	}
	if err != nil {
		t.Logf("without a control group: %v", err)
	}
}

// explode sends the requests of a bomb, and returns the most memory that the server used and how
// often it answered with each status.
func (s *server) explode(t *testing.T, b bomb, clients, addresses int) (most int64, statuses map[int]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(testkit.Trials(3, 1))*time.Second)
	defer cancel()
	each := testkit.Trials(math.MaxInt, 12) // requests of a client
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses = map[int]int{}
	for c := range clients {
		address := fmt.Sprintf("127.0.1.%d", 1+c%addresses)
		all.Go(func() {
			if b.raw != "" {
				hold(ctx, s.base, address, b.raw, b.many/clients)
				return
			}
			client := from(address)
			defer client.CloseIdleConnections()
			for i := c; ctx.Err() == nil && i-c < each; i++ {
				coding := []string{"identity", "gzip", "zstd"}[i/7%3]
				status := fetch(ctx, client, s.base+b.paths[i%len(b.paths)], coding)
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	for {
		most = max(most, s.anonymousBytes(t))
		select {
		case <-s.ended:
			t.Fatalf("%s from %d addresses ended the server: %v\n%.2000s", b.name, addresses, s.cmd.ProcessState, s.log)
		case <-done:
			return most, statuses
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// fetch sends a request and reads the answer; 0 is one that failed.
func fetch(ctx context.Context, client *http.Client, url, coding string) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0
	}
	request.Header.Set("Accept-Encoding", coding)
	response, err := client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// hold opens connections, sends the same on each, and reads nothing.
func hold(ctx context.Context, base, address, raw string, n int) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	for range n {
		conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			break
		}
		defer conn.Close()
		_, _ = bytes.NewBufferString(raw).WriteTo(conn)
	}
	<-ctx.Done()
}
