package api

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hdqs/api/contract"
	"hdqs/snapshot/store"
)

// keepPrevious is how long a replaced snapshot answers requests that name it, when Options do not
// say.
const keepPrevious = 15 * time.Minute

// MostPrevious bounds how many replaced snapshots are held at once, since each has indexes of its
// own.
const MostPrevious = 2

// Release is a snapshot as its channel shows it.
type Release struct {
	Snapshot *store.Snapshot

	// PublishedAt is when the channel came to show it, which is later than when it was built, after
	// a rollback too. Zero when not known.
	PublishedAt time.Time
}

// served is a bound snapshot in use. One reference belongs to the server while it is the current
// one or held, one to each request that reads it.
type served struct {
	id          string
	bound       *Bound
	landing     landingData
	date        string // of the snapshot
	publication atomic.Pointer[publication]
	refs        atomic.Int64
}

// publication is what answers say of a snapshot's publication.
type publication struct {
	at     time.Time // in whole seconds; zero when not known
	heads  listHeads
	pinned listHeads // for requests that name the snapshot: their answers never change
}

// Swap serves another snapshot. On an error the old one stays, and the new one is the caller's to
// close; otherwise the server closes each snapshot when nobody reads it any more. The one that was
// served goes on answering requests that name it for Options.KeepPrevious.
func (s *Server) Swap(r Release) error {
	var earlier *Bound
	if now := s.acquire(); now != nil {
		defer now.release(s.log)
		earlier = now.bound
	}
	bound, err := bindAfter(r.Snapshot, earlier, s.options.Compression)
	if err != nil {
		return err
	}
	next := s.newServed(bound, r.PublishedAt)
	s.retained.Lock() // acquirePinned must not find the old one in neither place
	defer s.retained.Unlock()
	old := s.current.Swap(next)
	s.retained.drop(s.log, func(v *served) bool { return v.id == next.id })
	if old != nil {
		s.retained.keep(old, cmp.Or(s.options.KeepPrevious, keepPrevious), s.log)
	}
	return nil
}

func (s *Server) newServed(b *Bound, published time.Time) *served {
	manifest := b.snap.Manifest
	v := &served{id: manifest.ID, bound: b, landing: newLanding(b), date: manifest.SnapshotTime.UTC().Format(time.DateOnly)}
	v.refs.Store(1)
	s.announce(v, published)
	return v
}

// Announce says when the channel came to show the snapshot that is served, if that is another time
// than its Release had: it was shown anew, and others may have been in between that nobody here has
// seen.
func (s *Server) Announce(published time.Time) {
	if v := s.acquire(); v != nil {
		s.announce(v, published)
		v.release(s.log)
	}
}

// furthestAhead is how far a publisher's clock may be ahead of ours for its time to be told when
// ours has come that far.
const furthestAhead = time.Hour

// dateLag is how much Date may be behind the clock: the HTTP library moves it once a second, in a
// goroutine of its own.
const dateLag = 2 * time.Second

// announce tells a time of publication. Nothing can have been modified after the Date of its answer
// (RFC 9110, section 8.8.2.1), and an earlier time than the channel's may be the one that another
// snapshot was published at. So until Date is surely not before the time, none is told.
func (s *Server) announce(v *served, published time.Time) {
	ahead := time.Until(published.Truncate(time.Second).Add(dateLag))
	if ahead <= 0 {
		v.publication.Store(s.newPublication(v.id, published))
		return
	}
	none := s.newPublication(v.id, time.Time{})
	v.publication.Store(none)
	if ahead < furthestAhead {
		time.AfterFunc(ahead, func() { v.publication.CompareAndSwap(none, s.newPublication(v.id, published)) })
	}
}

// headsFor are the headers for a request.
func (p *publication) headsFor(r *contract.Request) *listHeads {
	if r.Snapshot != "" {
		return &p.pinned
	}
	return &p.heads
}

func (s *Server) newPublication(id string, published time.Time) *publication {
	t := published.UTC().Truncate(time.Second) // the zero time stays what it is
	f := &s.options.Freshness
	return &publication{t, newListHeads(f.field(), f.CDN, id, t), newListHeads(immutableKept, "", id, t)}
}

// acquire takes a reference to the current snapshot, nil when there is none yet. The caller
// releases it.
func (s *Server) acquire() *served {
	for {
		v := s.current.Load()
		if v == nil || v.acquire() {
			return v
		}
		// The last reference went between the two steps, so another snapshot is current.
	}
}

// acquirePinned is acquire for the snapshot of an id, current or held, nil when it is neither.
func (s *Server) acquirePinned(id string) *served {
	if v := s.current.Load(); v == nil || v.id == id && v.acquire() {
		return v
	}
	s.retained.Lock() // what is current stays so
	defer s.retained.Unlock()
	if v := s.current.Load(); v != nil && v.id == id && v.acquire() {
		return v
	}
	return s.retained.acquire(id)
}

// currentID is the served snapshot's, empty when there is none.
func (s *Server) currentID() string {
	if v := s.current.Load(); v != nil {
		return v.id
	}
	return ""
}

// acquire takes a reference unless none is left.
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
	if err := v.bound.snap.Close(); err != nil {
		log.Error("a replaced snapshot did not close", "snapshot", v.id, "error", err)
	}
}

// held are the replaced snapshots that still answer, the oldest first. Each entry has the reference
// that was the server's.
type retained struct {
	sync.Mutex
	entries []*served
	closed  bool
}

// keep takes over a reference for some time. The caller has locked.
func (r *retained) keep(v *served, period time.Duration, log *slog.Logger) {
	if period <= 0 || r.closed {
		v.release(log)
		return
	}
	r.entries = append(r.entries, v)
	if len(r.entries) > MostPrevious {
		oldest := r.entries[0]
		r.drop(log, func(entry *served) bool { return entry == oldest })
	}
	time.AfterFunc(period, func() {
		r.Lock()
		defer r.Unlock()
		r.drop(log, func(entry *served) bool { return entry == v })
	})
}

// drop releases the snapshots of which that is asked. The caller has locked.
func (r *retained) drop(log *slog.Logger, asked func(*served) bool) {
	r.entries = slices.DeleteFunc(r.entries, func(v *served) bool {
		if !asked(v) {
			return false
		}
		v.release(log)
		return true
	})
}

// acquire takes a reference to the held snapshot of an id. The caller has locked.
func (r *retained) acquire(id string) *served {
	for _, v := range r.entries {
		if v.id == id && v.acquire() {
			return v
		}
	}
	return nil
}

// count is how many there are.
func (r *retained) count() int {
	r.Lock()
	defer r.Unlock()
	return len(r.entries)
}

// close releases all, and whatever may still come.
func (r *retained) close(log *slog.Logger) {
	r.Lock()
	defer r.Unlock()
	r.drop(log, func(*served) bool { return true })
	r.closed = true
}
