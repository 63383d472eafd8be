package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// CheckFile reads a file of a catalog to its end and tells why a load would not use it: it is not CSV, lacks columns, does not unpack, or has more
// than one row in a hundred that is broken as text, which is another dialect or encoding rather than a slip. Whoever brings catalogs asks it
// before a new file takes the place of a good one. Files of unknown roles pass.
func CheckFile(ctx context.Context, fsys fs.FS, role, name string) error {
	wants, optional, ok := headersOf(role)
	if !ok {
		return nil
	}
	c := &catalog{fsys: fsys}
	s, err := c.openFile(resourceFile{role: role, path: name})
	if err != nil {
		return err
	}
	defer s.close()
	r, err := newCSV(path.Base(name), s, wants, optional)
	if err != nil {
		return err
	}
	if err := checkIDs(r); err != nil {
		return err
	}
	rows, broken := 0, 0
	var first *rowFault
	for {
		err := r.read()
		if err == io.EOF {
			break
		}
		var fault *rowFault
		if errors.As(err, &fault) {
			if broken++; first == nil {
				first = fault
			}
		} else if err != nil {
			return err
		}
		if rows++; rows%8192 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if broken*100 > rows {
		return fmt.Errorf("%d of %d rows are broken, first %w", broken, rows, first)
	}
	_, err = s.finish()
	return err
}

// checkIDs tells whether a file names its sources in a form that is not this program's. A file may name none; but one that does so under other
// names, as those of before 2025 did, would seem to.
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

// headersOf are the columns that the files of a role must have, and those that they may have.
func headersOf(role string) (wants, optional []string, ok bool) {
	switch role {
	case "location":
		return locationHeaders, nil, true
	case "pcodes":
		return unitHeaders, nil, true
	}
	all := slices.Concat(lists, themes)
	i := slices.IndexFunc(all, func(s *source) bool { return s.role == role })
	if i < 0 {
		return nil, nil, false
	}
	wants, optional = all[i].headers()
	return wants, optional, true
}

// headers are the columns that the steps of a source name.
func (s *source) headers() (wants, optional []string) {
	for _, step := range s.steps {
		wants = append(wants, step.wants...)
		optional = append(optional, step.optional...)
	}
	return wants, append(optional, ignoredHeaders...)
}
