package loader

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"
)

// reading is one role while its files are read into an assembly.
type sourceReader struct {
	load  *load
	src   *source
	rows  *tableBuilder
	uses  sourceUses
	codes map[uint32]string // tuple of the place -> a code in it that no list has
	lists map[string]bool   // roles that rows were looked up in

	// Of the current file.
	csv         *csvReader
	report      *ResourceReport
	ownDataset  []byte // of rows that name no source
	ownResource []byte
	steps       []func() reason

	// Of the current row.
	detail  string
	unknown string
	code    string // of the tuple being made
	use     *sourceUse
	lastUse *sourceUse
	useKey  []byte
	ownUsed int
}

// roleRows is what came of a role.
type roleRows struct {
	rows      *tableBuilder
	uses      sourceUses
	resources []*ResourceReport
	refused   []Refusal
	lists     []string // roles of the lists that its rows are joined with
}

// readRole reads all files of a role. A file that cannot be read to its end is refused whole: the role is read again without it, so
// that none of its rows stay.
func (l *load) readRole(ctx context.Context, src *source) (*roleRows, error) {
	files := l.catalog.files[src.role]
	var refused []Refusal
	for {
		f := &sourceReader{
			load: l, src: src, rows: newTableBuilder(tableNamed(src.table)), uses: sourceUses{}, codes: map[uint32]string{},
			lists: map[string]bool{},
		}
		out := &roleRows{rows: f.rows, uses: f.uses, refused: refused}
		bad := -1
		for i, file := range files {
			report, err := f.readFile(ctx, file)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				refused = append(refused, Refusal{Role: src.role, Path: file.path, Why: err.Error()})
				bad = i
				break
			}
			out.resources = append(out.resources, report)
		}
		if bad < 0 {
			out.lists = slices.Sorted(maps.Keys(f.lists))
			return out, nil
		}
		files = append(append([]resourceFile{}, files[:bad]...), files[bad+1:]...)
	}
}

// readFile adds the rows of one file.
func (f *sourceReader) readFile(ctx context.Context, file resourceFile) (*ResourceReport, error) {
	wants, optional := f.src.headers()
	f.ownDataset, f.ownResource = f.load.ownIDs(file)
	f.ownUsed = 0
	report, err := f.load.scan(ctx, file, wants, optional, func(r *csvReader, report *ResourceReport) (func() *rowFault, error) {
		f.csv, f.report, f.steps = r, report, nil
		for _, s := range f.src.steps {
			f.steps = append(f.steps, s.bind(f))
		}
		return f.row, checkIDs(r)
	})
	if err == nil && f.ownUsed > 0 {
		report.note(fmt.Sprintf("%d rows name no resource; they count for %s", f.ownUsed, f.ownResource))
	}
	return report, err
}

// ignoredHeaders are columns that files have and nobody reads.
var ignoredHeaders = []string{
	"warning", "error", "has_hrp", "in_gho", "usd_price", "sector_name", "org_type_description",
	"origin_has_hrp", "origin_in_gho", "asylum_has_hrp", "asylum_in_gho", "dataset_hdx_id", "resource_hdx_id",
}

// row reads the current row of the file.
func (f *sourceReader) row() *rowFault {
	f.unknown, f.use = "", nil
	for _, step := range f.steps {
		if why := step(); why != "" {
			return f.fault(why, f.detail)
		}
	}
	f.rows.commit()
	if f.use != nil {
		f.use.rows++
		f.use.sum += rowSum(f.csv.raw)
	}
	if f.unknown != "" {
		f.report.unknownCode(f.csv.line, f.unknown)
	}
	return nil
}

// fail notes what a row's fault stands on.
func (f *sourceReader) fail(why reason, header string, cell []byte) reason {
	f.detail = header + ": " + quoted(cell)
	return why
}

func (f *sourceReader) fault(why reason, detail string) *rowFault { return f.csv.fault(why, detail) }

func quoted(cell []byte) string { return strconv.Quote(clip(string(cell), 120)) }

// noteCode keeps a code that no list has for the tuple that is being made.
func (k *tupleKey) noteCode(code []byte) { k.f.code = string(code) }

// noteUnknown tells whether the tuple of the current row has such a code.
func (f *sourceReader) noteUnknown(k *tupleKey) {
	if f.code != "" {
		f.codes[k.code] = f.code
		f.code = ""
	}
	if len(f.codes) > 0 {
		f.unknown = f.codes[k.code]
	}
}

// sourceUse counts what rows name one resource, with an order-free sum of their bytes.
type sourceUse struct {
	dataset, resource string
	unknown           bool // no package has it
	rows              int
	sum               uint64
}

// sourceUses are found by dataset and resource id, each followed by 0xff.
type sourceUses map[string]*sourceUse

// useSource finds the source of the current row; it is counted when the row is committed.
func (f *sourceReader) useSource(dataset, resource []byte) {
	if u := f.lastUse; u != nil && string(dataset) == u.dataset && string(resource) == u.resource {
		f.use = u
		return
	}
	f.useKey = keyOf(f.useKey[:0], dataset, resource)
	u := f.uses[string(f.useKey)]
	if u == nil {
		u = &sourceUse{dataset: string(dataset), resource: string(resource)}
		u.unknown = f.load.packages.resource(u.dataset, u.resource) == nil
		f.uses[string(f.useKey)] = u
	}
	f.use, f.lastUse = u, u
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rowSum is a 64-bit sum of a row's bytes, of two polynomials that the processor computes; mixed, because sums of sums are added up.
func rowSum(raw []byte) uint64 {
	h := uint64(crc32.Checksum(raw, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(raw))
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>31) * 0x94d049bb133111eb
	return h ^ h>>32
}

// scan reads one file row by row. bind is called once its header is known, and may refuse the file; the function it gives is called for each row that upstream has
// not marked in error, and answers with a fault for a row that is not kept. An error refuses the file.
func (l *load) scan(
	ctx context.Context, file resourceFile, wants, optional []string, bind func(*csvReader, *ResourceReport) (func() *rowFault, error),
) (*ResourceReport, error) {
	began := time.Now()
	s, err := l.catalog.openFile(file)
	if err != nil {
		return nil, err
	}
	defer s.close()
	r, err := newCSV(file.path, s, wants, optional)
	if err != nil {
		return nil, err
	}
	report := &ResourceReport{Role: file.role, Path: file.path, ExtraColumns: r.extra}
	row, err := bind(r, report)
	if err != nil {
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
		case inError >= 0 && len(r.cells[inError]) > 0:
			report.Rows.InError++
			continue
		}
		switch fault := row(); {
		case fault == nil:
			report.Rows.Kept++
		case fault.byRule:
			report.skip(fault)
		default:
			report.drop(fault)
		}
		if report.Rows.Read%8192 == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			l.progress.move(s)
		}
	}
	l.progress.move(s)
	report.SHA256, err = s.finish()
	report.Bytes = s.packed
	report.Seconds = time.Since(began).Seconds()
	return report, err
}
