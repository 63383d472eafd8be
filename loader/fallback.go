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

// A table that cannot be made as the catalog has it now is kept from the previous snapshot and
// reported as stale: because a file cannot be used or is gone, or because the new table lost more
// than half of its rows or all rows of a country. Then a fault upstream is more likely than a
// change in the world.

// Stale is a source whose present form could not be used. The snapshot has its last good form.
type Stale struct {
	Role  string    `json:"role"`
	Path  string    `json:"path"` // the file, or the table that was kept whole
	Why   string    `json:"why"`
	Since time.Time `json:"since"` // time of the first load that could not use it
}

// StaleIn lists the sources of which a snapshot has an older form.
func StaleIn(m *store.Manifest) ([]Stale, error) {
	var state loadState
	if len(m.State) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(m.State, &state); err != nil {
		return nil, fmt.Errorf("state in the manifest of snapshot %s: %w", m.ID, err)
	}
	return state.Stale, nil
}

// markStale reports a table or file of which the last good form is used. The caller holds result.mu
// while roles are read concurrently.
func (l *load) markStale(r *result, role, path string, why error) {
	since := l.previous.staleSince(role, path, time.UnixMicro(l.time).UTC())
	r.report.Stale = append(r.report.Stale, Stale{Role: role, Path: path, Why: why.Error(), Since: since})
}

// finishStale adds the files for which the fetch used its last good copies, and sorts.
func (l *load) finishStale(r *result) {
	if f := l.opts.Fetched; f != nil {
		r.report.Fetched = f
		for _, s := range f.Sources {
			if s.State == SourceStale {
				l.markStale(r, s.Role, s.Path, errors.New(s.Why))
			}
		}
	}
	slices.SortStableFunc(r.report.Stale, func(a, b Stale) int { return strings.Compare(a.Path, b.Path) })
	r.state.Stale = r.report.Stale
}

// sameStale reports whether two snapshots are marked alike. The reasons, which contain times and
// addresses, do not count.
func sameStale(a, b []Stale) bool {
	return slices.EqualFunc(a, b, func(a, b Stale) bool { return a.Role == b.Role && a.Path == b.Path })
}

// unusable is why the rows that were read of a role cannot become its table: a file is missing or
// was refused, or a list that they are joined with is. Without a previous table the rest is better
// than nothing.
func (p *pass) unusable(th *theme, refused []Refusal) error {
	if !p.previous.hasRows(th.table.name) || p.opts.mayShrink(th.role) {
		return nil
	}
	if len(refused) > 0 {
		return fmt.Errorf("refused: %s", refused[0].Why)
	}
	if s, ok := p.opts.Fetched.refusedOf(th.role); ok {
		return fmt.Errorf("%s could not be fetched: %s", s.Path, s.Why)
	}
	if len(p.catalog.files[th.role]) == 0 {
		return nil // reported as a table that lost its rows
	}
	for _, role := range th.joins() {
		if why := p.broken[role]; why != nil {
			return fmt.Errorf("its rows cannot be joined with the list %s: %w", role, why)
		}
	}
	return nil
}

// shrunk is the error of a table that has less than half of the rows of the previous snapshot, nil
// for any other.
func (l *load) shrunk(table string, rows int) error {
	old, ok := l.previous.table(table)
	if !ok || l.opts.mayShrink(roleOf(table)) || 2*rows >= old.Rows {
		return nil
	}
	return fmt.Errorf(
		"table %s fell from %d to %d rows; one that loses more than half is published only with --allow-shrink=%s",
		old.Table, old.Rows, rows, roleOf(table))
}

// keepTable keeps the previous table of a role, for a reason that is reported.
func (p *pass) keepTable(th *theme, out *roleRows, why error) error {
	old, _ := p.previous.table(th.table.name)
	entries, err := p.previous.available(th.table.name)
	if err != nil {
		return fmt.Errorf("table %s: %w; and the old one cannot be read: %w", th.table.name, why, err)
	}
	was := p.previous.state.Roles[th.role]
	r := p.result
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addRole(th, out, len(p.catalog.files[th.role]) > 0)
	p.markStale(r, th.role, th.table.name, why)
	r.keptPlaced = th.table.name
	r.keepTheme(th, old, entries, roleState{
		Files: was.Files, Kept: true, Uses: was.Uses, Duplicates: was.Duplicates, FormulaTexts: was.FormulaTexts,
	})
	return nil
}

// brokenList is why a list cannot be used although there is a previous one, be it that it has no
// file any more.
func (p *pass) brokenList(th *theme, out *roleRows) error {
	if why := p.unusable(th, out.refused); why != nil {
		return why
	}
	return p.shrunk(th.table.name, out.rows.rows)
}

// keepList keeps the previous table of a list. The tables that are joined with it are kept too, as
// the list's old rows are not in memory.
func (p *pass) keepList(th *theme, out *roleRows, why error) {
	old, _ := p.previous.table(th.table.name)
	p.broken[th.role] = why
	r := p.result
	if th.table.hasPlaces() {
		r.keptPlaced = th.table.name
	}
	r.addRole(th, out, len(p.catalog.files[th.role]) > 0)
	p.markStale(r, th.role, th.table.name, why)
	r.keep(old, roleState{})
}
