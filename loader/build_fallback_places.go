package loader

import (
	"context"
	"fmt"
	"strings"

	"hdqs/snapshot"
)

// The lists of locations and of units are not kept as other tables are, since all rows are placed by them while they are read. When one of them cannot
// be used, its rows are read back from the current snapshot, and the load goes on as if the file still had them: what else is new is published.

// listFault is why the list of a role cannot be used, and the file that it is about, if it is about one.
type listFault struct {
	role, path string
	why        error
}

// standIn reads a list back from tables of the current snapshot, in the place of one that has a fault. Without such a snapshot, that is the load's error.
func (l *load) standIn(ctx context.Context, f *listFault, read func([]*snapshot.Segment) error, tables ...string) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case f == nil:
		return nil
	case l.hold == nil && !l.hasOld(tables[0]):
		return f.why
	}
	segments := make([]*snapshot.Segment, len(tables))
	for i, table := range tables {
		segment, err := l.openCurrent(table)
		if err != nil {
			return fmt.Errorf("%w; and the old one cannot be read: %w", f.why, err)
		}
		defer segment.Close()
		segments[i] = segment
	}
	if err := read(segments); err != nil {
		return fmt.Errorf("%w; and the old one cannot be read: %w", f.why, err)
	}
	l.broken[f.role] = f.why
	if f.path != "" {
		l.report.refuse(f.role, f.path, f.why)
	}
	for _, table := range tables {
		l.markStale(f.role, table, f.why)
	}
	return nil
}

// movedUnits says that a table was kept whose rows have ids of places, though places have other ids now. The load is made once more then, with the places of
// before: a row must not come to stand somewhere else.
type movedUnits struct {
	kept, changed string // tables
}

func (m *movedUnits) Error() string {
	return fmt.Sprintf("table %s is that of before, and so must be the places that its rows name; table %s would be another one", m.kept, m.changed)
}

// notePlaced notes that a table was kept. The caller holds mu while roles are read at the same time.
func (l *load) notePlaced(table string) {
	for _, c := range tableNamed(table).columns {
		if c.name == "location_ref" || c.name == "origin_location_ref" {
			l.placed = table
		}
	}
}

// movedUnits tells whether tables that were kept and places that were not are together now.
func (l *load) movedUnits() *movedUnits {
	if l.placed == "" || l.hold != nil {
		return nil
	}
	for _, table := range []string{"location", "admin1", "admin2"} {
		if old, ok := l.currentTable(table); ok && old != l.segments[table] {
			return &movedUnits{kept: l.placed, changed: table}
		}
	}
	return nil
}

// held is the fault of a list that is to be that of before: units are with their locations, but not the other way round.
func (l *load) held(role string) *listFault {
	if l.hold == nil || role == "location" && l.hold.changed != "location" {
		return nil
	}
	return &listFault{role: role, why: l.hold}
}

// hasOld tells whether the current snapshot has rows of a table.
func (l *load) hasOld(table string) bool {
	old, ok := l.currentTable(table)
	return ok && old.Rows > 0
}

func (l *load) openCurrent(table string) (*snapshot.Segment, error) {
	ref, _ := l.currentTable(table)
	path, err := l.opts.Store.SegmentPath(ref.SHA256)
	if err != nil {
		return nil, err
	}
	return snapshot.OpenSegment(path)
}

// notFetched is the fault of a list of which a file could be had neither from the network nor from a copy.
func (l *load) notFetched(role string) *listFault {
	s, ok := l.opts.Fetched.refusedOf(role)
	if !ok {
		return nil
	}
	return &listFault{role: role, why: fmt.Errorf("list %s: %s could not be fetched: %s", role, s.Path, s.Why)}
}

// lost is the fault of a list that has less than half of the rows of before.
func (l *load) lost(role, table string, rows int) *listFault {
	if old, shrunk := l.shrunk(table, rows); shrunk {
		return &listFault{role: role, why: fmt.Errorf("list %s: %w", role, shrunkError(old, rows))}
	}
	return nil
}

// readCountriesBack makes the list of locations of the table that was made of it.
func (l *load) readCountriesBack(segments []*snapshot.Segment) error {
	t := rowsBack{segment: segments[0]}
	code, name, start := t.column("code"), t.column("name"), t.column("reference_period_start")
	hrp, gho := t.column("has_hrp"), t.column("in_gho")
	if t.err != nil {
		return t.err
	}
	l.units = newUnits()
	for row := range uint32(t.segment.Rows()) {
		c := countryUnit{code: textBack(code, row), name: textBack(name, row), start: intBack(start, row)}
		c.hasHRP, c.inGHO = intBack(hrp, row) == 1, intBack(gho, row) == 1
		if !l.units.addCountry(c) {
			return fmt.Errorf("table location has %q twice", c.code)
		}
	}
	return nil
}

// readUnitsBack makes the list of units of the tables of both levels, each in the order of the file that they were made of. Locations that are not
// listed any more take their units with them.
func (l *load) readUnitsBack(segments []*snapshot.Segment) error {
	l.units = l.units.withoutUnits()
	for i, segment := range segments {
		t := rowsBack{segment: segment}
		code, name, country, start := t.column("code"), t.column("name"), t.column("location_code"), t.column("reference_period_start")
		parent := country // of level 1 nobody asks for it
		if i == 1 {
			parent = t.column("admin1_code")
		}
		if t.err != nil {
			return t.err
		}
		for row := range uint32(segment.Rows()) {
			u := listedUnit{
				level: i + 1, code: textBack(code, row), name: textBack(name, row), country: textBack(country, row), parent: textBack(parent, row),
				start: intBack(start, row),
			}
			if _, known := l.units.countryOf[u.country]; known {
				l.units.seed = append(l.units.seed, u)
			}
		}
	}
	l.placeUnits()
	return nil
}

// rowsBack finds columns of a segment; the first that is not there is the error.
type rowsBack struct {
	segment *snapshot.Segment
	err     error
}

func (t *rowsBack) column(name string) *snapshot.Column {
	c, err := t.segment.Column(name)
	if err != nil && t.err == nil {
		t.err = err
	}
	return c
}

// textBack is a row's text, which outlives the segment.
func textBack(c *snapshot.Column, row uint32) string {
	return strings.Clone(c.Text(positionBack(c, row)))
}

func intBack(c *snapshot.Column, row uint32) int64 { return c.Int(positionBack(c, row)) }

// positionBack is where a column has the value of a row.
func positionBack(c *snapshot.Column, row uint32) uint32 {
	if c.Group == nil {
		return row
	}
	return uint32(c.Group.Codes.At(row))
}
