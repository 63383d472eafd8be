package loader

import (
	"fmt"
	"strings"
)

// placeDump says how a dump tells the places of a table. It has the stored units, whether they are placeholders, and the provider's names;
// what prints, and the level, follow from these by the same rule as for any other catalog. The list of what there is has no more than
// units and level, so there the level is taken as it stands.
type placeDump struct {
	wants, optional []string
	levels          int
	told            bool // by admin_level, as there is nothing to derive it from
}

// placeDumpOf is nil for a group that is no place with units.
func placeDumpOf(t *table, columns []*column) *placeDump {
	p := &placeDump{told: t.name == "data_availability"}
	for _, c := range columns {
		if c.name == "stored_admin1_code" || c.name == "stored_admin2_code" {
			p.levels++
		}
	}
	if p.levels == 0 {
		return nil
	}
	for _, unit := range []string{"admin1", "admin2"}[:p.levels] {
		p.wants = append(p.wants, unit+"_code", unit+"_name")
		if !p.told {
			p.wants = append(p.wants, unit+"_is_unspecified", "provider_"+unit+"_name")
		}
	}
	if p.told {
		p.wants = append(p.wants, "admin_level")
	} else {
		p.optional = append(p.optional, "admin_level")
	}
	return p
}

// sets tells whether bind's function sets a column.
func (p *placeDump) sets(name string) bool {
	switch strings.TrimPrefix(strings.TrimPrefix(name, "stored_"), "provider_") {
	case "admin1_name", "admin2_name", "admin_level":
		return true
	case "admin1_code", "admin2_code":
		return !strings.HasPrefix(name, "provider_") // a provider's codes are columns like any other
	}
	return false
}

// bind gives the function that sets a tuple's place. A level in the dump that does not follow from the place is reported.
func (p *placeDump) bind(f *sourceReader, g *tuples) func() reason {
	at := map[string]int{}
	for _, name := range append(p.wants, p.optional...) {
		at[name] = f.csv.position(name)
	}
	vectors := newPlaceVectors(g)
	cell := func(name string) []byte {
		if i, ok := at[name]; ok {
			return f.csv.cell(i)
		}
		return nil
	}
	return func() reason {
		where := place{
			code1: string(cell("admin1_code")), name1: string(cell("admin1_name")), provider1: string(cell("provider_admin1_name")),
			code2: string(cell("admin2_code")), name2: string(cell("admin2_name")), provider2: string(cell("provider_admin2_name")),
		}
		told := cell("admin_level")
		level, ok := parseInt(told)
		if p.told {
			if !ok || level < 0 || level > 2 {
				return f.fail(badNumber, "admin_level", told)
			}
			vectors.setAt(where, int(level))
			return ""
		}
		for i, placeholder := range []*bool{&where.placeholder1, &where.placeholder2}[:p.levels] {
			header := fmt.Sprintf("admin%d_is_unspecified", i+1)
			if *placeholder, ok = parseFlag(cell(header)); !ok {
				return f.fail(badFlag, header, cell(header))
			}
		}
		vectors.set(where)
		if follows := vectors.level.int(g.n); len(told) > 0 && (!isLevel(told) || level != follows) {
			f.report.odd(f.fault(levelDiffers, fmt.Sprintf("admin_level: %s, the place is of level %d", quoted(told), follows)))
		}
		return ""
	}
}

func isLevel(cell []byte) bool { return len(cell) == 1 && cell[0] >= '0' && cell[0] <= '2' }
