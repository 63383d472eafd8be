package loader

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"hdqs/snapshot"
)

// step is one part of reading a row: it takes some cells of a file and sets some columns of a
// table. Cells are found by the names in the file's header, so the order of columns does not
// matter.
type step struct {
	// The columns that a file must have, and those that are used when it has them.
	wanted, optional []string
	joins            string // role of the list that rows are joined with, "" for none

	// bind prepares the step for one file.
	bind func(f *sourceReader) rowStep
}

// rowStep sets a step's columns from the current row. A fault means that the row cannot be used.
type rowStep func() *rowFault

// headersOfSteps are the columns that files must have, and those that are used when they are there.
func headersOfSteps(steps []step) (wanted, optional []string) {
	for i := range steps {
		wanted, optional = append(wanted, steps[i].wanted...), append(optional, steps[i].optional...)
	}
	return wanted, optional
}

// read sets the column of this name from the cell of the same name.
func read(name string) step { return readAs(name, name) }

// readAs sets a column from the cell under another header.
func readAs(header, name string) step {
	return step{wanted: []string{header}, bind: func(f *sourceReader) rowStep {
		csv, to, at := f.file.csv, f.rows.column(name), f.file.csv.position(header)
		return func() *rowFault {
			cell := csv.cell(at)
			if why := to.read(cell); why != "" {
				return csv.cellFault(why, header, cell)
			}
			return nil
		}
	}}
}

// once sets the tuple of a key. It calls read for the first row with these cells only.
func once(key *tupleKey, read rowStep) rowStep {
	return func() *rowFault {
		if key.known() {
			return nil
		}
		if fault := read(); fault != nil {
			return fault
		}
		key.add()
		return nil
	}
}

// readGroup sets a tuple of columns from the cells of the same names.
func readGroup(group string, columns ...string) step {
	return step{wanted: columns, bind: func(f *sourceReader) rowStep {
		key := f.newKey(f.rows.group(group), columns...)
		cells := key.vectors(columns, 0)
		return once(key, func() *rowFault {
			if fault := key.readAll(cells); fault != nil {
				return fault
			}
			return f.checkTuple(key.group)
		})
	}}
}

// checkTuple checks the next tuple of a group, which has been set.
func (f *sourceReader) checkTuple(g *tuples) *rowFault {
	if why, detail := g.wrong(f.refs.now); why != "" {
		return f.file.csv.fault(why, detail)
	}
	return nil
}

const periodStart, periodEnd = "reference_period_start", "reference_period_end"

// readPeriod sets the first and the last day of a row; the last one ends with its last second.
func readPeriod() step { return step{wanted: []string{periodStart, periodEnd}, bind: bindPeriod} }

// readOpenPeriod is readPeriod where the file may lack the end.
func readOpenPeriod() step {
	return step{wanted: []string{periodStart}, optional: []string{periodEnd}, bind: bindPeriod}
}

func bindPeriod(f *sourceReader) rowStep {
	csv := f.file.csv
	if csv.position(periodEnd) < 0 {
		f.file.report.Faults = append(f.file.report.Faults, "no column "+periodEnd+": no row has an end")
	}
	k := f.newKey(f.rows.group("period"), periodStart, periodEnd)
	start, end := k.group.column(periodStart), k.group.column(periodEnd)
	return once(k, func() *rowFault {
		from, to := k.cell(0), k.cell(1)
		first, ok := parseDay(from)
		switch {
		case len(from) == 0:
			return csv.cellFault(missing, periodStart, nil)
		case !ok:
			return csv.cellFault(badDate, periodStart, from)
		}
		start.setInt(first)
		switch last, ok := parseDay(to); {
		case len(to) == 0 && end.nullable:
			end.setNull()
		case len(to) == 0:
			return csv.cellFault(missing, periodEnd, nil)
		case !ok:
			return csv.cellFault(badDate, periodEnd, to)
		default:
			end.setInt(endOfDay(last))
		}
		return f.checkTuple(k.group)
	})
}

// checkPovertyIndex reports rows whose poverty index is not the product of its two factors. It
// keeps them.
func checkPovertyIndex() step {
	return step{bind: func(f *sourceReader) rowStep {
		mpi, headcount := f.rows.column("mpi"), f.rows.column("headcount_ratio")
		intensity := f.rows.column("intensity_of_deprivation")
		return func() *rowFault {
			row := f.rows.rows
			if mpi.isNull(row) || headcount.isNull(row) || intensity.isNull(row) {
				return nil
			}
			gap := headcount.float(row)*intensity.float(row)/10_000 - mpi.float(row) // both factors are in percent
			if math.Abs(gap) >= mpiTolerance {
				f.odd(mpiMismatch, fmt.Sprintf("off by %.6f", gap))
			}
			return nil
		}
	}}
}

// tupleKey finds the tuple of a row by the cells it comes from. Neighbouring rows mostly have the
// same tuple, so the cells are compared with those of the row before first.
type tupleKey struct {
	csv   *csvReader
	group *tuples
	at    []int
	key   []byte
	last  []byte
	code  uint32 // of the current row
	valid bool   // code is that of last
}

func (f *sourceReader) newKey(group *tuples, headers ...string) *tupleKey {
	k := &tupleKey{csv: f.file.csv, group: group}
	for _, name := range headers {
		k.at = append(k.at, k.csv.position(name))
	}
	return k
}

func (k *tupleKey) cell(i int) []byte { return k.csv.cell(k.at[i]) }

// known sets the row's tuple if one with the same cells has been added.
func (k *tupleKey) known() bool {
	k.key = k.key[:0]
	for _, at := range k.at {
		k.key = append(append(k.key, k.csv.cell(at)...), 0xff) // 0xff does not occur in UTF-8
	}
	if k.valid && string(k.key) == string(k.last) {
		k.group.set(k.code)
		return true
	}
	code, ok := k.group.find(k.key)
	if ok {
		k.use(code)
	}
	return ok
}

// add makes the values that were set the tuple of these cells.
func (k *tupleKey) add() { k.use(k.group.add(k.key)) }

func (k *tupleKey) use(code uint32) {
	k.group.set(code)
	k.last, k.code, k.valid = append(k.last[:0], k.key...), code, true
}

// keyCell is a cell of a key and the column that it is read into.
type keyCell struct {
	to     *vector
	at     int // position in the key
	header string
}

// vectors pairs columns of the key's group with the cells of the same names, which begin at
// position from of the key.
func (k *tupleKey) vectors(columns []string, from int) []keyCell {
	var cells []keyCell
	for i, name := range columns {
		cells = append(cells, keyCell{to: k.group.column(name), at: from + i, header: name})
	}
	return cells
}

func (k *tupleKey) readAll(cells []keyCell) *rowFault {
	for _, c := range cells {
		cell := k.cell(c.at)
		if why := c.to.read(cell); why != "" {
			return k.csv.cellFault(why, c.header, cell)
		}
	}
	return nil
}

// mpiMismatch is reported; the row is kept.
const mpiMismatch reason = "mpi_is_not_headcount_times_intensity"

// mpiTolerance is how far an index may be from the product of its factors.
const mpiTolerance = 0.0001

// float is the Decimal at position i, which is not null.
func (v *vector) float(i int) float64 {
	d := v.decs[i]
	if d.Scale != snapshot.DecText {
		return d.Float()
	}
	f, _ := strconv.ParseFloat(v.texts[d.Mantissa], 64) // read has parsed it
	return f
}

// readCountry sets a group that is only a country; prefix is that of its columns (origin_, asylum_
// or empty).
func readCountry(group, prefix string) step {
	header := prefix + "location_code"
	return step{wanted: []string{header}, bind: func(f *sourceReader) rowStep {
		units, k := f.refs.units, f.newKey(f.rows.group(group), header)
		columns := newCountryColumns(k.group, prefix)
		return once(k, func() *rowFault {
			at, ok := units.countryOf[string(k.cell(0))]
			if !ok {
				return f.file.csv.cellFault(unknownLocation, header, k.cell(0))
			}
			columns.set(units, at)
			return nil
		})
	}}
}

// countryColumns are the five columns of a country. Name and flags are those of the list of
// locations, whatever the file says.
type countryColumns struct{ id, code, name, hrp, gho *vector }

func newCountryColumns(g *tuples, prefix string) *countryColumns {
	return &countryColumns{
		id: g.column(prefix + "location_ref"), code: g.column(prefix + "location_code"),
		name: g.column(prefix + "location_name"),
		hrp:  g.column(prefix + "has_hrp"), gho: g.column(prefix + "in_gho"),
	}
}

func (s *countryColumns) set(u *units, at int32) {
	c := &u.countries[at]
	s.id.setInt(ref(at))
	s.code.setString(c.code)
	s.name.setString(c.name)
	s.hrp.setBool(c.hasHRP)
	s.gho.setBool(c.inGHO)
}

// The columns of a file that give a row's place. A file's own flags are not used, nor are names of
// units that its codes identify.
var (
	unit2Headers = []string{
		"location_code", "provider_admin1_name", "provider_admin2_name",
		"admin1_code", "admin1_name", "admin2_code", "admin2_name",
	}
	unit1Headers = []string{"location_code", "provider_admin1_name", "admin1_code", "admin1_name"}

	// placeKey are the cells by which places are found. The level is only compared.
	placeKey = append(slices.Clone(unit2Headers), "admin_level")
)

// readUnit2 sets the group place down to level 2, and further columns of the group from the cells
// of their names.
func readUnit2(more ...string) step { return readUnit(slices.Concat(unit2Headers, more), more) }

// readUnit1 sets the group place for files that have no level 2.
func readUnit1() step { return readUnit(unit1Headers, nil) }

func readUnit(wanted, more []string) step {
	return step{wanted: wanted, bind: func(f *sourceReader) rowStep {
		k := f.newKey(f.rows.group("place"), slices.Concat(placeKey, more)...)
		place, others := f.newPlaceColumns(k), k.vectors(more, len(placeKey))
		return f.placed(k, func() (*placeNote, *rowFault) {
			note, fault := place.set()
			if fault == nil {
				fault = k.readAll(others)
			}
			return note, fault
		})
	}}
}

// placeNote is what a report counts about the rows of a place. It is nil for most places.
type placeNote struct {
	country string
	unknown string // a code that no list has
	above   string // how the place is above the level that the row names
	parent  string // how the row's unit of level 1 is not that of its unit of level 2
}

func (n *placeNote) misplaced() bool { return n.unknown != "" || n.above != "" }

// placed is once for a key that has the place of a row. The note of a place counts for all rows
// with the same cells.
func (f *sourceReader) placed(k *tupleKey, read func() (*placeNote, *rowFault)) rowStep {
	return func() *rowFault {
		if !k.known() {
			note, fault := read()
			if fault != nil {
				return fault
			}
			k.add()
			if note != nil {
				f.notes = append(f.notes, make([]*placeNote, int(k.code)+1-len(f.notes))...)
				f.notes[k.code] = note
			}
		}
		if int(k.code) < len(f.notes) {
			f.row.note = f.notes[k.code]
		}
		return nil
	}
}

// placeColumns are the columns of a place. Its key begins with placeKey, of which files without
// level 2 lack some.
type placeColumns struct {
	csv       *csvReader
	key       *tupleKey
	units     *units
	country   *countryColumns
	id1       *vector
	id2       *vector // nil when there is no level 2
	place     *placeVectors
	providers []keyCell
}

func (f *sourceReader) newPlaceColumns(k *tupleKey) *placeColumns {
	g, providers := k.group, []string{"provider_admin1_name", "provider_admin2_name"}
	s := &placeColumns{
		csv: f.file.csv, key: k, units: f.refs.units, country: newCountryColumns(g, ""),
		id1: g.column("admin1_ref"), place: newPlaceVectors(g),
	}
	if g.has("admin2_ref") {
		s.id2 = g.column("admin2_ref")
	} else {
		providers = providers[:1]
	}
	s.providers = k.vectors(providers, 1)
	return s
}

// set fills the columns from the cells of the key.
func (s *placeColumns) set() (note *placeNote, fault *rowFault) {
	k, u := s.key, s.units
	country, ok := u.countryOf[string(k.cell(0))]
	if !ok {
		return nil, s.csv.cellFault(unknownLocation, "location_code", k.cell(0))
	}
	if wrong := u.codeElsewhere(country, k.cell(3), k.cell(5)); wrong != "" {
		return nil, s.csv.fault(otherCountry, wrong)
	}
	where := spot{
		country: country, code1: k.cell(3), code2: k.cell(5),
		named1: len(k.cell(1)) > 0 || len(k.cell(4)) > 0, named2: len(k.cell(2)) > 0 || len(k.cell(6)) > 0,
	}
	p := place{provider1: string(k.cell(1)), provider2: string(k.cell(2))}
	var at1 int32
	var unknown []byte
	if s.id2 == nil {
		at1, unknown = u.find1(where)
	} else {
		var at2 int32
		at2, unknown = u.find2(where)
		unit := &u.level2[at2]
		s.id2.setInt(ref(at2))
		p.code2, p.name2, p.placeholder2 = unit.code, unit.name, unit.placeholder
		at1 = unit.parent
	}
	unit := &u.level1[at1]
	s.country.set(u, unit.country)
	s.id1.setInt(ref(at1))
	p.code1, p.name1, p.placeholder1 = unit.code, unit.name, unit.placeholder
	if fault := k.readAll(s.providers); fault != nil {
		return nil, fault
	}
	s.place.set(p)
	return s.noteOf(where, &p, string(unknown)), nil
}

// noteOf compares the place of a row with what the row says about it.
func (s *placeColumns) noteOf(w spot, p *place, unknown string) *placeNote {
	n := placeNote{country: s.units.countries[w.country].code, unknown: unknown}
	level, own := s.place.level.int(s.key.group.n), int64(0)
	switch {
	case w.named2 || len(w.code2) > 0:
		own = 2
	case w.named1 || len(w.code1) > 0:
		own = 1
	}
	if stated, ok := parseInt(s.key.cell(len(unit2Headers))); ok && stated <= 2 {
		own = max(own, stated)
	}
	if own > level {
		n.above = fmt.Sprintf("%s: a row of level %d is placed at level %d", n.country, own, level)
	}
	if s.id2 != nil && !p.placeholder2 && len(w.code1) > 0 && string(w.code1) != p.code1 {
		n.parent = fmt.Sprintf("admin1_code %s, the parent of %s is %s", quoted(w.code1), p.code2, p.code1)
	}
	if n.parent == "" && !n.misplaced() {
		return nil
	}
	return &n
}
