package state_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

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
		testkit.Equal(t, v.Refs.Load(), 0, "references of snapshot %d", i)
	}
	testkit.Equal(t, all[len(all)-1].Refs.Load(), 1, "references of the current snapshot")
	testkit.Must(t, s.Shutdown(t.Context()))
	testkit.Equal(t, s.Answer("GET", apitest.Target, nil).Status, 503, "after Shutdown")
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

// memoryServer is a server with a limit and a way to serve snapshots of one table each, which are
// of about the same size and share nothing.
type memoryServer struct {
	*api.Server
	t     *testing.T
	lines *testkit.Log
}

func newMemoryServer(t *testing.T) *memoryServer {
	t.Helper()
	lines := new(testkit.Log)
	s := api.New(state.Options{
		Logger: slog.New(slog.NewTextHandler(lines, nil)), MemoryLimit: 1 << 30, Identifier: state.IgnoreIdentifier,
	})
	t.Cleanup(func() { _ = s.Shutdown(t.Context()) })
	return &memoryServer{s, t, lines}
}

// swap serves a snapshot. Its table differs from those of other numbers.
func (s *memoryServer) swap(n int) error {
	s.t.Helper()
	rows := apitest.Locations(3000, nil)
	for _, row := range rows.Rows {
		row["name"] = fmt.Sprintf("place %d of %d", row["id"], n)
	}
	snap := apitest.StoreSnapshot(s.t, fmt.Sprintf("s%d", n), apitest.SampleTime, []*apitest.Table{rows})
	err := s.State.Swap(state.Release{Snapshot: snap, PublishedAt: apitest.PublishedTime})
	if err != nil {
		_ = snap.Close()
	}
	return err
}

func (s *memoryServer) mustSwap(n int) {
	s.t.Helper()
	if err := s.swap(n); err != nil {
		s.t.Fatal(err)
	}
}

// answers checks which of the snapshots 0 to 5 answer requests that name them.
func (s *memoryServer) answers(want string) {
	s.t.Helper()
	got := ""
	for n := range 6 {
		target := fmt.Sprintf("/api/v2/metadata/location?limit=2&snapshot=s%d", n)
		if s.Answer("GET", target, nil).Status == 200 {
			got += fmt.Sprint(n)
		}
	}
	if got != want {
		s.t.Errorf("snapshots %s answer, want %s\n%s", got, want, s.lines)
	}
}

// TestSwapWithinMemory serves snapshots where there is memory for three of them, two, one, and none
// besides the current one.
func TestSwapWithinMemory(t *testing.T) {
	t.Parallel()
	s := newMemoryServer(t)
	for n := range 3 {
		s.mustSwap(n)
	}
	s.answers("012")
	one := state.NeedOf([]*state.Bound{s.State.Snapshots.Current.Load().Bound})
	if caches := s.State.Snapshots.Current.Load().Bound.Lists["/api/v2/metadata/location"].Need; one < 1<<20 ||
		caches.Texts < 300_000 {
		t.Fatalf("a snapshot needs %d bytes, %d of them for texts: want it larger for the test", one, caches.Texts)
	}

	s.State.Shares.Snapshots = 2*one + one/50
	s.mustSwap(3)
	s.answers("23") // 0 and 1 had to go before 3 was opened
	if n := s.State.Snapshots.Retained.Dropped[state.DropForMemory].Load(); n != 2 {
		t.Errorf("%d snapshots were dropped for memory, want 2", n)
	}
	for _, id := range []string{"s0", "s1"} {
		testkit.Contains(t, s.lines.String(), "snapshot="+id+" reason=memory", "the log:\n%s", s.lines)
	}

	s.State.Shares.Snapshots = one + one/50
	s.mustSwap(4)
	s.answers("4") // 3 is not retained

	s.State.Shares.Snapshots = one / 2
	var fault *state.MemoryError
	if err := s.swap(5); !errors.As(err, &fault) {
		t.Fatalf("swap: %v, want a MemoryError", err)
	}
	if fault.Snapshot != "s5" || fault.Available != one/2 || fault.Needed < one*49/50 || fault.Needed > one*51/50 {
		t.Errorf("%+v, a snapshot needs %d", fault, one)
	}
	s.answers("4")
	series := apitest.Metrics(t, apitest.ListenAdmin(t, s.Server))
	for name, want := range map[string]float64{
		"hdqs_memory_limit_bytes": 1 << 30, `hdqs_swaps_refused_total{reason="memory"}`: 1,
		`hdqs_snapshots_dropped_total{reason="memory"}`: 4, `hdqs_snapshots_dropped_total{reason="age"}`: 0,
	} {
		if got, has := series[name]; !has || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestRefusedKeepsRetained: a snapshot that would not fit even without the retained ones drops none
// of them, and the current one keeps its caches.
func TestRefusedKeepsRetained(t *testing.T) {
	t.Parallel()
	s := newMemoryServer(t)
	for n := range 3 {
		s.mustSwap(n)
	}
	list := s.State.Snapshots.Current.Load().Bound.Lists["/api/v2/metadata/location"]
	one := state.NeedOf([]*state.Bound{s.State.Snapshots.Current.Load().Bound})
	before := list.Need
	s.State.Shares.Snapshots = one - 1
	if err := s.swap(3); err == nil {
		t.Fatal("a snapshot that needs more than there is was served")
	}
	s.answers("012")
	testkit.Equal(t, list.Need, before, "the current snapshot's caches changed, before")
}

// TestRoomForSegments: room for segments is made before they are read. Retained snapshots are
// dropped for it, but not for segments that do not fit even so, nor for those that are open.
func TestRoomForSegments(t *testing.T) {
	t.Parallel()
	s := newMemoryServer(t)
	for n := range 3 {
		s.mustSwap(n)
	}
	now := s.State.Snapshots.Current.Load().Bound
	one := state.NeedOf([]*state.Bound{now})
	ref := now.Snap.Manifest.Tables[0]
	if need := now.Lists["/api/v2/metadata/location"].Need; need.Segment != ref.Bytes || one <= ref.Bytes {
		t.Fatalf("a table of %d bytes counts as %+v", ref.Bytes, need)
	}
	s.State.Shares.Snapshots = 3*one + one/50
	room := func(bytes int64, sha string) error {
		next := store.SegmentRef{Table: ref.Table, SHA256: sha, Rows: ref.Rows, Bytes: bytes}
		return s.State.RoomFor(&store.Manifest{ID: "next", Tables: []store.SegmentRef{next}})
	}
	var fault *state.MemoryError
	if err := room(3*one, "other"); !errors.As(err, &fault) || fault.Needed <= 3*one || fault.Snapshot != "next" {
		t.Errorf("segments that do not fit: %v", err)
	}
	testkit.Must(t, room(ref.Bytes, ref.SHA256))
	s.answers("012")
	testkit.Must(t, room(one, "other"))
	s.answers("12")
	testkit.Must(t, room(one+one/2, "other"))
	s.answers("2")
}

// TestHeapLimitFollowsSegments: the Go runtime may use what the segments that are open leave of the
// limit.
func TestHeapLimitFollowsSegments(t *testing.T) {
	t.Parallel()
	const limit = 1 << 30
	var left atomic.Int64
	s := api.New(state.Options{MemoryLimit: limit, HeapLimit: left.Store, Logger: slog.New(slog.DiscardHandler)})
	table := []*apitest.Table{apitest.Locations(3000, nil)}
	snap := apitest.StoreSnapshot(t, "one", apitest.SampleTime, table)
	bytes := snap.Manifest.Tables[0].Bytes
	apitest.Swap(t, s, state.Release{Snapshot: snap})
	if got, want := left.Load(), state.HeapLimit(limit)-bytes; got != want {
		t.Errorf("with a segment of %d bytes the Go runtime may use %d, want %d", bytes, got, want)
	}
	testkit.Must(t, s.Shutdown(t.Context()))
	testkit.Equal(t, left.Load(), state.HeapLimit(limit), "without segments the Go runtime may use")
}

// TestDroppedMemoryIsFree: all memory of a snapshot that was dropped before its time is free, also
// while the timer for that time is still set.
func TestDroppedMemoryIsFree(t *testing.T) {
	t.Parallel()
	s := newMemoryServer(t)
	s.mustSwap(0)
	s.mustSwap(1)
	var (
		first  weak.Pointer[state.Served]
		tables weak.Pointer[state.Bound]
	)
	func() {
		v := s.State.Snapshots.AcquirePinned("s0")
		defer v.Release(s.Server.State.Log)
		first, tables = weak.Make(v), weak.Make(v.Bound)
	}()
	runtime.GC()
	if first.Value() == nil || tables.Value() == nil {
		t.Fatal("a retained snapshot has lost its heads or its tables")
	}
	s.State.Snapshots.Retained.Lock()
	s.State.Snapshots.Retained.DropOldest(s.Server.State.Log, state.DropForMemory)
	s.State.Snapshots.Retained.Unlock()
	runtime.GC()
	if tables.Value() != nil {
		t.Error("the tables of a dropped snapshot are still in memory")
	}
	if first.Value() != nil {
		t.Error("the heads and pages of a dropped snapshot are still in memory")
	}
}

// readDropped serves 0 and 1 where there is memory for one, of which it returns the size. 0 is
// dropped, but read until the reader is released.
func (s *memoryServer) readDropped() (one int64, reader *state.Served) {
	s.t.Helper()
	s.mustSwap(0)
	one = state.NeedOf([]*state.Bound{s.State.Snapshots.Current.Load().Bound})
	reader = s.State.Snapshots.Acquire()
	s.State.Shares.Snapshots = one + one/50
	s.mustSwap(1)
	return one, reader
}

// TestSlowReaderCounts: a dropped snapshot that a request still reads counts as in use, so that the
// next swap is refused until the request has ended.
func TestSlowReaderCounts(t *testing.T) {
	t.Parallel()
	s := newMemoryServer(t)
	_, reader := s.readDropped()
	var fault *state.MemoryError
	if err := s.swap(2); !errors.As(err, &fault) {
		t.Fatalf("swap while the first snapshot is read: %v, want a MemoryError", err)
	}
	reader.Release(s.Server.State.Log)
	s.mustSwap(2)
	s.answers("2")
}

// TestRoomAfterReaders: a snapshot without room waits until a dropped one is no longer read.
func TestRoomAfterReaders(t *testing.T) {
	t.Parallel()
	s := newMemoryServer(t)
	one, reader := s.readDropped()
	ended := time.AfterFunc(50*time.Millisecond, func() { reader.Release(s.Server.State.Log) })
	next := store.SegmentRef{Table: "location", SHA256: "other", Bytes: one / 100}
	testkit.Must(t, s.State.RoomFor(&store.Manifest{ID: "next", Tables: []store.SegmentRef{next}}))
	if ended.Stop() {
		t.Error("there was room while the first snapshot was still read")
	}
}

// TestSharedTablesCountOnce: a snapshot with the table of the current one fits where there is
// hardly more memory than for one.
func TestSharedTablesCountOnce(t *testing.T) {
	t.Parallel()
	s := newMemoryServer(t)
	dir := t.TempDir()
	table := []*apitest.Table{apitest.Locations(3000, nil)}
	for _, id := range []string{"a", "b"} {
		apitest.WriteSnapshot(t, dir+id, id, apitest.SampleTime, table)
	}
	first := apitest.OpenSnapshot(t, dir+"a", "a")
	apitest.Swap(t, s.Server, state.Release{Snapshot: first, PublishedAt: apitest.PublishedTime})
	one := state.NeedOf([]*state.Bound{s.State.Snapshots.Current.Load().Bound})
	s.State.Shares.Snapshots = one + 1
	next := apitest.OpenSnapshot(t, dir+"b", "b")
	next.Segments["location"] = first.Segments["location"].Acquire() // as store.OpenAfter does
	apitest.Swap(t, s.Server, state.Release{Snapshot: next, PublishedAt: apitest.PublishedTime})
	testkit.Equal(t, s.State.Snapshots.Retained.Count(), 1, "snapshots are retained")
}

// TestDerivedBytesOfSums: what was made for sums counts, and is given up with the snapshot.
func TestDerivedBytesOfSums(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{Identifier: state.IgnoreIdentifier, CacheBytes: -1}, 600)
	const path = "/api/v2/coordination-context/conflict-events"
	const query = "/aggregate?group_by=event_type&measures=count,sum:events"
	bound := s.State.Snapshots.Current.Load().Bound
	before := bound.DerivedBytes()
	first := s.Answer("GET", path+query, nil)
	list := bound.Lists[path]
	if n := list.Adds.Load().Bytes(); n == 0 || bound.DerivedBytes() < before+n {
		t.Errorf("sums made %d bytes; all that was made went from %d to %d", n, before, bound.DerivedBytes())
	}
	bound.DropDerived(&state.Bound{Lists: map[string]*state.BoundList{}})
	testkit.Equal(t, list.Adds.Load().Bytes(), 0, "bytes are left of what sums made")
	again := s.Answer("GET", path+query, nil)
	if first.Status != again.Status || !bytes.Equal(first.Body, again.Body) || len(first.Body) == 0 {
		t.Errorf("status %d and %d, or other figures", first.Status, again.Status)
	}
	if list.Adds.Load().Bytes() == 0 {
		t.Error("the second answer made nothing")
	}
}
