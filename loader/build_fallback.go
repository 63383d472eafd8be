package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hdqs/snapshot/store"
)

// Stale is a source whose present form could not be used: the snapshot has what it was before.
type Stale struct {
	Role  string    `json:"role"`
	Path  string    `json:"path"` // the file, or the table that was kept whole
	Why   string    `json:"why"`
	Since time.Time `json:"since"` // time of the first load that could not use it
}

// StaleIn tells which sources a snapshot has in an older form.
func StaleIn(m *store.Manifest) ([]Stale, error) {
	var state loadState
	if len(m.State) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(m.State, &state); err != nil {
		return nil, fmt.Errorf("memory of snapshot %s: %w", m.ID, err)
	}
	return state.Stale, nil
}

// markStale notes a table that was kept. The caller holds mu while roles are read at the same time.
func (l *load) markStale(role, path string, why error) {
	s := Stale{Role: role, Path: path, Why: why.Error(), Since: time.UnixMicro(l.time).UTC()}
	for _, old := range l.before.Stale {
		if old.Role == role && old.Path == path {
			s.Since = old.Since
		}
	}
	l.report.Stale = append(l.report.Stale, s)
}

// settleStale adds the files that came from the copies of before, and gives all of them their order.
func (l *load) settleStale() {
	if f := l.opts.Fetched; f != nil {
		l.report.Fetched = f
		for _, s := range f.Sources {
			if s.State == SourceStale {
				l.markStale(s.Role, s.Path, errors.New(s.Why))
			}
		}
	}
	slices.SortStableFunc(l.report.Stale, func(a, b Stale) int { return strings.Compare(a.Path, b.Path) })
	l.state.Stale = l.report.Stale
}

// sameStale tells whether the current snapshot is marked as the new one would be. The reasons, which tell times and addresses, do not count.
func sameStale(a, b []Stale) bool {
	return slices.EqualFunc(a, b, func(a, b Stale) bool { return a.Role == b.Role && a.Path == b.Path })
}

// unusable tells why what was read of a role must not stand for it: a file of it is missing or was refused, or a list that its rows are joined
// with. Without a snapshot to fall back on the rest is better than nothing.
func (l *load) unusable(src *source, out *roleRows) error {
	if old, ok := l.currentTable(src.table); !ok || old.Rows == 0 || l.opts.AllowShrink {
		return nil
	}
	if len(out.refused) > 0 {
		return fmt.Errorf("refused: %s", out.refused[0].Why)
	}
	if s, ok := l.opts.Fetched.refusedOf(src.role); ok {
		return fmt.Errorf("%s could not be fetched: %s", s.Path, s.Why)
	}
	for _, role := range out.lists {
		if why := l.broken[role]; why != nil {
			return fmt.Errorf("its rows cannot be joined with the list %s: %w", role, why)
		}
	}
	return nil
}

// keepTable takes the table of a role over from the current snapshot, for a reason that everyone is told.
func (l *load) keepTable(src *source, out *roleRows, why error) error {
	old, _ := l.currentTable(src.table)
	entries, err := l.availableInSegment(old)
	if err != nil {
		return fmt.Errorf("table %s: %w; and the old one cannot be read: %w", src.table, why, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(src, out)
	l.markStale(src.role, src.table, why)
	l.notePlaced(src.table)
	l.keep(src, old, entries, roleState{Uses: l.before.Roles[src.role].Uses, Duplicates: l.before.Roles[src.role].Duplicates})
	return nil
}

// brokenList tells why a list cannot be used, when there is an old one: also when it is not there any more.
func (l *load) brokenList(src *source, out *roleRows) error {
	if why := l.unusable(src, out); why != nil {
		return why
	}
	old, ok := l.currentTable(src.table)
	if ok && 2*out.rows.rows < old.Rows && !l.opts.AllowShrink {
		return shrunkError(old, out.rows.rows)
	}
	return nil
}

// keepList takes a list over. What is joined with it is taken over too, as the old rows of the list are not at hand.
func (l *load) keepList(src *source, out *roleRows, why error) {
	old, _ := l.currentTable(src.table)
	l.broken[src.role] = why
	l.notePlaced(src.table)
	l.take(src, out)
	l.markStale(src.role, src.table, why)
	l.segments[src.table] = old
	l.report.Tables = append(l.report.Tables, TableReport{Table: src.table, Rows: old.Rows, Bytes: old.Bytes, SHA256: old.SHA256, Reused: true})
}
