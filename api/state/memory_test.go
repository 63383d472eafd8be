//go:build !race

package state

import "testing"

// TestSharesOfLimit checks that the parts of every limit add up to it and leave something for a
// snapshot.
func TestSharesOfLimit(t *testing.T) {
	for _, limit := range []int64{32 << 20, 100 << 20, 220_000_000, 1 << 30, 64 << 30} {
		s := NewShares(&Options{MemoryLimit: limit})
		heap := HeapLimit(limit)
		if all := s.Snapshots + s.Inflight + s.Bodies + heap/8 + programBytes; all != heap || heap > limit {
			t.Errorf("of %d bytes the parts have %d, the Go runtime %d", limit, all, heap)
		}
		if s.Snapshots < limit/10 || s.Inflight < limit/16 || s.Bodies < min(64<<20, limit/32) {
			t.Errorf("parts of %d bytes: %+v", limit, s)
		}
	}
	set := NewShares(&Options{MemoryLimit: 1 << 30, InflightBytes: 10 << 20, CacheBytes: -1})
	if set.Inflight != 10<<20 || set.Bodies != -1 || set.Snapshots != HeapLimit(1<<30)/8*7-26<<20 {
		t.Errorf("with options of their own: %+v", set)
	}
	none := NewShares(&Options{})
	if none.IsLimited() || none.Inflight != 512<<20 || none.Bodies != 64<<20 {
		t.Errorf("without a limit: %+v", none)
	}
}
