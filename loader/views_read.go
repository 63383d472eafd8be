package loader

import (
	"fmt"
	"slices"
	"strings"
)

// The reasons that occur only in dumps.
const (
	placeholderRow reason = "placeholder"
	levelDiffers   reason = "admin_level_differs"
)

// unusedViewHeaders are columns that dumps are known to have and no table needs.
var unusedViewHeaders = []string{"id", "has_hrp", "in_gho", "admin1_is_unspecified"}

// viewReader reads a dump into a table.
type viewReader struct {
	sourceReader
	th       *theme
	hidden   int // position of the flag of rows that the table leaves out, -1 when there is none
	addLinks bool
	site     string // of links
}

func (v *viewReader) open(r *csvReader, report *ResourceReport) error {
	v.bind(r, report)
	v.hidden = r.position(v.th.view.hidden)
	return nil
}

func (v *viewReader) readRow() *rowFault {
	r := v.file.csv
	if v.hidden >= 0 {
		switch is, ok := parseFlag(r.cell(v.hidden)); {
		case !ok:
			return r.cellFault(badFlag, v.th.view.hidden, r.cell(v.hidden))
		case is:
			fault := r.fault(placeholderRow, "not listed")
			fault.byRule = true
			return fault
		}
	}
	if fault := v.readSteps(); fault != nil {
		return fault
	}
	if v.addLinks {
		if wrong := v.setLinks(); wrong != "" {
			return v.file.csv.fault(badLink, wrong)
		}
	}
	v.rows.commit()
	v.rows.from.add(v.rows.rows-1, r.name, r.line)
	return nil
}

// setLinks sets the columns that are made from others, and normalizes the download link as other
// links are. The result is what is wrong with one of them.
func (v *viewReader) setLinks() (fault string) {
	if v.rows.has("download_url") {
		to := v.rows.column("download_url")
		link, ok := webLink(to.text(v.rows.rows))
		if !ok {
			return "download_url: " + quoted([]byte(link))
		}
		to.setString(link)
	}
	return setLinks(v.rows, v.site)
}

// viewSteps follow from the declaration of the table: a step for each column of rows and one for
// each group.
func (th *theme) viewSteps() []step {
	t := th.table
	var steps []step
	groups := map[string][]*column{}
	var order []string
	for i := range t.columns {
		c := &t.columns[i]
		switch {
		case c.group != "" && c.added: // dumps have none
		case c.group != "":
			if groups[c.group] == nil {
				order = append(order, c.group)
			}
			groups[c.group] = append(groups[c.group], c)
		case linkForms[t.name][c.name] == "":
			steps = append(steps, newViewColumn(th, c))
		}
	}
	for _, name := range order {
		steps = append(steps, newViewGroup(th, name, groups[name]))
	}
	return append(steps, th.checks...)
}

// newViewColumn takes a column as it is: only a cell that cannot be read drops the row, anything
// else is reported. Dumps may lack the columns that are assumed then. Others are wanted, also those
// that may be null: a dump that names one differently would make every row null, and filters would
// let pass or hide rows that they should not.
func newViewColumn(th *theme, c *column) step {
	s := step{bind: func(f *sourceReader) rowStep { return newViewCell(f, th, f.rows.column(c.name)) }}
	header := []string{th.viewHeader(c.name)}
	if _, assumed := th.view.assumed[c.name]; assumed || th.list.Column(c.name).Added {
		s.optional = header
	} else {
		s.wanted = header
	}
	return s
}

// newViewCell reads a cell of a dump into a column.
func newViewCell(f *sourceReader, th *theme, to *vector) rowStep {
	csv, header := f.file.csv, th.viewHeader(to.name)
	at, needed := csv.position(header), to.name == th.view.needed
	assumed := th.view.assumed[to.name]
	if declared := th.list.Column(to.name); at < 0 && declared.Added {
		f.noteLacking(declared)
		return func() *rowFault {
			to.setNull()
			return nil
		}
	}
	if at < 0 {
		f.file.report.Faults = append(f.file.report.Faults,
			fmt.Sprintf("no column %s: %t is assumed for every row", header, assumed))
		return func() *rowFault {
			to.setBool(assumed)
			return nil
		}
	}
	return func() *rowFault {
		cell := csv.cell(at)
		why := to.read(cell)
		switch {
		case why == "":
		case why.unreadable(), why == missing && needed:
			return to.fault(csv, why, header, cell)
		default:
			f.odd(why, header+": "+quoted(cell))
		}
		return nil
	}
}

// newViewGroup takes a tuple as it is. Each distinct tuple is read once, so that what is odd about
// it is counted once and not for each of its rows. The columns of a place that a dump does not have
// as they are printed follow from those that it has.
func newViewGroup(th *theme, group string, columns []*column) step {
	s, place := step{}, placeDumpOf(th.table, columns)
	if place != nil {
		s.wanted = slices.Clone(place.wanted)
	}
	var kept []*column
	for _, c := range columns {
		if place == nil || !place.sets(c.name) {
			s.wanted = append(s.wanted, th.viewHeader(c.name))
			kept = append(kept, c)
		}
	}
	s.bind = func(f *sourceReader) rowStep {
		key := f.newKey(f.rows.group(group), s.wanted...)
		var cells []rowStep
		for _, c := range kept {
			cells = append(cells, newViewCell(f, th, key.group.column(c.name)))
		}
		if place != nil {
			cells = append(cells, place.bind(f, key.group))
		}
		return once(key, func() *rowFault {
			for _, read := range cells {
				if fault := read(); fault != nil {
					return fault
				}
			}
			if fault := f.checkTuple(key.group); fault != nil {
				f.file.report.odd(fault)
			}
			return nil
		})
	}
	return s
}

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
	home := csv.position("location_code")
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
	owners := map[string]string{} // countries of codes
	return func() *rowFault {
		where := place{
			code1: text("admin1_code"), name1: text("admin1_name"), provider1: text("provider_admin1_name"),
			code2: text("admin2_code"), name2: text("admin2_name"), provider2: text("provider_admin2_name"),
		}
		country := string(csv.cell(home))
		for _, code := range []string{where.code1, where.code2} {
			if of, seen := owners[code]; seen && code != "" && of != country {
				f.odd(otherCountry, fmt.Sprintf("code %q of %s, in another row of %s", clip(code, 120), country, of))
			}
			owners[code] = country
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
