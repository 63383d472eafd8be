package state

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/contract"
	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/index"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// A segment is a mapped file, and its bytes may change or go away while it is served: another
// program writes to the file or truncates it, or the disk fails. That is noticed by a memory fault
// in a request, by WatchFiles, by Scrub, and by a posting that is malformed. The segment is then
// quarantined: its lists are refused with 503, also those that were rendered or compressed
// before, until Heal has replaced it. An answer that was being rendered is refused too, or cut
// short if it has begun.

// Inspector looks for damaged segments, and quarantines and counts them.
type Inspector struct {
	snapshots *Snapshots
	log       *slog.Logger
	hooks     *Hooks

	Found  [len(damages)]atomic.Int64
	Wake   chan struct{} // has an element when a table was refused
	Scrubs scrubCounts

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

// EndList ends the reading of a list for a request, and gives the snapshot back. Whatever the
// reading met of damage becomes the refusal of the list here: a memory fault, a malformed posting,
// and a segment that was quarantined meanwhile, so that its rows may be wrong. Other panics go on.
// pinned: the request names the snapshot.
func (s *State) EndList(v *Served, l *BoundList, pinned bool, err *error) {
	fault := recover()
	if fault == nil && *err == nil && !l.IsQuarantined() {
		v.Release(s.Log) // not deferred, which takes 20 ns
		return
	}
	defer v.Release(s.Log)
	switch current := s.Snapshots.CurrentID(); {
	case !s.Inspector.MetDamage(l, fault, *err):
		if fault != nil {
			s.Inspector.CheckAfterPanic(l)
			panic(fault)
		}
	case pinned && v.Id != current: // a retained snapshot is not healed
		*err = &reply.Gone{Current: current}
	default:
		*err = &reply.Refused{Table: l.Segment.Name()}
	}
}

// errPanicked aborts a connection in the middle of an answer.
var errPanicked = errors.New("api: a panic while a body was rendered")

// RecoverBody handles a panic while a body of a list is written, after the handler has returned.
// fasthttp would recover too, but neither count it nor log where it was. The header has been sent
// or buffered, so the answer is cut short. There is no request id to report.
func (s *State) RecoverBody(l *BoundList, err *error) {
	switch fault := recover(); {
	case fault == nil:
	case s.Inspector.MetDamage(l, fault, nil):
		*err = &reply.Refused{Table: l.Segment.Name()}
	default:
		s.Inspector.CheckAfterPanic(l)
		s.LogPanic(fault, "")
		*err = errPanicked
	}
}

// MetDamage reports whether reading a list met damage, by its panic and its error, and quarantines
// the segment. Without either, the list may have been quarantined meanwhile.
func (s *Inspector) MetDamage(l *BoundList, fault any, err error) bool {
	if l == nil || l.Segment == nil {
		return false
	}
	switch address, isFault := snapshot.FaultAddress(fault); {
	case isFault && l.Segment.Contains(address):
		s.Quarantine(l.Version, l.Segment, ByFault, snapshot.ErrFault)
		return true
	case fault != nil:
		return false
	case errors.Is(err, index.ErrPosting):
		s.Quarantine(l.Version, l.Segment, ByChecksum, err)
		return true
	}
	return err == nil && l.IsQuarantined()
}

// panicPause is the least time between two checks after panics.
const panicPause = 10 * time.Second

// CheckAfterPanic checks the segment of a list in the background, since changed bytes, such as a
// code that is in no dictionary, are a likely reason of a panic. The caller has a reference to the
// snapshot.
func (s *Inspector) CheckAfterPanic(l *BoundList) {
	if l == nil || l.Segment == nil || !s.checking.CompareAndSwap(false, true) {
		return
	}
	m := mapped{l.Segment.Acquire(), l.Version}
	go func() {
		s.scrub(context.Background(), m, func(int) time.Duration { return 0 })
		_ = m.Close() // of a mapping
		time.AfterFunc(panicPause, func() { s.checking.Store(false) })
	}()
}

// Quarantine marks a segment. The body cache is emptied: its bodies may have been made of damaged
// rows, and do not record their table.
func (s *Inspector) Quarantine(version string, segment *snapshot.Segment, by Damage, what error) {
	s.Found[by].Add(1)
	if !segment.MarkSuspect() {
		return
	}
	s.hooks.Emptied()
	message := "a table is refused, since its segment may be damaged; its file will be checked and opened again"
	if !s.snapshots.isCurrent(segment) {
		message = "a table of a replaced snapshot is refused, since its segment may be damaged; " +
			"requests that name the snapshot are told to begin again"
	}
	s.log.Error(message, "table", segment.Name(), "segment", version, "found", what, "edge_key",
		reply.VersionKey(version))
	select {
	case s.Wake <- struct{}{}:
	default:
	}
}

// Quarantined has an element when a table was refused since it was last received from.
func (s *Inspector) Quarantined() <-chan struct{} { return s.Wake }

// IsQuarantined reports whether the list must be refused.
func (l *BoundList) IsQuarantined() bool { return l.Segment != nil && l.Segment.IsSuspect() }

// RefusedTables returns the tables of a snapshot that are refused.
func (b *Bound) RefusedTables() []string {
	var tables []string
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		if b.Lists[e.Path].IsQuarantined() && !slices.Contains(tables, e.Table) {
			tables = append(tables, e.Table)
		}
	}
	return tables
}

// Heal replaces the quarantined segments of the current snapshot. reopen gets the snapshot and
// returns it with new segments where it could open them (store.Store.Reopen); its error is about
// the others. Heal returns the tables that are served again and those that are still refused.
func (s *State) Heal(
	reopen func(*store.Snapshot) (*store.Snapshot, error),
) (healed, refused []string, err error) {
	v := s.Snapshots.Acquire()
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
	if s.Shares.IsLimited() { // without asking for room: what the quarantined segments need is soon free
		if divideErr := s.Shares.divide(bound, s.Snapshots.open.bounds(nil)); divideErr != nil {
			return nil, before, errors.Join(err, divideErr, snap.Close())
		}
	}
	next := s.NewServed(bound, v.Published())
	next.Live = v.Live
	if !s.Shares.IsLimited() { // otherwise there may be no room beside what the quarantined segments have made
		if warmErr := s.Hooks.Warm(next, v.Bound); warmErr != nil {
			next.Release(s.Log)
			return nil, before, errors.Join(err, warmErr)
		}
	}
	if !s.Snapshots.replace(v, next) {
		next.Release(s.Log) // meanwhile another snapshot was swapped in
		return nil, nil, err
	}
	healed = slices.DeleteFunc(before, func(table string) bool { return slices.Contains(refused, table) })
	return healed, refused, err
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
func (s *Inspector) Collect(to chan<- prometheus.Metric) {
	for kind, label := range damages {
		to <- metrics.Counter(DamageDesc, s.Found[kind].Load(), label)
	}
	to <- metrics.Counter(PassesDesc, s.Scrubs.Passes.Load())
	to <- metrics.Counter(ScrubbedDesc, s.Scrubs.Bytes.Load())
	to <- metrics.Gauge(LastPassDesc, float64(s.Scrubs.Last.Load()))
}
