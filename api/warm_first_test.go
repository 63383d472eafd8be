//go:build !race

package api

import (
	"log/slog"
	"testing"
	"time"

	"hdqs/api/contract"
)

// TestWarmUp checks that the first requests after a swap find all fragments made, and the lists by
// which they find rows.
func TestWarmUp(t *testing.T) {
	t.Parallel()
	const rows = 300 // more than one chunk of fragments, and too few for stored blocks
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
			if made := after - before; made < 0 || (made > 0) != c.skip {
				t.Errorf("%s: the first requests made %d bytes, warm-up skipped: %v", e.Path, made, c.skip)
			}
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
