package loader

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"

	"hdqs/snapshot"
)

// sourceReader reads the files of one role into a table. What belongs to the role is kept over all
// its files; file and row are replaced as a whole for each file and each row.
type sourceReader struct {
	steps  []step
	rows   *tableBuilder
	refs   *references
	strict bool // drop rows whose resource is in no package

	uses     sourceUses
	lastUse  *sourceUse
	useKey   []byte
	unlisted map[uint32]string // tuple of a place -> a code in it that no list has

	file sourceFile
	row  sourceRow
}

// sourceFile is the state of the current file.
type sourceFile struct {
	csv      *csvReader
	report   *ResourceReport
	dataset  []byte // ids for rows that name no source
	resource []byte
	ownUsed  int // how many rows these were used for
	steps    []rowStep
}

// sourceRow is the state of the current row.
type sourceRow struct {
	use      *sourceUse
	unlisted string // a code in its place that no list has
}

// references are what rows are looked up in: places, join tables, and the packages of the catalog.
type references struct {
	units    *units
	joins    map[string]*joinTable // by role
	packages *packages
}

func newSourceReader(t *table, steps []step, refs *references) *sourceReader {
	return &sourceReader{
		steps: steps, rows: newTableBuilder(t), refs: refs,
		uses: sourceUses{}, unlisted: map[uint32]string{},
	}
}

// unreadHeaders are columns that files have and nothing reads.
var unreadHeaders = []string{
	"warning", "error", "has_hrp", "in_gho", "usd_price", "sector_name", "org_type_description",
	"origin_has_hrp", "origin_in_gho", "asylum_has_hrp", "asylum_in_gho", "dataset_hdx_id", "resource_hdx_id",
}

// open begins a file.
func (f *sourceReader) open(r *csvReader, report *ResourceReport) error {
	f.file.csv, f.file.report = r, report
	for _, s := range f.steps {
		f.file.steps = append(f.file.steps, s.bind(f))
	}
	return checkIDs(r)
}

// readRow adds the current row of the file to the table.
func (f *sourceReader) readRow() *rowFault {
	f.row = sourceRow{}
	for _, s := range f.file.steps {
		if fault := s(); fault != nil {
			return fault
		}
	}
	f.rows.commit()
	if f.row.use != nil {
		f.row.use.rows++
		f.row.use.sum += rowSum(f.file.csv.raw)
	}
	if f.row.unlisted != "" {
		f.file.report.unknownCode(f.file.csv.line, f.row.unlisted)
	}
	return nil
}

func (f *sourceReader) rowsHeld() int { return f.rows.rows }

// sourceMemory is about how many bytes a source takes in the reader, the report and the state of
// the load.
const sourceMemory = 2000

func (f *sourceReader) distinctHeld() int {
	return f.rows.distinctHeld() + len(f.uses)*sourceMemory + len(f.unlisted)*textMemory
}

// odd reports something about the current row, which is kept.
func (f *sourceReader) odd(why reason, detail string) {
	f.file.report.odd(f.file.csv.fault(why, detail))
}

func quoted(cell []byte) string { return strconv.Quote(clip(string(cell), 120)) }

// addUnlisted remembers a code of a new tuple that no list has; code is empty when the lists have
// all of them.
func (f *sourceReader) addUnlisted(tuple uint32, code string) {
	if code != "" {
		f.unlisted[tuple] = code
	}
}

// notePlace marks the current row if the place that it has been given has an unlisted code.
func (f *sourceReader) notePlace(tuple uint32) {
	if len(f.unlisted) > 0 {
		f.row.unlisted = f.unlisted[tuple]
	}
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
