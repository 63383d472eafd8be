package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/contract"
	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/snapshot/store"
)

// KeepPrevious is the default of Options.KeepPrevious.
const KeepPrevious = 15 * time.Minute

// Release is a snapshot as published in a channel.
type Release struct {
	Snapshot *store.Snapshot

	// PublishedAt is when the channel was moved to it, which is later than when it was built, also
	// for a rollback. Zero if unknown.
	PublishedAt time.Time

	// Changes are what the snapshot and earlier ones of the channel changed. Without them the
	// snapshot is compared with the one that it replaces.
	Changes []*Change

	// Figures are those that the publication has kept.
	Figures KeptFigures

	// Answering may be nil. If it is set and no snapshot is served yet, Swap serves this one at
	// once, calls Answering, and then warms the snapshot up. If that fails, none is served until
	// the next Swap.
	Answering func()
}

// Swap serves another snapshot, after it has answered a few requests from it (api/list/warm.go). On
// an error the old one stays current, and the caller must close the new one. Otherwise the server
// closes each snapshot when nobody reads it any more. The replaced snapshot answers requests that
// name it for Options.KeepPrevious, if there is memory for it. The error is a MemoryError if there
// is not even memory for the new one.
func (s *State) Swap(r Release) error {
	s.CutWarmUp.Store(false)
	var earlier *Bound
	now := s.Snapshots.Acquire()
	if now != nil {
		defer now.Release(s.Log)
		earlier = now.Bound
	}
	bound, err := bindAfter(r.Snapshot, earlier, s.Options)
	if err != nil {
		return err
	}
	bound.Figures = r.Figures
	if err := bound.checkGroups(s.Options.Groups); err != nil && earlier == nil {
		return err
	} else if err != nil { // what is served must not depend on a file that was right at the start
		s.Log.Warn("groups of countries do not fit the new snapshot", "snapshot", r.Snapshot.Manifest.ID, "error", err)
	}
	return s.SwapTo(bound, earlier, r)
}

// SwapTo is Swap for a snapshot that is bound. Earlier is the served one, nil if there is none.
func (s *State) SwapTo(bound, earlier *Bound, r Release) error {
	canWarm, err := s.makeRoom(bound, earlier)
	if err != nil {
		return err
	}
	if earlier == nil && r.Answering != nil {
		return s.serveFirst(bound, canWarm, r)
	}
	next := s.NewServed(bound, r.PublishedAt)
	if canWarm {
		if err := s.Hooks.Warm(next, earlier); err != nil {
			s.Snapshots.open.remove(next)
			return err
		}
	}
	s.publish(next, r)
	return nil
}

// serveFirst serves a snapshot while it is warmed up. It acquires a handle of its own: if the
// warm-up fails, the caller closes the one in the Release, while requests may still read the
// snapshot.
func (s *State) serveFirst(bound *Bound, canWarm bool, r Release) error {
	bound.Snap = r.Snapshot.Acquire()
	next := s.NewServed(bound, r.PublishedAt)
	next.Refs.Add(1) // of the warm-up
	defer next.Release(s.Log)
	s.publish(next, r)
	r.Answering()
	if canWarm {
		if err := s.Hooks.Warm(next, nil); err != nil {
			if s.Snapshots.Current.CompareAndSwap(next, nil) { // answers that are being made are right
				next.Release(s.Log)
			}
			return err
		}
	}
	return r.Snapshot.Close()
}

// publish makes a snapshot the current one.
func (s *State) publish(next *Served, r Release) {
	bound := next.Bound
	if next.Live = time.Since(ProcessStart); !r.PublishedAt.IsZero() {
		next.Live = max(0, min(next.Live, time.Since(r.PublishedAt)))
	}
	s.Snapshots.Retained.Lock() // so that AcquirePinned finds the old one, either as current or as retained
	defer s.Snapshots.Retained.Unlock()
	old := s.Snapshots.Current.Load()
	s.noteChanges(&r, old) // before an answer can lack them
	s.Snapshots.Current.Store(next)
	s.Snapshots.Retained.drop(s.Log, notCounted, func(v *Served) bool { return v.Id == next.Id })
	if old != nil {
		old.Bound.DropDerived(bound) // those who name it are few, and memory may be scarce
		old.Kept.Clear()
		s.Snapshots.Retained.Keep(old, cmp.Or(s.Options.KeepPrevious, KeepPrevious), s.Log)
		s.dropUnfit(next)
	}
}

// NewServed takes a bound snapshot into use, with one reference.
func (s *State) NewServed(b *Bound, published time.Time) *Served {
	manifest := b.Snap.Manifest
	date := manifest.SnapshotTime.UTC().Format(time.DateOnly)
	v := &Served{
		Id: manifest.ID, idField: []byte(manifest.ID), Bound: b, Date: date, open: &s.Snapshots.open,
	}
	v.Refs.Store(1)
	s.Snapshots.open.add(v)
	s.announce(v, published)
	return v
}

// Announce sets when the channel was moved to the served snapshot, if that is not the time of its
// Release: the channel may meanwhile have pointed to snapshots that this server never served.
func (s *State) Announce(published time.Time) {
	if v := s.Snapshots.Acquire(); v != nil {
		s.announce(v, published)
		v.Release(s.Log)
	}
}

// maxClockSkew: a publish time up to this far in the future is announced once our clock reaches it;
// later ones are never announced.
const maxClockSkew = time.Hour

// dateLag is how far Date may be behind the clock: fasthttp updates it once a second, in a
// goroutine of its own.
const dateLag = 2 * time.Second

// announce sets the publish time in answers. A modification date must not be later than the Date of
// its answer (RFC 9110, section 8.8.2.1), and at an earlier time another snapshot may have been
// published. So answers have no publish time until Date has certainly reached it.
func (s *State) announce(v *Served, published time.Time) {
	v.publishedAt.Store(&published)
	manifest := v.Bound.Snap.Manifest // the timer below may fire after v.Bound was freed
	ahead := time.Until(published.Truncate(time.Second).Add(dateLag))
	if ahead <= 0 {
		v.Publication.Store(s.newPublication(manifest, published))
		return
	}
	none := s.newPublication(manifest, time.Time{})
	v.Publication.Store(none)
	if ahead < maxClockSkew {
		time.AfterFunc(ahead, func() { v.Publication.CompareAndSwap(none, s.newPublication(manifest, published)) })
	}
}

// newPublication makes the heads of all lists. Those whose sources have the same fields share them.
func (s *State) newPublication(m *store.Manifest, published time.Time) *publication {
	p := &publication{
		At:    published.UTC().Truncate(time.Second), // the zero time stays zero
		heads: make([]*tableHeads, len(contract.Endpoints)),
	}
	f, made := &s.Options.Freshness, map[sourceFields]*tableHeads{}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		source := m.Source(e.Table)
		fields := fieldsOf(&source)
		if made[fields] == nil {
			made[fields] = &tableHeads{
				newListHeads(f.Field(), f.CDN, m.ID, p.At, fields),
				newListHeads(reply.ImmutableKept, "", m.ID, p.At, fields),
			}
		}
		p.heads[i] = made[fields]
	}
	return p
}

// ProcessStart is the origin of times. Reading only the monotonic clock takes half the time of
// time.Now.
var ProcessStart = time.Now()

// WarmUp returns that of the served snapshot. It is zero until the warm-up has ended, and
// if no table had changed.
func (s *State) WarmUp() WarmUp {
	if v := s.Snapshots.Current.Load(); v != nil {
		if w := v.WarmUp.Load(); w != nil {
			return *w
		}
	}
	return WarmUp{}
}

// EndWarmUp ends a warm-up that is running, and later ones at once. The snapshot is served without
// the rest, so that a program that has to end need not wait.
func (s *State) EndWarmUp() { s.NoWarmUp.Store(true) }

// InterruptWarmUp ends a warm-up that is running, so that its caller can look at the store again.
// The snapshot is served without the rest.
func (s *State) InterruptWarmUp() { s.CutWarmUp.Store(true) }

// refuse counts a snapshot that does not fit, and returns the error.
func (s *State) refuse(m *store.Manifest, needed int64) error {
	s.refused.Add(1)
	return &MemoryError{Snapshot: m.ID, Needed: needed, Available: s.Shares.Snapshots, Limit: s.Shares.limit}
}

// readersWait is how long a snapshot without room waits until no dropped one is read any more.
const readersWait = 10 * time.Second

// RoomFor makes room for reading the segments of a snapshot that no open one has: it drops retained
// snapshots, the oldest first. Without room it waits for those who still read a dropped one. The
// error is a MemoryError if they do not fit beside the current one even so; then it drops none.
func (s *State) RoomFor(m *store.Manifest) error {
	if !s.Shares.IsLimited() {
		return nil
	}
	for end := time.Now().Add(readersWait); s.readersKeepFrom(m) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	s.Snapshots.Retained.Lock()
	defer s.Snapshots.Retained.Unlock()
	fresh := newBytes(m, s.Snapshots.open.bounds(nil))
	least := fresh + sumOf(s.Snapshots.open.bounds(s.Snapshots.Retained.Entries), (*need).lasting)
	if least > s.Shares.Snapshots {
		return s.refuse(m, least)
	}
	for len(s.Snapshots.Retained.Entries) > 0 &&
		NeedOf(s.Snapshots.open.bounds(nil))+fresh > s.Shares.Snapshots {
		s.Snapshots.Retained.DropOldest(s.Log, DropForMemory)
	}
	return nil
}

// readersKeepFrom reports whether a snapshot lacks room while dropped ones are still read.
func (s *State) readersKeepFrom(m *store.Manifest) bool {
	s.Snapshots.Retained.Lock()
	defer s.Snapshots.Retained.Unlock()
	read := s.Snapshots.open.bounds(s.Snapshots.Retained.Entries)
	return len(read) > 1 && NeedOf(read)+newBytes(m, read) > s.Shares.Snapshots
}

// makeRoom makes room for opening another snapshot, and reports whether there is so much of it that
// the snapshot can be warmed up, which makes most of its texts. It drops nothing if the room would
// not suffice.
func (s *State) makeRoom(next, now *Bound) (canWarm bool, err error) {
	if !s.Shares.IsLimited() {
		return true, nil
	}
	s.Snapshots.Retained.Lock()
	defer s.Snapshots.Retained.Unlock()
	if err := s.Shares.divide(next, s.Snapshots.open.bounds(nil)); err != nil {
		return false, err
	}
	available := s.Shares.Snapshots
	refuse := func(needed int64) (bool, error) { return false, s.refuse(next.Snap.Manifest, needed) }
	if alone := NeedOf([]*Bound{next}); alone > available {
		return refuse(alone)
	}
	needed := func(dropped []*Served, part int64) int64 {
		stay := s.Snapshots.open.bounds(dropped)
		n := NeedOf(stay)
		next.beside(stay, func(l *BoundList) { n += l.Need.Segment + l.Need.Texts/part })
		return n
	}
	surplus := max(0, len(s.Snapshots.Retained.Entries)+1-MostPrevious) // would be dropped after the swap anyway
	if needed(s.Snapshots.Retained.Entries[:surplus], 1) <= available {
		for range surplus {
			s.Snapshots.Retained.DropOldest(s.Log, dropForNumber)
		}
		if needed(nil, 1) <= available { // no request reads a dropped one
			return true, nil
		}
	}
	droppable := int64(0)
	if now != nil {
		now.beside([]*Bound{next}, func(l *BoundList) { droppable += l.Need.caches() })
	}
	if least := needed(s.Snapshots.Retained.Entries, coldPart) - droppable; least > available {
		return refuse(least)
	}
	for len(s.Snapshots.Retained.Entries) > 0 && needed(nil, coldPart) > available {
		s.Snapshots.Retained.DropOldest(s.Log, DropForMemory)
	}
	switch n := needed(nil, coldPart); {
	case n <= available:
	case n-droppable > available: // requests still read a dropped snapshot
		return refuse(n - droppable)
	default:
		now.beside([]*Bound{next}, func(l *BoundList) { l.setCaches(0, 0) })
	}
	s.Log.Info("no warm-up: there is not enough memory for it; the first requests will be slower",
		"snapshot", next.Snap.Manifest.ID)
	return false, nil
}

// coldPart is the part of its texts with which a snapshot counts that is not warmed up: one of so
// many.
const coldPart = 8

// dropUnfit drops retained snapshots, the oldest first, until the others fit beside the current
// one. The caller holds the lock of s.Snapshots.Retained.
func (s *State) dropUnfit(current *Served) {
	for s.Shares.IsLimited() && len(s.Snapshots.Retained.Entries) > 0 {
		bounds := []*Bound{current.Bound}
		for _, v := range s.Snapshots.Retained.Entries {
			bounds = append(bounds, v.Bound)
		}
		if NeedOf(bounds) <= s.Shares.Snapshots {
			return
		}
		s.Snapshots.Retained.DropOldest(s.Log, DropForMemory)
	}
}

// Metrics of the memory limit.
var (
	LimitDesc = metrics.NewDesc("hdqs_memory_limit_bytes",
		"Memory that the process may use; absent without a limit.")
	SwapsRefusedDesc = metrics.NewDesc("hdqs_swaps_refused_total",
		"Snapshots that were not served, since they lacked what the reason names.", "reason")
	DroppedDesc = metrics.NewDesc("hdqs_snapshots_dropped_total",
		"Replaced snapshots that answer no longer, because of their age, their number, or memory.", "reason")
)

// CollectMemory collects the limit and what had to go because of it.
func (s *State) CollectMemory(to chan<- prometheus.Metric) {
	if s.Shares.IsLimited() {
		to <- metrics.Gauge(LimitDesc, float64(s.Shares.limit))
	}
	to <- metrics.Counter(SwapsRefusedDesc, s.refused.Load(), dropReasons[DropForMemory])
	for i, reason := range dropReasons {
		to <- metrics.Counter(DroppedDesc, s.Snapshots.Retained.Dropped[i].Load(), reason)
	}
}

// MemoryUse is what the open snapshots need, of what all snapshots may use.
type MemoryUse struct {
	Needed, Snapshots int64
	Limit             int64 // of the process; all are 0 without one
}

// Memory returns what snapshots need.
func (s *State) Memory() MemoryUse {
	if !s.Shares.IsLimited() {
		return MemoryUse{}
	}
	return MemoryUse{NeedOf(s.Snapshots.open.bounds(nil)), s.Shares.Snapshots, s.Shares.limit}
}

// noteChanges adds changes to those that the server knows, the newest first. A snapshot that is
// published without a history is compared with the one that it replaces.
func (s *State) noteChanges(r *Release, earlier *Served) {
	all := slices.Clone(r.Changes)
	if before := earlier; len(all) == 0 && before != nil && before.Id != r.Snapshot.Manifest.ID {
		old := Published{before.Published(), before.Bound.Snap.Manifest}
		all = append(all, NewChange(old, Published{r.PublishedAt, r.Snapshot.Manifest}))
	}
	if known := s.History.Load(); known != nil {
		for _, c := range *known {
			if !slices.ContainsFunc(all, func(o *Change) bool { return o.ID == c.ID }) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Change) int { return b.At.Compare(a.At) })
	all = all[:min(len(all), mostChanges)]
	s.History.Store(&all)
}
