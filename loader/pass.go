package loader

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"hdqs/loader/catalogfile"
)

// readCatalog loads a directory catalog: the lists that others join first, then the themes
// concurrently, then the tables that follow from all of them.
func (l *load) readCatalog(ctx context.Context) (*result, error) {
	var err error
	if l.catalog, err = openCatalog(l.opts.Catalog, l.opts.CatalogName); err != nil {
		return nil, err
	}
	if err := l.setTime(l.catalog.time, l.catalog.url); err != nil {
		return nil, fmt.Errorf("catalog %s: %w", l.opts.CatalogName, err)
	}
	l.report.Notes = append(l.report.Notes, l.catalog.notes...)
	l.useEmbedded()
	found := l.readPackages()
	next := plan{}
	for {
		p := &pass{
			load: l, plan: next, broken: map[string]error{}, result: newResult(l.opts.Store, l.report),
			refs: references{units: newUnits(), joins: map[string]*joinTable{}, packages: found, now: l.time},
		}
		l.progress.restart(l.catalog)
		var conflict bool
		if next, conflict, err = p.read(ctx); err != nil || !conflict {
			return p.result, err
		}
	}
}

// read reads everything, unless it finds that the plan must be another one.
func (p *pass) read(ctx context.Context) (next plan, conflict bool, err error) {
	if err := p.readPlaces(ctx); err != nil {
		return next, false, err
	}
	read, err := p.readLists(ctx)
	if err != nil {
		return next, false, err
	}
	size := func(th *theme) int64 { return p.load.catalog.bytesOf(th.role) }
	if err := largestFirst(ctx, p.load.opts.Parallel, dataThemes, size, p.readTheme); err != nil {
		return next, false, err
	}
	if next, conflict = p.conflict(); conflict {
		return next, true, nil
	}
	for _, b := range read { // only now: themes were joined with these rows, and putRows uses them up
		if err := p.result.putRows(b); err != nil {
			return next, false, err
		}
	}
	return next, false, p.putDerived()
}

// readPlaces reads the lists of locations and units and writes their tables.
func (p *pass) readPlaces(ctx context.Context) error {
	if err := p.readLocations(ctx); err != nil {
		return err
	}
	if err := p.readUnits(ctx); err != nil {
		return err
	}
	location, admin1, admin2 := p.refs.units.tables()
	for _, b := range []*tableBuilder{location, admin1, admin2} {
		if err := p.result.putRows(b); err != nil {
			return err
		}
	}
	return nil
}

// readLists reads the lists that themes are joined with. It returns the rows of those that are not
// kept.
func (p *pass) readLists(ctx context.Context) (read []*tableBuilder, err error) {
	for _, th := range joinedLists {
		out, err := p.readRole(ctx, th)
		if err != nil {
			return nil, err
		}
		why := p.unusable(th, out.refused)
		if why == nil { // the list may have no file any more
			why = cmp.Or(p.lostFiles(th, out), p.load.shrunk(th.table.name, out.rows.rows),
				p.load.lostValues(p.result, th, out.rows, out.lacking))
		}
		if why != nil {
			if err := p.keepTable(th, out, why); err != nil {
				return nil, err
			}
			continue
		}
		p.result.addRole(th, out, len(p.load.catalog.files[th.role]) > 0)
		p.remember(th, out, nil)
		p.refs.joins[th.role] = newJoinTable(th, out.rows)
		read = append(read, out.rows)
	}
	return read, nil
}

// putDerived writes the tables that follow from the rows of all others.
func (p *pass) putDerived() error {
	listed := p.listedPackages()
	p.setTimes(listed)
	p.addPackages(listed)
	p.noteUnknownSources(listed)
	if err := p.putPackages(listed); err != nil {
		return err
	}
	return p.putAvailability()
}

// readRole reads all files of a role. A file that cannot be read to its end is refused as a whole:
// the role is read again without it, so that none of its rows are left in the table.
func (p *pass) readRole(ctx context.Context, th *theme) (*roleRows, error) {
	files := p.load.catalog.files[th.role]
	var refused []Refusal
	for {
		f := newSourceReader(th.table, slices.Concat(th.steps, th.checks), &p.refs)
		f.strict = p.load.opts.StrictResources
		out := &roleRows{rows: f.rows, uses: f.uses, refused: refused}
		bad := -1
		for i, file := range files {
			report, err := p.readFile(ctx, f, th, file)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				refused = append(refused, Refusal{Role: th.role, Path: file.path, Why: err.Error()})
				bad = i
				break
			}
			out.resources = append(out.resources, report)
		}
		if bad < 0 {
			out.lacking = f.lacking
			return out, nil
		}
		files = slices.Concat(files[:bad], files[bad+1:])
	}
}

func (p *pass) readFile(ctx context.Context, f *sourceReader, th *theme, file resourceFile) (*ResourceReport, error) {
	wanted, optional := th.headers()
	f.file = sourceFile{}
	f.file.dataset, f.file.resource = p.ownIDs(file)
	report, err := p.load.scan(ctx, file, wanted, optional, f)
	if err != nil {
		return nil, err
	}
	if e := report.Oddities[string(otherList)]; e != nil && 10*e.Count > 9*report.Rows.Kept {
		return nil, fmt.Errorf("%s: %d of %d rows have a population_group of another list (files of refugees and "+
			"returnees have one form); want the file of %s", file.path, e.Count, report.Rows.Kept, th.role)
	}
	f.reportMarked(report)
	if f.file.ownUsed > 0 {
		report.note(fmt.Sprintf("%d rows name no resource; they count for %s", f.file.ownUsed, f.file.resource))
	}
	return report, nil
}

// readTheme loads one data table and writes it, or keeps that of the previous snapshot.
func (p *pass) readTheme(ctx context.Context, th *theme) error {
	out, err := p.readRole(ctx, th)
	if err != nil {
		return err
	}
	why := cmp.Or(p.unusable(th, out.refused), p.lostFiles(th, out),
		p.load.lostValues(p.result, th, out.rows, out.lacking))
	if why != nil {
		return p.keepTable(th, out, why)
	}
	data, found := out.rows.finish(false)
	if why := p.load.shrunk(th.table.name, data.Rows); why != nil {
		out.refused = append(out.refused, Refusal{Role: th.role, Path: th.table.name, Why: why.Error()})
		return p.keepTable(th, out, why)
	}
	entries, uses := availableIn(data), out.uses.kept(data)
	if why := p.load.lostCountries(th, data); why != nil {
		return p.keepTable(th, out, why)
	}
	r := p.result
	r.mu.Lock()
	r.available[th.table.name] = entries
	r.addRole(th, out, len(p.load.catalog.files[th.role]) > 0)
	r.countUses(uses)
	r.mu.Unlock()
	if err := r.put(data, found); err != nil {
		return err
	}
	p.remember(th, out, uses)
	return nil
}

func (p *pass) putAvailability() error {
	return p.result.put(availabilityTable(p.result.available, func(resource string) int64 {
		return p.result.state.Resources[resource].Since.UnixMicro()
	}), duplicateRows{})
}

// useEmbedded takes the embedded copies of the lists that the catalog lacks. They do not replace
// another list of the catalog, which the previous snapshot has.
func (l *load) useEmbedded() {
	for _, role := range []string{catalogfile.LocationRole, "org-type", "sector"} {
		path := "reference/" + role + ".csv"
		data, _ := embedded.ReadFile(path)
		isOther := func(f fileState) bool { return f.Own && f.SHA256 != fmt.Sprintf("%x", sha256.Sum256(data)) }
		hadOther := slices.ContainsFunc(l.previous.state.Roles[role].Files, isOther)
		if len(l.catalog.files[role]) == 0 && (!hadOther || l.opts.mayShrink(role)) {
			l.catalog.files[role] = []resourceFile{{role: role, path: path, embedded: true}}
			l.report.Notes = append(l.report.Notes, path+" is missing; the embedded copy is used")
		}
	}
}
