package state_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

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
				var day int // of the snapshot, which has 3 rows or 4 in turn
				_, err := fmt.Sscanf(name, `attachment; filename="sector_2026-11-%d`, &day)
				lines, torn := csv.NewReader(bytes.NewReader(got.Body)).ReadAll()
				if got.Status != 200 || err != nil || torn != nil || total != strconv.Itoa(3+day%2) ||
					len(lines) != 4+day%2 {
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
