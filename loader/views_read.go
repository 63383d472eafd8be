package loader

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"hdqs/loader/catalogfile"
)

// The reasons that occur only in dumps.
const (
	placeholderRow reason = "placeholder"
	levelDiffers   reason = "admin_level_differs"
)

// maxHashFile bounds the small file with a dump's sum.
const maxHashFile = 4096

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

// readDump reads the dump of a theme. It returns nothing when there is none; an error refuses the
// dump.
func (l *load) readDump(ctx context.Context, th *theme) (*tableBuilder, *ResourceReport, error) {
	files := l.catalog.files[th.viewName()]
	if files == nil {
		return nil, nil, nil
	}
	file := files[0]
	sum, err := readHashFile(l.catalog.fsys, th.viewName()+".hash")
	if err != nil {
		return nil, nil, err
	}
	file.plainMD5 = sum
	v := &viewReader{
		sourceReader: *newSourceReader(th.table, th.viewSteps(), &references{now: l.time}), th: th,
		addLinks: linkForms[th.table.name] != nil, site: l.report.CatalogURL,
	}
	wanted, optional := headersOfSteps(v.steps)
	if th.view.hidden != "" {
		wanted = append(wanted, th.view.hidden)
	}
	report, err := l.scan(ctx, file, wanted, append(optional, unusedViewHeaders...), v)
	return v.rows, report, err
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

// readHashFile reads the md5 that may be beside a dump, "" when there is none. A file name may
// follow it.
func readHashFile(fsys fs.FS, path string) (string, error) {
	data, err := catalogfile.ReadFile(fsys, path, maxHashFile)
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
	if _, assumed := th.view.assumed[c.name]; assumed {
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
			return csv.cellFault(why, header, cell)
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
