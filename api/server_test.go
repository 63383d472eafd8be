package api_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"

	"hdqs/api/admin"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// identifierHelp is part of the answers to requests without a good identifier.
var identifierHelp = contract.IdentifierHelp(contract.ContractNames, "")

// TestLongestRequest checks that a request with every parameter at its maximum, percent-encoded, is
// accepted, and that a URI over our limit and a header over the buffer size get JSON answers.
func TestLongestRequest(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	address := apitest.Listen(t, s)
	for i := range contract.Endpoints {
		target := contract.Endpoints[i].Path + "?app_identifier=" + strings.Repeat("%20",
			512-len(apitest.Identifier)) + apitest.Identifier
		for _, p := range contract.NewPlan(&contract.Endpoints[i], contract.Rows).Params {
			switch {
			case p.Name == "app_identifier" || p.List: // 200 long values would not fit
			case p.Type == contract.String:
				target += "&" + p.Name + "=" + strings.Repeat("%F0%9F%8C%8D", p.Max)
			default:
				target += "&" + p.Name + "=" + strings.NewReplacer(" ", "+", ",", "%2C").Replace(p.Example())
			}
		}
		if len(target) > api.MaxURI {
			t.Errorf("%s: a legal request of %d bytes is longer than the limits", contract.Endpoints[i].Path,
				len(target))
		}
		if got := apitest.Ask(t, address, "GET", target, nil); got.Status != 200 {
			t.Errorf("%s: %d %.300s", contract.Endpoints[i].Path, got.Status, got.Body)
		}
	}
	for _, length := range []int{api.MaxURI, api.ReadBuffer - 20, api.ReadBuffer, 200 << 10} {
		long := apitest.Target + "&x=" + strings.Repeat("y", length)
		want := apitest.ErrorBody(reply.ErrURITooLong)
		if got := apitest.Ask(t, address, "GET", long, nil); got.Status != 414 || string(got.Body) != want {
			t.Errorf("URI of %d bytes: %d %.100s", len(long), got.Status, got.Body)
		}
	}
	if got := apitest.Ask(t, address, "GET", apitest.Target,
		apitest.Fields("X", strings.Repeat("y", 70<<10))); got.Status != 431 ||
		string(got.Body) != apitest.ErrorBody(reply.ErrHeadersTooLarge) {
		t.Errorf("long header: %d %.100s", got.Status, got.Body)
	}
}

// TestIdentifierChangesNothing checks that successful answers are the same for all callers.
func TestIdentifierChangesNothing(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	other, _ := contract.EncodeIdentifier("another application", "you@example.com")
	for i := range contract.Endpoints {
		a := s.Answer("GET", contract.Endpoints[i].Path+"?limit=5&output_format=csv&app_identifier="+apitest.Identifier,
			nil)
		b := s.Answer("GET", contract.Endpoints[i].Path+"?app_identifier="+other+"&limit=5&output_format=csv", nil)
		c := s.Answer("GET", contract.Endpoints[i].Path+"?limit=5&output_format=csv",
			apitest.Fields(contract.ContractNames.IdentifierHeader(), other))
		for _, x := range []api.Answer{b, c} {
			if x.Status != 200 || !bytes.Equal(a.Body, x.Body) ||
				!slices.Equal(apitest.SortedHeader(a.Header), apitest.SortedHeader(x.Header)) {
				t.Errorf("%s: the answers to two callers differ", contract.Endpoints[i].Path)
			}
		}
	}
}

// TestSwap replaces snapshots while requests run. Each answer must be from one snapshot, no request
// may fail, and every snapshot but the last must be closed.
func TestSwap(t *testing.T) {
	t.Parallel()
	s := api.New(state.Options{Logger: slog.New(slog.DiscardHandler), KeepPrevious: -1})
	if got := s.Answer("GET", apitest.Target, nil); got.Status != 503 {
		t.Fatalf("without a snapshot: %d", got.Status)
	}
	var snapshots []*store.Snapshot
	for n := range apitest.Trials(8, 4) {
		snapshots = append(
			snapshots,
			apitest.StoreSnapshot(t, fmt.Sprintf("snapshot-%d", n), apitest.SampleTime.AddDate(0, 0, n),
				apitest.SampleTables(t, 3+n%2)),
		)
	}
	swap := func(n int) *state.Served {
		apitest.Swap(t, s, state.Release{Snapshot: snapshots[n]})
		return s.State.Snapshots.Current.Load()
	}
	all := []*state.Served{swap(0)}
	var stop atomic.Bool
	var failed, asked atomic.Int64
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !stop.Load() {
				got := s.Answer("GET", apitest.Target+"&output_format=csv", nil)
				name, _ := apitest.Field(got, "Content-Disposition")
				total, _ := apitest.Field(got, "X-Total-Count")
				lines := bytes.Count(got.Body, []byte("\n"))
				if got.Status != 200 || total == "" || !strings.Contains(name, "sector_2026-11-2") || lines < 3 {
					failed.Add(1)
				}
				asked.Add(1)
				time.Sleep(200 * time.Microsecond) // the swaps need CPU too
			}
		})
	}
	for n := 1; n < len(snapshots); n++ {
		all = append(all, swap(n))
	}
	for asked.Load() < 50 {
		time.Sleep(time.Millisecond)
	}
	stop.Store(true)
	readers.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d requests failed", failed.Load(), asked.Load())
	}
	for i, v := range all[:len(all)-1] {
		if v.Refs.Load() != 0 {
			t.Errorf("snapshot %d has %d references left", i, v.Refs.Load())
		}
	}
	if last := all[len(all)-1]; last.Refs.Load() != 1 {
		t.Errorf("the current snapshot has %d references", last.Refs.Load())
	}
	testkit.Must(t, s.Shutdown(t.Context()))
	if got := s.Answer("GET", apitest.Target, nil); got.Status != 503 {
		t.Errorf("after Shutdown: %d", got.Status)
	}
}

// TestSwapKeepsSharedTables checks that a swap reuses the index and the renderer of a table that
// both snapshots share, binds the others anew, and leaves nothing that reads a closed table.
func TestSwapKeepsSharedTables(t *testing.T) {
	t.Parallel()
	first, second := apitest.TwoSnapshots(t, 20)
	s := apitest.Empty(t, state.Options{})
	before := make(map[string]*state.BoundList)
	for _, snap := range []*store.Snapshot{first, second} {
		apitest.Swap(t, s, state.Release{Snapshot: snap})
		for path, list := range s.State.Snapshots.Current.Load().Bound.Lists {
			if old := before[path]; old != nil && (old == list) == strings.HasSuffix(path, "/sector") {
				t.Errorf("%s: bound again: %v", path, old != list)
			}
			before[path] = list
		}
	}
	for i := range contract.Endpoints {
		want := "20"
		if contract.Endpoints[i].Table == "sector" {
			want = "7"
		}
		got := s.Answer("GET", contract.Endpoints[i].Path+"?app_identifier="+apitest.Identifier, nil)
		if total, _ := apitest.Field(got, contract.HeaderTotal); got.Status != 200 || total != want ||
			!json.Valid(got.Body) {
			t.Errorf("%s: %d, %s rows", contract.Endpoints[i].Path, got.Status, total)
		}
	}
}

// TestAcquiredSnapshot checks that a replaced snapshot stays open while a request reads it.
func TestAcquiredSnapshot(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{KeepPrevious: -1}, 3)
	old := s.State.Snapshots.Acquire()
	apitest.Swap(t, s,
		state.Release{Snapshot: apitest.StoreSnapshot(t, "next", apitest.SampleTime, apitest.SampleTables(t, 4))})
	if old.Refs.Load() != 1 {
		t.Fatalf("%d references", old.Refs.Load())
	}
	var sc list.Scratch
	sc.Request.Scanned.Scan(contract.NewPlan(&contract.Endpoints[0], contract.Rows), nil)
	testkit.Must(t, sc.Request.Parse())
	list := old.Bound.Lists[contract.Endpoints[0].Path]
	if err := sc.Find(list); err != nil || !json.Valid(sc.Append(nil, list)) {
		t.Errorf("the replaced snapshot cannot be queried: %v", err)
	}
	old.Release(s.State.Log)
	if old.Acquire() {
		t.Error("a closed snapshot was acquired")
	}
}

// TestAdmin checks the readiness and health endpoints through the life of a server.
func TestAdmin(t *testing.T) {
	t.Parallel()
	s := api.New(state.Options{Logger: slog.New(slog.DiscardHandler)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
		if got := apitest.Ask(t, l.Addr().String(), "GET", target, nil); got.Status != want {
			t.Errorf("%s: %d", target, got.Status)
		}
	}
	if got := apitest.Ask(t, l.Addr().String(), "POST", "/healthz", nil); got.Status != 405 {
		t.Errorf("POST: %d", got.Status)
	}
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

// TestHostileHost checks that the landing page escapes the caller's Host.
func TestHostileHost(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	got := s.Answer("GET", "/", apitest.Fields("Host", `"><script>alert(1)</script>`))
	if strings.Contains(string(got.Body), "<script") {
		t.Errorf("the host is not escaped in the page: %s", got.Body)
	}
	if policy, _ := apitest.Field(got, "Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	if len(got.Body) > 60<<10 {
		t.Errorf("the landing page has %d bytes", len(got.Body))
	}
}

// TestLandingAndHosts checks that a landing page that may be cached does not depend on the Host of
// the request.
func TestLandingAndHosts(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "https://data.example.org/hdqs"} {
		s := apitest.Sample(t, state.Options{BaseURL: base}, 3)
		ours := s.Answer("GET", "/", apitest.Fields("Host", "data.example.org"))
		other := s.Answer("GET", "/", apitest.Fields("Host", "evil.example"))
		control, _ := apitest.Field(ours, "Cache-Control")
		kept := control != reply.NoStore
		if kept != (base != "") || kept && (control != (&reply.Freshness{}).Field() || !bytes.Equal(ours.Body,
			other.Body)) {
			t.Errorf("base URL %q: Cache-Control %q, the same for another host: %t", base, control,
				bytes.Equal(ours.Body, other.Body))
		}
		if want := cmp.Or(base, "http://data.example.org") + "/api/v2/"; !bytes.Contains(ours.Body, []byte(want)) {
			t.Errorf("base URL %q: the page has no link to %s", base, want)
		}
		held := apitest.Fields("Host", "data.example.org", "If-None-Match", apitest.Header(ours, "ETag"))
		if got := s.Answer("GET", "/", held); got.Status != 304 {
			t.Errorf("base URL %q, revalidated: %d", base, got.Status)
		} else if again, _ := apitest.Field(got, "Cache-Control"); again != control {
			t.Errorf("base URL %q, revalidated: Cache-Control %q", base, again)
		}
	}
}
