package loader

import (
	"fmt"
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
		return once(key, func() *rowFault { return key.readAll(cells) })
	}}
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
		case last < first:
			return csv.cellFault(endFirst, periodEnd, to)
		default:
			end.setInt(endOfDay(last))
		}
		return nil
	})
}

// checkPovertyIndex reports rows whose poverty index is not the product of its two factors. It
// keeps them.
func checkPovertyIndex() step {
	return step{bind: func(f *sourceReader) rowStep {
		mpi, headcount := f.rows.column("mpi"), f.rows.column("headcount_ratio")
		intensity := f.rows.column("intensity_of_deprivation")
		return func() *rowFault {
			if gap, ok := mpiGap(mpi, headcount, intensity, f.rows.rows); ok {
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

// readAll reads the cells into their columns.
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

// mpiGap is the difference between headcount × intensity, both in percent, and mpi in the current
// set. ok is false when it is within the tolerance or one of the values is null.
func mpiGap(mpi, headcount, intensity *vector, row int) (gap float64, ok bool) {
	if mpi.isNull(row) || headcount.isNull(row) || intensity.isNull(row) {
		return 0, false
	}
	gap = headcount.float(row)*intensity.float(row)/10_000 - mpi.float(row)
	return gap, gap >= mpiTolerance || gap <= -mpiTolerance
}

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

// The columns of a file that give a row's place. A file's own admin_level and flags are not used,
// nor are names of units that its codes identify.
var (
	unit2Headers = []string{
		"location_code", "provider_admin1_name", "provider_admin2_name",
		"admin1_code", "admin1_name", "admin2_code", "admin2_name",
	}
	unit1Headers = []string{"location_code", "provider_admin1_name", "admin1_code", "admin1_name"}
	unitIgnored  = []string{"has_hrp", "in_gho", "admin_level"}
)

// readUnit2 sets the group place down to level 2, and further columns of the group from the cells
// of their names.
func readUnit2(more ...string) step {
	wanted := slices.Concat(unit2Headers, more)
	return step{wanted: wanted, optional: unitIgnored, bind: func(f *sourceReader) rowStep {
		k := f.newKey(f.rows.group("place"), wanted...)
		place, others := f.newUnit2Columns(k), k.vectors(more, len(unit2Headers))
		return f.placed(k, func() (string, *rowFault) {
			unlisted, fault := place.set()
			if fault == nil {
				fault = k.readAll(others)
			}
			return unlisted, fault
		})
	}}
}

// placed is once for a key that has the place of a row. A code that no list has is remembered for
// the rows with the same cells.
func (f *sourceReader) placed(k *tupleKey, read func() (unlisted string, fault *rowFault)) rowStep {
	return func() *rowFault {
		if !k.known() {
			unlisted, fault := read()
			if fault != nil {
				return fault
			}
			k.add()
			f.addUnlisted(k.code, unlisted)
		}
		f.notePlace(k.code)
		return nil
	}
}

// unit2Columns are the columns of a place down to level 2. Its key begins with unit2Headers.
type unit2Columns struct {
	csv       *csvReader
	key       *tupleKey
	units     *units
	country   *countryColumns
	id1, id2  *vector
	place     *placeVectors
	providers []keyCell
}

func (f *sourceReader) newUnit2Columns(k *tupleKey) *unit2Columns {
	g := k.group
	return &unit2Columns{
		csv: f.file.csv, key: k, units: f.refs.units, country: newCountryColumns(g, ""),
		id1: g.column("admin1_ref"), id2: g.column("admin2_ref"), place: newPlaceVectors(g),
		providers: k.vectors([]string{"provider_admin1_name", "provider_admin2_name"}, 1),
	}
}

// set fills the columns from the cells of the key. unlisted is a code in the row that no list has,
// empty when the lists have all of them.
func (s *unit2Columns) set() (unlisted string, fault *rowFault) {
	k, u := s.key, s.units
	country, ok := u.countryOf[string(k.cell(0))]
	if !ok {
		return "", s.csv.cellFault(unknownLocation, "location_code", k.cell(0))
	}
	at, unknown := u.find2(spot{
		country: country, code1: k.cell(3), code2: k.cell(5),
		named1: len(k.cell(1)) > 0 || len(k.cell(4)) > 0, named2: len(k.cell(2)) > 0 || len(k.cell(6)) > 0,
	})
	unit := &u.level2[at]
	parent := &u.level1[unit.parent]
	s.country.set(u, unit.country)
	s.id2.setInt(ref(at))
	s.id1.setInt(ref(unit.parent))
	if fault := k.readAll(s.providers); fault != nil {
		return "", fault
	}
	s.place.set(place{
		code1: parent.code, name1: parent.name, placeholder1: parent.placeholder, provider1: string(k.cell(1)),
		code2: unit.code, name2: unit.name, placeholder2: unit.placeholder, provider2: string(k.cell(2)),
	})
	return string(unknown), nil
}

// readUnit1 sets the group place for files that have no level 2.
func readUnit1() step { return step{wanted: unit1Headers, optional: unitIgnored, bind: bindUnit1} }

func bindUnit1(f *sourceReader) rowStep {
	u, k := f.refs.units, f.newKey(f.rows.group("place"), unit1Headers...)
	columns, id, printed := newCountryColumns(k.group, ""), k.group.column("admin1_ref"), newPlaceVectors(k.group)
	provider := k.vectors([]string{"provider_admin1_name"}, 1)
	return f.placed(k, func() (string, *rowFault) {
		country, ok := u.countryOf[string(k.cell(0))]
		if !ok {
			return "", f.file.csv.cellFault(unknownLocation, "location_code", k.cell(0))
		}
		at, unlisted := u.find1(spot{
			country: country, code1: k.cell(2), named1: len(k.cell(1)) > 0 || len(k.cell(3)) > 0,
		})
		unit := &u.level1[at]
		columns.set(u, unit.country)
		id.setInt(ref(at))
		if fault := k.readAll(provider); fault != nil {
			return "", fault
		}
		printed.set(place{
			code1: unit.code, name1: unit.name, placeholder1: unit.placeholder, provider1: string(k.cell(1)),
		})
		return string(unlisted), nil
	})
}
