package api

import (
	"cmp"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/metrics"
	"hdqs/api/render"
	"hdqs/api/wire"
)

// What a process may use is divided beforehand, so that whether a snapshot fits does not depend on
// what happens to be requested:
//
//	1/8 of the limit     the kernel, and at least so much of the page cache
//	7/8                  the Go runtime (GOMEMLIMIT), and of that:
//	    16 MiB and 1/8       the program and what queries need while they run
//	    1/8                  answers in flight
//	    1/16, ≤ 64 MiB       finished bodies
//	    the rest             snapshots
//
// A snapshot needs its texts, which are all that its renderers and indexes can make of its
// dictionaries (what only the names below a prefix need counts with a quarter), and its caches of
// stored blocks and of answered filters. The caches may grow until the snapshot has half of the
// rest, so that two fit, but have 1/16 of the Go runtime's part in any case. Tables that snapshots
// share count once. Pages of mapped files do not count: the kernel can drop them.
//
// Before a swap, the new snapshot counts with its texts, which the warm-up makes. If there is no
// room for that, it is not warmed up, and counts with an eighth of them: to make that room,
// retained snapshots are dropped first, then the caches of the current one. After the swap,
// retained ones are dropped until all fit with everything.
type shares struct {
	limit     int64 // of the process, 0 without one
	snapshots int64 // for all of them
	caches    int64 // for those of a snapshot, at least
	inflight  int64
	bodies    int64 // of the body cache; negative disables it
	root      contract.NameSet
}

const programBytes = 16 << 20

// HeapLimit is the part of a memory limit that is the Go runtime's, for debug.SetMemoryLimit.
func HeapLimit(limit int64) int64 { return limit - limit/8 }

func newShares(o *Options) shares {
	heap, limit := debug.SetMemoryLimit(-1), o.MemoryLimit
	switch {
	case limit > 0:
		heap = min(heap, HeapLimit(limit))
	case heap == math.MaxInt64:
		return shares{
			inflight: cmp.Or(o.InflightBytes, wire.DefaultBudget), bodies: cmp.Or(o.CacheBytes, cacheBytes),
		}
	default:
		limit = heap
	}
	s := shares{
		limit: limit, root: o.Names, caches: heap / 16, inflight: cmp.Or(o.InflightBytes, heap/8),
		bodies: cmp.Or(o.CacheBytes, min(cacheBytes, heap/16)),
	}
	s.snapshots = heap - programBytes - heap/8 - s.inflight - max(0, s.bodies)
	return s
}

func (s *shares) isLimited() bool { return s.limit > 0 }

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
type need struct{ texts, blocks, filters int64 }

// needOf returns the memory of bound snapshots. Tables that they share count once.
func needOf(bounds []*Bound) (n int64) {
	seen := map[*boundList]bool{}
	for _, b := range bounds {
		for _, l := range b.lists {
			if !seen[l] {
				seen[l] = true
				n += l.need.texts + l.need.blocks + l.need.filters
			}
		}
	}
	return n
}

// beside calls do with the tables that b shares with none of the others.
func (b *Bound) beside(others []*Bound, do func(*boundList)) {
	for path, l := range b.lists {
		if !slices.ContainsFunc(others, func(o *Bound) bool { return o.lists[path] == l }) {
			do(l)
		}
	}
}

// divide sets the limits of the caches of the tables that b does not share with an earlier
// snapshot, and computes what they need. Each gets the same part of what it would get without a
// limit. It reads the segments, so a panic becomes an error, as in bindAfter.
func (s *shares) divide(b *Bound, earlier []*Bound) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("api: a panic while the memory of a snapshot was estimated: %v\n%s", fault, debug.Stack())
		}
	}()
	texts, wanted := int64(0), int64(0)
	b.beside(earlier, func(l *boundList) {
		if l.segment != nil {
			root, other := l.named[s.root].renderer, l.named[(s.root+1)%nameSets].renderer
			most := render.FullBytes(root)
			most += (render.FullBytes(root, other) - most) / 4
			most += l.index.FullBytes(l.filters) + aggregate.FullBytes(l.segment)
			l.need = need{texts: most, blocks: root.BlockBytes(), filters: l.index.CacheBytes()}
		}
	})
	for _, l := range b.lists {
		texts += l.need.texts
		wanted += l.need.blocks + l.need.filters
	}
	part := float64(max(s.caches, s.snapshots/2-texts)) / float64(max(1, wanted))
	if part >= 1 {
		return nil
	}
	b.beside(earlier, func(l *boundList) {
		l.need.blocks = int64(float64(l.need.blocks) * part)
		l.need.filters = int64(float64(l.need.filters) * part)
		l.setCaches(l.need.blocks, l.need.filters)
	})
	return nil
}

func (l *boundList) setCaches(blocks, filters int64) {
	if l.segment != nil {
		l.named[contract.ContractNames].renderer.SetBlockBytes(blocks) // which all renderers share
		l.index.SetCacheBytes(filters)
	}
}

// makeRoom makes room for opening another snapshot, and reports whether there is so much of it that
// the snapshot can be warmed up, which makes most of its texts. It drops nothing if the room would
// not suffice.
func (s *Server) makeRoom(next, now *Bound) (canWarm bool, err error) {
	if !s.memory.isLimited() {
		return true, nil
	}
	s.retained.Lock()
	defer s.retained.Unlock()
	if err := s.memory.divide(next, s.open.bounds(nil)); err != nil {
		return false, err
	}
	available := s.memory.snapshots
	refuse := func(needed int64) (bool, error) {
		s.refused.Add(1)
		id := next.snap.Manifest.ID
		return false, &MemoryError{Snapshot: id, Needed: needed, Available: available, Limit: s.memory.limit}
	}
	if alone := needOf([]*Bound{next}); alone > available {
		return refuse(alone)
	}
	needed := func(dropped []*served, part int64) int64 {
		stay := s.open.bounds(dropped)
		n := needOf(stay)
		next.beside(stay, func(l *boundList) { n += l.need.texts / part })
		return n
	}
	surplus := max(0, len(s.retained.entries)+1-MostPrevious) // would be dropped after the swap anyway
	if needed(s.retained.entries[:surplus], 1) <= available {
		for range surplus {
			s.retained.dropOldest(s.log, dropForNumber)
		}
		if needed(nil, 1) <= available { // no request reads a dropped one
			return true, nil
		}
	}
	droppable := int64(0)
	if now != nil {
		now.beside([]*Bound{next}, func(l *boundList) { droppable += l.need.blocks + l.need.filters })
	}
	if least := needed(s.retained.entries, coldPart) - droppable; least > available {
		return refuse(least)
	}
	for len(s.retained.entries) > 0 && needed(nil, coldPart) > available {
		s.retained.dropOldest(s.log, dropForMemory)
	}
	switch n := needed(nil, coldPart); {
	case n <= available:
	case n-droppable > available: // requests still read a dropped snapshot
		return refuse(n - droppable)
	default:
		now.beside([]*Bound{next}, func(l *boundList) { l.setCaches(0, 0) })
	}
	s.log.Info("no warm-up: there is not enough memory for it; the first requests will be slower",
		"snapshot", next.snap.Manifest.ID)
	return false, nil
}

// coldPart is the part of its texts with which a snapshot counts that is not warmed up: one of so
// many.
const coldPart = 8

// dropUnfit drops retained snapshots, the oldest first, until the others fit beside the current
// one. The caller holds the lock of s.retained.
func (s *Server) dropUnfit(current *served) {
	for s.memory.isLimited() && len(s.retained.entries) > 0 {
		bounds := []*Bound{current.bound}
		for _, v := range s.retained.entries {
			bounds = append(bounds, v.bound)
		}
		if needOf(bounds) <= s.memory.snapshots {
			return
		}
		s.retained.dropOldest(s.log, dropForMemory)
	}
}

// openSnapshots are the snapshots that are in memory: the current one, retained ones, and others
// that a request still reads.
type openSnapshots struct {
	mu  sync.Mutex
	all []*served
}

func (o *openSnapshots) add(v *served) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, v)
}

func (o *openSnapshots) remove(v *served) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = slices.DeleteFunc(o.all, func(other *served) bool { return other == v })
}

// bounds returns the tables of all open snapshots but some.
func (o *openSnapshots) bounds(except []*served) (all []*Bound) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range o.all {
		if !slices.Contains(except, v) {
			all = append(all, v.bound)
		}
	}
	return all
}

var (
	limitDesc        = newDesc("hdqs_memory_limit_bytes", "Memory that the process may use; absent without a limit.")
	swapsRefusedDesc = newDesc("hdqs_swaps_refused_total",
		"Snapshots that were not served, by what they lacked.", "reason")
	droppedDesc = newDesc("hdqs_snapshots_dropped_total",
		"Replaced snapshots that answer no longer, by what ended that: their age, their number, or memory.", "reason")
)

// collectMemory collects the limit and what had to go because of it.
func (s *Server) collectMemory(to chan<- prometheus.Metric) {
	if s.memory.isLimited() {
		to <- metrics.Gauge(limitDesc, float64(s.memory.limit))
	}
	to <- metrics.Counter(swapsRefusedDesc, s.refused.Load(), dropReasons[dropForMemory])
	for i, reason := range dropReasons {
		to <- metrics.Counter(droppedDesc, s.retained.dropped[i].Load(), reason)
	}
}

// MemoryUse is what the open snapshots need, of what all snapshots may use.
type MemoryUse struct {
	Needed, Snapshots int64
	Limit             int64 // of the process; all are 0 without one
}

// Memory returns what snapshots need.
func (s *Server) Memory() MemoryUse {
	if !s.memory.isLimited() {
		return MemoryUse{}
	}
	return MemoryUse{needOf(s.open.bounds(nil)), s.memory.snapshots, s.memory.limit}
}

// Missing lists the tables of endpoints that the served snapshot does not have, or that have no
// rows.
func (s *Server) Missing() []string {
	v := s.acquire()
	if v == nil {
		return nil
	}
	defer v.release(s.log)
	return v.bound.Missing()
}
