package loader

import (
	"fmt"
	"slices"
)

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
	s.hrp.setBool(c.flags[0])
	s.gho.setBool(c.flags[1])
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

// readUnit sets the group place from the headers of units of one level or both, and more columns of
// the group from the cells of their names.
func readUnit(units, more []string) step {
	return step{wanted: slices.Concat(units, more), bind: func(f *sourceReader) rowStep {
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
	if fault := s.wrongNames(country); fault != nil {
		return nil, fault
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

// wrongNames is the fault of a row whose names are of no unit, or of another one than its codes.
func (s *placeColumns) wrongNames(country int32) *rowFault {
	for at, header := range unit2Headers[1:] {
		if cell := s.key.cell(at + 1); isEmptyWord(cell) {
			return s.csv.cellFault(emptyAsWord, header, cell)
		}
	}
	for level := 1; level <= 2; level++ {
		provider, code, name := s.key.cell(level), s.key.cell(2*level+1), s.key.cell(2*level+2)
		switch wrong := s.units.nameElsewhere(country, level, code, name); {
		case wrong != "":
			return s.csv.fault(otherName, wrong)
		case len(code) == 0 && (totalName.Match(provider) || totalName.Match(name)):
			return s.csv.fault(totalAsUnit, fmt.Sprintf(
				"provider_admin%d_name %s, admin%d_name %s: a sum over units counts twice", level, quoted(provider),
				level, quoted(name)))
		}
	}
	return nil
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
	said := s.key.cell(len(unit2Headers))
	stated, ok := parseInt(said)
	if ok = ok && stated <= 2; ok {
		own = max(own, stated)
	}
	if ok && stated < level || !ok && len(said) > 0 {
		n.below = fmt.Sprintf("%s: admin_level %s, but the row is placed at level %d", n.country, quoted(said), level)
	}
	if own > level {
		n.above = fmt.Sprintf("%s: a row of level %d is placed at level %d", n.country, own, level)
	}
	for at := 3; at < len(unit2Headers); at += 2 { // published files have both or neither
		if name := s.key.cell(at + 1); len(name) > 0 && len(s.key.cell(at)) == 0 {
			n.above = fmt.Sprintf("%s: %s %s without its code", n.country, unit2Headers[at+1], quoted(name))
		}
	}
	if s.id2 != nil && !p.placeholder2 && len(w.code1) > 0 && string(w.code1) != p.code1 {
		n.parent = fmt.Sprintf("admin1_code %s, the parent of %s is %s", quoted(w.code1), p.code2, p.code1)
	}
	if n.parent == "" && n.below == "" && !n.misplaced() {
		return nil
	}
	return &n
}
