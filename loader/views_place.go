package loader

import (
	"fmt"
	"strings"
)

// placeDump says how a dump gives the places of a table. It has the stored units, whether they are
// placeholders, and the provider's names; what is printed, and the level, follow from these by the
// same rule as for any other catalog. The list of available data has only units and level, so there
// the level is read from the dump.
type placeDump struct {
	wanted    []string
	levels    int
	readLevel bool // from admin_level, as there is nothing to derive it from
}

// placeDumpOf is nil for a group that is not a place with units.
func placeDumpOf(t *table, columns []*column) *placeDump {
	p := &placeDump{readLevel: t.name == "data_availability"}
	for _, c := range columns {
		if c.name == "stored_admin1_code" || c.name == "stored_admin2_code" {
			p.levels++
		}
	}
	if p.levels == 0 {
		return nil
	}
	for _, unit := range []string{"admin1", "admin2"}[:p.levels] {
		p.wanted = append(p.wanted, unit+"_code", unit+"_name")
		if !p.readLevel {
			p.wanted = append(p.wanted, unit+"_is_unspecified", "provider_"+unit+"_name")
		}
	}
	p.wanted = append(p.wanted, "admin_level")
	return p
}

// sets reports whether the bound step sets a column.
func (p *placeDump) sets(name string) bool {
	switch strings.TrimPrefix(strings.TrimPrefix(name, "stored_"), "provider_") {
	case "admin1_name", "admin2_name", "admin_level":
		return true
	case "admin1_code", "admin2_code":
		return !strings.HasPrefix(name, "provider_") // a provider's codes are columns like any other
	}
	return false
}

// bind sets a tuple's place. A level in the dump that does not follow from the place is reported.
func (p *placeDump) bind(f *sourceReader, g *tuples) rowStep {
	csv, at, to := f.file.csv, map[string]int{}, newPlaceVectors(g)
	for _, name := range p.wanted {
		at[name] = csv.position(name)
	}
	cell := func(name string) []byte {
		if i, ok := at[name]; ok {
			return csv.cell(i)
		}
		return nil
	}
	text := func(name string) string { return string(cell(name)) }
	return func() *rowFault {
		where := place{
			code1: text("admin1_code"), name1: text("admin1_name"), provider1: text("provider_admin1_name"),
			code2: text("admin2_code"), name2: text("admin2_name"), provider2: text("provider_admin2_name"),
		}
		dumped := cell("admin_level")
		level, ok := parseInt(dumped)
		if p.readLevel {
			if !ok || level < 0 || level > 2 {
				return csv.cellFault(badNumber, "admin_level", dumped)
			}
			to.setAt(where, int(level))
			return nil
		}
		for i, placeholder := range []*bool{&where.placeholder1, &where.placeholder2}[:p.levels] {
			header := fmt.Sprintf("admin%d_is_unspecified", i+1)
			if *placeholder, ok = parseFlag(cell(header)); !ok {
				return csv.cellFault(badFlag, header, cell(header))
			}
		}
		to.set(where)
		if derived := to.level.int(g.n); !isLevel(dumped) || level != derived {
			f.odd(levelDiffers, fmt.Sprintf("admin_level: %s, the place is of level %d", quoted(dumped), derived))
		}
		return nil
	}
}

func isLevel(cell []byte) bool { return len(cell) == 1 && cell[0] >= '0' && cell[0] <= '2' }
