package loader

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The reasons that only dumps have.
const (
	placeholderRow reason = "placeholder"
	levelDiffers   reason = "admin_level_differs"
)

// maxHashFile bounds the small file with a dump's sum.
const maxHashFile = 4096

// read reads the dump into rows. An error refuses it.
func (v *view) read(ctx context.Context, l *load) (*assembly, *ResourceReport, error) {
	files := l.catalog.files[v.name]
	if files == nil {
		return nil, nil, nil
	}
	file := files[0]
	sum, err := readHashFile(l.catalog.fsys, v.name+".hash")
	if err != nil {
		return nil, nil, err
	}
	file.plainMD5 = sum
	f := &reading{load: l, rows: newAssembly(tableNamed(v.table))}
	steps := v.steps(f.rows.table)
	var wants, optional []string
	for _, s := range steps {
		wants, optional = append(wants, s.wants...), append(optional, s.optional...)
	}
	if v.hidden != "" {
		wants = append(wants, v.hidden)
	}
	optional = append(optional, unusedHeaders...)
	report, err := l.scan(ctx, file, wants, optional, func(r *csvReader, report *ResourceReport) func() *rowFault {
		f.csv, f.report = r, report
		for _, s := range steps {
			f.steps = append(f.steps, s.bind(f))
		}
		hidden := r.position(v.hidden)
		return func() *rowFault {
			if is, ok := parseFlag(r.cell(hidden)); ok && is {
				fault := r.fault(placeholderRow, "not listed")
				fault.byRule = true
				return fault
			}
			for _, step := range f.steps {
				if why := step(); why != "" {
					return f.fault(why, f.detail)
				}
			}
			f.rows.commit()
			return nil
		}
	})
	return f.rows, report, err
}

// unusedHeaders are columns that dumps are known to have and no table needs.
var unusedHeaders = []string{"id", "has_hrp", "in_gho", "admin1_is_unspecified"}

// readHashFile reads the md5 that may lie beside a dump, "" when there is none. A file name may follow it.
func readHashFile(fsys fs.FS, path string) (string, error) {
	data, err := readWhole(fsys, path, maxHashFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(data))
	if len(words) == 0 {
		return "", fmt.Errorf("%s: empty", path)
	}
	sum := strings.ToLower(words[0])
	if b, err := hex.DecodeString(sum); err != nil || len(b) != 16 {
		return "", fmt.Errorf("%s: %q is no md5", path, clip(sum, 40))
	}
	return sum, nil
}

// header is the dump's name for a column of the table.
func (v *view) header(column string) string {
	if name, ok := v.renamed[column]; ok {
		return name
	}
	return column
}

// steps follow from the declaration of the table: a step for each group and one for each column of rows.
func (v *view) steps(t *table) []step {
	var steps []step
	groups := map[string][]*column{}
	var names []string
	for i := range t.columns {
		c := &t.columns[i]
		switch {
		case c.group != "":
			if groups[c.group] == nil {
				names = append(names, c.group)
			}
			groups[c.group] = append(groups[c.group], c)
		case linkForms[t.name][c.name] == "":
			steps = append(steps, v.keep(t, c))
		}
	}
	for _, name := range names {
		steps = append(steps, v.keepGroup(t, name, groups[name]))
	}
	if linkForms[t.name] != nil {
		steps = append(steps, keepLinks())
	}
	if t.name == "poverty_rate" {
		steps = append(steps, checkIndex())
	}
	return steps
}

// mayLack tells whether a dump may come without a column: its nulls then stand in. Ids that neither sort nor tell rows apart may be missing too.
func (v *view) mayLack(t *table, c *column) bool {
	_, assumed := v.assumed[c.name]
	id := strings.HasSuffix(c.name, "_ref") && t.name != "admin1" && t.name != "admin2"
	for _, name := range t.order {
		id = id && name != c.name
	}
	return c.nullable || assumed || id
}

// keep takes a column as it is: only a cell that cannot be read drops the row, anything else is reported.
func (v *view) keep(t *table, c *column) step {
	header := v.header(c.name)
	s := step{bind: func(f *reading) func() reason {
		to, at := f.rows.column(c.name), f.csv.position(header)
		return func() reason { return v.keepCell(f, to, at, header) }
	}}
	if v.mayLack(t, c) {
		s.optional = []string{header}
	} else {
		s.wants = []string{header}
	}
	return s
}

func (v *view) keepCell(f *reading, to *vector, at int, header string) reason {
	if at < 0 {
		if is, ok := v.assumed[to.name]; ok {
			to.setBool(is)
		} else {
			to.setNull()
		}
		return ""
	}
	cell := f.csv.cell(at)
	why := to.read(cell)
	switch {
	case why == "":
	case why.unreadable(), why == missing && to.name == v.needed:
		return f.fail(why, header, cell)
	default:
		f.report.odd(f.fault(why, header+": "+quoted(cell)))
	}
	return ""
}

// keepGroup takes a tuple as it is. Columns of a place that do not stand in the dump follow from those that do.
func (v *view) keepGroup(t *table, name string, columns []*column) step {
	var s step
	var kept []*column
	isPlace := false
	for _, c := range columns {
		if strings.HasPrefix(c.name, "stored_") {
			isPlace = true
		}
	}
	for _, c := range columns {
		if isPlace && (derivedOfPlace[c.name] || strings.HasPrefix(c.name, "stored_admin") || isProviderName(c.name)) {
			continue
		}
		kept = append(kept, c)
		if v.mayLack(t, c) {
			s.optional = append(s.optional, v.header(c.name))
		} else {
			s.wants = append(s.wants, v.header(c.name))
		}
	}
	var headers placeHeaders
	if isPlace {
		headers = placeHeadersOf(columns, t)
		s.wants = append(s.wants, headers.wants...)
		s.optional = append(s.optional, headers.optional...)
	}
	s.bind = func(f *reading) func() reason {
		k := f.newKey(f.rows.group(name), append(append([]string{}, s.wants...), s.optional...)...)
		to := make([]*vector, len(kept))
		at := make([]int, len(kept))
		for i, c := range kept {
			to[i], at[i] = k.group.column(c.name), f.csv.position(v.header(c.name))
		}
		setPlace := func() reason { return "" }
		if isPlace {
			setPlace = headers.bind(f, k.group)
		}
		return func() reason {
			if k.known() {
				return ""
			}
			for i, c := range kept {
				if why := v.keepCell(f, to[i], at[i], v.header(c.name)); why != "" {
					return why
				}
			}
			if why := setPlace(); why != "" {
				return why
			}
			if why := checkPeriod(f, k.group); why != "" {
				f.report.odd(f.fault(why, "reference_period_end"))
			}
			k.add()
			return ""
		}
	}
	return s
}

// checkPeriod looks at the tuple being set when it is a period.
func checkPeriod(f *reading, g *tuples) reason {
	if g.name != "period" {
		return ""
	}
	start, end := g.column("reference_period_start"), g.column("reference_period_end")
	if !start.isNull(g.n) && !end.isNull(g.n) && end.int(g.n) < start.int(g.n) {
		return endFirst
	}
	return ""
}

// keepLinks sets the columns that are made of others, and prints the download link as all links are printed.
func keepLinks() step {
	return step{bind: func(f *reading) func() reason {
		return func() reason {
			setLinks(f.rows, f.load.report.CatalogURL)
			if f.rows.has("download_url") {
				v := f.rows.column("download_url")
				if i := f.rows.rows; !v.isNull(i) {
					v.setString(normalURI(v.text(i)))
				}
			}
			return ""
		}
	}}
}

// derivedOfPlace are the columns of a place that no dump has as they are printed.
var derivedOfPlace = map[string]bool{
	"admin1_code": true, "admin1_name": true, "admin2_code": true, "admin2_name": true, "admin_level": true,
}

func isProviderName(column string) bool {
	return column == "provider_admin1_name" || column == "provider_admin2_name"
}

// placeHeaders are the columns of a dump that tell a place.
type placeHeaders struct {
	wants, optional []string
	levels          int
	told            bool // the dump tells the level and nothing to derive it from
}

func placeHeadersOf(columns []*column, t *table) placeHeaders {
	h := placeHeaders{levels: 1, told: t.name == "data_availability"}
	for _, c := range columns {
		if c.name == "admin2_code" {
			h.levels = 2
		}
	}
	for _, unit := range []string{"admin1", "admin2"}[:h.levels] {
		h.wants = append(h.wants, unit+"_code", unit+"_name")
		if !h.told {
			h.wants = append(h.wants, unit+"_is_unspecified", "provider_"+unit+"_name")
		}
	}
	if h.told {
		h.wants = append(h.wants, "admin_level")
	} else {
		h.optional = append(h.optional, "admin_level")
	}
	return h
}

// bind gives the function that sets stored, printed and provider names, and the level. The level follows from the units and the
// provider's names, as the contract has it; a dump that tells another one is reported.
func (h placeHeaders) bind(f *reading, g *tuples) func() reason {
	at := map[string]int{}
	for _, name := range append(h.wants, h.optional...) {
		at[name] = f.csv.position(name)
	}
	vectors := newPlaceVectors(g)
	text := func(name string) string { return string(f.csv.cell(at[name])) }
	return func() reason {
		p := place{code1: text("admin1_code"), name1: text("admin1_name")}
		if h.levels == 2 {
			p.code2, p.name2 = text("admin2_code"), text("admin2_name")
		}
		cell := f.csv.cell(at["admin_level"])
		level, ok := parseInt(cell)
		if h.told {
			if !ok || level < 0 || level > 2 {
				return f.fail(badNumber, "admin_level", cell)
			}
			vectors.setAt(p, int(level))
			return ""
		}
		p.provider1 = text("provider_admin1_name")
		if p.placeholder1, ok = parseFlag(f.csv.cell(at["admin1_is_unspecified"])); !ok {
			return f.fail(badFlag, "admin1_is_unspecified", f.csv.cell(at["admin1_is_unspecified"]))
		}
		if h.levels == 2 {
			p.provider2 = text("provider_admin2_name")
			if p.placeholder2, ok = parseFlag(f.csv.cell(at["admin2_is_unspecified"])); !ok {
				return f.fail(badFlag, "admin2_is_unspecified", f.csv.cell(at["admin2_is_unspecified"]))
			}
		}
		vectors.set(p)
		if derived := vectors.level.int(g.n); len(cell) > 0 && (level != derived || !digitsOnly(cell)) {
			f.report.odd(f.fault(levelDiffers, fmt.Sprintf("admin_level: %s, the place is of level %d", quoted(cell), derived)))
		}
		return ""
	}
}

func digitsOnly(cell []byte) bool {
	_, ok := digits(cell)
	return ok
}
