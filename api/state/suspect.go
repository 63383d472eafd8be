package state

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/contract"
	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// A segment is a mapped file, and its bytes may change or go away while it is served: another
// program writes to the file or truncates it, or the disk fails. That is noticed by a memory fault
// in a request, by WatchFiles, by Scrub, and by a posting that is malformed. The segment is then
// marked as suspect: its lists are refused with 503, also those that were rendered or compressed
// before, until Heal has replaced it. An answer that was being rendered is refused too, or cut
// short if it has begun.

// Suspects counts what was found.
type Suspects struct {
	Found [len(damages)]atomic.Int64
	Wake  chan struct{} // has an element when a table was refused
	Scrub scrubCounts

	checking atomic.Bool // a check after a panic runs, or has done so not long ago
}

// Damage is a way in which a segment was found damaged.
type Damage int

const (
	ByFault    Damage = iota // bytes could not be read
	ByChecksum               // bytes have another checksum, or a posting is malformed
	ByWrite                  // the file was written to
)

// damages are the label values in metrics.
var damages = [...]string{ByFault: "fault", ByChecksum: "checksum", ByWrite: "write"}

// mapped is a segment of a served snapshot.
type mapped struct {
	*snapshot.Segment
	version string // of the table's content
}

// mapped returns the segments of the current and the retained snapshots, each once. The caller
// closes them.
func (s *State) mapped() []mapped {
	var snapshots []*Served
	if v := s.Acquire(); v != nil {
		snapshots = append(snapshots, v)
	}
	s.Retained.Lock()
	for _, v := range s.Retained.Entries {
		if v.Acquire() {
			snapshots = append(snapshots, v)
		}
	}
	s.Retained.Unlock()
	var all []mapped
	for _, v := range snapshots {
		for _, ref := range v.Bound.Snap.Manifest.Tables {
			segment := v.Bound.Snap.Segments[ref.Table]
			same := func(m mapped) bool { return m.Segment == segment }
			if segment != nil && !slices.ContainsFunc(all, same) {
				all = append(all, mapped{segment.Acquire(), ref.SHA256})
			}
		}
		v.Release(s.Log)
	}
	return all
}

// EndList ends a request for a list. If that met a memory fault in the list's segment, err becomes
// the refusal of the list. Other panics go on.
func (s *State) EndList(v *Served, l *BoundList, err *error) {
	fault := recover()
	if fault == nil {
		v.Release(s.Log) // not deferred, which takes 20 ns
		return
	}
	defer v.Release(s.Log)
	if !s.WasFault(l, fault) {
		s.CheckAfterPanic(l)
		panic(fault)
	}
	*err = &reply.Refused{Table: l.Segment.Name()}
}

// panicPause is the least time between two checks after panics.
const panicPause = 10 * time.Second

// CheckAfterPanic checks the segment of a list in the background, since changed bytes, such as a
// code that is in no dictionary, are a likely reason of a panic. The caller has a reference to the
// snapshot.
func (s *State) CheckAfterPanic(l *BoundList) {
	if l == nil || l.Segment == nil || !s.Suspects.checking.CompareAndSwap(false, true) {
		return
	}
	m := mapped{l.Segment.Acquire(), l.Version}
	go func() {
		s.scrub(context.Background(), m, func(int) time.Duration { return 0 })
		_ = m.Close() // of a mapping
		time.AfterFunc(panicPause, func() { s.Suspects.checking.Store(false) })
	}()
}

// WasFault reports whether a panic was a memory fault in the segment of a list, and marks that.
func (s *State) WasFault(l *BoundList, recovered any) bool {
	address, ok := snapshot.FaultAddress(recovered)
	if !ok || l == nil || l.Segment == nil || !l.Segment.Contains(address) {
		return false
	}
	s.Suspect(l.Version, l.Segment, ByFault, snapshot.ErrFault)
	return true
}

// Suspect marks a segment. The body cache is emptied: its bodies may have been made of damaged
// rows, and do not record their table.
func (s *State) Suspect(version string, segment *snapshot.Segment, by Damage, what error) {
	s.Suspects.Found[by].Add(1)
	if !segment.MarkSuspect() {
		return
	}
	s.Hooks.Emptied()
	message := "a table is refused, since its segment may be damaged; its file will be checked and opened again"
	if !s.isCurrent(segment) {
		message = "a table of a replaced snapshot is refused, since its segment may be damaged; " +
			"requests that name the snapshot are told to begin again"
	}
	s.Log.Error(message, "table", segment.Name(), "segment", version, "found", what, "edge_key",
		reply.VersionKey(version))
	select {
	case s.Suspects.Wake <- struct{}{}:
	default:
	}
}

// isCurrent reports whether the served snapshot has a segment.
func (s *State) isCurrent(segment *snapshot.Segment) bool {
	v := s.Acquire()
	if v == nil {
		return false
	}
	defer v.Release(s.Log)
	return v.Bound.Snap.Segments[segment.Name()] == segment
}

// Suspected has an element when a table was refused since it was last received from.
func (s *State) Suspected() <-chan struct{} { return s.Suspects.Wake }

// IsSuspect reports whether the list must be refused.
func (l *BoundList) IsSuspect() bool { return l.Segment != nil && l.Segment.IsSuspect() }

// RefusedTables returns the tables of a snapshot that are refused.
func (b *Bound) RefusedTables() []string {
	var tables []string
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		if b.Lists[e.Path].IsSuspect() && !slices.Contains(tables, e.Table) {
			tables = append(tables, e.Table)
		}
	}
	return tables
}

// Refused returns the tables of the served snapshot that are refused.
func (s *State) Refused() []string {
	v := s.Acquire()
	if v == nil {
		return nil
	}
	defer v.Release(s.Log)
	return v.Bound.RefusedTables()
}

// Heal replaces the suspect segments of the current snapshot. reopen gets the snapshot and returns
// it with new segments where it could open them (store.Store.Reopen); its error is about the
// others. Heal returns the tables that are served again and those that are still refused.
func (s *State) Heal(
	reopen func(*store.Snapshot) (*store.Snapshot, error),
) (healed, refused []string, err error) {
	v := s.Acquire()
	if v == nil {
		return nil, nil, nil
	}
	defer v.Release(s.Log)
	before := v.Bound.RefusedTables()
	if len(before) == 0 {
		return nil, nil, nil
	}
	snap, err := reopen(v.Bound.Snap)
	if snap == nil {
		return nil, before, err
	}
	bound, bindErr := bindAfter(snap, v.Bound, s.Options.Compression)
	if bindErr != nil {
		return nil, before, errors.Join(err, bindErr, snap.Close())
	}
	refused = bound.RefusedTables()
	if len(refused) == len(before) {
		return nil, refused, errors.Join(err, snap.Close())
	}
	if s.Shares.IsLimited() { // without asking for room: what the suspect segments need is soon free
		if divideErr := s.Shares.divide(bound, s.open.bounds(nil)); divideErr != nil {
			return nil, before, errors.Join(err, divideErr, snap.Close())
		}
	}
	next := s.NewServed(bound, v.Published())
	next.Live = v.Live
	if !s.Shares.IsLimited() { // otherwise there may be no room beside what the suspect segments have made
		if warmErr := s.Hooks.Warm(next, v.Bound); warmErr != nil {
			next.Release(s.Log)
			return nil, before, errors.Join(err, warmErr)
		}
	}
	if !s.replace(v, next) {
		next.Release(s.Log) // meanwhile another snapshot was swapped in
		return nil, nil, err
	}
	healed = slices.DeleteFunc(before, func(table string) bool { return slices.Contains(refused, table) })
	return healed, refused, err
}

// replace serves the same snapshot with other segments, unless another one is current.
func (s *State) replace(old, next *Served) bool {
	s.Retained.Lock()
	defer s.Retained.Unlock()
	if !s.Current.CompareAndSwap(old, next) {
		return false
	}
	old.Release(s.Log)
	return true
}

// Metrics of damage.
var (
	DamageDesc = metrics.NewDesc("hdqs_segment_faults_total",
		"Times that bytes of a served segment or bulk file could not be read (fault) or had another checksum "+
			"(checksum), or that its file was written to (write).", "kind")
	PassesDesc = metrics.NewDesc("hdqs_scrub_passes_total",
		"Times that all served segments were checked in the background.")
	ScrubbedDesc = metrics.NewDesc("hdqs_scrub_bytes_total", "Bytes of segments that were checked in the background.")
	LastPassDesc = metrics.NewDesc("hdqs_scrub_last_pass_timestamp_seconds",
		"When all served segments were last checked; 0 before the first time.")
)

// Collect collects what was found of damage.
func (c *Suspects) Collect(to chan<- prometheus.Metric) {
	for kind, label := range damages {
		to <- metrics.Counter(DamageDesc, c.Found[kind].Load(), label)
	}
	to <- metrics.Counter(PassesDesc, c.Scrub.Passes.Load())
	to <- metrics.Counter(ScrubbedDesc, c.Scrub.Bytes.Load())
	to <- metrics.Gauge(LastPassDesc, float64(c.Scrub.Last.Load()))
}
