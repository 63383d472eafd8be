package state

import (
	"time"

	"hdqs/api/contract"
	"hdqs/api/metrics"
)

// Readiness is the body of /readyz.
type Readiness struct {
	Ready        bool           `json:"ready"`
	Reason       string         `json:"reason,omitempty"` // why it is not ready
	Draining     bool           `json:"draining"`
	Snapshot     string         `json:"snapshot,omitempty"`
	SnapshotTime string         `json:"snapshot_time,omitempty"`
	PublishedAt  *time.Time     `json:"published_at,omitempty"`
	AgeSeconds   int64          `json:"age_seconds"`
	Format       int            `json:"format,omitempty"`
	Schema       string         `json:"schema"`
	Interface    string         `json:"interface"`
	Rows         map[string]int `json:"rows,omitempty"`
	Missing      []string       `json:"missing"`
	Stale        []StaleSource  `json:"stale_sources"` // tables for which loads keep an older form
	LastPoll     *Poll          `json:"last_poll"`     // at the store; null before the first has ended
	Unidentified int64          `json:"requests_without_identifier"`
	Panics       int64          `json:"panics"`
}

// StaleSource is a table that is older than its source.
type StaleSource struct {
	Table string    `json:"table"`
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// Polled notes the last poll of the store, for /readyz.
func (s *State) Polled(l Poll) { s.polled.Store(&l) }

// Readiness is the state of the server with the snapshot that it serves.
func (s *State) Readiness() Readiness {
	v := s.Snapshots.Acquire()
	if v != nil {
		defer v.Release(s.Log)
	}
	return s.ReadinessOf(v)
}

// ReadinessOf is the state of the server with a snapshot, nil for none.
func (s *State) ReadinessOf(v *Served) Readiness {
	r := Readiness{
		Draining: s.Draining.Load(), Schema: contract.SchemaVersion, Interface: contract.InterfaceVersion,
		Missing: []string{}, Stale: []StaleSource{}, LastPoll: s.polled.Load(),
		Unidentified: s.Requests.Identifiers(metrics.Missing) + s.Requests.Identifiers(metrics.Invalid),
		Panics:       s.Panics.Load(),
	}
	if v != nil {
		manifest := v.Bound.Snap.Manifest
		r.Snapshot, r.Format = manifest.ID, manifest.Format
		r.SnapshotTime = manifest.SnapshotTime.UTC().Format(time.RFC3339)
		r.AgeSeconds = max(0, int64(time.Since(manifest.SnapshotTime).Seconds()))
		r.Rows = v.Bound.tableRows()
		r.Missing = append(r.Missing, v.Bound.Missing()...)
		r.addPublication(v)
	}
	r.Reason = s.notReady(r.Snapshot)
	r.Ready = r.Reason == ""
	return r
}

// addPublication adds what the snapshot does not know itself.
func (r *Readiness) addPublication(v *Served) {
	if at := v.Published(); !at.IsZero() {
		r.PublishedAt = &at
	}
	for _, source := range TableSources(v.Bound.Snap.Manifest) {
		if !source.StaleSince.IsZero() {
			r.Stale = append(r.Stale, StaleSource{source.Table, source.StaleSince, source.StaleWhy})
		}
	}
}

// notReady returns why this replica should not get traffic, empty if it should.
func (s *State) notReady(snapshot string) string {
	starting := s.Step.Load()
	switch {
	case s.Draining.Load():
		return "shutting down"
	case starting != nil && *starting != "":
		return *starting
	case snapshot == "":
		return "no snapshot is loaded yet"
	}
	return ""
}
