package loader

import (
	"fmt"
	"regexp"
	"strings"
)

// unspecified is the name of placeholder units. A row whose place is known only down to some level
// is given the placeholder below it, whose code is that of its parent with -XXX.
const unspecified = "UNSPECIFIED"

const placeholderSuffix = "-XXX"

// orphanUnit is the one unit of level 2 that is kept although no list has its parent: its parent is
// its country's placeholder.
const orphanUnit, orphanCountry = "SS0001", "SSD"

// countryUnit is one of the locations that rows can name.
type countryUnit struct {
	code, name   string
	flags        [len(flagColumns)]bool
	classes      [len(classColumns)]string // empty where there is none
	start        int64
	placeholder1 int32 // its placeholder of level 1, a position in units.level1
}

// unit is an administrative unit of level 1 or 2. Its id is its position plus one, as in the
// incumbent's sequences.
type unit struct {
	code, name  string
	country     int32
	parent      int32 // of level 2: a position in level1
	placeholder bool
	below       int32 // of level 1: its placeholder of level 2
	start       int64
}

// units are all places that rows can have. Codes are unique within a level, not across levels.
type units struct {
	countries []countryUnit
	level1    []unit
	level2    []unit

	countryOf map[string]int32
	of1       map[string]int32
	of2       map[string]int32

	named  map[unitName]bool
	listed []listedUnit // read, not yet numbered
	real   [3]int       // real units of each level
}

// listedUnit is a row of the list of units, in file order.
type listedUnit struct {
	country, code, name, parent string
	level                       int
	start                       int64
	fault                       *rowFault // reported when its parent is unknown; nil for one restored from a snapshot
}

func newUnits() *units {
	return &units{
		countryOf: map[string]int32{}, of1: map[string]int32{}, of2: map[string]int32{}, named: map[unitName]bool{},
	}
}

// addCountry appends a location, unless its code is taken.
func (u *units) addCountry(c countryUnit) bool {
	if _, twice := u.countryOf[c.code]; twice {
		return false
	}
	u.countryOf[c.code] = int32(len(u.countries))
	u.countries = append(u.countries, c)
	return true
}

// withoutUnits are the same locations without units.
func (u *units) withoutUnits() *units {
	next := newUnits()
	for _, c := range u.countries {
		next.addCountry(c)
	}
	return next
}

// number gives the listed units their ids: level 1 in file order over the whole list, then level 2,
// each level followed by its placeholders. It returns the rows of units that get none: those of
// level 2 whose parent is no unit of level 1, and those whose code is taken. Rows restored from a
// snapshot are not returned.
func (u *units) number() (orphans []listedUnit, twice []*rowFault) {
	taken := func(codes map[string]int32, l *listedUnit) bool {
		_, seen := codes[l.code]
		if seen && l.fault != nil {
			twice = append(twice, l.fault)
		}
		return seen
	}
	for _, l := range u.listed {
		if l.level == 1 && !taken(u.of1, &l) {
			u.of1[l.code] = int32(len(u.level1))
			u.level1 = append(u.level1,
				unit{code: l.code, name: l.name, country: u.countryOf[l.country], start: l.start})
		}
	}
	u.real[1] = len(u.level1)
	u.addPlaceholders1()
	for _, l := range u.listed {
		if l.level != 2 || taken(u.of2, &l) {
			continue
		}
		parent, ok := u.parentOf(l)
		switch {
		case ok:
			u.of2[l.code] = int32(len(u.level2))
			u.level2 = append(u.level2, unit{
				code: l.code, name: l.name, country: u.level1[parent].country, parent: parent, start: l.start,
			})
		case l.fault != nil:
			orphans = append(orphans, l)
		}
	}
	u.real[2] = len(u.level2)
	for i, level := range [][]unit{u.level1[:u.real[1]], u.level2[:u.real[2]]} {
		for _, one := range level {
			u.named[unitName{i + 1, one.country, one.name}] = true
		}
	}
	u.addPlaceholders2()
	u.listed = nil
	return orphans, twice
}

// unitName is the name of a unit, or of several, in a country.
type unitName struct {
	level   int
	country int32
	name    string
}

// addPlaceholders1 adds a placeholder of level 1 for every country.
func (u *units) addPlaceholders1() {
	for i := range u.countries {
		c := &u.countries[i]
		c.placeholder1 = int32(len(u.level1))
		u.level1 = append(u.level1, unit{
			code: c.code + placeholderSuffix, name: unspecified, country: int32(i), placeholder: true, start: c.start,
		})
		u.of1[c.code+placeholderSuffix] = c.placeholder1
	}
}

// addPlaceholders2 adds a placeholder of level 2 for every unit of level 1, placeholders included.
func (u *units) addPlaceholders2() {
	for i := range u.level1 {
		p := &u.level1[i]
		p.below = int32(len(u.level2))
		u.level2 = append(u.level2, unit{
			code: p.code + placeholderSuffix, name: unspecified, country: p.country, parent: int32(i),
			placeholder: true, start: p.start,
		})
		u.of2[p.code+placeholderSuffix] = p.below
	}
}

// parentOf finds the unit of level 1 that a listed unit of level 2 belongs to. A list cannot name a
// placeholder.
func (u *units) parentOf(l listedUnit) (int32, bool) {
	if p, ok := u.of1[l.parent]; ok && !u.level1[p].placeholder {
		return p, true
	}
	if c, ok := u.countryOf[orphanCountry]; ok && l.code == orphanUnit {
		return u.countries[c].placeholder1, true
	}
	return 0, false
}

// spot is what a row says about its place: codes, and whether it names something at each level.
type spot struct {
	country        int32
	code1, code2   []byte
	named1, named2 bool
}

// codeElsewhere says which of a row's codes, in the order of their levels, is that of a unit of
// another country than the row names, "" when none is.
func (u *units) codeElsewhere(country int32, codes ...[]byte) string {
	for i, code := range codes {
		owner := country
		if at, ok := u.of1[string(code)]; ok {
			owner = u.level1[at].country
		} else if at, ok := u.of2[string(code)]; ok {
			owner = u.level2[at].country
		}
		if owner != country {
			return fmt.Sprintf("location_code %s, but admin%d_code %s is of %s",
				u.countries[country].code, i+1, quoted(code), u.countries[owner].code)
		}
	}
	return ""
}

// nameElsewhere says that a row has the name of one unit and the code of another, "" when it does
// not. A name that no unit of the country has is another spelling.
func (u *units) nameElsewhere(country int32, level int, code, name []byte) string {
	of, all := u.of1, u.level1
	if level == 2 {
		of, all = u.of2, u.level2
	}
	at, ok := of[string(code)]
	if !ok || all[at].placeholder || all[at].name == string(name) ||
		!u.named[unitName{level, country, string(name)}] {
		return ""
	}
	return fmt.Sprintf("admin%d_name %s, but admin%d_code %s is that of %s", level, quoted(name), level, quoted(code),
		quoted([]byte(all[at].name)))
}

// totalName matches names that sums over units have in place of a name of a unit.
var totalName = regexp.MustCompile(
	`(?i)^\W*(?:(?:grand|sub|sous)[- ]*)?tota(?:l|ls|ux|les)\b|^(?:all|overall|المجموع|الإجمالي)$`)

// find2 is the unit of level 2 of a row. unknown is a code in the row that no list has: the row
// then falls to its country, whatever else it says.
func (u *units) find2(s spot) (at int32, unknown []byte) {
	if s.named2 && len(s.code2) > 0 {
		if at, ok := u.of2[string(s.code2)]; ok {
			return at, nil
		}
		return u.level1[u.countries[s.country].placeholder1].below, s.code2
	}
	s.named1 = s.named1 || s.named2
	at, unknown = u.find1(s)
	return u.level1[at].below, unknown
}

// find1 is find2 for files that have no level 2.
func (u *units) find1(s spot) (at int32, unknown []byte) {
	if s.named1 && len(s.code1) > 0 {
		if at, ok := u.of1[string(s.code1)]; ok {
			return at, nil
		}
		unknown = s.code1
	}
	return u.countries[s.country].placeholder1, unknown
}

// ref is the id of the unit at a position.
func ref(at int32) int64 { return int64(at) + 1 }

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
	if provider != "" && (name == "" || strings.EqualFold(name, unspecified)) {
		name = provider // the unit has no name of its own
	}
	u.code.setString(code)
	u.name.setString(name)
}
