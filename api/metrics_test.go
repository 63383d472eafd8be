package api

import (
	"bytes"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/testkit"
)

var sampleLine = regexp.MustCompile(`(?m)^([a-z_]+(?:\{[^{}]+\})?) (\S+)$`)

// readMetrics reads the series of /metrics, which the library writes.
func readMetrics(t *testing.T, address string) map[string]float64 {
	t.Helper()
	got := ask(t, address, "GET", "/metrics", nil)
	kind := headerOf(got, "Content-Type")
	if got.Status != 200 || !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Fatalf("%d %q", got.Status, kind)
	}
	if faults, err := promlint.New(bytes.NewReader(got.Body)).Lint(); err != nil || len(faults) > 0 {
		t.Errorf("promtool check metrics would say: %v %v", faults, err)
	}
	series := map[string]float64{}
	for _, m := range sampleLine.FindAllStringSubmatch(string(got.Body), -1) {
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil || n < 0 {
			t.Errorf("%s: %v", m[0], err)
		}
		series[m[1]] = n
	}
	return series
}

// requestsWith adds up the counts of requests whose labels have a text.
func requestsWith(series map[string]float64, label string) (n float64) {
	for name, count := range series {
		if strings.HasPrefix(name, "hdqs_http_requests_total{") && strings.Contains(name, label) {
			n += count
		}
	}
	return n
}

// TestMetrics checks that each event is counted once, in the right series.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := New(state.Options{Queries: 1, QueueWait: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	admin := listenAdmin(t, s)
	if m := readMetrics(t, admin); m["hdqs_snapshots_held"] != 0 ||
		slices.Contains(keys(m), "hdqs_snapshot_age_seconds") {
		t.Errorf("without a snapshot: %v", m)
	}
	for _, id := range []string{"one", "two"} {
		mustSwap(t, s, state.Release{Snapshot: storeSnapshot(t, id, time.Now().Add(-time.Hour),
			sampleTables(t, 30))})
	}
	address := listen(t, s)
	want := map[string]float64{"hdqs_snapshots_held": 2}
	check := func(when string, wants map[string]float64) {
		t.Helper()
		for series, n := range wants {
			want[series] = n
		}
		t.Run(when, func(t *testing.T) {
			got := readMetrics(t, admin)
			for series, n := range want {
				if got[series] != n {
					t.Errorf("%s is %v, want %v", series, got[series], n)
				}
			}
			if age := got["hdqs_snapshot_age_seconds"]; age < 3600 || age > 3700 {
				t.Errorf("the snapshot's age is %v s", age)
			}
		})
	}
	check("before any request", map[string]float64{
		"hdqs_body_cache_misses_total": 0, "hdqs_body_cache_bytes": 0,
		`hdqs_http_requests_total{code="200",endpoint="sector",format="json"}`: 0,
	})
	conn := dial(t, address)
	for range 3 { // a miss, a miss that is cached, a hit
		conn.get(listTarget)
	}
	body := int64(len(s.Answer("GET", listTarget, nil).Body)) // a hit as well, but not counted as an HTTP request
	check("three identical requests", map[string]float64{
		"hdqs_body_cache_misses_total": 2, "hdqs_body_cache_hits_total": 2,
		"hdqs_body_cache_bytes": float64(body + 256),
		`hdqs_http_requests_total{code="200",endpoint="sector",format="json"}`: 3, "hdqs_http_connections": 1,
	})
	known := "GET " + listTarget + "&offset=2 HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n"
	if answer, _ := conn.raw(t, "GET", known); !strings.HasPrefix(answer, "HTTP/1.1 304 ") {
		t.Errorf("If-None-Match: %.40q", answer)
	}
	check("no query for a 304", map[string]float64{`hdqs_http_requests_total{code="304",endpoint="sector",format="json"}`: 1})
	conn.get("/api/v2/metadata/sector")
	conn.get("/nowhere")
	check("errors", map[string]float64{
		`hdqs_http_requests_total{code="403",endpoint="sector",format="json"}`: 1,
		`hdqs_http_requests_total{code="404",endpoint="other",format="other"}`: 1,
		`hdqs_identifier_total{result="missing"}`:                              1,
	})
	if !s.Lists.Admission.Gate.Enter(false) {
		t.Fatal("no free slot")
	}
	conn.get(listTarget + "&limit=1")
	check("all slots taken", map[string]float64{
		`hdqs_http_shed_total{reason="queries"}`: 1, `hdqs_http_requests_total{code="503",endpoint="sector",format="json"}`: 1,
		"hdqs_queries_running": 1, "hdqs_body_cache_misses_total": 3,
	})
	s.Lists.Admission.Gate.Leave()
	s.State.Budget.Add(s.State.Budget.Limit())
	conn.get(listTarget + "&limit=1")
	check("byte budget full", map[string]float64{
		`hdqs_http_shed_total{reason="bytes"}`: 1, `hdqs_http_requests_total{code="503",endpoint="sector",format="json"}`: 2,
		"hdqs_http_in_flight_bytes": float64(s.State.Budget.Limit()), "hdqs_queries_running": 0,
		"hdqs_body_cache_misses_total": 3,
	})
	s.State.Budget.Add(-s.State.Budget.Limit())
	raw := dial(t, address)
	if answer, _ := raw.raw(t, "GET", "nonsense\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
		t.Errorf("a malformed request: %.40q", answer)
	}
	// The connection is closed after the answer.
	waitFor(t, "its connection to be closed", func() bool { return s.Lists.Callers.Count() == 1 })
	check("malformed request",
		map[string]float64{`hdqs_http_requests_total{code="400",endpoint="other",format="other"}`: 1, "hdqs_http_in_flight_bytes": 0})
	s.Lists.Admission.Gate = wire.NewGate(1, testkit.Patience)
	if !s.Lists.Admission.Gate.Enter(false) {
		t.Fatal("no free slot")
	}
	var same sync.WaitGroup
	for range 3 {
		same.Go(func() { s.Answer("GET", listTarget+"&limit=2", nil) })
	}
	waitFor(t, "two waiters", func() bool { return s.Lists.Bodies.Counts().Joins == 2 })
	s.Lists.Admission.Gate.Leave()
	same.Wait()
	waited := int64(len(s.Answer("GET", listTarget+"&limit=2", nil).Body)) // a body with waiters is cached
	check("two waiters", map[string]float64{
		"hdqs_body_cache_joins_total": 2, "hdqs_body_cache_misses_total": 4, "hdqs_body_cache_hits_total": 3,
		"hdqs_body_cache_bytes": float64(body + waited + 2*256),
	})
	conn.Close()
	waitFor(t, "all connections to be closed", func() bool {
		return readMetrics(t, admin)["hdqs_http_connections"] == 0
	})
	if got := ask(t, address, "GET", "/metrics", nil); got.Status != 404 {
		t.Errorf("/metrics on the public listener: status %d, want 404", got.Status)
	}
}

func keys(m map[string]float64) (all []string) {
	for key := range m {
		all = append(all, key)
	}
	return all
}

// knownLabels are the labels that requests may create series with, and their values. There are also
// endpoints.
var knownLabels = map[string]*regexp.Regexp{
	"code":   regexp.MustCompile(`^([2-5]xx|[2-5][0-9][0-9]|other)$`),
	"format": regexp.MustCompile(`^(json|csv|other)$`),
	"coding": regexp.MustCompile(`^(identity|gzip|zstd)$`),
	"le":     regexp.MustCompile(`^[0-9.e+-]+$|^\+Inf$`),
}

var labelPair = regexp.MustCompile(`([a-z]+)="([^"]*)"`)

// hasKnownLabels reports whether all labels of a series have values from fixed lists.
func hasKnownLabels(s *Server, series string) bool {
	for _, pair := range labelPair.FindAllStringSubmatch(series, -1) {
		if pair[1] == "endpoint" {
			if !slices.Contains(s.Lists.Routes.Endpoints, pair[2]) {
				return false
			}
		} else if known := knownLabels[pair[1]]; known == nil || !known.MatchString(pair[2]) {
			return false
		}
	}
	return true
}
