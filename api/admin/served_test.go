package admin_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/admin"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestAdmin checks the readiness and health endpoints through the life of a server.
func TestAdmin(t *testing.T) {
	t.Parallel()
	s := api.New(state.Options{Logger: slog.New(slog.DiscardHandler)})
	l := testkit.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	go s.ServeAdmin(l) //nolint:errcheck // returns when the listener is closed
	t.Cleanup(func() { l.Close() })
	ready := func() (int, state.Readiness) {
		got := apitest.Ask(t, l.Addr().String(), "GET", "/readyz", nil)
		var r state.Readiness
		if err := json.Unmarshal(got.Body, &r); err != nil {
			t.Fatalf("%q: %v", got.Body, err)
		}
		return got.Status, r
	}
	if status, r := ready(); status != 503 || r.Ready || r.Reason != "no snapshot is loaded yet" {
		t.Errorf("without a snapshot: %d %+v", status, r)
	}
	if got := apitest.Ask(t, l.Addr().String(), "GET", "/healthz", nil); got.Status != 200 ||
		string(got.Body) != "ok\n" {
		t.Errorf("healthz: %d %q", got.Status, got.Body)
	}
	tables := slices.DeleteFunc(apitest.SampleTables(t, 3),
		func(x *apitest.Table) bool { return x.Endpoint.Table == "funding" })
	snap := apitest.StoreSnapshot(t, "one", apitest.SampleTime, tables)
	for i := range snap.Manifest.Sources {
		if source := &snap.Manifest.Sources[i]; source.Table == apitest.StaleTable {
			source.Updated = time.Time{}
		}
	}
	apitest.Swap(t, s, state.Release{Snapshot: snap, PublishedAt: apitest.PublishedTime})
	s.State.Polled(state.Poll{At: apitest.PublishedTime, Outcome: "failed", Reason: "channel: it is empty"})
	if got := apitest.Ask(t, apitest.Listen(t, s), "GET", "/api/v2/metadata/sector", nil); got.Status != 403 {
		t.Errorf("without an identifier: %d", got.Status)
	}
	s.Starting("reading the channel")
	if status, r := ready(); status != 503 || r.Ready || r.Reason != "reading the channel" || r.Snapshot != "one" {
		t.Errorf("before the public listener is open: %d %+v", status, r)
	}
	s.Starting("")
	status, r := ready()
	if status != 200 || !r.Ready || r.Reason != "" || r.Snapshot != "one" || r.Rows["sector"] != 3 ||
		!slices.Equal(r.Missing, []string{"funding"}) ||
		r.SnapshotTime != "2026-11-20T02:00:00Z" || r.Unidentified != 1 || r.Format != store.ManifestFormat {
		t.Errorf("with a snapshot: %d %+v", status, r)
	}
	if len(r.Stale) != 1 || r.Stale[0] != (state.StaleSource{
		Table: "org", Since: apitest.SampleStale,
		Why: "it has no column name",
	}) ||
		r.PublishedAt == nil || !r.PublishedAt.Equal(apitest.PublishedTime) || r.LastPoll == nil ||
		!r.LastPoll.At.Equal(apitest.PublishedTime) || r.LastPoll.Outcome != "failed" ||
		r.LastPoll.Reason != "channel: it is empty" {
		t.Errorf("stale sources, publication and last poll: %+v, last poll %+v", r, r.LastPoll)
	}
	series := apitest.Metrics(t, l.Addr().String())
	published, updated := float64(apitest.PublishedTime.UnixMilli())/1e3, float64(apitest.SampleUpdated.Unix())
	info := `hdqs_snapshot_info{id="one",schema="` + contract.SchemaVersion + `"}`
	for name, want := range map[string]float64{
		info: 1, "hdqs_snapshot_published_timestamp_seconds": published,
		`hdqs_source_stale{table="org"}`: 1, `hdqs_source_stale{table="sector"}`: 0,
		`hdqs_source_updated_timestamp_seconds{table="sector"}`: updated, `hdqs_table_rows{table="sector"}`: 3,
	} {
		if got, ok := series[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if _, ok := series[`hdqs_source_updated_timestamp_seconds{table="org"}`]; ok {
		t.Error("a source without a time has one in the metrics")
	}
	s.Drain()
	if status, r := ready(); status != 503 || r.Ready || !r.Draining || r.Reason != "shutting down" {
		t.Errorf("draining: %d %+v", status, r)
	}
	for target, want := range map[string]int{"/": 200, "/api/v2/metadata/sector": 404, "/debug/pprof/": 404} {
		got := apitest.Ask(t, l.Addr().String(), "GET", target, nil)
		if got.Status != want || want == 200 && !bytes.Contains(got.Body, []byte("off; --admin-pprof")) {
			t.Errorf("%s: %d %s", target, got.Status, got.Body)
		}
	}
	testkit.Equal(t, apitest.Ask(t, l.Addr().String(), "POST", "/healthz", nil).Status, 405, "POST")
}

// TestAdminIndex follows every link of the index page, and reads a profile.
func TestAdminIndex(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{Pprof: true}, 3)
	private := apitest.ListenAdmin(t, s)
	links := regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(
		string(apitest.Ask(t, private, "GET", "/", nil).Body), -1)
	if len(links) != len(admin.AdminPaths) { // all but itself, and profiles
		t.Errorf("%d links", len(links))
	}
	for _, link := range links {
		if got := apitest.Ask(t, private, "GET", link[1], nil); got.Status != 200 || len(got.Body) == 0 {
			t.Errorf("%s: %d with %d bytes", link[1], got.Status, len(got.Body))
		}
	}
	if got := apitest.Ask(t, private, "GET", "/debug/pprof/heap", nil); got.Status != 200 ||
		!bytes.HasPrefix(got.Body, []byte{0x1f, 0x8b}) {
		t.Errorf("the heap profile: %d %.20q", got.Status, got.Body)
	}
	if got := apitest.Ask(t, apitest.Listen(t, s), "GET", "/debug/pprof/heap", nil); got.Status != 404 {
		t.Errorf("profiles on the public listener: %d", got.Status)
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
