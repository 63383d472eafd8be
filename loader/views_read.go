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
		sourceReader: *newSourceReader(th.table, th.viewSteps(), nil), th: th,
		addLinks: linkForms[th.table.name] != nil, site: l.report.CatalogURL,
	}
	var wanted, optional []string
	for _, s := range v.steps {
		w, o := s.headers()
		wanted, optional = append(wanted, w...), append(optional, o...)
	}
	if th.view.hidden != "" {
		wanted = append(wanted, th.view.hidden)
	}
	report, err := l.scan(ctx, file, wanted, append(optional, unusedViewHeaders...), v)
	return v.rows, report, err
}

func (v *viewReader) open(r *csvReader, report *ResourceReport) error {
	v.file.csv, v.file.report = r, report
	for _, s := range v.steps {
		v.file.steps = append(v.file.steps, s.bind(&v.sourceReader))
	}
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
	for _, s := range v.file.steps {
		if fault := s.Row(); fault != nil {
			return fault
		}
	}
	if v.addLinks {
		if wrong := v.setLinks(); wrong != "" {
			return v.file.csv.fault(badLink, wrong)
		}
	}
	v.rows.commit()
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
	if slices.ContainsFunc(th.steps, func(s step) bool { _, ok := s.(povertyStep); return ok }) {
		steps = append(steps, checkPovertyIndex())
	}
	return steps
}

// mayLack reports whether a dump may lack a column. Others are wanted, also those that may be null:
// a dump that names one differently would make every row null, and filters would let pass or hide
// rows that they should not.
func (th *theme) mayLack(c *column) bool {
	_, assumed := th.view.assumed[c.name]
	return assumed
}

// viewColumn takes a column as it is: only a cell that cannot be read drops the row, anything else
// is reported.
type viewColumn struct {
	names
	th     *theme
	column *column
}

func newViewColumn(th *theme, c *column) step {
	s := viewColumn{th: th, column: c}
	header := []string{th.viewHeader(c.name)}
	if th.mayLack(c) {
		s.optional = header
	} else {
		s.wanted = header
	}
	return s
}

func (s viewColumn) bind(f *sourceReader) rowStep {
	return newViewCell(f, s.th, f.rows.column(s.column.name))
}

// viewCell is a cell of a dump and the column that it is read into.
type viewCell struct {
	f       *sourceReader
	to      *vector
	at      int // -1 when the dump lacks the column
	header  string
	assumed bool // the value then
	needed  bool
}

func newViewCell(f *sourceReader, th *theme, to *vector) *viewCell {
	header := th.viewHeader(to.name)
	return &viewCell{
		f: f, to: to, at: f.file.csv.position(header), header: header,
		assumed: th.view.assumed[to.name], needed: to.name == th.view.needed,
	}
}

// Row reads the cell.
func (c *viewCell) Row() *rowFault {
	if c.at < 0 {
		c.to.setBool(c.assumed)
		return nil
	}
	cell := c.f.file.csv.cell(c.at)
	why := c.to.read(cell)
	switch {
	case why == "":
	case why.unreadable(), why == missing && c.needed:
		return c.f.file.csv.cellFault(why, c.header, cell)
	default:
		c.f.odd(why, c.header+": "+quoted(cell))
	}
	return nil
}

// viewGroup takes a tuple as it is. Each distinct tuple is read once, so that what is odd about it
// is counted once and not for each of its rows. The columns of a place that a dump does not have as
// they are printed follow from those that it has.
type viewGroup struct {
	names
	th    *theme
	group string
	kept  []*column
	place *placeDump
}

func newViewGroup(th *theme, group string, columns []*column) step {
	s := viewGroup{th: th, group: group, place: placeDumpOf(th.table, columns)}
	if s.place != nil {
		s.wanted = slices.Clone(s.place.wanted)
	}
	for _, c := range columns {
		if s.place == nil || !s.place.sets(c.name) {
			s.wanted = append(s.wanted, th.viewHeader(c.name))
			s.kept = append(s.kept, c)
		}
	}
	return s
}

func (s viewGroup) bind(f *sourceReader) rowStep {
	r := &viewGroupRow{f: f, key: f.newKey(f.rows.group(s.group), s.wanted...)}
	for _, c := range s.kept {
		r.cells = append(r.cells, newViewCell(f, s.th, r.key.group.column(c.name)))
	}
	if s.place != nil {
		r.cells = append(r.cells, s.place.bind(f, r.key.group))
	}
	if s.group == "period" {
		r.start, r.end = r.key.group.column(periodStart), r.key.group.column(periodEnd)
	}
	return r
}

type viewGroupRow struct {
	f          *sourceReader
	key        *tupleKey
	cells      []rowStep
	start, end *vector // of a period
}

// Row reads the tuple unless its cells have been seen before.
func (s *viewGroupRow) Row() *rowFault {
	if s.key.known() {
		return nil
	}
	for _, c := range s.cells {
		if fault := c.Row(); fault != nil {
			return fault
		}
	}
	if n := s.key.group.n; s.start != nil && !s.start.isNull(n) && !s.end.isNull(n) && s.end.int(n) < s.start.int(n) {
		s.f.odd(endFirst, periodEnd)
	}
	s.key.add()
	return nil
}
