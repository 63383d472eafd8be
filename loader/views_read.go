package loader

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
func (v *view) read(ctx context.Context, l *load) (*tableBuilder, *ResourceReport, error) {
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
	f := &sourceReader{load: l, rows: newTableBuilder(tableNamed(v.table))}
	steps := v.steps(f.rows.table)
	var wants, optional []string
	for _, s := range steps {
		wants, optional = append(wants, s.wants...), append(optional, s.optional...)
	}
	if v.hidden != "" {
		wants = append(wants, v.hidden)
	}
	optional = append(optional, unusedHeaders...)
	report, err := l.scan(ctx, file, wants, optional, func(r *csvReader, report *ResourceReport) (func() *rowFault, error) {
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
		}, nil
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
	s := step{bind: func(f *sourceReader) func() reason {
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

func (v *view) keepCell(f *sourceReader, to *vector, at int, header string) reason {
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

// keepGroup takes a tuple as it is, each distinct one once, so that what is odd about it is counted once and not for each of its rows. The
// columns of a place that a dump does not have as they are printed follow from those that it has.
func (v *view) keepGroup(t *table, name string, columns []*column) step {
	var s step
	var kept []*column
	place := placeDumpOf(t, columns)
	if place != nil {
		s.wants, s.optional = slices.Clone(place.wants), slices.Clone(place.optional)
	}
	for _, c := range columns {
		switch {
		case place != nil && place.sets(c.name):
			continue
		case v.mayLack(t, c):
			s.optional = append(s.optional, v.header(c.name))
		default:
			s.wants = append(s.wants, v.header(c.name))
		}
		kept = append(kept, c)
	}
	s.bind = func(f *sourceReader) func() reason {
		k := f.newKey(f.rows.group(name), slices.Concat(s.wants, s.optional)...)
		cells := make([]func() reason, 0, len(kept)+1)
		for _, c := range kept {
			to, at, header := k.group.column(c.name), f.csv.position(v.header(c.name)), v.header(c.name)
			cells = append(cells, func() reason { return v.keepCell(f, to, at, header) })
		}
		if place != nil {
			cells = append(cells, place.bind(f, k.group))
		}
		return func() reason {
			if k.known() {
				return ""
			}
			for _, set := range cells {
				if why := set(); why != "" {
					return why
				}
			}
			if endsFirst(k.group) {
				f.report.odd(f.fault(endFirst, "reference_period_end"))
			}
			k.add()
			return ""
		}
	}
	return s
}

// endsFirst tells whether the tuple being set is a period that ends before it begins.
func endsFirst(g *tuples) bool {
	if g.name != "period" {
		return false
	}
	start, end := g.column("reference_period_start"), g.column("reference_period_end")
	return !start.isNull(g.n) && !end.isNull(g.n) && end.int(g.n) < start.int(g.n)
}

// keepLinks sets the columns that are made of others, and prints the download link as all links are printed.
func keepLinks() step {
	return step{bind: func(f *sourceReader) func() reason {
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
