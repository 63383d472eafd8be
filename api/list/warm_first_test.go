//go:build !race

package list_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/state"
	"hdqs/index"
	"hdqs/internal/testkit"
)

// TestWarmUp checks that the first requests after a swap find all fragments made, and the lists by
// which they find rows.
func TestWarmUp(t *testing.T) {
	t.Parallel()
	const rows = 300 // more than one chunk of fragments, and too few for stored blocks
	// Lengths of single rows are not warmed up: those of 128 rows take microseconds and 256 bytes,
	// and their cache 48 more.
	const lengths = 2 * (256 + 48)
	for _, c := range []struct {
		skip  bool
		names contract.NameSet
	}{{false, contract.ContractNames}, {false, contract.HAPINames}, {true, contract.ContractNames}} {
		s := api.New(state.Options{
			Identifier: state.IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler), CacheBytes: -1,
			SkipWarmUp: c.skip, Names: c.names,
		})
		s.Lists.WarmLimit = time.Hour
		apitest.Swap(t, s, state.Release{Snapshot: apitest.SampleSnapshot(t, rows)})
		endpoints := contract.EndpointsIn(c.names)
		for i := range endpoints {
			e := &endpoints[i]
			list := s.State.Snapshots.Current.Load().Bound.Lists[e.Contract().Path]
			before := list.Named[contract.ContractNames].Renderer.Bytes() + list.Index.Bytes()
			for _, coding := range []string{"identity", "gzip", "zstd"} {
				for _, query := range []string{"", "?output_format=csv", "?limit=100&offset=100"} {
					got := s.Answer("GET", e.Path+query, apitest.Fields("Accept-Encoding", coding))
					testkit.Equal(t, got.Status, 200, "%s%s", e.Path, query)
				}
			}
			after := list.Named[contract.ContractNames].Renderer.Bytes() + list.Index.Bytes()
			if made := after - before; made < 0 || (made > lengths) != c.skip {
				t.Errorf("%s: the first requests made %d bytes, warm-up skipped: %v", e.Path, made, c.skip)
			}
		}
		testkit.Must(t, s.Shutdown(t.Context()))
	}
}

// TestWarmUpFails checks that a snapshot from which a request cannot be answered is not served,
// whether answering fails or panics, within a handler or in a stream. With a memory limit the
// estimate of its memory panics before that, which does not end the process either.
func TestWarmUpFails(t *testing.T) {
	t.Parallel()
	breaks := map[string]func(l *state.BoundList){
		"error":           func(l *state.BoundList) { l.Filters = make([]index.Filter, len(l.Filters)) },
		"panic":           func(l *state.BoundList) { l.Index = new(index.Index) },
		"panic in stream": func(l *state.BoundList) { l.Named[contract.ContractNames].Renderer = new(render.Renderer) },
	}
	for name, breakList := range breaks {
		for _, limit := range []int64{0, 1 << 30} {
			checkWarmUpFails(t, name, breakList, limit)
		}
	}
}

func checkWarmUpFails(t *testing.T, name string, breakList func(*state.BoundList), limit int64) {
	t.Helper()
	s := apitest.Sample(t, state.Options{
		Identifier: state.IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler), MemoryLimit: limit,
	}, 20)
	s.State.Options.SkipWarmUp, s.Lists.WarmLimit = false, time.Hour
	before := s.Answer("GET", apitest.Target, nil)
	next := apitest.StoreSnapshot(t, "next", apitest.SampleTime, apitest.SampleTables(t, 21))
	bound := testkit.Value(state.Bind(next))(t)
	breakList(bound.Lists["/api/v2/metadata/sector"])
	if err := s.State.SwapTo(bound, s.State.Snapshots.Current.Load().Bound, state.Release{Snapshot: next}); err == nil {
		t.Errorf("%s, limit %d: the snapshot is served", name, limit)
	}
	after := s.Answer("GET", apitest.Target, nil)
	if after.Status != 200 || !bytes.Equal(after.Body, before.Body) ||
		s.State.Snapshots.CurrentID() != apitest.SampleID {
		t.Errorf("%s, limit %d: then %d from %s", name, limit, after.Status, s.State.Snapshots.CurrentID())
	}
	testkit.Must(t, next.Close())
}

// TestReplacedSnapshotForgets checks that a swap gives up what was made for answers from the
// replaced snapshot, except for tables that both have, and that the replaced one still answers.
func TestReplacedSnapshotForgets(t *testing.T) {
	t.Parallel()
	first, second := apitest.TwoSnapshots(t, 300)
	s := apitest.Empty(t, state.Options{Identifier: state.IgnoreIdentifier, CacheBytes: -1})
	s.Lists.WarmLimit = time.Hour
	apitest.Swap(t, s, state.Release{Snapshot: first})
	old := s.State.Snapshots.Current.Load().Bound
	bytesOf := func(path string) int64 {
		list := old.Lists[path]
		return list.Named[contract.ContractNames].Renderer.Bytes() + list.Index.Bytes()
	}
	const changed, unchanged = "/api/v2/metadata/sector", "/api/v2/metadata/org"
	kept, made := bytesOf(unchanged), bytesOf(changed)
	before := s.Answer("GET", changed+"?snapshot=first", nil)
	apitest.Swap(t, s, state.Release{Snapshot: second})
	testkit.Equal(t, bytesOf(unchanged), kept, "bytes of the unchanged table")
	if got := bytesOf(changed); got >= made/2 {
		t.Errorf("the replaced table still has %d bytes of %d", got, made)
	}
	after := s.Answer("GET", changed+"?snapshot=first", nil)
	if after.Status != 200 || !bytes.Equal(after.Body, before.Body) {
		t.Errorf("the replaced snapshot answers with %d and %d bytes, before %d", after.Status, len(after.Body),
			len(before.Body))
	}
}

// TestCachesFollowLimit: the caches of all tables together get what a snapshot's part has left.
func TestCachesFollowLimit(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{MemoryLimit: 96 << 20}, 600)
	caches, texts := int64(0), int64(0)
	for _, l := range s.State.Snapshots.Current.Load().Bound.Lists {
		caches += l.Need.Blocks + l.Need.Filters
		texts += l.Need.Segment + l.Need.Texts
	}
	most := max(s.State.Shares.Caches, s.State.Shares.Snapshots/2-texts)
	if caches > most || caches < most*9/10 {
		t.Errorf("caches of %d bytes, want about %d", caches, most)
	}
}

// TestCachedAnswersAreTheSame compares the answers of servers with and without a cache, several
// times each, in all codings.
func TestCachedAnswersAreTheSame(t *testing.T) {
	t.Parallel()
	with, without := apitest.Sample(t, state.Options{}, 500), apitest.Sample(t, state.Options{CacheBytes: -1}, 500)
	for i := apitest.Trials(0, 2); i < len(contract.Endpoints); i += apitest.Trials(1, 3) {
		for _, query := range []string{"", "&limit=2&offset=1", "&limit=0", "&output_format=csv", "&offset=1000"} {
			target := contract.Endpoints[i].Path + "?app_identifier=" + apitest.Identifier + query
			for _, accept := range []string{"identity", "gzip", "zstd", "gzip, identity;q=0"} {
				header := apitest.Fields("Accept-Encoding", accept)
				want := without.Answer("GET", target, header)
				for turn := range 3 {
					got := with.Answer("GET", target, header)
					if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) && accept == "identity" ||
						fmt.Sprint(got.Header) != fmt.Sprint(want.Header) && accept == "identity" {
						t.Fatalf("%s, %s, turn %d:\n got %v\nwant %v", target, accept, turn, got.Header, want.Header)
					}
					if accept != "identity" && !bytes.Equal(apitest.Body(t, got), apitest.Body(t, want)) {
						t.Fatalf("%s, %s, turn %d: the decoded bodies differ", target, accept, turn)
					}
				}
			}
		}
	}
}
