package api

import (
	"bytes"
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

// TestWarmUpFails checks that a snapshot from which a request cannot be answered is not served,
// whether answering fails or panics, within a handler or in a stream. With a memory limit the
// estimate of its memory panics before that, which does not end the process either.
func TestWarmUpFails(t *testing.T) {
	t.Parallel()
	breaks := map[string]func(l *boundList){
		"error":           func(l *boundList) { l.filters = make([]index.Filter, len(l.filters)) },
		"panic":           func(l *boundList) { l.index = new(index.Index) },
		"panic in stream": func(l *boundList) { l.named[contract.ContractNames].renderer = new(render.Renderer) },
	}
	for name, breakList := range breaks {
		for _, limit := range []int64{0, 1 << 30} {
			checkWarmUpFails(t, name, breakList, limit)
		}
	}
}

func checkWarmUpFails(t *testing.T, name string, breakList func(*boundList), limit int64) {
	t.Helper()
	s := sampleServer(t, Options{
		Identifier: IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler), MemoryLimit: limit,
	}, 20)
	s.options.SkipWarmUp, s.warmLimit = false, time.Hour
	before := s.Answer("GET", listTarget, nil)
	next := storeSnapshot(t, "next", sampleTime, sampleTables(t, 21))
	bound, err := Bind(next)
	if err != nil {
		t.Fatal(err)
	}
	breakList(bound.lists["/api/v2/metadata/sector"])
	if err := s.swapTo(bound, s.current.Load().bound, Release{Snapshot: next}); err == nil {
		t.Errorf("%s, limit %d: the snapshot is served", name, limit)
	}
	after := s.Answer("GET", listTarget, nil)
	if after.Status != 200 || !bytes.Equal(after.Body, before.Body) || s.currentID() != sampleID {
		t.Errorf("%s, limit %d: then %d from %s", name, limit, after.Status, s.currentID())
	}
	if err := next.Close(); err != nil {
		t.Error(err)
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

// TestReplacedSnapshotForgets checks that a swap gives up what was made for answers from the
// replaced snapshot, except for tables that both have, and that the replaced one still answers.
func TestReplacedSnapshotForgets(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tables := sampleTables(t, 300)
	putSnapshot(t, st, "first", tables)
	for _, x := range tables {
		if x.endpoint.Table == "sector" {
			x.rows = x.rows[:7]
		}
	}
	putSnapshot(t, st, "second", tables)
	first, err := st.Open("first")
	if err != nil {
		t.Fatal(err)
	}
	second, err := st.OpenAfter("second", first)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Identifier: IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler), CacheBytes: -1})
	s.warmLimit = time.Hour
	if err := s.Swap(Release{Snapshot: first}); err != nil {
		t.Fatal(err)
	}
	old := s.current.Load().bound
	bytesOf := func(path string) int64 {
		list := old.lists[path]
		return list.named[contract.ContractNames].renderer.Bytes() + list.index.Bytes()
	}
	const changed, unchanged = "/api/v2/metadata/sector", "/api/v2/metadata/org"
	kept, made := bytesOf(unchanged), bytesOf(changed)
	before := s.Answer("GET", changed+"?snapshot=first", nil)
	if err := s.Swap(Release{Snapshot: second}); err != nil {
		t.Fatal(err)
	}
	if got := bytesOf(unchanged); got != kept {
		t.Errorf("the unchanged table has %d bytes, before %d", got, kept)
	}
	if got := bytesOf(changed); got >= made/2 {
		t.Errorf("the replaced table still has %d bytes of %d", got, made)
	}
	after := s.Answer("GET", changed+"?snapshot=first", nil)
	if after.Status != 200 || !bytes.Equal(after.Body, before.Body) {
		t.Errorf("the replaced snapshot answers with %d and %d bytes, before %d", after.Status, len(after.Body),
			len(before.Body))
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}
