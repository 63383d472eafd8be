package loader

import "strings"

// place is where a row stands: the units it is stored with, each a real one or a placeholder, and what its provider called them.
// What a record prints of it, and what filters look at, both follow from this alone.
type place struct {
	code1, name1 string // level 1
	code2, name2 string // level 2; empty for sources that stop at level 1
	real1, real2 bool   // not a placeholder
	provider1    string
	provider2    string
}

// level is the finest level at which the row says something: a real unit, or a name that matched none.
func (p *place) level() int {
	if p.real2 || p.provider2 != "" {
		return 2
	}
	return p.level1()
}

// level1 is the same for sources that know no level 2.
func (p *place) level1() int {
	if p.real1 || p.provider1 != "" {
		return 1
	}
	return 0
}

// set sets the columns of a group's next tuple that tell the place at the given level: as stored, as printed, and the provider's
// names where the group has them. Columns of level 2 are left out where the group has none.
func (p *place) set(g *tuples, level int) {
	g.setUnit("1", p.code1, p.name1, p.provider1, level >= 1)
	if g.has("admin2_code") {
		g.setUnit("2", p.code2, p.name2, p.provider2, level >= 2)
	}
	g.column("admin_level").setInt(int64(level))
}

func (g *tuples) setUnit(level, code, name, provider string, shown bool) {
	g.column("stored_admin" + level + "_code").setString(code)
	g.column("stored_admin" + level + "_name").setString(name)
	if g.has("provider_admin" + level + "_name") {
		g.column("provider_admin" + level + "_name").setString(provider)
	}
	if !shown {
		g.column("admin" + level + "_code").setNull()
		g.column("admin" + level + "_name").setNull()
		return
	}
	g.column("admin" + level + "_code").setString(code)
	g.column("admin" + level + "_name").setString(printedName(name, provider))
}

// printedName is the provider's name where the unit's own says nothing.
func printedName(stored, provider string) string {
	if provider != "" && (stored == "" || strings.EqualFold(stored, unspecified)) {
		return provider
	}
	return stored
}
