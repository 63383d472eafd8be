package api

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hdqs/snapshot"
)

// keepPrevious is how long a replaced snapshot answers requests that name it, when Options do not say.
const keepPrevious = 15 * time.Minute

// maxPrevious bounds how many replaced snapshots are held at once, since each has indexes of its own.
const maxPrevious = 2

// Release is a snapshot as its channel shows it.
type Release struct {
	Snapshot *snapshot.Snapshot

	// PublishedAt is when the channel came to show it, which is later than when it was built, after a rollback too. Zero when not known.
	PublishedAt time.Time
}

// served is a bound snapshot in use. One reference belongs to the server while it is the current one or held, one to each request that reads it.
type served struct {
	id        string
	bound     *Bound
	landing   landingData
	date      string    // of the snapshot
	published time.Time // in whole seconds; zero when not known
	heads     listHeads
	pinned    listHeads // for requests that name the snapshot: their answers never change
	refs      atomic.Int64
}

// Swap serves another snapshot. On an error the old one stays, and the new one is the caller's to close; otherwise the server closes each snapshot
// when nobody reads it any more. The one that was served goes on answering requests that name it for Options.KeepPrevious.
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
	if old := s.current.Swap(next); old != nil {
		s.held.keep(old, orTime(s.options.KeepPrevious, keepPrevious), s.log)
	}
	return nil
}

func (s *Server) newServed(b *Bound, published time.Time) *served {
	manifest := b.snap.Manifest
	v := &served{id: manifest.ID, bound: b, landing: newLanding(b), date: manifest.SnapshotTime.UTC().Format(time.DateOnly)}
	if !published.IsZero() {
		// A clock elsewhere may be ahead, but nothing can have been modified after it is sent.
		if now := time.Now(); published.After(now) {
			published = now
		}
		v.published = published.UTC().Truncate(time.Second)
	}
	f := &s.options.Freshness
	v.heads = newListHeads(f.field(), f.CDN, v.id, v.published)
	v.pinned = newListHeads(immutableKept, "", v.id, v.published)
	v.refs.Store(1)
	return v
}

// acquire takes a reference to the current snapshot, nil when there is none yet. The caller releases it.
func (s *Server) acquire() *served {
	for {
		v := s.current.Load()
		if v == nil || v.hold() {
			return v
		}
		// The last reference went between the two steps, so another snapshot is current.
	}
}

// acquirePinned is acquire for the snapshot of an id, current or held, nil when it is neither.
func (s *Server) acquirePinned(id string) *served {
	v := s.acquire()
	if v == nil || v.id == id {
		return v
	}
	v.release(s.log)
	return s.held.acquire(id)
}

// currentID is the served snapshot's, empty when there is none.
func (s *Server) currentID() string {
	if v := s.current.Load(); v != nil {
		return v.id
	}
	return ""
}

// hold takes a reference unless none is left.
func (v *served) hold() bool {
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

// held are the replaced snapshots that still answer, the oldest first. Each entry has the reference that was the server's.
type held struct {
	sync.Mutex
	entries []*served
	closed  bool
}

// keep takes over a reference for some time.
func (h *held) keep(v *served, period time.Duration, log *slog.Logger) {
	h.Lock()
	defer h.Unlock()
	if period <= 0 || h.closed {
		v.release(log)
		return
	}
	h.entries = append(h.entries, v)
	if len(h.entries) > maxPrevious {
		h.entries[0].release(log)
		h.entries = append(h.entries[:0], h.entries[1:]...)
	}
	time.AfterFunc(period, func() { h.drop(v, log) })
}

// drop releases a snapshot unless that has happened.
func (h *held) drop(v *served, log *slog.Logger) {
	h.Lock()
	defer h.Unlock()
	for i, entry := range h.entries {
		if entry == v {
			h.entries = append(h.entries[:i], h.entries[i+1:]...)
			v.release(log)
			return
		}
	}
}

// acquire takes a reference to the latest held snapshot of an id.
func (h *held) acquire(id string) *served {
	h.Lock()
	defer h.Unlock()
	for i := len(h.entries) - 1; i >= 0; i-- {
		if v := h.entries[i]; v.id == id && v.hold() {
			return v
		}
	}
	return nil
}

// count is how many there are.
func (h *held) count() int {
	h.Lock()
	defer h.Unlock()
	return len(h.entries)
}

// close releases all, and whatever may still come.
func (h *held) close(log *slog.Logger) {
	h.Lock()
	defer h.Unlock()
	for _, v := range h.entries {
		v.release(log)
	}
	h.entries, h.closed = nil, true
}
