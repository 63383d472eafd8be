package list_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/state"
	"hdqs/index"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestWarmUpRequests checks that a swap answers requests of each endpoint whose table has changed,
// and of no other, and that the requests are valid.
func TestWarmUpRequests(t *testing.T) {
	t.Parallel()
	first, second := apitest.TwoSnapshots(t, 20)
	all, sector := 0, 0
	for i := range contract.Endpoints {
		n := len(list.WarmRequests) + len(list.WarmFilters(&contract.Endpoints[i]))
		if all += n; contract.Endpoints[i].Table == "sector" {
			sector = n
		}
	}
	s := apitest.Empty(t, state.Options{})
	s.Lists.WarmLimit = time.Hour
	for i, snap := range []*store.Snapshot{first, second, second.Acquire()} {
		apitest.Swap(t, s, state.Release{Snapshot: snap})
		if got, want := s.State.WarmUp().Requests, []int{all, sector, 0}[i]; got != want {
			t.Errorf("before swap %d, %d requests were answered, want %d", i, got, want)
		}
	}
	bytes, slots := s.State.Budget.Bytes(), s.Lists.Admission.Gate.Running()
	if refs := s.State.Snapshots.Current.Load().Refs.Load(); bytes != 0 ||
		slots != 0 || refs != 1 {
		t.Errorf("%d bytes in flight, %d slots, %d references to the snapshot", bytes, slots, refs)
	}
}

// TestWarmUpLimit checks that a warm-up that takes too long ends, and that the snapshot is served.
func TestWarmUpLimit(t *testing.T) {
	t.Parallel()
	var log testkit.Log
	s := apitest.Empty(t, state.Options{
		Identifier: state.IgnoreIdentifier, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	s.Lists.WarmLimit = -1
	apitest.Swap(t, s,
		state.Release{Snapshot: apitest.StoreSnapshot(t, "slow", apitest.SampleTime, apitest.SampleTables(t, 3))})
	if !strings.Contains(log.String(), "warming up took too long") || s.State.WarmUp().Requests != 0 {
		t.Errorf("the log is\n%s", log.String())
	}
	testkit.Equal(t, s.Answer("GET", apitest.Target, nil).Status, 200, "then")
}

// TestEndWarmUp checks that no more requests are answered after the end of warm-ups, and that the
// snapshot is served.
func TestEndWarmUp(t *testing.T) {
	t.Parallel()
	s := apitest.Empty(t, state.Options{Identifier: state.IgnoreIdentifier})
	s.Lists.WarmLimit = time.Hour
	s.State.EndWarmUp()
	apitest.Swap(t, s, state.Release{Snapshot: apitest.SampleSnapshot(t, 3)})
	testkit.Equal(t, s.State.WarmUp().Requests, 0, "requests were answered")
	testkit.Equal(t, s.Answer("GET", apitest.Target, nil).Status, 200, "then")
}

// TestInterruptWarmUp interrupts a warm-up: that one ends, and the next one does not.
func TestInterruptWarmUp(t *testing.T) {
	t.Parallel()
	s := apitest.Empty(t, state.Options{Identifier: state.IgnoreIdentifier})
	s.Lists.WarmLimit = time.Hour
	bound := testkit.Value(state.Bind(apitest.SampleSnapshot(t, 3)))(t)
	s.State.InterruptWarmUp()
	if err := s.State.SwapTo(bound, nil, state.Release{}); err != nil { // as Swap goes on
		t.Fatal(err)
	}
	testkit.Equal(t, s.State.WarmUp().Requests, 0, "requests were answered after the interruption")
	apitest.Swap(t, s, state.Release{Snapshot: apitest.SampleSnapshot(t, 4)})
	if s.State.WarmUp().Requests == 0 {
		t.Error("the next warm-up did not answer requests")
	}
}

// TestAnswersBeforeWarmUp checks that the first snapshot answers requests before it is warmed up,
// if the caller wants that, and that a later one does not.
func TestAnswersBeforeWarmUp(t *testing.T) {
	t.Parallel()
	first, second := apitest.TwoSnapshots(t, 20)
	s := apitest.Empty(t, state.Options{Identifier: state.IgnoreIdentifier})
	s.Lists.WarmLimit = time.Hour
	calls := 0
	for i, snap := range []*store.Snapshot{first, second} {
		err := s.State.Swap(state.Release{Snapshot: snap, Answering: func() {
			calls++
			if got := s.Answer("GET", apitest.Target, nil); got.Status != 200 ||
				s.State.Snapshots.CurrentID() != "first" {
				t.Errorf("%d from %q before the warm-up", got.Status, s.State.Snapshots.CurrentID())
			}
			testkit.Equal(t, s.State.WarmUp().Requests, 0, "requests were answered before the warm-up")
		}})
		testkit.Must(t, err)
		if calls != 1 || s.State.WarmUp().Requests == 0 || s.State.Snapshots.Current.Load().Refs.Load() != 1 {
			t.Errorf("after swap %d: %d calls, %d requests to warm up, %d references", i, calls,
				s.State.WarmUp().Requests,
				s.State.Snapshots.Current.Load().Refs.Load())
		}
	}
}

// TestFirstWarmUpFails checks that a snapshot that answered while it was warmed up is served no
// longer once the warm-up has failed. A request that still reads it can end, and another snapshot
// can be served.
func TestFirstWarmUpFails(t *testing.T) {
	t.Parallel()
	s := apitest.Empty(t, state.Options{Identifier: state.IgnoreIdentifier})
	s.Lists.WarmLimit = time.Hour
	snap := apitest.SampleSnapshot(t, 20)
	bound, err := state.Bind(snap)
	testkit.Must(t, err)
	bound.Lists["/api/v2/metadata/sector"].Index = new(index.Index)
	var reading *state.Served
	hold := func() { reading = s.State.Snapshots.Acquire() }
	err = s.State.SwapTo(bound, nil, state.Release{Snapshot: snap, Answering: hold})
	if err == nil || reading == nil {
		t.Fatalf("%v; a request could read: %v", err, reading != nil)
	}
	testkit.Must(t, snap.Close())
	testkit.Equal(t, s.Answer("GET", apitest.Target, nil).Status, 503, "then")
	if rows := reading.Bound.Lists["/api/v2/metadata/sector"].Segment.Rows(); rows != 20 || reading.Refs.Load() != 1 {
		t.Errorf("the request reads %d rows, and the snapshot has %d references", rows, reading.Refs.Load())
	}
	reading.Release(s.State.Log)
	apitest.Swap(t, s, state.Release{Snapshot: apitest.SampleSnapshot(t, 3)})
	testkit.Equal(t, s.Answer("GET", apitest.Target, nil).Status, 200, "from another snapshot")
}

// TestWarmUpOfSwapStaysOnThread checks that the warm-up before a swap runs in the caller's
// goroutine, whose thread may have a low priority.
func TestWarmUpOfSwapStaysOnThread(t *testing.T) {
	t.Parallel()
	s := api.New(state.Options{Identifier: state.IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler)})
	s.Lists.WarmLimit = time.Hour
	bound := testkit.Value(state.Bind(apitest.SampleSnapshot(t, 20)))(t)
	earlier, err := state.Bind(apitest.SampleSnapshot(t, 3))
	testkit.Must(t, err)
	bound.Lists["/api/v2/metadata/sector"].Named[contract.ContractNames].Renderer = new(render.Renderer) // panics
	err = s.Lists.Warm(s.State.NewServed(bound, time.Time{}), earlier)
	if err == nil || !strings.Contains(err.Error(), "list.(*Lists).Warm(") {
		t.Errorf("not called by warm: %v", err)
	}
}
