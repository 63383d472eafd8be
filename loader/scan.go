package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// rowReader takes the rows of one file.
type rowReader interface {
	// open begins a file whose header has been read, and may refuse it.
	open(r *csvReader, report *ResourceReport) error

	// readRow takes the current row. A fault drops the row.
	readRow() *rowFault

	// rowsHeld is how many rows of all files are in memory, and distinctHeld about how many bytes
	// their distinct texts take.
	rowsHeld() int
	distinctHeld() int
}

// maxDistinct bounds the distinct texts and tuples of a role, in bytes. Rows take little memory as
// long as they repeat the texts of others, as those of published tables do: the most is 18 MB.
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
		case inError >= 0 && len(r.cells[inError]) > 0:
			report.Rows.InError++
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
			if n := to.distinctHeld(); n > maxDistinct {
				return nil, fmt.Errorf("%s:%d: the distinct texts of this role take %d bytes, at most %d are held",
					file.path, r.line, n, maxDistinct)
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
