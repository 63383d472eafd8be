package loader

import (
	"context"
	"fmt"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot"
)

// The lists of locations and units are not kept as other tables are, since all rows are placed with
// them. When one of them cannot be used, it is restored from the previous snapshot and the load
// goes on as if the file still had its rows: what else is new is published.

// listFault is why the list of a role cannot be used, and the file it is about, if it is about one.
type listFault struct {
	role, path string
	why        error
}

// useFallback restores a list that has a fault from tables of the previous snapshot. Without such a
// snapshot, the fault is the load's error.
func (p *pass) useFallback(
	ctx context.Context, f *listFault, restore func([]*snapshot.Segment) error, tables ...string,
) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case f == nil:
		return nil
	case !p.plan.revised() && !p.previous.hasRows(tables[0]):
		return f.why
	}
	segments := make([]*snapshot.Segment, len(tables))
	for i, table := range tables {
		segment, err := p.previous.open(table)
		if err != nil {
			return fmt.Errorf("%w; and the old one cannot be read: %w", f.why, err)
		}
		defer segment.Close()
		segments[i] = segment
	}
	if err := restore(segments); err != nil {
		return fmt.Errorf("%w; and the old one cannot be read: %w", f.why, err)
	}
	p.broken[f.role] = f.why
	if f.path != "" {
		p.result.report.refuse(f.role, f.path, f.why)
	}
	for _, table := range tables {
		p.markStale(p.result, f.role, table, f.why)
	}
	return nil
}

// notFetched is the fault of a list of which a file could not be fetched and has no copy either.
func (l *load) notFetched(role string) *listFault {
	s, ok := l.opts.Fetched.refusedOf(role)
	if !ok {
		return nil
	}
	return &listFault{role: role, why: fmt.Errorf("list %s: %s could not be fetched: %s", role, s.Path, s.Why)}
}

// noRows is the fault of a list of places without a row that can be used. Each row of the catalog
// is placed with it, so an empty one is as bad as none.
func (p *pass) noRows(role string, rows int) *listFault {
	files := p.catalog.files[role]
	if rows > 0 || len(files) == 0 {
		return nil
	}
	path := files[len(files)-1].path
	return &listFault{role: role, path: path, why: fmt.Errorf("list %s: %s has no row that can be used", role, path)}
}

// lostRows is the fault of a list that has less than half of its previous rows.
func (l *load) lostRows(role, table string, rows int) *listFault {
	if err := l.shrunk(table, rows); err != nil {
		return &listFault{role: role, why: fmt.Errorf("list %s: %w", role, err)}
	}
	return nil
}

// restoreCountries rebuilds the list of locations from the table that was made of it.
func (p *pass) restoreCountries(segments []*snapshot.Segment) error {
	countries, err := countriesIn(segments[0])
	if err != nil {
		return err
	}
	p.refs.units = newUnits()
	for _, c := range countries {
		if !p.refs.units.addCountry(c) {
			return fmt.Errorf("table location has %q twice", c.code)
		}
	}
	return nil
}

// countriesIn reads the table of locations.
func countriesIn(segment *snapshot.Segment) (countries []countryUnit, err error) {
	r := segmentReader{segment: segment}
	code, name, start := r.column("code"), r.column("name"), r.column("reference_period_start")
	hrp, gho := r.column("has_hrp"), r.column("in_gho")
	if r.err != nil {
		return nil, r.err
	}
	for row := range uint32(segment.Rows()) {
		countries = append(countries, countryUnit{
			code: rowText(code, row), name: rowText(name, row), start: rowInt(start, row),
			hasHRP: rowInt(hrp, row) == 1, inGHO: rowInt(gho, row) == 1,
		})
	}
	return countries, nil
}

// restoreFlags gives countries whose flags cannot be read those of the previous snapshot. When one
// of them is not in it, the list cannot be used.
func (p *pass) restoreFlags(unclear []unclearFlag) *listFault {
	const role, table = catalogfile.LocationRole, "location"
	last := map[string]countryUnit{}
	if p.previous.hasRows(table) {
		segment, err := p.previous.open(table)
		if err != nil {
			return &listFault{role: role, why: fmt.Errorf("list %s: the flags of the previous snapshot: %w", role, err)}
		}
		defer segment.Close()
		countries, err := countriesIn(segment)
		if err != nil {
			return &listFault{role: role, why: fmt.Errorf("list %s: the flags of the previous snapshot: %w", role, err)}
		}
		for _, c := range countries {
			last[c.code] = c
		}
	}
	for _, u := range unclear {
		if _, ok := last[u.country]; !ok {
			return &listFault{role: role, path: u.path, why: fmt.Errorf(
				"list %s: %s: a flag is Y, N or empty, and there is no earlier one of %s", role, u.text, u.country)}
		}
	}
	for _, u := range unclear {
		u.set(&p.refs.units.countries[p.refs.units.countryOf[u.country]], last[u.country])
	}
	p.markStale(p.result, role, unclear[0].path, fmt.Errorf(
		"%d flags are not Y, N or empty and those of the last snapshot are used; the first: %s",
		len(unclear), unclear[0].text))
	return nil
}

// restoreUnits rebuilds the list of units from the tables of both levels, each in the order of the
// file that it was made from. Units of locations that are not listed any more are left out.
func (p *pass) restoreUnits(segments []*snapshot.Segment) error {
	p.refs.units = p.refs.units.withoutUnits()
	for i, segment := range segments {
		r := segmentReader{segment: segment}
		code, name, start := r.column("code"), r.column("name"), r.column("reference_period_start")
		country := r.column("location_code")
		parent := country // unused for level 1
		if i == 1 {
			parent = r.column("admin1_code")
		}
		if r.err != nil {
			return r.err
		}
		for row := range uint32(segment.Rows()) {
			u := listedUnit{
				level: i + 1, code: rowText(code, row), name: rowText(name, row),
				country: rowText(country, row), parent: rowText(parent, row), start: rowInt(start, row),
			}
			if _, known := p.refs.units.countryOf[u.country]; known {
				p.refs.units.listed = append(p.refs.units.listed, u)
			}
		}
	}
	p.numberUnits()
	return nil
}
