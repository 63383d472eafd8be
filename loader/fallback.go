package loader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hdqs/snapshot"
)

// A table that cannot be made as the catalog has it now is kept from the previous snapshot and
// reported as stale: because a file cannot be used or is gone, or because the new table lost more
// than half of its rows or all rows of a country. Then a fault upstream is more likely than a
// change in the world.

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

// keepsTable reports whether a table of a role is that of the previous snapshot.
func (r *Report) keepsTable(role string) bool {
	return slices.ContainsFunc(r.Stale, func(s Stale) bool {
		return s.Role == role && slices.Contains(tablesOf(role, s.Path), s.Path)
	})
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
	if !p.load.previous.hasRows(th.table.name) || p.load.opts.mayShrink(th.role) {
		return nil
	}
	if len(refused) > 0 {
		return fmt.Errorf("refused: %s", refused[0].Why)
	}
	if s := p.load.opts.Fetched.refusedOf(th.role); s != nil {
		return fmt.Errorf("%s could not be fetched: %s", s.Path, s.Why)
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

// keepTable keeps the previous table of a role, for a reason that is reported. The tables that are
// joined with a list are kept too, as the list's old rows are not in memory.
func (p *pass) keepTable(th *theme, out *roleRows, why error) error {
	if th.category == "" {
		p.broken[th.role] = why
	}
	r, was := p.result, p.load.previous.state.Roles[th.role]
	r.mu.Lock()
	r.addRole(th, out, len(p.load.catalog.files[th.role]) > 0)
	if th.table.hasPlaces() {
		r.keptPlaced = th.table.name
	}
	r.countUses(was.Uses)
	r.state.Roles[th.role] = was
	r.mu.Unlock()
	return p.load.keepTable(r, th.role, th.table.name, was, why)
}

// keepTable takes a table over from the previous snapshot, and what follows from it: which data is
// available, and what is known of datasets and resources.
func (l *load) keepTable(r *result, role, table string, was roleState, why error) error {
	old, _ := l.previous.table(table)
	var columns []string
	switch {
	case IsDataRole(roleOf(table)):
		columns = []string{"resource_catalog_id"}
	case table == "resource":
		columns = []string{"resource_catalog_id", "dataset_catalog_id", "update_date", "api_updated_date"}
	}
	data, err := l.previous.data(table, columns...)
	if err != nil {
		return fmt.Errorf("table %s: %w; and the old one cannot be read: %w", table, why, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.available[table] = availableIn(data)
	switch table {
	case "resource":
		r.sources.addResourceRows(data)
	case "dataset":
		for _, d := range l.previous.manifest.Datasets {
			r.sources.datasets[d.ID] = d
		}
	}
	l.markStale(r, role, table, why)
	r.keep(old, was)
	return nil
}

// The lists of locations and units are not kept as other tables are, since all rows are placed with
// them. When one of them cannot be used, it is restored from the previous snapshot and the load
// goes on as if the file still had its rows: what else is new is published.

// useFallback restores a list that has a fault from tables of the previous snapshot. Without such a
// snapshot, the fault is the load's error.
func (p *pass) useFallback(
	ctx context.Context, f *listFault, restore func([]*snapshot.TableData) error, tables ...string,
) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case f == nil:
		return nil
	case p.plan.why == nil && !p.load.previous.hasRows(tables[0]):
		return f.why
	}
	var previous []*snapshot.TableData
	for _, table := range tables {
		data, err := p.load.previous.data(table, restoredColumns[table]...)
		if err != nil {
			return fmt.Errorf("%w; and the old one cannot be read: %w", f.why, err)
		}
		previous = append(previous, data)
	}
	if err := restore(previous); err != nil {
		return fmt.Errorf("%w; and the old one cannot be read: %w", f.why, err)
	}
	p.broken[f.role], p.result.state.Roles[f.role] = f.why, p.load.previous.state.Roles[f.role]
	if f.path != "" {
		p.result.report.refuse(f.role, f.path, f.why)
	}
	for _, table := range tables {
		p.load.markStale(p.result, f.role, table, f.why)
	}
	return nil
}

// notFetched is the fault of a list of which a file could not be fetched and has no copy either.
func (l *load) notFetched(role string) *listFault {
	s := l.opts.Fetched.refusedOf(role)
	if s == nil {
		return nil
	}
	return newListFault(role, "", "%s could not be fetched: %s", s.Path, s.Why)
}

// restoredColumns are those from which the lists of places are restored.
var restoredColumns = map[string][]string{
	"location": {"code", "name", periodStart, "has_hrp", "in_gho"},
	"admin1":   {"code", "name", periodStart, "location_code"},
	"admin2":   {"code", "name", periodStart, "location_code", "admin1_code"},
}

// changedPlaces is the first table of places that differs from the previous snapshot's, "" when
// none does.
func (p *pass) changedPlaces() string {
	for _, table := range []string{"location", "admin1", "admin2"} {
		if old, ok := p.load.previous.table(table); ok && old != p.result.segments[table] {
			return table
		}
	}
	return ""
}

// conflict is the plan that must replace the present one, because a table is kept whose places have
// changed. Units follow their locations, but locations do not follow units.
func (p *pass) conflict() (next plan, found bool) {
	kept, changed := p.result.keptPlaced, p.changedPlaces()
	if p.plan.why != nil || kept == "" || changed == "" {
		return plan{}, false
	}
	return plan{fmt.Errorf("table %s is kept from the current snapshot and refers to places by number, "+
		"so the places are kept as well: table %s would change", kept, changed), changed == "location"}, true
}
