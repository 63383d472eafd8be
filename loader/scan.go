package loader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot"
)

// rowReader takes the rows of one file.
type rowReader interface {
	// open begins a file whose header has been read, and may refuse it.
	open(r *csvReader, report *ResourceReport) error

	// readRow takes the current row. A fault drops the row.
	readRow() *rowFault

	// skipMarked is called for a row that upstream has marked in error.
	skipMarked()

	// rowsHeld is how many rows of all files are in memory, and distinctHeld about how many bytes
	// their distinct texts take.
	rowsHeld() int
	distinctHeld() int
}

// maxDistinct bounds the distinct texts and tuples of a role, in bytes, for DefaultMaxRows. Rows
// take little memory as long as they repeat the texts of others, as those of published tables do:
// the most is 18 MB.
const maxDistinct = 64 << 20

// cancelCheckRows is how many rows are read between two looks at the context.
const cancelCheckRows = 8192

// scanner reads files of a catalog row by row.
type scanner struct {
	catalog  *catalog
	verified bool // every file has the sum that catalog.json gives
	maxRows  int  // of a table
	progress progress
}

// scan reads one file. Rows that upstream has marked in error are counted and not given to the
// reader. An error refuses the file as a whole.
func (s *scanner) scan(
	ctx context.Context, file resourceFile, wanted, optional []string, to rowReader,
) (*ResourceReport, error) {
	began := time.Now()
	from, err := s.catalog.openFile(file)
	if err != nil {
		return nil, err
	}
	defer from.close()
	r, err := newCSV(file.path, from, wanted, optional)
	if err != nil {
		return nil, err
	}
	report := &ResourceReport{Role: file.role, Path: file.path, ExtraColumns: r.extra}
	if err := to.open(r, report); err != nil {
		return nil, err
	}
	inError := r.position("error")
	for {
		err := r.read()
		if err == io.EOF {
			break
		}
		report.Rows.Read++
		var fault *rowFault
		switch {
		case err != nil && !errors.As(err, &fault):
			return nil, err
		case err != nil:
			report.drop(fault)
			continue
		case inError >= 0 && len(r.cells[inError]) > 0 && skipRow(r, inError, report, to):
			continue
		}
		switch fault := to.readRow(); {
		case fault == nil && to.rowsHeld() > s.maxRows:
			return nil, fmt.Errorf("%s:%d: more than %d rows of this role; --max-rows raises the bound",
				file.path, r.line, s.maxRows)
		case fault == nil:
			report.Rows.Kept++
		case fault.byRule:
			report.skip(fault)
		default:
			report.drop(fault)
		}
		if report.Rows.Read%cancelCheckRows == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			most := maxDistinct * max(1, s.maxRows/DefaultMaxRows)
			if n := to.distinctHeld(); n > most {
				return nil, fmt.Errorf("%s:%d: the distinct texts of this role take %d bytes, at most %d are held; "+
					"each %d of --max-rows give room for %d", file.path, r.line, n, most, DefaultMaxRows, maxDistinct)
			}
			s.progress.move(from)
		}
	}
	s.progress.move(from)
	if report.Rows.Read == 0 {
		report.Faults = append(report.Faults, "no rows under the header")
	}
	report.SHA256, err = from.finish()
	report.Bytes = from.packed
	report.Seconds = time.Since(began).Seconds()
	return report, err
}

// noErrorWords are what programs write into the column error of a row without one: their words for
// an empty cell, an empty list and a flag that is not set. A row with such a word is read. Of any
// other text nobody can say that it means no error.
var noErrorWords = strings.Fields(`nan na n/a #n/a <na> nat none null nil undefined false f no n 0 0.0 - -- ` +
	`[] {} () '' "" set() ok`)

// skipRow decides about a row whose column error is not empty, and counts it.
func skipRow(r *csvReader, inError int, report *ResourceReport, to rowReader) bool {
	switch word := bytes.ToLower(bytes.TrimSpace(r.cells[inError])); {
	case len(word) == 0: // nobody meant it, as after a line that ends in two CR
		report.drop(r.cellFault(blankError, "error", r.cells[inError]))
	case slices.Contains(noErrorWords, string(word)):
		report.odd(r.cellFault(noErrorWord, "error", r.cells[inError]))
		return false
	default:
		report.Rows.InError++
		to.skipMarked()
	}
	return true
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

	file sourceFile
	row  sourceRow
}

type sourceFile struct {
	csv      *csvReader
	report   *ResourceReport
	dataset  []byte // ids for rows that name no source
	resource []byte
	ownUsed  int // how many rows these were used for
	steps    []rowStep

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

// unreadHeaders are columns that files have and nothing reads.
var unreadHeaders = []string{
	"warning", "error", "has_hrp", "in_gho", "admin_level", "usd_price", "sector_name", "org_type_description",
	"origin_has_hrp", "origin_in_gho", "asylum_has_hrp", "asylum_in_gho", "dataset_hdx_id", "resource_hdx_id",
}

func (f *sourceReader) open(r *csvReader, report *ResourceReport) error {
	f.bind(r, report)
	return checkIDs(r)
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
	if !n.misplaced() {
		return
	}
	if f.rows.misplaced == nil {
		f.rows.misplaced = map[uint32]uint32{}
	}
	f.rows.misplaced[uint32(f.rows.rows-1)] = uint32(rowSum(csv.raw)) | 1
	m := report.Misplaced[n.country]
	if n.unknown != "" {
		report.unknownCode(csv.line, n.unknown)
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

func quoted(cell []byte) string { return strconv.Quote(clip(string(cell), 120)) }

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
		u.unknown = f.refs.packages.resource(u.dataset, u.resource) == nil
		f.uses[string(f.useKey)] = u
	}
	f.lastUse = u
	return u
}

// kept are the uses by rows that are in the finished table: a resource whose rows all gave way to
// others is left out.
func (uses sourceUses) kept(data *snapshot.TableData) []useState {
	inTable := map[string]bool{}
	for _, id := range columnData(data.Columns, "resource_catalog_id").Values {
		inTable[id] = true
	}
	var out []useState
	for _, u := range uses {
		if inTable[u.resource] {
			out = append(out, useState{Dataset: u.dataset, Resource: u.resource, Rows: u.rows, Sum: sumText(u.sum)})
		}
	}
	slices.SortFunc(out, func(a, b useState) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Dataset, b.Dataset))
	})
	return out
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rowSum is a 64-bit sum of a row's bytes: two CRCs, which processors compute in hardware, mixed
// because sums of rows are added up.
func rowSum(raw []byte) uint64 {
	h := uint64(crc32.Checksum(raw, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(raw))
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>31) * 0x94d049bb133111eb
	return h ^ h>>32
}

// checkIDs refuses a file that names its sources in an unknown form. A file may name none; but one
// that does so under other names, as those of before 2025 did, would look as if it named none.
func checkIDs(r *csvReader) error {
	dataset, resource := r.position("dataset_hdx_id") >= 0, r.position("resource_hdx_id") >= 0
	for _, other := range []string{"dataset_id", "resource_id"} {
		if r.position(other) >= 0 && !(dataset && resource) {
			return fmt.Errorf("%s: header lacks dataset_hdx_id or resource_hdx_id and has %s", r.name, other)
		}
	}
	switch {
	case dataset && !resource:
		return fmt.Errorf("%s: header lacks resource_hdx_id, but has dataset_hdx_id", r.name)
	case resource && !dataset:
		return fmt.Errorf("%s: header lacks dataset_hdx_id, but has resource_hdx_id", r.name)
	}
	return nil
}

// CheckFile reads a file of a catalog to its end and reports why a load would not use it: it is not
// CSV, lacks columns, does not unpack, is a list without rows, or more than one row in a hundred is
// malformed, which is another dialect or encoding rather than a slip. A file of an unknown role
// passes.
//
// A new file is checked whole before it replaces a good copy, so a file that has changed is parsed
// twice before it is in a snapshot: here and by the load, with the same reader. The load cannot
// skip its own checks, since it also reads directories that have not been checked. A file that has
// not changed is parsed by neither (Options.Verified). datasets are the packages that rows name, so
// that the check is also the only pass for them. They are returned with an error too, as far as the
// file could be read.
func CheckFile(ctx context.Context, fsys fs.FS, role, name string) (datasets []string, err error) {
	wanted, optional, ok := headersOf(role)
	if !ok {
		return nil, nil
	}
	// A file whose header has a fault is read on: the previous table, which is kept then, needs the
	// packages of its rows.
	c := &fileCheck{wanted: wanted, datasets: map[string]bool{}}
	s := scanner{catalog: &catalog{fsys: fsys}}
	report, err := s.scan(ctx, resourceFile{role: role, path: name}, nil, slices.Concat(wanted, optional), c)
	if c.header != nil {
		err = c.header
	}
	switch {
	case err != nil:
	case len(c.datasets) > catalogfile.MaxFiles:
		err = &catalogfile.TooManyError{What: "the rows name", Limit: catalogfile.MaxFiles, Unit: "packages"}
	case report.Rows.Read == 0 && catalogfile.IsReference(role):
		err = fmt.Errorf("%s: a list without rows", path.Base(name))
	case 100*report.Rows.Dropped > report.Rows.Read:
		why := reasons(report.Drops)[0]
		err = fmt.Errorf("%d of %d rows are broken, mostly %s, first %s",
			report.Rows.Dropped, report.Rows.Read, why, report.Drops[why].First[0])
	}
	return slices.Sorted(maps.Keys(c.datasets)), err
}

// fileCheck reads the rows of a file for CheckFile.
type fileCheck struct {
	wanted   []string
	header   error // what is wrong with the header
	csv      *csvReader
	dataset  int // position of the id, -1 when the file has none
	datasets map[string]bool
	last     string
}

func (c *fileCheck) open(r *csvReader, _ *ResourceReport) error {
	c.csv, c.dataset = r, r.position("dataset_hdx_id")
	c.header = cmp.Or(r.missing(c.wanted), checkIDs(r))
	return nil
}

func (c *fileCheck) readRow() *rowFault {
	c.addDataset(c.csv.cell(c.dataset))
	return nil
}

func (c *fileCheck) skipMarked() {}

func (c *fileCheck) rowsHeld() int { return 0 }

func (c *fileCheck) distinctHeld() int { return 0 }

// addDataset collects an id. Rows mostly name the dataset of the row before.
func (c *fileCheck) addDataset(id []byte) {
	if len(id) == 0 || string(id) == c.last || len(id) > maxDatasetID {
		return
	}
	c.last = string(id)
	if len(c.datasets) <= catalogfile.MaxFiles {
		c.datasets[c.last] = true
	}
}

// maxDatasetID is longer than any dataset's id: it bounds what a hostile file can make CheckFile
// keep.
const maxDatasetID = 100

// headersOf are the columns that the files of a role must have, and those that they may have.
func headersOf(role string) (wanted, optional []string, ok bool) {
	switch role {
	case catalogfile.LocationRole:
		return locationHeaders, nil, true
	case catalogfile.UnitRole:
		return unitHeaders, nil, true
	}
	i := slices.IndexFunc(themes, func(th *theme) bool { return th.role == role && role != "" })
	if i < 0 {
		return nil, nil, false
	}
	wanted, optional = themes[i].headers()
	return wanted, optional, true
}
