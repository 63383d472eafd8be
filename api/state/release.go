package state

import (
	"cmp"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/snapshot/store"
)

// KeepPrevious is the default of Options.KeepPrevious.
const KeepPrevious = 15 * time.Minute

// MostPrevious is the maximum number of retained snapshots. Each has indexes of its own.
const MostPrevious = 2

// Release is a snapshot as published in a channel.
type Release struct {
	Snapshot *store.Snapshot

	// PublishedAt is when the channel was moved to it, which is later than when it was built, also
	// for a rollback. Zero if unknown.
	PublishedAt time.Time

	// Changes are what the snapshot and earlier ones of the channel changed. Without them the
	// snapshot is compared with the one that it replaces.
	Changes []*Change

	// Answering may be nil. If it is set and no snapshot is served yet, Swap serves this one at
	// once, calls Answering, and then warms the snapshot up. If that fails, the snapshot is
	// withdrawn, and none is served until the next Swap.
	Answering func()
}

// Hooks are what the state of the server calls of what stands on it.
type Hooks struct {
	Warm    func(next *Served, earlier *Bound) error // answers requests from a snapshot before it is served
	Emptied func()                                   // bodies that were made may be wrong
}

// Served is a bound snapshot in use. The server has one reference while the snapshot is current or
// retained. Each request that reads it has another.
type Served struct {
	Id          string
	idField     []byte // id as the value of a header field
	Bound       *Bound
	Kept        sync.Map               // what pages have made of the snapshot, by keys of types of their own
	Date        string                 // of the snapshot
	WarmUp      atomic.Pointer[WarmUp] // nil before its end
	Publication atomic.Pointer[publication]
	publishedAt atomic.Pointer[time.Time] // also when answers do not have it yet
	Live        time.Duration             // from publication, or from the start of the process, to Swap
	Refs        atomic.Int64
	withdrawn   atomic.Bool
	open        *OpenSnapshots // that it is one of
}

// publication is the publish time of a snapshot, with the heads that contain it.
type publication struct {
	At    time.Time     // in whole seconds; zero when not known
	heads []*tableHeads // by position in contract.Endpoints
}

// tableHeads is the heads of the lists of one table.
type tableHeads struct {
	latest ListHeads
	pinned ListHeads // for requests that name the snapshot: their answers never change
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
	bound, err := bindAfter(r.Snapshot, earlier, s.Options.Compression)
	if err != nil {
		return err
	}
	if err := s.SwapTo(bound, earlier, r); err != nil {
		return err
	}
	s.noteChanges(&r, now)
	return nil
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
	s.noteChanges(&r, nil)
	s.publish(next, r)
	r.Answering()
	if canWarm {
		if err := s.Hooks.Warm(next, nil); err != nil {
			s.withdraw(next)
			return err
		}
	}
	return r.Snapshot.Close()
}

// withdraw ends the serving of the first snapshot, whose warm-up has failed. Answers that were made
// from it may be wrong: they are removed from the body cache, and those that are being made are
// refused.
func (s *State) withdraw(v *Served) {
	v.Withdraw()
	s.Hooks.Emptied()
	if s.Snapshots.Current.CompareAndSwap(v, nil) {
		v.Release(s.Log)
	}
}

// Withdraw refuses what is read of the snapshot from now on.
func (v *Served) Withdraw() { v.withdrawn.Store(true) }

// Withdrawn returns an error if the snapshot was withdrawn: what was made from it may be wrong.
func (v *Served) Withdrawn() error {
	if v.withdrawn.Load() {
		return reply.ErrNoSnapshot
	}
	return nil
}

// EndList ends the reading of a list for a request, and gives the snapshot back. An answer from a
// snapshot that was withdrawn meanwhile is refused.
func (s *State) EndList(v *Served, err *error) {
	*err = cmp.Or(*err, v.Withdrawn())
	v.Release(s.Log)
}

// publish makes a snapshot the current one.
func (s *State) publish(next *Served, r Release) {
	bound := next.Bound
	if next.Live = time.Since(ProcessStart); !r.PublishedAt.IsZero() {
		next.Live = max(0, min(next.Live, time.Since(r.PublishedAt)))
	}
	s.Snapshots.Retained.Lock() // so that acquirePinned finds the old one, either as current or as retained
	defer s.Snapshots.Retained.Unlock()
	old := s.Snapshots.Current.Swap(next)
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

// Keep returns what is kept of the snapshot under a key, which make makes the first time.
func (v *Served) Keep(key any, make func() any) any {
	if known, ok := v.Kept.Load(key); ok {
		return known
	}
	known, _ := v.Kept.LoadOrStore(key, make())
	return known
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
	manifest := v.Bound.Snap.Manifest // the timer below may fire after v.bound was freed
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

// Published returns when the channel was moved to the snapshot, zero if that is unknown.
func (v *Served) Published() time.Time {
	if at := v.publishedAt.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// HeadsFor returns the heads of the answer to a request for a list.
func (p *publication) HeadsFor(l *BoundList, r *contract.Request) *ListHeads {
	if r.Scanned.Snapshot != "" {
		return &p.heads[l.position].pinned
	}
	return &p.heads[l.position].latest
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

// Acquire takes a reference. It reports false if the last one was released.
func (v *Served) Acquire() bool {
	for {
		n := v.Refs.Load()
		if n == 0 {
			return false
		}
		if v.Refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release gives a reference back. The last one closes the snapshot.
func (v *Served) Release(log *slog.Logger) {
	if v.Refs.Add(-1) > 0 {
		return
	}
	v.open.remove(v)
	if err := v.Bound.Snap.Close(); err != nil {
		log.Error("closing a replaced snapshot failed", "snapshot", v.Id, "error", err)
	}
	v.Bound = nil // its memory is free now, although the timer of announce may still refer to v
}

// ProcessStart is the origin of times. Reading only the monotonic clock takes half the time of
// time.Now.
var ProcessStart = time.Now()

// WarmUp is how many requests warmed up a snapshot, and how long that took.
type WarmUp struct {
	Requests int
	Took     time.Duration
}

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
