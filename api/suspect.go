package api

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"hdqs/api/contract"
	"hdqs/index"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// A segment is a mapped file, and its bytes may change or go away while it is served: another
// program writes to the file or truncates it, or the disk fails. That is noticed by a memory fault
// in a request, by WatchFiles, by Scrub, and by a posting that is malformed. The segment is then
// marked as suspect: its lists are refused with 503, also those that were rendered or compressed
// before, until Heal has replaced it. An answer that was being rendered is refused too, or cut
// short if it has begun.

// suspects counts what was found.
type suspects struct {
	found [len(damages)]atomic.Int64
	wake  chan struct{} // has an element when a table was refused
	scrub scrubCounts

	checking atomic.Bool // a check after a panic runs, or has done so not long ago
}

// damage is a way in which a segment was found damaged.
type damage int

const (
	byFault    damage = iota // bytes could not be read
	byChecksum               // bytes have another checksum, or a posting is malformed
	byWrite                  // the file was written to
)

// damages are the label values in metrics.
var damages = [...]string{byFault: "fault", byChecksum: "checksum", byWrite: "write"}

// Refused is the error of a request for a table whose segment is suspect.
type Refused struct{ Table string }

func (e *Refused) Error() string { return "api: table " + e.Table + " is being checked for damage" }

// mapped is a segment of a served snapshot.
type mapped struct {
	*snapshot.Segment
	version string // of the table's content
}

// mapped returns the segments of the current and the retained snapshots, each once. The caller
// closes them.
func (s *Server) mapped() []mapped {
	var snapshots []*served
	if v := s.acquire(); v != nil {
		snapshots = append(snapshots, v)
	}
	s.retained.Lock()
	for _, v := range s.retained.entries {
		if v.acquire() {
			snapshots = append(snapshots, v)
		}
	}
	s.retained.Unlock()
	var all []mapped
	for _, v := range snapshots {
		for _, ref := range v.bound.snap.Manifest.Tables {
			segment := v.bound.snap.Segments[ref.Table]
			same := func(m mapped) bool { return m.Segment == segment }
			if segment != nil && !slices.ContainsFunc(all, same) {
				all = append(all, mapped{segment.Acquire(), ref.SHA256})
			}
		}
		v.release(s.log)
	}
	return all
}

// endList ends a request for a list. If that met a memory fault in the list's segment, err becomes
// the refusal of the list. Other panics go on.
func (s *Server) endList(v *served, l *boundList, err *error) {
	fault := recover()
	if fault == nil {
		v.release(s.log) // not deferred, which takes 20 ns
		return
	}
	defer v.release(s.log)
	if !s.wasFault(l, fault) {
		s.checkAfterPanic(l)
		panic(fault)
	}
	*err = &Refused{Table: l.segment.Name()}
}

// panicPause is the least time between two checks after panics.
const panicPause = 10 * time.Second

// checkAfterPanic checks the segment of a list in the background, since changed bytes, such as a
// code that is in no dictionary, are a likely reason of a panic. The caller has a reference to the
// snapshot.
func (s *Server) checkAfterPanic(l *boundList) {
	if l == nil || l.segment == nil || !s.suspects.checking.CompareAndSwap(false, true) {
		return
	}
	m := mapped{l.segment.Acquire(), l.version}
	go func() {
		s.scrub(context.Background(), m, func(int) time.Duration { return 0 })
		_ = m.Close() // of a mapping
		time.AfterFunc(panicPause, func() { s.suspects.checking.Store(false) })
	}()
}

// wasFault reports whether a panic was a memory fault in the segment of a list, and marks that.
func (s *Server) wasFault(l *boundList, recovered any) bool {
	address, ok := snapshot.FaultAddress(recovered)
	if !ok || l == nil || l.segment == nil || !l.segment.Contains(address) {
		return false
	}
	s.suspect(l.version, l.segment, byFault, snapshot.ErrFault)
	return true
}

// suspect marks a segment. The body cache is emptied: its bodies may have been made of damaged
// rows, and do not record their table.
func (s *Server) suspect(version string, segment *snapshot.Segment, by damage, what error) {
	s.suspects.found[by].Add(1)
	if !segment.MarkSuspect() {
		return
	}
	s.bodies.empty()
	message := "a table is refused, since its segment may be damaged; its file will be checked and opened again"
	if !s.isCurrent(segment) {
		message = "a table of a replaced snapshot is refused, since its segment may be damaged; " +
			"requests that name the snapshot are told to begin again"
	}
	s.log.Error(message, "table", segment.Name(), "segment", version, "found", what, "edge_key", versionKey(version))
	select {
	case s.suspects.wake <- struct{}{}:
	default:
	}
}

// isCurrent reports whether the served snapshot has a segment.
func (s *Server) isCurrent(segment *snapshot.Segment) bool {
	v := s.acquire()
	if v == nil {
		return false
	}
	defer v.release(s.log)
	return v.bound.snap.Segments[segment.Name()] == segment
}

// Suspected has an element when a table was refused since it was last received from.
func (s *Server) Suspected() <-chan struct{} { return s.suspects.wake }

// isSuspect reports whether the list must be refused.
func (l *boundList) isSuspect() bool { return l.segment != nil && l.segment.IsSuspect() }

// refusal is the error of a list that is refused. A retained snapshot is not healed, so its
// requests are told to begin again.
func (s *Server) refusal(a *reply) error {
	if current := s.currentID(); a.request.Snapshot != "" && a.served.id != current {
		return &Gone{Current: current}
	}
	return &Refused{Table: a.endpoint.Table}
}

// failed returns the error to answer with after a query failed. A malformed posting is damage.
func (s *Server) failed(a *reply, err error) error {
	if isInvalid(err) || isRefusal(err) {
		return err
	}
	if !errors.Is(err, index.ErrPosting) {
		s.logFault(a.endpoint.Path, err)
		return err
	}
	s.suspect(a.list.version, a.list.segment, byChecksum, err)
	return s.refusal(a)
}

// refusedTables returns the tables of a snapshot that are refused.
func (b *Bound) refusedTables() []string {
	var tables []string
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		if b.lists[e.Path].isSuspect() && !slices.Contains(tables, e.Table) {
			tables = append(tables, e.Table)
		}
	}
	return tables
}

// Refused returns the tables of the served snapshot that are refused.
func (s *Server) Refused() []string {
	v := s.acquire()
	if v == nil {
		return nil
	}
	defer v.release(s.log)
	return v.bound.refusedTables()
}

// Heal replaces the suspect segments of the current snapshot. reopen gets the snapshot and returns
// it with new segments where it could open them (store.Store.Reopen); its error is about the
// others. Heal returns the tables that are served again and those that are still refused.
func (s *Server) Heal(
	reopen func(*store.Snapshot) (*store.Snapshot, error),
) (healed, refused []string, err error) {
	v := s.acquire()
	if v == nil {
		return nil, nil, nil
	}
	defer v.release(s.log)
	before := v.bound.refusedTables()
	if len(before) == 0 {
		return nil, nil, nil
	}
	snap, err := reopen(v.bound.snap)
	if snap == nil {
		return nil, before, err
	}
	bound, bindErr := bindAfter(snap, v.bound, s.options.Compression)
	if bindErr != nil {
		return nil, before, errors.Join(err, bindErr, snap.Close())
	}
	refused = bound.refusedTables()
	if len(refused) == len(before) {
		return nil, refused, errors.Join(err, snap.Close())
	}
	if s.memory.isLimited() { // without asking for room: what the suspect segments need is soon free
		if divideErr := s.memory.divide(bound, s.open.bounds(nil)); divideErr != nil {
			return nil, before, errors.Join(err, divideErr, snap.Close())
		}
	}
	next := s.newServed(bound, v.published())
	next.live = v.live
	if !s.memory.isLimited() { // otherwise there may be no room beside what the suspect segments have made
		if warmErr := s.warm(next, v.bound); warmErr != nil {
			next.release(s.log)
			return nil, before, errors.Join(err, warmErr)
		}
	}
	if !s.replace(v, next) {
		next.release(s.log) // meanwhile another snapshot was swapped in
		return nil, nil, err
	}
	healed = slices.DeleteFunc(before, func(table string) bool { return slices.Contains(refused, table) })
	return healed, refused, err
}

// replace serves the same snapshot with other segments, unless another one is current.
func (s *Server) replace(old, next *served) bool {
	s.retained.Lock()
	defer s.retained.Unlock()
	if !s.current.CompareAndSwap(old, next) {
		return false
	}
	old.release(s.log)
	return true
}
