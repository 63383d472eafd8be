package state

import (
	"cmp"
	"fmt"
	"math"
	"runtime/debug"
	"slices"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/wire"
	"hdqs/snapshot/store"
)

// What a process may use is divided beforehand, so that whether a snapshot fits does not depend on
// what happens to be requested:
//
//	1/8 of the limit     the kernel, and at least so much of the page cache
//	7/8                  segments, the Go runtime (GOMEMLIMIT) with the rest, and of that:
//	    16 MiB and 1/8       the program, what queries need while they run, and requests that
//	                         are not complete, which have half as much as answers in flight
//	    1/8                  answers in flight
//	    1/16, ≤ 64 MiB       finished bodies
//	    the rest             snapshots
//
// A snapshot needs its segments; its texts, which are all that its renderers and indexes can make
// of its dictionaries (what only the names below a prefix or NDJSON need counts with a quarter);
// and its caches of stored blocks and of answered filters. The caches may grow until the snapshot
// has half of the rest, so that two fit, but have 1/16 of the 7/8 in any case. Tables that
// snapshots share count once.
//
// Segments are read before the rest of a snapshot is known, so their room is made first (RoomFor).
// Before a swap, the new snapshot counts with its texts, which the warm-up makes. If there is no
// room for that, it is not warmed up, and counts with an eighth of them: to make that room,
// retained snapshots are dropped first, then the caches of the current one. After the swap,
// retained ones are dropped until all fit with everything.
// CacheBytes is the default of Options.CacheBytes without a memory limit.
const CacheBytes = 64 << 20

// Shares are the parts of the memory limit, see the table above.
type Shares struct {
	limit     int64 // of the process, 0 without one
	Snapshots int64 // for all of them
	Caches    int64 // for those of a snapshot, at least
	Inflight  int64
	Bodies    int64 // of the body cache; negative disables it
	root      contract.NameSet

	NameBytes func(*BoundList) int64 // of the names of a table that are searched; nil: none are
}

// programBytes is the memory of the program itself.
const programBytes = 16 << 20

// HeapLimit is the part of a memory limit that is the process's. It is the Go runtime's, for
// debug.SetMemoryLimit, as far as no segments are open, which are not in the Go heap.
func HeapLimit(limit int64) int64 { return limit - limit/8 }

// NewShares divides the memory limit of a server.
func NewShares(o *Options) Shares {
	heap, limit := debug.SetMemoryLimit(-1), o.MemoryLimit
	switch {
	case limit > 0:
		heap = min(heap, HeapLimit(limit))
	case heap == math.MaxInt64:
		return Shares{
			Inflight: cmp.Or(o.InflightBytes, wire.DefaultBudget), Bodies: cmp.Or(o.CacheBytes, CacheBytes),
		}
	default:
		limit = heap
	}
	s := Shares{
		limit: limit, root: o.Names, Caches: heap / 16, Inflight: cmp.Or(o.InflightBytes, heap/8),
		Bodies: cmp.Or(o.CacheBytes, min(CacheBytes, heap/16)),
	}
	s.Snapshots = heap - programBytes - heap/8 - s.Inflight - max(0, s.Bodies)
	return s
}

// IsLimited reports whether there is a memory limit.
func (s *Shares) IsLimited() bool { return s.limit > 0 }

// MemoryError refuses a snapshot that does not fit in memory.
type MemoryError struct {
	Snapshot  string
	Needed    int64 // by it and the snapshots that must stay open meanwhile
	Available int64 // to snapshots
	Limit     int64 // of the process
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("snapshot %s does not fit in memory: with the ones that are in use it needs %s, "+
		"and of the limit of %s snapshots may use %s",
		e.Snapshot, mebibytes(e.Needed), mebibytes(e.Limit), mebibytes(max(0, e.Available)))
}

// Enough is a limit of the process that would do: more than half of what a limit grows by is for
// snapshots.
func (e *MemoryError) Enough() int64 { return e.Limit + 2*(e.Needed-e.Available) }

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// need is the memory of a table when it is used in all ways.
type need struct{ Segment, Texts, Blocks, Filters int64 }

// lasting is what stays when makeRoom has emptied the caches.
func (n *need) lasting() int64 { return n.Segment + n.Texts }

func (n *need) caches() int64 { return n.Blocks + n.Filters }

func (n *need) all() int64 { return n.lasting() + n.caches() }

// NeedOf returns the memory of bound snapshots. Tables that they share count once.
func NeedOf(bounds []*Bound) int64 { return sumOf(bounds, (*need).all) }

// sumOf adds up a part of what the tables of bound snapshots need, each table once.
func sumOf(bounds []*Bound, part func(*need) int64) (n int64) {
	seen := map[*BoundList]bool{}
	for _, b := range bounds {
		for _, l := range b.Lists {
			if !seen[l] {
				seen[l] = true
				n += part(&l.Need)
			}
		}
	}
	return n
}

// beside calls do with the tables that b shares with none of the others.
func (b *Bound) beside(others []*Bound, do func(*BoundList)) {
	for path, l := range b.Lists {
		if !slices.ContainsFunc(others, func(o *Bound) bool { return o.Lists[path] == l }) {
			do(l)
		}
	}
}

// divide sets the limits of the caches of the tables that b does not share with an earlier
// snapshot, and computes what they need. Each gets the same part of what it would get without a
// limit. It reads the segments, so a panic becomes an error, as in bindAfter.
func (s *Shares) divide(b *Bound, earlier []*Bound) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("api: a panic while the memory of a snapshot was estimated: %v\n%s", fault, debug.Stack())
		}
	}()
	fixed, wanted := int64(0), int64(0)
	b.beside(earlier, func(l *BoundList) {
		if l.Segment != nil {
			root, other := l.Named[s.root].Renderer, l.Named[(s.root+1)%NameSets].Renderer
			most := render.FullBytes(root)
			most += (render.FullBytes(root, other) - most) / 4
			most += l.Index.FullBytes(l.Filters) + aggregate.FullBytes(l.Segment)
			if s.NameBytes != nil {
				most += s.NameBytes(l)
			}
			l.Need = need{
				Segment: l.Segment.Bytes(), Texts: most, Blocks: root.BlockBytes(), Filters: l.Index.CacheBytes(),
			}
		}
	})
	for _, l := range b.Lists {
		fixed += l.Need.lasting()
		wanted += l.Need.caches()
	}
	part := float64(max(s.Caches, s.Snapshots/2-fixed)) / float64(max(1, wanted))
	if part >= 1 {
		return nil
	}
	b.beside(earlier, func(l *BoundList) {
		l.Need.Blocks = int64(float64(l.Need.Blocks) * part)
		l.Need.Filters = int64(float64(l.Need.Filters) * part)
		l.setCaches(l.Need.Blocks, l.Need.Filters)
	})
	return nil
}

func (l *BoundList) setCaches(blocks, filters int64) {
	if l.Segment != nil {
		l.Named[contract.ContractNames].Renderer.SetBlockBytes(blocks) // which all renderers share
		l.Index.SetCacheBytes(filters)
	}
}

// Hold reports whether there is room for the segments of a snapshot, without any other.
func (s *Shares) Hold(m *store.Manifest) bool {
	return !s.IsLimited() || newBytes(m, nil) <= s.Snapshots
}

// newBytes is the length of the segments of a snapshot that no open one has.
func newBytes(m *store.Manifest, open []*Bound) (n int64) {
	for _, ref := range m.Tables {
		if !slices.ContainsFunc(open, func(b *Bound) bool { return slices.Contains(b.Snap.Manifest.Tables, ref) }) {
			n += ref.Bytes
		}
	}
	return n
}
