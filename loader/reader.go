package loader

import (
	"fmt"
	"slices"
)

// step is one part of reading a row: it takes some cells of a file and sets some columns of a
// table. Cells are found by the names in the file's header, so the order of columns does not
// matter.
type step struct {
	// The columns that a file must have, and those that are used when it has them.
	wanted, optional []string
	joins            string // role of the list that rows are joined with, "" for none

	// bind prepares the step for one file.
	bind func(f *sourceReader) rowStep
}

// rowStep sets a step's columns from the current row. A fault means that the row cannot be used.
type rowStep func() *rowFault

// headersOfSteps are the columns that files must have, and those that are used when they are there.
func headersOfSteps(steps []step) (wanted, optional []string) {
	for i := range steps {
		wanted, optional = append(wanted, steps[i].wanted...), append(optional, steps[i].optional...)
	}
	return wanted, optional
}

// unreadHeaders are columns that files have and nothing reads.
var unreadHeaders = []string{
	"warning", "error", "has_hrp", "in_gho", "admin_level", "usd_price", "sector_name", "org_type_description",
	"origin_has_hrp", "origin_in_gho", "asylum_has_hrp", "asylum_in_gho", "dataset_hdx_id", "resource_hdx_id",
}

// sourceReader reads the files of one role into a table. What belongs to the role is kept over all
// its files; file and row are replaced as a whole for each file and each row.
type sourceReader struct {
	steps  []step
	rows   *tableBuilder
	refs   *references
	strict bool // drop rows whose resource is in no package

	uses    sourceUses
	lastUse *sourceUse
	useKey  []byte
	notes   []*placeNote // by tuple of a place; may be shorter
	lacking []string     // added columns that a file does not have

	file sourceFile
	row  sourceRow
}

type sourceFile struct {
	csv      *csvReader
	report   *ResourceReport
	dataset  []byte // ids for rows that name no source
	resource []byte
	ownUsed  int // how many rows these were used for

	steps []rowStep

	countryAt []int           // positions of its columns that name a country
	kept      map[string]bool // countries with a row that is kept
	marked    map[string]int  // rows in error of listed countries
}

type sourceRow struct {
	use  *sourceUse
	note *placeNote
}

// references are what rows are looked up in: places, join tables, and the packages of the catalog.
type references struct {
	units    *units
	joins    map[string]*joinTable // by role
	packages *packages
	now      int64 // time of the load
}

func newSourceReader(t *table, steps []step, refs *references) *sourceReader {
	return &sourceReader{
		steps: steps, rows: newTableBuilder(t), refs: refs,
		uses: sourceUses{},
	}
}

func (f *sourceReader) open(r *csvReader, report *ResourceReport) error {
	f.bind(r, report)
	return checkRenamed(r)
}

func (f *sourceReader) bind(r *csvReader, report *ResourceReport) {
	f.file.csv, f.file.report = r, report
	for _, s := range f.steps {
		f.file.steps = append(f.file.steps, s.bind(f))
	}
	if f.refs.units == nil {
		return
	}
	f.file.kept, f.file.marked = map[string]bool{}, map[string]int{}
	for _, name := range []string{"location_code", "origin_location_code", "asylum_location_code"} {
		if at := r.position(name); at >= 0 {
			f.file.countryAt = append(f.file.countryAt, at)
		}
	}
	if f.rows.has("stored_admin1_code") {
		report.Misplaced = map[string]MisplacedRows{}
	}
}

// readSteps sets the columns of the current row.
func (f *sourceReader) readSteps() *rowFault {
	for _, s := range f.file.steps {
		if fault := s(); fault != nil {
			return fault
		}
	}
	return nil
}

// readRow adds the current row of the file to the table.
func (f *sourceReader) readRow() *rowFault {
	f.row = sourceRow{}
	if fault := f.readSteps(); fault != nil {
		return fault
	}
	f.rows.commit()
	csv := f.file.csv
	f.rows.from.add(f.rows.rows-1, csv.name, csv.line)
	if f.row.use != nil {
		f.row.use.rows++
		f.row.use.sum += rowSum(csv.raw)
	}
	if f.row.note != nil {
		f.countNote(f.row.note)
	}
	for _, at := range f.file.countryAt {
		if code := csv.cell(at); !f.file.kept[string(code)] {
			f.file.kept[string(code)] = true
		}
	}
	return nil
}

// countNote counts what there is to note about the place of the current row, which is kept.
func (f *sourceReader) countNote(n *placeNote) {
	csv, report := f.file.csv, f.file.report
	if n.parent != "" {
		report.odd(csv.fault(otherParent, n.parent))
	}
	if n.below != "" {
		report.odd(csv.fault(belowLevel, n.below))
	}
	if !n.misplaced() {
		return
	}
	if f.rows.misplaced == nil {
		f.rows.misplaced = map[uint32]uint32{}
	}
	f.rows.misplaced[uint32(f.rows.rows-1)] = uint32(rowSum(csv.raw)) | 1
	m := report.Misplaced[n.country]
	if n.unknown != "" {
		report.odd(csv.fault(unknownCode, quoted([]byte(n.unknown))))
		m.UnknownCodes++
	}
	if n.above != "" {
		report.odd(csv.fault(aboveLevel, n.above))
		m.AboveLevel++
	}
	report.Misplaced[n.country] = m
}

func (f *sourceReader) skipMarked() {
	for _, at := range f.file.countryAt {
		code := string(f.file.csv.cell(at))
		if _, listed := f.refs.units.countryOf[code]; listed {
			f.file.marked[code]++
		}
	}
}

// reportMarked reports a file, or countries in a file, of which no row is left because upstream has
// marked them in error.
func (f *sourceReader) reportMarked(report *ResourceReport) {
	var names []string
	for code, n := range f.file.marked {
		if !f.file.kept[code] {
			names = append(names, fmt.Sprintf("%s (%d)", code, n))
		}
	}
	slices.Sort(names)
	if names == nil && report.Rows.InError > 0 && report.Rows.Kept == 0 {
		names = []string{fmt.Sprintf("the file (%d)", report.Rows.InError)}
	}
	if names != nil {
		report.Faults = append(report.Faults, "rows are marked in error and none is kept: "+someOf(names, mostNames))
	}
}

func (f *sourceReader) rowsHeld() int { return f.rows.rows }

// sourceMemory is about how many bytes a source takes in the reader, the report and the state of
// the load.
const sourceMemory = 2000

func (f *sourceReader) distinctHeld() int {
	return f.rows.distinctHeld() + len(f.uses)*sourceMemory + len(f.notes)*textMemory
}

// odd reports something about the current row, which is kept.
func (f *sourceReader) odd(why reason, detail string) {
	f.file.report.odd(f.file.csv.fault(why, detail))
}

// sourceUse counts the rows that name one resource, with a sum of their bytes that does not depend
// on their order.
type sourceUse struct {
	dataset, resource string
	unknown           bool // no package has it
	rows              int
	sum               uint64
}

// sourceUses are found by dataset and resource id, each followed by 0xff.
type sourceUses map[string]*sourceUse

// useOf finds the source that a row names. The row is counted for it when the row is committed.
func (f *sourceReader) useOf(dataset, resource []byte) *sourceUse {
	if u := f.lastUse; u != nil && string(dataset) == u.dataset && string(resource) == u.resource {
		return u
	}
	f.useKey = keyOf(f.useKey[:0], dataset, resource)
	u := f.uses[string(f.useKey)]
	if u == nil {
		u = &sourceUse{dataset: string(dataset), resource: string(resource)}
		if u.unknown = f.refs.packages.resource(u.dataset, u.resource) == nil; u.unknown && len(dataset) > 0 {
			if other := f.refs.packages.datasetOf(u.resource); other != "" {
				f.odd(otherDataset, fmt.Sprintf("%s of dataset %s is of %s", quoted(resource), quoted(dataset), other))
			}
		}
		f.uses[string(f.useKey)] = u
	}
	f.lastUse = u
	return u
}

// joinTable is a reference list that rows of other files are joined with: its rows, found by their
// key cells.
type joinTable struct {
	rows *tableBuilder
	at   map[string]int // key cells, each followed by 0xff -> row; of rows with one key the last
}

// find looks up a key that keyOf or a tupleKey made.
func (t *joinTable) find(key []byte) (row int, ok bool) {
	if t == nil {
		return 0, false
	}
	row, ok = t.at[string(key)]
	return row, ok
}

// nameElsewhere says that a row has the name of one row of the list and the code of another, ""
// when it does not. A name that the list does not have is another spelling.
func (t *joinTable) nameElsewhere(column string, row int, header string, name []byte) string {
	names := t.rows.column(column)
	if _, listed := names.byText[string(name)]; !listed || names.text(row) == string(name) || len(name) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s, but its code is that of %q", header, quoted(name), names.text(row))
}

func keyOf(key []byte, cells ...[]byte) []byte {
	for _, c := range cells {
		key = append(append(key, c...), 0xff)
	}
	return key
}

// placeNote is what a report counts about the rows of a place. It is nil for most places.
type placeNote struct {
	country string
	unknown string // a code that no list has
	above   string // how the place is above the level that the row names
	below   string // how the place is below the admin_level of the row
	parent  string // how the row's unit of level 1 is not that of its unit of level 2
}

func (n *placeNote) misplaced() bool { return n.unknown != "" || n.above != "" }
