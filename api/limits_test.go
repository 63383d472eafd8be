//go:build !race

package api

import (
	"bytes"
	"testing"

	"hdqs/api/contract"
)

// TestSharesOfLimit checks that the parts of every limit add up to it and leave something for a
// snapshot.
func TestSharesOfLimit(t *testing.T) {
	for _, limit := range []int64{32 << 20, 100 << 20, 220_000_000, 1 << 30, 64 << 30} {
		s := newShares(&Options{MemoryLimit: limit})
		heap := HeapLimit(limit)
		if all := s.snapshots + s.inflight + s.bodies + heap/8 + programBytes; all != heap || heap > limit {
			t.Errorf("of %d bytes the parts have %d, the Go runtime %d", limit, all, heap)
		}
		if s.snapshots < limit/10 || s.inflight < limit/16 || s.bodies < min(64<<20, limit/32) {
			t.Errorf("parts of %d bytes: %+v", limit, s)
		}
	}
	set := newShares(&Options{MemoryLimit: 1 << 30, InflightBytes: 10 << 20, CacheBytes: -1})
	if set.inflight != 10<<20 || set.bodies != -1 || set.snapshots != HeapLimit(1<<30)/8*7-26<<20 {
		t.Errorf("with options of their own: %+v", set)
	}
	if none := newShares(&Options{}); none.isLimited() || none.inflight != 512<<20 || none.bodies != 64<<20 {
		t.Errorf("without a limit: %+v", none)
	}
}

// TestCachesFollowLimit: the caches of all tables together get what a snapshot's part has left, and
// answers do not depend on them.
func TestCachesFollowLimit(t *testing.T) {
	t.Parallel()
	wide := sampleServer(t, Options{Identifier: IgnoreIdentifier}, 600)
	narrow := sampleServer(t, Options{Identifier: IgnoreIdentifier, MemoryLimit: 96 << 20}, 600)
	bound := narrow.current.Load().bound
	caches, texts := int64(0), int64(0)
	for _, l := range bound.lists {
		caches += l.need.blocks + l.need.filters
		texts += l.need.texts
	}
	most := max(narrow.memory.caches, narrow.memory.snapshots/2-texts)
	if caches > most || caches < most*9/10 {
		t.Errorf("caches of %d bytes, want about %d", caches, most)
	}
	for i := range contract.Endpoints {
		for _, rest := range []string{"?limit=500", "?limit=500&output_format=csv", "?limit=90&offset=301"} {
			target := contract.Endpoints[i].Path + rest
			want := wide.Answer("GET", target, nil)
			for _, coding := range []string{"identity", "gzip", "gzip"} { // the second time from stored blocks
				got := narrow.Answer("GET", target, []HeaderField{{"Accept-Encoding", coding}})
				if field, _ := got.field("Content-Encoding"); field == "gzip" {
					got.Body = unzip(t, got.Body)
				}
				if want.Status != 200 || !bytes.Equal(got.Body, want.Body) {
					t.Fatalf("%s, %s: other bytes with narrow caches (%d, %d)", target, coding, want.Status, got.Status)
				}
			}
		}
	}
}
