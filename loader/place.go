package loader

import "strings"

// place is the place of a row: the units it is stored with, each a real one or a placeholder, and
// what its provider called them. What a record prints, and what filters look at, follow from this
// alone.
type place struct {
	code1, name1 string
	code2, name2 string // empty for files that have no level 2

	placeholder1, placeholder2 bool
	provider1, provider2       string
}

// level is the finest level that a row has: by a real unit, or by a name that matched no unit.
func (p *place) level() int {
	if p.provider2 != "" || !p.placeholder2 {
		return 2
	}
	return p.level1()
}

// level1 is level for files that have no level 2.
func (p *place) level1() int {
	if p.provider1 != "" || !p.placeholder1 {
		return 1
	}
	return 0
}

// placeVectors sets the columns of a place in a group's next tuple: as stored, as printed, the
// provider's names where the group has them, and the level. The group's columns decide which levels
// there are.
type placeVectors struct {
	units []unitVectors // level 1, and level 2 if there is one
	level *vector
}

// unitVectors are the columns of one level.
type unitVectors struct{ storedCode, storedName, provider, code, name *vector }

func newPlaceVectors(g *tuples) *placeVectors {
	s := &placeVectors{level: g.column("admin_level")}
	for _, level := range []string{"admin1", "admin2"} {
		if !g.has(level + "_code") {
			break
		}
		u := unitVectors{
			storedCode: g.column("stored_" + level + "_code"), storedName: g.column("stored_" + level + "_name"),
			code: g.column(level + "_code"), name: g.column(level + "_name"),
		}
		if g.has("provider_" + level + "_name") {
			u.provider = g.column("provider_" + level + "_name")
		}
		s.units = append(s.units, u)
	}
	return s
}

// set derives the level and sets all columns.
func (s *placeVectors) set(p place) {
	if len(s.units) == 1 {
		s.setAt(p, p.level1())
	} else {
		s.setAt(p, p.level())
	}
}

// setAt is set with a level that has been read.
func (s *placeVectors) setAt(p place, level int) {
	s.units[0].set(p.code1, p.name1, p.provider1, level >= 1)
	if len(s.units) == 2 {
		s.units[1].set(p.code2, p.name2, p.provider2, level >= 2)
	}
	s.level.setInt(int64(level))
}

func (u *unitVectors) set(code, name, provider string, shown bool) {
	u.storedCode.setString(code)
	u.storedName.setString(name)
	if u.provider != nil {
		u.provider.setString(provider)
	}
	if !shown {
		u.code.setNull()
		u.name.setNull()
		return
	}
	u.code.setString(code)
	u.name.setString(printedName(name, provider))
}

// printedName is the provider's name where the unit has no name of its own.
func printedName(stored, provider string) string {
	if provider != "" && (stored == "" || strings.EqualFold(stored, unspecified)) {
		return provider
	}
	return stored
}
