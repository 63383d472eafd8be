package loader

import "slices"

// readCountry sets a group that is only a country; prefix is that of its columns (origin_, asylum_
// or empty).
func readCountry(group, prefix string) step {
	return countryStep{names{wanted: []string{prefix + "location_code"}}, group, prefix}
}

type countryStep struct {
	names
	group, prefix string
}

func (s countryStep) bind(f *sourceReader) rowStep {
	k := f.newKey(f.rows.group(s.group), s.wanted...)
	return &countryRow{
		csv: f.file.csv, key: k, header: s.wanted[0], units: f.refs.units,
		columns: newCountryColumns(k.group, s.prefix),
	}
}

type countryRow struct {
	csv     *csvReader
	key     *tupleKey
	header  string
	units   *units
	columns *countryColumns
}

// Row looks the country up unless its code has been seen before.
func (s *countryRow) Row() *rowFault {
	if s.key.known() {
		return nil
	}
	at, ok := s.units.countryOf[string(s.key.cell(0))]
	if !ok {
		return s.csv.cellFault(unknownLocation, s.header, s.key.cell(0))
	}
	s.columns.set(s.units, at)
	s.key.add()
	return nil
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
	return unit2Step{names{wanted: slices.Concat(unit2Headers, more), optional: unitIgnored}, more}
}

type unit2Step struct {
	names
	more []string
}

func (s unit2Step) bind(f *sourceReader) rowStep {
	k := f.newKey(f.rows.group("place"), s.wanted...)
	return &unit2Row{f: f, key: k, place: f.newUnit2Columns(k), more: k.vectors(s.more, len(unit2Headers))}
}

type unit2Row struct {
	f     *sourceReader
	key   *tupleKey
	place *unit2Columns
	more  []keyCell
}

// Row resolves the place unless its cells have been seen before.
func (s *unit2Row) Row() *rowFault {
	if !s.key.known() {
		unlisted, fault := s.place.set()
		if fault == nil {
			fault = s.key.readAll(s.more)
		}
		if fault != nil {
			return fault
		}
		s.key.add()
		s.f.addUnlisted(s.key.code, unlisted)
	}
	s.f.notePlace(s.key.code)
	return nil
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
func readUnit1() step { return unit1Step{names{wanted: unit1Headers, optional: unitIgnored}} }

type unit1Step struct{ names }

func (s unit1Step) bind(f *sourceReader) rowStep {
	k := f.newKey(f.rows.group("place"), s.wanted...)
	return &unit1Row{
		f: f, key: k, country: newCountryColumns(k.group, ""), id: k.group.column("admin1_ref"),
		place: newPlaceVectors(k.group), provider: k.vectors([]string{"provider_admin1_name"}, 1),
	}
}

type unit1Row struct {
	f        *sourceReader
	key      *tupleKey
	country  *countryColumns
	id       *vector
	place    *placeVectors
	provider []keyCell
}

// Row resolves the place unless its cells have been seen before.
func (s *unit1Row) Row() *rowFault {
	k, u := s.key, s.f.refs.units
	if !k.known() {
		country, ok := u.countryOf[string(k.cell(0))]
		if !ok {
			return s.f.file.csv.cellFault(unknownLocation, "location_code", k.cell(0))
		}
		at, unlisted := u.find1(spot{
			country: country, code1: k.cell(2), named1: len(k.cell(1)) > 0 || len(k.cell(3)) > 0,
		})
		unit := &u.level1[at]
		s.country.set(u, unit.country)
		s.id.setInt(ref(at))
		if fault := k.readAll(s.provider); fault != nil {
			return fault
		}
		s.place.set(place{
			code1: unit.code, name1: unit.name, placeholder1: unit.placeholder, provider1: string(k.cell(1)),
		})
		k.add()
		s.f.addUnlisted(k.code, string(unlisted))
	}
	s.f.notePlace(k.code)
	return nil
}
