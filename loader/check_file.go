package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
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
// skip its own checks, since it also reads directories that have not been checked. A file that has
// not changed is parsed by neither (Options.Verified). datasets are the packages that rows name, so
// that the check is also the only pass for them. They are returned with an error too, as far as the
// file could be read.
func CheckFile(ctx context.Context, fsys fs.FS, role, name string) (datasets []string, err error) {
	wanted, optional, ok := headersOf(role)
	if !ok {
		return nil, nil
	}
	c := &catalog{fsys: fsys}
	s, err := c.openFile(resourceFile{role: role, path: name})
	if err != nil {
		return nil, err
	}
	defer s.close()
	r, err := newCSV(path.Base(name), s, nil, slices.Concat(wanted, optional))
	if err != nil {
		return nil, err
	}
	// A file whose header has a fault is read on: the previous table, which is kept then, needs the
	// packages of its rows.
	fault := r.missing(wanted)
	if fault == nil {
		fault = checkIDs(r)
	}
	check := fileCheck{csv: r, dataset: r.position("dataset_hdx_id"), datasets: map[string]bool{}}
	rows, err := check.rows(ctx)
	if err == nil && rows == 0 && catalogfile.IsReference(role) {
		err = fmt.Errorf("%s: a list without rows", path.Base(name))
	}
	if err == nil {
		_, err = s.finish()
	}
	if fault == nil {
		fault = err
	}
	return slices.Sorted(maps.Keys(check.datasets)), fault
}

// fileCheck reads the rows of a file for CheckFile.
type fileCheck struct {
	csv      *csvReader
	dataset  int // position of the id, -1 when the file has none
	datasets map[string]bool
	last     string
}

func (c *fileCheck) rows(ctx context.Context) (rows int, err error) {
	malformed := 0
	var first *rowFault
	for {
		err := c.csv.read()
		if err == io.EOF {
			break
		}
		var fault *rowFault
		switch {
		case errors.As(err, &fault):
			if malformed++; first == nil {
				first = fault
			}
		case err != nil:
			return rows, err
		case c.dataset >= 0:
			c.addDataset(c.csv.cells[c.dataset])
		}
		if rows++; rows%cancelCheckRows == 0 && ctx.Err() != nil {
			return rows, ctx.Err()
		}
	}
	if len(c.datasets) > catalogfile.MaxFiles {
		return rows, &catalogfile.TooManyError{What: "the rows name", Limit: catalogfile.MaxFiles, Unit: "packages"}
	}
	if malformed*100 > rows {
		return rows, fmt.Errorf("%d of %d rows are broken, first %w", malformed, rows, first)
	}
	return rows, nil
}

// addDataset collects an id. Rows mostly name the dataset of the row before.
func (c *fileCheck) addDataset(id []byte) {
	if string(id) == c.last || len(id) > maxDatasetID {
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
