package loader

import "slices"

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
