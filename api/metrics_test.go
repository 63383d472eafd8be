package api

import (
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	helpLine   = regexp.MustCompile(`^# HELP ([a-z_]+) [A-Z].*\.$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-z_]+) (counter|gauge)$`)
	sampleLine = regexp.MustCompile(`^(([a-z_]+)(?:\{[a-z]+="[a-z0-9]+"\})?) (-?[0-9]+)$`)
)

// readMetrics parses /metrics strictly: of each family the help, the type, then the samples.
func readMetrics(t *testing.T, address string) map[string]int64 {
	t.Helper()
	got := ask(t, address, "GET", "/metrics", nil)
	if kind, _ := got.field("Content-Type"); got.Status != 200 || kind != metricsType {
		t.Fatalf("%d %q", got.Status, kind)
	}
	series, family, kind := map[string]int64{}, "", ""
	for line := range strings.SplitSeq(strings.TrimSuffix(string(got.Body), "\n"), "\n") {
		if m := helpLine.FindStringSubmatch(line); m != nil {
			family, kind = m[1], ""
			continue
		}
		if m := typeLine.FindStringSubmatch(line); m != nil && m[1] == family {
			if kind = m[2]; (kind == "counter") != strings.HasSuffix(family, "_total") {
				t.Errorf("%s is a %s", family, kind)
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || m[2] != family || kind == "" {
			t.Fatalf("line %q is in the block of family %q", line, family)
		}
		n, err := strconv.ParseInt(m[3], 10, 64)
		if _, twice := series[m[1]]; err != nil || twice || n < 0 {
			t.Errorf("line %q: %v", line, err)
		}
		series[m[1]] = n
	}
	return series
}

// TestMetrics checks that each event is counted once, in the right series.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := New(Options{Queries: 1, QueueWait: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	admin := listenAdmin(t, s)
	if m := readMetrics(t, admin); m["hdqs_snapshots_held"] != 0 ||
		slices.Contains(keys(m), "hdqs_snapshot_age_seconds") {
		t.Errorf("without a snapshot: %v", m)
	}
	for _, id := range []string{"one", "two"} {
		if err := s.Swap(Release{Snapshot: storeSnapshot(t, id, time.Now().Add(-time.Hour),
			sampleTables(t, 30))}); err != nil {
			t.Fatal(err)
		}
	}
	address := listen(t, s)
	want := map[string]int64{"hdqs_snapshots_held": 2}
	check := func(when string, wants map[string]int64) {
		t.Helper()
		for series, n := range wants {
			want[series] = n
		}
		t.Run(when, func(t *testing.T) {
			got := readMetrics(t, admin)
			for series, n := range want {
				if got[series] != n {
					t.Errorf("%s is %d, want %d", series, got[series], n)
				}
			}
			if age := got["hdqs_snapshot_age_seconds"]; age < 3600 || age > 3700 {
				t.Errorf("the snapshot's age is %d s", age)
			}
		})
	}
	check("before any request", map[string]int64{
		"hdqs_cache_misses_total": 0, "hdqs_cache_bytes": 0,
		`hdqs_http_requests_total{code="200"}`: 0,
	})
	conn := dial(t, address)
	for range 3 { // a miss, a miss that is cached, a hit
		conn.get(listTarget)
	}
	body := int64(len(s.Answer("GET", listTarget, nil).Body)) // a hit as well, but not counted as an HTTP request
	check("three identical requests", map[string]int64{
		"hdqs_cache_misses_total": 2, "hdqs_cache_hits_total": 2, "hdqs_cache_bytes": body + cachedOverhead,
		`hdqs_http_requests_total{code="200"}`: 3, "hdqs_connections": 1,
	})
	known := "GET " + listTarget + "&offset=2 HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n"
	if answer, _ := conn.raw(t, "GET", known); !strings.HasPrefix(answer, "HTTP/1.1 304 ") {
		t.Errorf("If-None-Match: %.40q", answer)
	}
	check("no query for a 304", map[string]int64{`hdqs_http_requests_total{code="304"}`: 1})
	conn.get("/api/v2/metadata/sector")
	conn.get("/nowhere")
	check("errors", map[string]int64{
		`hdqs_http_requests_total{code="403"}`: 1, `hdqs_http_requests_total{code="404"}`: 1,
		"hdqs_requests_without_identifier_total": 1,
	})
	if !s.gate.Enter(false) {
		t.Fatal("no free slot")
	}
	conn.get(listTarget + "&limit=1")
	check("all slots taken", map[string]int64{
		`hdqs_shed_total{reason="queries"}`: 1, `hdqs_http_requests_total{code="503"}`: 1,
		"hdqs_queries_running": 1, "hdqs_cache_misses_total": 3,
	})
	s.gate.Leave()
	s.budget.Add(s.budget.Limit())
	conn.get(listTarget + "&limit=1")
	check("byte budget full", map[string]int64{
		`hdqs_shed_total{reason="bytes"}`: 1, `hdqs_http_requests_total{code="503"}`: 2,
		"hdqs_http_in_flight_bytes": s.budget.Limit(), "hdqs_queries_running": 0,
		"hdqs_cache_misses_total": 3,
	})
	s.budget.Add(-s.budget.Limit())
	raw := dial(t, address)
	if answer, _ := raw.raw(t, "GET", "nonsense\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
		t.Errorf("a malformed request: %.40q", answer)
	}
	// The connection is closed after the answer.
	waitFor(t, "its connection to be closed", func() bool { return s.callers.Count() == 1 })
	check("malformed request",
		map[string]int64{`hdqs_http_requests_total{code="400"}`: 1, "hdqs_http_in_flight_bytes": 0})
	_, m, _ := s.bodies.begin(testKey(1))
	for range 2 {
		go s.bodies.begin(testKey(1))
	}
	waitFor(t, "two waiters", func() bool { return s.bodies.counts().joins == 2 })
	s.bodies.end(m, finished{}, nil)
	check("two waiters", map[string]int64{"hdqs_cache_joins_total": 2, "hdqs_cache_misses_total": 4})
	conn.Close()
	waitFor(t, "all connections to be closed", func() bool { return readMetrics(t, admin)["hdqs_connections"] == 0 })
	if got := ask(t, address, "GET", "/metrics", nil); got.Status != 404 {
		t.Errorf("/metrics on the public listener: status %d, want 404", got.Status)
	}
}

func keys(m map[string]int64) (all []string) {
	for key := range m {
		all = append(all, key)
	}
	return all
}
