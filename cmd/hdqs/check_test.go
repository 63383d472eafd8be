package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestStatus asks replicas of which some are good, and one each serves another snapshot, refuses
// swaps, is not ready, or is not there.
func TestStatus(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	good := serve(t, "--store", store, "--memory-limit", "256MiB", "--snapshot-poll", "1h")
	view, _ := inspect(t, store)
	adminOf := func(s *server) string { return strings.TrimPrefix(s.admin, "http://") }
	status := func(code int, args ...string) statusView {
		t.Helper()
		o := run(t, append([]string{"status", "--json"}, args...)...)
		if o.code != code {
			t.Errorf("status %s: exit code %d, want %d\n%s%s", args, o.code, code, o.stdout, o.stderr)
		}
		return decode[statusView](t, []byte(o.stdout))
	}
	both := status(0, good.base, "--admin", adminOf(good))
	if r := both.Replicas; !both.Same || len(r) != 2 || r[0].Snapshot != view.ID || r[1].Snapshot != view.ID ||
		r[1].Tables != 25 || r[1].Rows < 1000 || r[1].Limit != 256<<20 || r[1].Memory < 1<<20 || r[1].State != "good" {
		t.Errorf("%+v", both)
	}
	text := run(t, "status", "--admin", good.admin)
	for _, want := range []string{": good\n", view.ID, "25 tables", "limit 256.0 MiB"} {
		if text.code != 0 || !strings.Contains(text.stdout, want) {
			t.Errorf("exit code %d, want 0 and %q:\n%s%s", text.code, want, text.stdout, text.stderr)
		}
	}

	other := copyStore(t, store)
	buildOther(t, other, "2026-12-01T00:00:00Z")
	second := serve(t, "--store", other)
	if differ := status(1, "--admin", adminOf(good), "--admin", adminOf(second)); differ.Same {
		t.Errorf("the snapshots differ: %+v", differ)
	}

	starting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(503)
			_, _ = io.WriteString(w, `{"ready":false,"reason":"reading channel stable"}`)
		}
	}))
	defer starting.Close()
	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			_, _ = io.WriteString(w, `{"ready":true,"snapshot":"x","stale_sources":`+
				`[{"table":"rainfall"}],"last_poll":{"outcome":"failed","reason":"disk on fire"}}`)
			return
		}
		_, _ = io.WriteString(w, "hdqs_http_shed_total{reason=\"queries\"} 7\n"+
			"hdqs_swaps_refused_total{reason=\"memory\"} 2\n")
	}))
	defer ill.Close()
	unready := status(1, "--admin", starting.URL).Replicas[0]
	if unready.State != "unready" || strings.Join(unready.Reasons, "") != "reading channel stable" {
		t.Errorf("%+v", unready)
	}
	degraded := status(1, "--admin", ill.URL).Replicas[0]
	reasons := strings.Join(degraded.Reasons, "\n")
	for _, want := range []string{"rainfall", "disk on fire"} {
		if degraded.State != "degraded" || !strings.Contains(reasons, want) {
			t.Errorf("%+v lacks %q", degraded, want)
		}
	}
	if degraded.Shed["queries"] != 7 || degraded.SwapsRefused != 2 {
		t.Errorf("%+v", degraded)
	}
	gone := status(3, "--admin", adminOf(good), "--admin", "127.0.0.1:1")
	if gone.Replicas[0].State != "good" || gone.Replicas[1].State != "unreachable" {
		t.Errorf("%+v", gone)
	}
	status(3, "--admin", good.base) // the public listener has no /readyz
	if o := run(t, "status"); o.code != 2 || !strings.Contains(o.stderr, "--admin ADDR") {
		t.Errorf("without an address: exit code %d\n%s", o.code, o.stderr)
	}
}

type statusView struct {
	Same     bool `json:"same_snapshot"`
	Replicas []struct {
		State, Snapshot string
		Reasons         []string
		Tables, Rows    int
		Memory          int64            `json:"memory_bytes"`
		Limit           int64            `json:"memory_limit_bytes"`
		Shed            map[string]int64 `json:"shed"`
		SwapsRefused    int64            `json:"swaps_refused"`
	}
}
