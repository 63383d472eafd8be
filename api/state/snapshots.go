package state

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/valyala/fasthttp"

	"hdqs/api/reply"
	"hdqs/snapshot/store"
)

// Snapshots are the snapshots of a server: the current one, retained ones, and others that a
// request still reads.
type Snapshots struct {
	Current  atomic.Pointer[Served]
	Retained Retained
	open     OpenSnapshots
	Log      *slog.Logger
}

// Acquire takes a reference to the current snapshot, which the caller releases. It is nil if there
// is none yet.
func (s *Snapshots) Acquire() *Served {
	for {
		v := s.Current.Load()
		if v == nil || v.Acquire() {
			return v
		}
		// The last reference was released between the two steps, so another snapshot is current.
	}
}

// AcquirePinned is like Acquire for the snapshot with an id, current or retained.
func (s *Snapshots) AcquirePinned(id string) *Served {
	return s.newest(func(v *Served) bool { return v.Id == id && v.Acquire() })
}

// newest is the newest snapshot, current or retained, of which something is so; nil if it is of
// none.
func (s *Snapshots) newest(is func(*Served) bool) *Served {
	if v := s.Current.Load(); v == nil || is(v) {
		return v
	}
	s.Retained.Lock() // the current snapshot cannot change now
	defer s.Retained.Unlock()
	if v := s.Current.Load(); v != nil && is(v) {
		return v
	}
	for _, v := range slices.Backward(s.Retained.Entries) {
		if is(v) {
			return v
		}
	}
	return nil
}

// AcquireFor is AcquirePinned for a request, which names a snapshot or else means the current one.
func (s *Snapshots) AcquireFor(id string) (*Served, error) {
	var v *Served
	if id == "" {
		v = s.Acquire()
	} else {
		v = s.AcquirePinned(id)
	}
	current := s.CurrentID()
	switch {
	case v != nil:
		return v, nil
	case id != "" && current != "":
		return nil, &reply.Gone{Current: current}
	}
	return nil, reply.ErrNoSnapshot
}

// AcquireIn is AcquireFor that notes in the request of which snapshot its answer is made: another
// can be the current one when the answer is sent.
func (s *Snapshots) AcquireIn(ctx *fasthttp.RequestCtx, id string) (*Served, error) {
	v, err := s.AcquireFor(id)
	if err == nil {
		ctx.SetUserValue(madeOf{}, v.idField)
	}
	return v, err
}

// AcquireVersion is AcquirePinned for the newest snapshot that has a version of a list's table; nil
// if there is none.
func (s *Snapshots) AcquireVersion(list, version string) *Served {
	return s.newest(func(v *Served) bool { return v.Bound.Lists[list].ShortVersion() == version && v.Acquire() })
}

// Holds reports whether the snapshot with an id is the current one or retained.
func (s *Snapshots) Holds(id string) bool {
	return s.newest(func(v *Served) bool { return v.Id == id }) != nil
}

// Snapshot returns a handle on the served snapshot, which the caller closes; nil if there is none.
func (s *Snapshots) Snapshot() *store.Snapshot {
	v := s.Acquire()
	if v == nil {
		return nil
	}
	defer v.Release(s.Log)
	return v.Bound.Snap.Acquire()
}

// CurrentID returns the id of the served snapshot, empty without one.
func (s *Snapshots) CurrentID() string {
	if v := s.Current.Load(); v != nil {
		return v.Id
	}
	return ""
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
	open        *OpenSnapshots // that it is one of
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

// Keep returns what is kept of the snapshot under a key, which make makes the first time.
func (v *Served) Keep(key any, make func() any) any {
	if known, ok := v.Kept.Load(key); ok {
		return known
	}
	known, _ := v.Kept.LoadOrStore(key, make())
	return known
}

// Published returns when the channel was moved to the snapshot, zero if that is unknown.
func (v *Served) Published() time.Time {
	if at := v.publishedAt.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// WarmUp is how many requests warmed up a snapshot, and how long that took.
type WarmUp struct {
	Requests int
	Took     time.Duration
}

// OpenSnapshots are the snapshots that are in memory: the current one, retained ones, and others
// that a request still reads.
type OpenSnapshots struct {
	mu  sync.Mutex
	all []*Served

	whole     int64             // of the memory limit, what segments and the Go runtime share
	heapLimit func(bytes int64) // sets the Go runtime's part; nil: it stays
}

func (o *OpenSnapshots) add(v *Served) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, v)
	o.limitHeap()
}

func (o *OpenSnapshots) remove(v *Served) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = slices.DeleteFunc(o.all, func(other *Served) bool { return other == v })
	o.limitHeap()
}

// bounds returns the tables of all open snapshots but some.
func (o *OpenSnapshots) bounds(except []*Served) []*Bound {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.except(except)
}

// except is bounds for a caller that holds the lock.
func (o *OpenSnapshots) except(some []*Served) (all []*Bound) {
	for _, v := range o.all {
		if !slices.Contains(some, v) {
			all = append(all, v.Bound)
		}
	}
	return all
}

// limitHeap sets the Go runtime's part: what segments leave. The caller holds the lock.
func (o *OpenSnapshots) limitHeap() {
	if o.heapLimit == nil {
		return
	}
	segments := sumOf(o.except(nil), func(n *need) int64 { return n.Segment })
	o.heapLimit(max(o.whole-segments, programBytes))
}

// MostPrevious is the maximum number of retained snapshots. Each has indexes of its own.
const MostPrevious = 2

// Retained is the replaced snapshots that still answer, oldest first. Each entry owns the reference
// that the server had.
type Retained struct {
	sync.Mutex
	Entries []*Served
	closed  bool
	Dropped [countedDrops]atomic.Int64
}

// dropReason says why a snapshot is retained no longer.
type dropReason int

// Reasons.
const (
	dropForAge dropReason = iota
	dropForNumber
	DropForMemory
	countedDrops
	notCounted // it is current again, or the server ends
)

// dropReasons are the names of the reasons that are counted.
var dropReasons = [countedDrops]string{"age", "number", "memory"}

// Keep retains a snapshot for some time, taking over the caller's reference. The caller holds the
// lock.
func (r *Retained) Keep(v *Served, period time.Duration, log *slog.Logger) {
	if period <= 0 || r.closed {
		v.Release(log)
		return
	}
	r.Entries = append(r.Entries, v)
	if len(r.Entries) > MostPrevious {
		r.DropOldest(log, dropForNumber)
	}
	kept := weak.Make(v) // it may be dropped long before, and then its memory is free
	time.AfterFunc(period, func() {
		r.Lock()
		defer r.Unlock()
		r.drop(log, dropForAge, func(entry *Served) bool { return entry == kept.Value() })
	})
}

// DropOldest releases the oldest snapshot. The caller holds the lock.
func (r *Retained) DropOldest(log *slog.Logger, why dropReason) {
	oldest := r.Entries[0]
	r.drop(log, why, func(entry *Served) bool { return entry == oldest })
}

// drop releases the snapshots that match. The caller holds the lock.
func (r *Retained) drop(log *slog.Logger, why dropReason, match func(*Served) bool) {
	r.Entries = slices.DeleteFunc(r.Entries, func(v *Served) bool {
		if !match(v) {
			return false
		}
		if why < countedDrops {
			r.Dropped[why].Add(1)
			log.Info("a replaced snapshot is not kept any longer", "snapshot", v.Id, "reason", dropReasons[why])
		}
		v.Release(log)
		return true
	})
}

// Count returns the number of retained snapshots.
func (r *Retained) Count() int {
	r.Lock()
	defer r.Unlock()
	return len(r.Entries)
}

// Close releases all retained snapshots. Later ones are released at once.
func (r *Retained) Close(log *slog.Logger) {
	r.Lock()
	defer r.Unlock()
	r.drop(log, notCounted, func(*Served) bool { return true })
	r.closed = true
}

// Ids lists the retained snapshots, the latest first.
func (r *Retained) Ids() []string {
	r.Lock()
	defer r.Unlock()
	var all []string
	for _, v := range slices.Backward(r.Entries) {
		all = append(all, v.Id)
	}
	return all
}
