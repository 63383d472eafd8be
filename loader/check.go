package loader

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"hdqs/loader/catalogfile"
)

// CheckFile reads a file of a catalog to its end and reports why a load would not use it: it is not
// CSV, lacks columns, does not unpack, is a list without rows, or more than one row in a hundred is
// malformed, which is another dialect or encoding rather than a slip. A file of an unknown role
// passes.
//
// A new file is checked whole before it replaces a good copy, so a file that has changed is parsed
// twice before it is in a snapshot: here and by the load, with the same reader. The load cannot
// skip its own checks, since it also reads directories that have not been checked. datasets are the
// packages that rows name, so that the check is also the only pass for them. They are returned with
// an error too, as far as the file could be read.
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
	c.header = cmp.Or(r.missing(c.wanted), checkRenamed(r))
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
