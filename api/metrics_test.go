package api_test

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/testkit"
)

// TestMetrics checks that each event is counted once, in the right series.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := api.New(state.Options{Queries: 1, QueueWait: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	admin := apitest.ListenAdmin(t, s)
	if m := apitest.Metrics(t, admin); m["hdqs_snapshots_held"] != 0 ||
		slices.Contains(keys(m), "hdqs_snapshot_age_seconds") {
		t.Errorf("without a snapshot: %v", m)
	}
	for _, id := range []string{"one", "two"} {
		apitest.Swap(t, s, state.Release{Snapshot: apitest.StoreSnapshot(t, id, time.Now().Add(-time.Hour),
			apitest.SampleTables(t, 30))})
	}
	address := apitest.Listen(t, s)
	want := map[string]float64{"hdqs_snapshots_held": 2}
	check := func(when string, wants map[string]float64) {
		t.Helper()
		for series, n := range wants {
			want[series] = n
		}
		t.Run(when, func(t *testing.T) {
			got := apitest.Metrics(t, admin)
			for series, n := range want {
				testkit.Equal(t, got[series], n, "%s", series)
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
	conn := apitest.Dial(t, address)
	for range 3 { // a miss, a miss that is cached, a hit
		conn.Get(apitest.Target)
	}
	body := int64(len(s.Answer("GET", apitest.Target, nil).Body)) // a hit as well, but not counted as an HTTP request
	check("three identical requests", map[string]float64{
		"hdqs_body_cache_misses_total": 2, "hdqs_body_cache_hits_total": 2,
		"hdqs_body_cache_bytes": float64(body + 256),
		`hdqs_http_requests_total{code="200",endpoint="sector",format="json"}`: 3, "hdqs_http_connections": 1,
	})
	known := "GET " + apitest.Target + "&offset=2 HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n"
	if answer, _ := conn.Raw(t, "GET", known); !strings.HasPrefix(answer, "HTTP/1.1 304 ") {
		t.Errorf("If-None-Match: %.40q", answer)
	}
	check("no query for a 304",
		map[string]float64{`hdqs_http_requests_total{code="304",endpoint="sector",format="json"}`: 1})
	conn.Get("/api/v2/metadata/sector")
	conn.Get("/nowhere")
	check("errors", map[string]float64{
		`hdqs_http_requests_total{code="403",endpoint="sector",format="json"}`: 1,
		`hdqs_http_requests_total{code="404",endpoint="other",format="other"}`: 1,
		`hdqs_identifier_total{result="missing"}`:                              1,
	})
	if !s.Lists.Admission.Gate.Enter(false) {
		t.Fatal("no free slot")
	}
	conn.Get(apitest.Target + "&limit=1")
	check("all slots taken", map[string]float64{
		`hdqs_http_shed_total{reason="queries"}`: 1, `hdqs_http_requests_total{code="503",endpoint="sector",format="json"}`: 1,
		"hdqs_queries_running": 1, "hdqs_body_cache_misses_total": 3,
	})
	s.Lists.Admission.Gate.Leave()
	s.State.Budget.Add(s.State.Budget.Limit())
	conn.Get(apitest.Target + "&limit=1")
	check("byte budget full", map[string]float64{
		`hdqs_http_shed_total{reason="bytes"}`: 1, `hdqs_http_requests_total{code="503",endpoint="sector",format="json"}`: 2,
		"hdqs_http_in_flight_bytes": float64(s.State.Budget.Limit()), "hdqs_queries_running": 0,
		"hdqs_body_cache_misses_total": 3,
	})
	s.State.Budget.Add(-s.State.Budget.Limit())
	raw := apitest.Dial(t, address)
	if answer, _ := raw.Raw(t, "GET", "nonsense\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
		t.Errorf("a malformed request: %.40q", answer)
	}
	// The connection is closed after the answer.
	testkit.WaitFor(t, "its connection to be closed", func() bool { return s.Lists.Callers.Count() == 1 })
	check(
		"malformed request",
		map[string]float64{
			`hdqs_http_requests_total{code="400",endpoint="other",format="other"}`: 1,
			"hdqs_http_in_flight_bytes": 0,
		},
	)
	s.Lists.Admission.Gate = wire.NewGate(1, testkit.Patience)
	if !s.Lists.Admission.Gate.Enter(false) {
		t.Fatal("no free slot")
	}
	var same sync.WaitGroup
	for range 3 {
		same.Go(func() { s.Answer("GET", apitest.Target+"&limit=2", nil) })
	}
	testkit.WaitFor(t, "two waiters", func() bool { return s.Lists.Bodies.Counts().Joins == 2 })
	s.Lists.Admission.Gate.Leave()
	same.Wait()
	waited := int64(len(s.Answer("GET", apitest.Target+"&limit=2", nil).Body)) // a body with waiters is cached
	check("two waiters", map[string]float64{
		"hdqs_body_cache_joins_total": 2, "hdqs_body_cache_misses_total": 4, "hdqs_body_cache_hits_total": 3,
		"hdqs_body_cache_bytes": float64(body + waited + 2*256),
	})
	conn.Close()
	testkit.WaitFor(t, "all connections to be closed", func() bool {
		return apitest.Metrics(t, admin)["hdqs_http_connections"] == 0
	})
	if got := apitest.Ask(t, address, "GET", "/metrics", nil); got.Status != 404 {
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
func hasKnownLabels(s *api.Server, series string) bool {
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
