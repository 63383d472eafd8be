package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
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

// DefaultMaxRows is three times the rows of the largest table of the generated catalog.
const DefaultMaxRows = 10_000_000
