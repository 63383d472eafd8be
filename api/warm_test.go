package api

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/index"
	"hdqs/snapshot/store"
)

// TestWarmUpRequests checks that a swap answers requests of each endpoint whose table has changed,
// and of no other, and that the requests are valid.
func TestWarmUpRequests(t *testing.T) {
	t.Parallel()
	first, second := twoSnapshots(t)
	all, sector := 0, 0
	for i := range contract.Endpoints {
		n := len(warmRequests) + len(warmFilters(&contract.Endpoints[i]))
		if all += n; contract.Endpoints[i].Table == "sector" {
			sector = n
		}
	}
	s := New(Options{Logger: slog.New(slog.DiscardHandler)})
	s.warmLimit = time.Hour
	for i, snap := range []*store.Snapshot{first, second, second.Acquire()} {
		if err := s.Swap(Release{Snapshot: snap}); err != nil {
			t.Fatal(err)
		}
		if got, want := s.WarmUp().Requests, []int{all, sector, 0}[i]; got != want {
			t.Errorf("before swap %d, %d requests were answered, want %d", i, got, want)
		}
	}
	if bytes, slots, refs := s.budget.Bytes(), s.gate.Running(), s.current.Load().refs.Load(); bytes != 0 ||
		slots != 0 || refs != 1 {
		t.Errorf("%d bytes in flight, %d slots, %d references to the snapshot", bytes, slots, refs)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestWarmUpLimit checks that a warm-up that takes too long ends, and that the snapshot is served.
func TestWarmUpLimit(t *testing.T) {
	t.Parallel()
	var log lockedLog
	s := New(Options{Identifier: IgnoreIdentifier, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s.warmLimit = -1
	if err := s.Swap(Release{Snapshot: storeSnapshot(t, "slow", sampleTime, sampleTables(t, 3))}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "warming up took too long") || s.WarmUp().Requests != 0 {
		t.Errorf("the log is\n%s", log.String())
	}
	if got := s.Answer("GET", listTarget, nil); got.Status != 200 {
		t.Errorf("then %d", got.Status)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestEndWarmUp checks that no more requests are answered after the end of warm-ups, and that the
// snapshot is served.
func TestEndWarmUp(t *testing.T) {
	t.Parallel()
	s := New(Options{Identifier: IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler)})
	s.warmLimit = time.Hour
	s.EndWarmUp()
	if err := s.Swap(Release{Snapshot: sampleSnapshot(t, 3)}); err != nil {
		t.Fatal(err)
	}
	if n := s.WarmUp().Requests; n != 0 {
		t.Errorf("%d requests were answered", n)
	}
	if got := s.Answer("GET", listTarget, nil); got.Status != 200 {
		t.Errorf("then %d", got.Status)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestInterruptWarmUp interrupts a warm-up: that one ends, and the next one does not.
func TestInterruptWarmUp(t *testing.T) {
	t.Parallel()
	s := New(Options{Identifier: IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler)})
	s.warmLimit = time.Hour
	bound, err := Bind(sampleSnapshot(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	s.InterruptWarmUp()
	if err := s.swapTo(bound, nil, Release{}); err != nil { // as Swap goes on
		t.Fatal(err)
	}
	if n := s.WarmUp().Requests; n != 0 {
		t.Errorf("%d requests were answered after the interruption", n)
	}
	if err := s.Swap(Release{Snapshot: sampleSnapshot(t, 4)}); err != nil {
		t.Fatal(err)
	}
	if s.WarmUp().Requests == 0 {
		t.Error("the next warm-up did not answer requests")
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestAnswersBeforeWarmUp checks that the first snapshot answers requests before it is warmed up,
// if the caller wants that, and that a later one does not.
func TestAnswersBeforeWarmUp(t *testing.T) {
	t.Parallel()
	first, second := twoSnapshots(t)
	s := New(Options{Identifier: IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler)})
	s.warmLimit = time.Hour
	calls := 0
	for i, snap := range []*store.Snapshot{first, second} {
		err := s.Swap(Release{Snapshot: snap, Answering: func() {
			calls++
			if got := s.Answer("GET", listTarget, nil); got.Status != 200 || s.currentID() != "first" {
				t.Errorf("%d from %q before the warm-up", got.Status, s.currentID())
			}
			if n := s.WarmUp().Requests; n != 0 {
				t.Errorf("%d requests were answered before the warm-up", n)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if calls != 1 || s.WarmUp().Requests == 0 || s.current.Load().refs.Load() != 1 {
			t.Errorf("after swap %d: %d calls, %d requests to warm up, %d references", i, calls, s.WarmUp().Requests,
				s.current.Load().refs.Load())
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestFirstWarmUpFails checks that a snapshot that answered while it was warmed up is served no
// longer once the warm-up has failed. A request that still reads it can end, and another snapshot
// can be served.
func TestFirstWarmUpFails(t *testing.T) {
	t.Parallel()
	s := New(Options{Identifier: IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler)})
	s.warmLimit = time.Hour
	snap := sampleSnapshot(t, 20)
	bound, err := Bind(snap)
	if err != nil {
		t.Fatal(err)
	}
	bound.lists["/api/v2/metadata/sector"].index = new(index.Index)
	var reading *served
	err = s.swapTo(bound, nil, Release{Snapshot: snap, Answering: func() { reading = s.acquire() }})
	if err == nil || reading == nil {
		t.Fatalf("%v; a request could read: %v", err, reading != nil)
	}
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.Answer("GET", listTarget, nil); got.Status != 503 {
		t.Errorf("then %d", got.Status)
	}
	if n := s.bodies.counts().bytes; n != 0 {
		t.Errorf("the body cache has %d bytes", n)
	}
	for path, list := range reading.bound.lists {
		if !list.isSuspect() {
			t.Errorf("%s: the request gets rows of the withdrawn snapshot", path)
		}
	}
	if rows := reading.bound.lists["/api/v2/metadata/sector"].segment.Rows(); rows != 20 || reading.refs.Load() != 1 {
		t.Errorf("the request reads %d rows, and the snapshot has %d references", rows, reading.refs.Load())
	}
	reading.release(s.log)
	if err := s.Swap(Release{Snapshot: sampleSnapshot(t, 3)}); err != nil {
		t.Fatal(err)
	}
	if got := s.Answer("GET", listTarget, nil); got.Status != 200 {
		t.Errorf("from another snapshot: %d", got.Status)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestWarmUpOfDamagedTable checks that a table that is found damaged while the first snapshot is
// served and warmed up is left out, and that the same ends the warm-up before a swap.
func TestWarmUpOfDamagedTable(t *testing.T) {
	t.Parallel()
	for _, serving := range []bool{true, false} {
		s := New(Options{Identifier: IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler)})
		bound, err := Bind(sampleSnapshot(t, 20))
		if err != nil {
			t.Fatal(err)
		}
		v := s.newServed(bound, time.Time{})
		if serving {
			s.current.Store(v)
		}
		w := warmUp{server: s, served: v, began: time.Now(), plans: s.coldPlans(bound, nil)}
		damaged := bound.lists[w.plans[0].Endpoint.Contract().Path].segment
		damaged.MarkSuspect()
		s.warmLimit = time.Hour
		switch err := w.work(); {
		case serving && (err != nil || int(w.next.Load()) <= len(w.plans) || w.answered.Load() == 0):
			t.Errorf("after %d of %d endpoints: %v", w.next.Load(), len(w.plans), err)
		case !serving && err == nil:
			t.Error("a damaged table was warmed up")
		}
		s.current.Store(nil)
	}
}

// TestWarmUpOfSwapStaysOnThread checks that the warm-up before a swap runs in the caller's
// goroutine, whose thread may have a low priority.
func TestWarmUpOfSwapStaysOnThread(t *testing.T) {
	t.Parallel()
	s := New(Options{Identifier: IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler)})
	s.warmLimit = time.Hour
	bound, err := Bind(sampleSnapshot(t, 20))
	if err != nil {
		t.Fatal(err)
	}
	earlier, err := Bind(sampleSnapshot(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	bound.lists["/api/v2/metadata/sector"].named[contract.ContractNames].renderer = new(render.Renderer) // panics
	err = s.warm(s.newServed(bound, time.Time{}), earlier)
	if err == nil || !strings.Contains(err.Error(), "api.(*Server).warm(") {
		t.Errorf("not called by warm: %v", err)
	}
}
