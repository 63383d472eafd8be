// Package apitest is the fixture of the tests of api and of its packages: servers of made-up
// tables, requests with and without a network, and readers of answers. Only tests import it.
//
// Sample serves tables with every value of every enumeration, nulls and difficult texts, Server
// those that a test gives (Table, SampleTable, FullRow). Main is the TestMain of a package.
package apitest

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// Changed serves a snapshot "after", and holds "before".
func Changed(t *testing.T, before, after []*Table) *api.Server {
	t.Helper()
	s := Serve(t, state.Options{KeepPrevious: time.Hour},
		StoreSnapshot(t, "before", SampleTime, before))
	Swap(t, s, state.Release{Snapshot: StoreSnapshot(t, "after", SampleTime, after)})
	return s
}

// NeedEdge skips a test that needs nginx or a browser unless HDQS_EDGE is set, as 'make edge' does.
func NeedEdge(t *testing.T) {
	t.Helper()
	if os.Getenv("HDQS_EDGE") == "" {
		t.Skip("HDQS_EDGE is not set: 'make edge' runs this with nginx and Chromium")
	}
}

// Server serves the given tables, for example modified sample tables.
func Server(tb testing.TB, o state.Options, tables []*Table) *api.Server {
	tb.Helper()
	return Serve(tb, o, StoreSnapshot(tb, SampleID, SampleTime, tables))
}

// Sample serves the sample tables.
func Sample(tb testing.TB, o state.Options, rows int) *api.Server {
	tb.Helper()
	return Serve(tb, o, SampleSnapshot(tb, rows))
}

// SampleOf serves the sample table of one endpoint.
func SampleOf(tb testing.TB, o state.Options, path string, rows int) *api.Server {
	tb.Helper()
	e := Plan(path).Endpoint
	return Serve(tb, o, sharedSnapshot(tb, fmt.Sprintf("%s-%d", e.Name(), rows), func() []*Table {
		return []*Table{SampleTable(e, rows, rand.New(rand.NewPCG(1, 2)))}
	}))
}

// Serve serves a snapshot. The test closes it.
func Serve(tb testing.TB, o state.Options, snap *store.Snapshot) *api.Server {
	tb.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	// No limit of time ends what a busy machine delays. Tests of these limits set their own.
	o.ReadTimeout, o.WriteTimeout = cmp.Or(o.ReadTimeout, testkit.Patience), cmp.Or(o.WriteTimeout, testkit.Patience)
	o.IdleTimeout, o.QueueWait = cmp.Or(o.IdleTimeout, testkit.Patience), cmp.Or(o.QueueWait, testkit.Patience)
	o.SkipWarmUp = o.MemoryLimit == 0 // which takes seconds under the race detector; its own tests need it
	s := api.New(o)
	Swap(tb, s, state.Release{Snapshot: snap, PublishedAt: PublishedTime})
	tb.Cleanup(func() {
		if old := s.State.Snapshots.Current.Swap(nil); old != nil {
			old.Release(s.State.Log)
		}
		s.State.Snapshots.Retained.Close(s.State.Log)
	})
	return s
}

// Empty returns a server without a snapshot, which is shut down at the end of the test.
func Empty(t *testing.T, o state.Options) *api.Server {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := api.New(o)
	t.Cleanup(func() {
		// listen has closed its listener before.
		if err := s.Shutdown(context.Background()); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

// Swap serves a snapshot.
func Swap(tb testing.TB, s *api.Server, r state.Release) {
	tb.Helper()
	testkit.Must(tb, s.State.Swap(r))
}

// Trials returns the number of iterations of a property test, which is smaller under -short.
func Trials(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

// HAPIEndpoint returns an endpoint in HAPI names.
func HAPIEndpoint(i int) *contract.Endpoint { return &contract.EndpointsIn(contract.HAPINames)[i] }

// Browse requests a page of records.
func Browse(s *api.Server, path string) api.Answer {
	return s.Answer("GET", path, []reply.HeaderField{{Name: "Host", Value: "data.example.org"}})
}

// Identifier is $ID in text cases.
const Identifier = "bXktYXBwOm1lQGV4YW1wbGUub3Jn" // my-app:me@example.org

// Plan returns the plan of the endpoint with a path.
func Plan(path string) *contract.Plan {
	for i := range contract.Endpoints {
		if contract.Endpoints[i].Path == path {
			return contract.NewPlan(&contract.Endpoints[i], contract.Rows)
		}
	}
	panic("no endpoint " + path)
}

// CPUTime returns the processor time of this process in nanoseconds. Other programs change it much
// less than the time that passes.
func CPUTime(tb testing.TB) int64 {
	tb.Helper()
	var used syscall.Rusage
	testkit.Must(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

// Main runs the tests of a package: its TestMain calls it. Stores that the tests share are removed
// at the end.
func Main(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "8") // many tests wait for timers and sockets rather than a CPU
	debug.SetGCPercent(400)        // servers of tests live shortly: a tenth of the CPU time less
	var err error
	if sampleStores.root, err = os.MkdirTemp("", "hdqs-api-"); err != nil {
		panic(err)
	}
	if err := os.Mkdir(filepath.Join(sampleStores.root, "segments"), 0o755); err != nil {
		panic(err)
	}
	sampleStores.dirs = map[string]string{}
	code := m.Run()
	os.RemoveAll(sampleStores.root)
	os.Exit(code)
}

// EveryPage are addresses of every kind of page and file, with queries of the kinds that pages
// repeat in links.
func EveryPage(prefix string) (targets []string) {
	for _, path := range []string{
		"/", "/docs", "/docs?q=price", "/docs/org", "/docs/interactive", "/docs/identifier", "/changelog",
		"/country", "/country/AFG", "/country/AFG.xlsx", "/country/AFX", "/country/afg",
		"/changelog.atom", "/search?q=price", "/search/suggest?q=a",
		"/openapi.json", "/api/v2", "/nowhere", "/docs/nowhere", "/browse/nowhere", "/bulk", "/bulk/",
		"/bulk/index.json",
		"/bulk/latest/manifest.json", "/bulk/" + SampleID, "/browse/org",
		"/browse/org/download?output_format=csv&limit=2",
		"/browse/org?location_code=AFG,MLI", "/browse/org?column=acronym&column=name",
		"/browse/org?limit=5&offset=2&x=1",
		"/browse/conflict-events?by=location_code&measure=events", "/browse/conflict-events?admin_level=0&latest=true",
		"/browse/conflict-events?row=1", "/browse/conflict-events?limit=x",
		"/browse/idps?location_code=AFG&by=admin1_code",
		"/figure/conflict-events.csv?by=location_code&measure=records", "/figure/conflict-events.xlsx",
		"/figure/conflict-events.svg", "/figure/conflict-events.png", "/country/AFG.png",
		"/figure/humanitarian-needs.csv?limit=x", "/figure/idps.csv?location_code=AFG,MLI",
		"/embed/conflict-events?by=location_code&measure=records&x=1", "/embed/conflict-events?measure=fatalities",
		"/oembed?url=http://example.org/browse/conflict-events", "/oembed?url=x",
		"/api/v2/metadata/org?limit=2", "/api/v2/metadata/org?limit=x",
		"/api/v2/metadata/org/facets?fields=org_type_code",
		"/api/v2/coordination-context/conflict-events/aggregate?group_by=location_code&measures=count",
	} {
		targets = append(targets, prefix+path)
	}
	return targets
}
