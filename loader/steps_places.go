package loader

// readCountry takes a group that is only a country; prefix is that of its columns (origin_, asylum_ or none).
func readCountry(group, prefix string) step {
	header := prefix + "location_code"
	return step{wants: []string{header}, bind: func(f *sourceReader) func() reason {
		k := f.newKey(f.rows.group(group), header)
		set := f.countrySetter(k.group, prefix)
		return func() reason {
			if k.known() {
				return ""
			}
			at, ok := f.load.units.countryOf[string(k.cell(0))]
			if !ok {
				return f.fail(unknownLocation, header, k.cell(0))
			}
			set(at)
			k.add()
			return ""
		}
	}}
}

// countrySetter sets the five columns that tell a country. Name and flags are those of the list of locations, whatever the file says.
func (f *sourceReader) countrySetter(g *tuples, prefix string) func(at int32) {
	id, code, name := g.column(prefix+"location_ref"), g.column(prefix+"location_code"), g.column(prefix+"location_name")
	hrp, gho := g.column(prefix+"has_hrp"), g.column(prefix+"in_gho")
	return func(at int32) {
		c := &f.load.units.countries[at]
		id.setInt(ref(at))
		code.setString(c.code)
		name.setString(c.name)
		hrp.setBool(c.hasHRP)
		gho.setBool(c.inGHO)
	}
}

// The headers that tell a row's place. The file's own admin_level, names of units that its codes tell, and flags are not used.
var (
	unit2Headers = []string{
		"location_code", "provider_admin1_name", "provider_admin2_name", "admin1_code", "admin1_name", "admin2_code", "admin2_name",
	}
	unit1Headers = []string{"location_code", "provider_admin1_name", "admin1_code", "admin1_name"}
	unitIgnored  = []string{"has_hrp", "in_gho", "admin_level"}
)

// readUnit2 takes the group place down to level 2, and with it columns of the same group from the cells of their names.
func readUnit2(more ...string) step {
	return step{wants: append(append([]string{}, unit2Headers...), more...), optional: unitIgnored, bind: func(f *sourceReader) func() reason {
		k := f.newKey(f.rows.group("place"), append(append([]string{}, unit2Headers...), more...)...)
		set := f.unit2Setter(k)
		extra := make([]*vector, len(more))
		for i, name := range more {
			extra[i] = k.group.column(name)
		}
		return func() reason {
			if k.known() {
				f.noteUnknown(k)
				return ""
			}
			if why := set(); why != "" {
				return why
			}
			for i, v := range extra {
				cell := k.cell(len(unit2Headers) + i)
				if why := v.read(cell); why != "" {
					return f.fail(why, more[i], cell)
				}
			}
			k.add()
			f.noteUnknown(k)
			return ""
		}
	}}
}

// unit2Setter sets the columns of a place down to level 2 from the cells of a key that begins with unit2Headers.
func (f *sourceReader) unit2Setter(k *tupleKey) func() reason {
	g, u := k.group, f.load.units
	setCountry := f.countrySetter(g, "")
	id1, id2 := g.column("admin1_ref"), g.column("admin2_ref")
	setPlace := newPlaceSetter(g)
	providers := []*vector{g.column("provider_admin1_name"), g.column("provider_admin2_name")}
	return func() reason {
		country, ok := u.countryOf[string(k.cell(0))]
		if !ok {
			return f.fail(unknownLocation, "location_code", k.cell(0))
		}
		at, unknown := u.find2(spot{
			country: country, code1: k.cell(3), code2: k.cell(5),
			named1: len(k.cell(1)) > 0 || len(k.cell(4)) > 0, named2: len(k.cell(2)) > 0 || len(k.cell(6)) > 0,
		})
		k.noteCode(unknown)
		stands := &u.level2[at]
		setCountry(stands.country)
		id2.setInt(ref(at))
		id1.setInt(ref(stands.parent))
		for i, v := range providers {
			if why := v.read(k.cell(i + 1)); why != "" {
				return f.fail(why, v.name, k.cell(i+1))
			}
		}
		parent := &u.level1[stands.parent]
		setPlace(place{
			code1: parent.code, name1: parent.name, placeholder1: parent.placeholder, provider1: string(k.cell(1)),
			code2: stands.code, name2: stands.name, placeholder2: stands.placeholder, provider2: string(k.cell(2)),
		})
		return ""
	}
}

// readUnit1 takes the group place of a source that knows no level 2.
func readUnit1() step {
	return step{wants: unit1Headers, optional: unitIgnored, bind: func(f *sourceReader) func() reason {
		k := f.newKey(f.rows.group("place"), unit1Headers...)
		g, u := k.group, f.load.units
		setCountry := f.countrySetter(g, "")
		id1, provider1, setPlace := g.column("admin1_ref"), g.column("provider_admin1_name"), newPlaceSetter(g)
		return func() reason {
			if k.known() {
				f.noteUnknown(k)
				return ""
			}
			country, ok := u.countryOf[string(k.cell(0))]
			if !ok {
				return f.fail(unknownLocation, "location_code", k.cell(0))
			}
			at, unknown := u.find1(spot{country: country, code1: k.cell(2), named1: len(k.cell(1)) > 0 || len(k.cell(3)) > 0})
			k.noteCode(unknown)
			stands := &u.level1[at]
			setCountry(stands.country)
			id1.setInt(ref(at))
			if why := provider1.read(k.cell(1)); why != "" {
				return f.fail(why, "provider_admin1_name", k.cell(1))
			}
			setPlace(place{code1: stands.code, name1: stands.name, placeholder1: stands.placeholder, provider1: string(k.cell(1))})
			k.add()
			f.noteUnknown(k)
			return ""
		}
	}}
}
