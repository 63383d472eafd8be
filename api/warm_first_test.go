//go:build !race

package api

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/index"
	"hdqs/snapshot/store"
)

// TestWarmUp checks that the first requests after a swap find all fragments made, and the lists by
// which they find rows.
func TestWarmUp(t *testing.T) {
	t.Parallel()
	const rows = 300 // more than one chunk of fragments, and too few for stored blocks
	// Lengths of single rows are not warmed up: those of 128 rows take microseconds and 256 bytes.
	const lengths = 2 * 256
	for _, c := range []struct {
		skip  bool
		names contract.NameSet
	}{{false, contract.ContractNames}, {false, contract.HAPINames}, {true, contract.ContractNames}} {
		s := New(Options{
			Identifier: IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler), CacheBytes: -1,
			SkipWarmUp: c.skip, Names: c.names,
		})
		s.warmLimit = time.Hour
		if err := s.Swap(Release{Snapshot: sampleSnapshot(t, rows)}); err != nil {
			t.Fatal(err)
		}
		endpoints := contract.EndpointsIn(c.names)
		for i := range endpoints {
			e := &endpoints[i]
			list := s.current.Load().bound.lists[e.Contract().Path]
			before := list.named[contract.ContractNames].renderer.Bytes() + list.index.Bytes()
			for _, coding := range []string{"identity", "gzip", "zstd"} {
				for _, query := range []string{"", "?output_format=csv", "?limit=100&offset=100"} {
					got := s.Answer("GET", e.Path+query, []HeaderField{{"Accept-Encoding", coding}})
					if got.Status != 200 {
						t.Fatalf("%s%s: %d", e.Path, query, got.Status)
					}
				}
			}
			after := list.named[contract.ContractNames].renderer.Bytes() + list.index.Bytes()
			if made := after - before; made < 0 || (made > lengths) != c.skip {
				t.Errorf("%s: the first requests made %d bytes, warm-up skipped: %v", e.Path, made, c.skip)
			}
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
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
