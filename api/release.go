package api

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"hdqs/api/contract"
	"hdqs/snapshot/store"
)

// keepPrevious is the default of Options.KeepPrevious.
const keepPrevious = 15 * time.Minute

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

// served is a bound snapshot in use. The server has one reference while the snapshot is current or
// retained. Each request that reads it has another.
type served struct {
	id          string
	idField     []byte // id as the value of a header field
	bound       *Bound
	landings    map[*mount]*landingData
	docs        map[*mount]func() *pageContent
	examples    sync.Map               // of endpoints' pages, by *contract.Plan
	places      sync.Map               // countries of endpoints' records, by path
	equal       sync.Map               // *equalRows, by path and version of another table
	date        string                 // of the snapshot
	warmUp      atomic.Pointer[WarmUp] // nil before its end
	publication atomic.Pointer[publication]
	publishedAt atomic.Pointer[time.Time] // also when answers do not have it yet
	live        time.Duration             // from publication, or from the start of the process, to Swap
	refs        atomic.Int64
	open        *openSnapshots // that it is one of
}

// publication is the publish time of a snapshot, with the heads that contain it.
type publication struct {
	at    time.Time     // in whole seconds; zero when not known
	heads []*tableHeads // by position in contract.Endpoints
}

// tableHeads is the heads of the lists of one table.
type tableHeads struct {
	latest listHeads
	pinned listHeads // for requests that name the snapshot: their answers never change
}

// Swap serves another snapshot, after it has answered a few requests from it (warm.go). On an error
// the old one stays current, and the caller must close the new one. Otherwise the server closes
// each snapshot when nobody reads it any more. The replaced snapshot answers requests that name it
// for Options.KeepPrevious, if there is memory for it. The error is a MemoryError if there is not
// even memory for the new one.
func (s *Server) Swap(r Release) error {
	s.cutWarmUp.Store(false)
	var earlier *Bound
	now := s.acquire()
	if now != nil {
		defer now.release(s.log)
		earlier = now.bound
	}
	bound, err := bindAfter(r.Snapshot, earlier, s.options.Compression)
	if err != nil {
		return err
	}
	if err := s.swapTo(bound, earlier, r); err != nil {
		return err
	}
	s.noteChanges(&r, now)
	return nil
}

// swapTo is Swap for a snapshot that is bound. Earlier is the served one, nil if there is none.
func (s *Server) swapTo(bound, earlier *Bound, r Release) error {
	canWarm, err := s.makeRoom(bound, earlier)
	if err != nil {
		return err
	}
	if earlier == nil && r.Answering != nil {
		return s.serveFirst(bound, canWarm, r)
	}
	next := s.newServed(bound, r.PublishedAt)
	if canWarm {
		if err := s.warm(next, earlier); err != nil {
			s.open.remove(next)
			return err
		}
	}
	s.publish(next, r)
	return nil
}

// serveFirst serves a snapshot while it is warmed up. It acquires a handle of its own: if the
// warm-up fails, the caller closes the one in the Release, while requests may still read the
// snapshot.
func (s *Server) serveFirst(bound *Bound, canWarm bool, r Release) error {
	bound.snap = r.Snapshot.Acquire()
	next := s.newServed(bound, r.PublishedAt)
	next.refs.Add(1) // of the warm-up
	defer next.release(s.log)
	s.noteChanges(&r, nil)
	s.publish(next, r)
	r.Answering()
	if canWarm {
		if err := s.warm(next, nil); err != nil {
			s.withdraw(next)
			return err
		}
	}
	return r.Snapshot.Close()
}

// withdraw ends the serving of the first snapshot, whose warm-up has failed. Answers that were made
// from it may be wrong: they are removed from the body cache, and those that are being made are
// refused.
func (s *Server) withdraw(v *served) {
	for _, l := range v.bound.lists {
		if l.segment != nil {
			l.segment.MarkSuspect()
		}
	}
	s.bodies.empty()
	if s.current.CompareAndSwap(v, nil) {
		v.release(s.log)
	}
}

// publish makes a snapshot the current one.
func (s *Server) publish(next *served, r Release) {
	bound := next.bound
	if next.live = time.Since(processStart); !r.PublishedAt.IsZero() {
		next.live = max(0, min(next.live, time.Since(r.PublishedAt)))
	}
	s.retained.Lock() // so that acquirePinned finds the old one, either as current or as retained
	defer s.retained.Unlock()
	old := s.current.Swap(next)
	s.retained.drop(s.log, notCounted, func(v *served) bool { return v.id == next.id })
	if old != nil {
		old.bound.forget(bound) // those who name it are few, and memory may be scarce
		s.retained.keep(old, cmp.Or(s.options.KeepPrevious, keepPrevious), s.log)
		s.dropUnfit(next)
	}
}

func (s *Server) newServed(b *Bound, published time.Time) *served {
	manifest := b.snap.Manifest
	date := manifest.SnapshotTime.UTC().Format(time.DateOnly)
	v := &served{
		id: manifest.ID, idField: []byte(manifest.ID), bound: b, date: date, open: &s.open,
		landings: make(map[*mount]*landingData, len(s.mounts)),
		docs:     make(map[*mount]func() *pageContent, len(s.mounts)),
	}
	for _, m := range s.mounts {
		landing := newLanding(m, b)
		v.landings[m], v.docs[m] = &landing, newDocs(m, b)
	}
	v.refs.Store(1)
	s.open.add(v)
	s.announce(v, published)
	return v
}

// Announce sets when the channel was moved to the served snapshot, if that is not the time of its
// Release: the channel may meanwhile have pointed to snapshots that this server never served.
func (s *Server) Announce(published time.Time) {
	if v := s.acquire(); v != nil {
		s.announce(v, published)
		v.release(s.log)
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
func (s *Server) announce(v *served, published time.Time) {
	v.publishedAt.Store(&published)
	manifest := v.bound.snap.Manifest // the timer below may fire after v.bound was freed
	ahead := time.Until(published.Truncate(time.Second).Add(dateLag))
	if ahead <= 0 {
		v.publication.Store(s.newPublication(manifest, published))
		return
	}
	none := s.newPublication(manifest, time.Time{})
	v.publication.Store(none)
	if ahead < maxClockSkew {
		time.AfterFunc(ahead, func() { v.publication.CompareAndSwap(none, s.newPublication(manifest, published)) })
	}
}

// published returns when the channel was moved to the snapshot, zero if that is unknown.
func (v *served) published() time.Time {
	if at := v.publishedAt.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// headsFor returns the heads of the answer to a request for a list.
func (p *publication) headsFor(l *boundList, r *contract.Request) *listHeads {
	if r.Snapshot != "" {
		return &p.heads[l.position].pinned
	}
	return &p.heads[l.position].latest
}

// newPublication makes the heads of all lists. Those whose sources have the same fields share them.
func (s *Server) newPublication(m *store.Manifest, published time.Time) *publication {
	p := &publication{
		at:    published.UTC().Truncate(time.Second), // the zero time stays zero
		heads: make([]*tableHeads, len(contract.Endpoints)),
	}
	vary := "Accept-Encoding"
	if s.options.Dictionaries {
		vary = dictionaryVary
	}
	f, made := &s.options.Freshness, map[sourceFields]*tableHeads{}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		source := m.Source(e.Table)
		fields := fieldsOf(&source)
		if made[fields] == nil {
			made[fields] = &tableHeads{
				newListHeads(f.field(), vary, f.CDN, m.ID, p.at, fields),
				newListHeads(immutableKept, "Accept-Encoding", "", m.ID, p.at, fields),
			}
		}
		p.heads[i] = made[fields]
	}
	return p
}

// acquire takes a reference to the current snapshot, which the caller releases. It is nil if there
// is none yet.
func (s *Server) acquire() *served {
	for {
		v := s.current.Load()
		if v == nil || v.acquire() {
			return v
		}
		// The last reference was released between the two steps, so another snapshot is current.
	}
}

// acquirePinned is like acquire for the snapshot with an id, current or retained.
func (s *Server) acquirePinned(id string) *served {
	if v := s.current.Load(); v == nil || v.id == id && v.acquire() {
		return v
	}
	s.retained.Lock() // the current snapshot cannot change now
	defer s.retained.Unlock()
	if v := s.current.Load(); v != nil && v.id == id && v.acquire() {
		return v
	}
	return s.retained.acquire(id)
}

// Snapshot returns a handle on the served snapshot, which the caller closes; nil if there is none.
func (s *Server) Snapshot() *store.Snapshot {
	v := s.acquire()
	if v == nil {
		return nil
	}
	defer v.release(s.log)
	return v.bound.snap.Acquire()
}

// currentID returns the id of the served snapshot, empty without one.
func (s *Server) currentID() string {
	if v := s.current.Load(); v != nil {
		return v.id
	}
	return ""
}

// acquire takes a reference. It reports false if the last one was released.
func (v *served) acquire() bool {
	for {
		n := v.refs.Load()
		if n == 0 {
			return false
		}
		if v.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (v *served) release(log *slog.Logger) {
	if v.refs.Add(-1) > 0 {
		return
	}
	v.open.remove(v)
	if err := v.bound.snap.Close(); err != nil {
		log.Error("closing a replaced snapshot failed", "snapshot", v.id, "error", err)
	}
	v.bound = nil // its memory is free now, although the timer of announce may still refer to v
}

// retained is the replaced snapshots that still answer, oldest first. Each entry owns the reference
// that the server had.
type retained struct {
	sync.Mutex
	entries []*served
	closed  bool
	dropped [countedDrops]atomic.Int64
}

// dropReason says why a snapshot is retained no longer.
type dropReason int

const (
	dropForAge dropReason = iota
	dropForNumber
	dropForMemory
	countedDrops
	notCounted // it is current again, or the server ends
)

// dropReasons are the names of the reasons that are counted.
var dropReasons = [countedDrops]string{"age", "number", "memory"}

// keep retains a snapshot for some time, taking over the caller's reference. The caller holds the
// lock.
func (r *retained) keep(v *served, period time.Duration, log *slog.Logger) {
	if period <= 0 || r.closed {
		v.release(log)
		return
	}
	r.entries = append(r.entries, v)
	if len(r.entries) > MostPrevious {
		r.dropOldest(log, dropForNumber)
	}
	kept := weak.Make(v) // it may be dropped long before, and then its memory is free
	time.AfterFunc(period, func() {
		r.Lock()
		defer r.Unlock()
		r.drop(log, dropForAge, func(entry *served) bool { return entry == kept.Value() })
	})
}

// dropOldest releases the oldest snapshot. The caller holds the lock.
func (r *retained) dropOldest(log *slog.Logger, why dropReason) {
	oldest := r.entries[0]
	r.drop(log, why, func(entry *served) bool { return entry == oldest })
}

// drop releases the snapshots that match. The caller holds the lock.
func (r *retained) drop(log *slog.Logger, why dropReason, match func(*served) bool) {
	r.entries = slices.DeleteFunc(r.entries, func(v *served) bool {
		if !match(v) {
			return false
		}
		if why < countedDrops {
			r.dropped[why].Add(1)
			log.Info("a replaced snapshot is not kept any longer", "snapshot", v.id, "reason", dropReasons[why])
		}
		v.release(log)
		return true
	})
}

// acquire takes a reference to the retained snapshot with an id. The caller holds the lock.
func (r *retained) acquire(id string) *served {
	for _, v := range r.entries {
		if v.id == id && v.acquire() {
			return v
		}
	}
	return nil
}

// count returns the number of retained snapshots.
func (r *retained) count() int {
	r.Lock()
	defer r.Unlock()
	return len(r.entries)
}

// close releases all retained snapshots. Later ones are released at once.
func (r *retained) close(log *slog.Logger) {
	r.Lock()
	defer r.Unlock()
	r.drop(log, notCounted, func(*served) bool { return true })
	r.closed = true
}
