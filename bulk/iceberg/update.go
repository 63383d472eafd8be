package iceberg

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"hdqs/bulk"
)

// Folder is where a store has its Iceberg tables, each in a folder of its name.
const Folder = "bulk/iceberg"

// types are the Iceberg types of the types in manifests of bulk files. There is none for points,
// whose coordinates are columns of their own.
var types = map[string]Type{
	"string": String, "boolean": Boolean, "int64": Long, "double": Double, "timestamp": Timestamp,
}

// Update writes the Iceberg tables of the bulk files of a store in the directory dir: one for each
// table, with one state for each snapshot whose files are there. location is the address by which
// engines find dir; with an empty one tables stay at the address that they have, which is the
// absolute path of dir for new ones. Snapshots that are not in only are left out; nil is all. Call
// it after files were added or removed.
func Update(b *bulk.Bulk, dir, location string, only map[string]bool) error {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	u := updater{bulk: b, columns: map[string][]Column{}}
	if u.manifests, err = b.Manifests(only); err != nil {
		return err
	}
	slices.SortStableFunc(u.manifests, func(a, b *bulk.Manifest) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Snapshot, b.Snapshot))
	})
	folder := filepath.Join(absolute, filepath.FromSlash(Folder))
	names := u.names()
	for _, name := range names {
		metadata := filepath.Join(folder, name, "metadata")
		if u.location = location; location == "" {
			u.location = cmp.Or(locationOf(metadata, name), filepath.ToSlash(absolute))
		}
		u.location = strings.TrimRight(u.location, "/")
		t, err := u.table(name)
		if err != nil {
			return err
		}
		made, err := Build(t)
		if err != nil {
			return err
		}
		if _, err := Write(metadata, made); err != nil {
			return err
		}
	}
	return removeOthers(folder, names)
}

// locationOf returns the address at which a table says that its store is, empty if there is none.
func locationOf(metadata, name string) string {
	_, text, err := currentVersion(metadata)
	if err != nil {
		return ""
	}
	var m metadataJSON
	if json.Unmarshal(text, &m) != nil {
		return ""
	}
	location, _ := strings.CutSuffix(m.Location, "/"+Folder+"/"+name)
	return location
}

// removeOthers removes tables of which no snapshot has files any longer.
func removeOthers(folder string, names []string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) {
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

type updater struct {
	bulk      *bulk.Bulk
	location  string              // of the store, for the table that is being made
	manifests []*bulk.Manifest    // the oldest first
	columns   map[string][]Column // of files, by name: snapshots share most of them
}

func (u *updater) names() (names []string) {
	for _, m := range u.manifests {
		for i := range m.Tables {
			names = append(names, m.Tables[i].Table)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// table returns a table with its states. Those of earlier snapshots are left out if a file of
// theirs cannot be read: it must not keep the next snapshot from being published.
func (u *updater) table(name string) (*Table, error) {
	t := &Table{Name: name, Location: u.location + "/" + Folder + "/" + name}
	var fault error
	for _, m := range u.manifests {
		from := m.Table(name)
		if from == nil {
			continue
		}
		var s *State
		if s, fault = u.state(m, from); fault == nil {
			t.States = append(t.States, *s)
		}
	}
	return t, fault
}

func (u *updater) state(m *bulk.Manifest, from *bulk.Table) (*State, error) {
	s := &State{ID: m.Snapshot, Time: m.Created, PartitionBy: from.PartitionedBy}
	for k, c := range from.Schema {
		if of, ok := types[c.Type]; ok {
			s.Fields = append(s.Fields, Field{k + 1, c.Name, c.Meaning, of})
		}
	}
	for i := range from.Files {
		f := &from.Files[i]
		if f.Format != bulk.Parquet {
			continue
		}
		columns, err := u.columnsOf(f, s.Fields)
		if err != nil {
			return nil, fmt.Errorf("%s of snapshot %s: %w", f.Path, m.Snapshot, err)
		}
		s.Files = append(s.Files, File{
			Path: u.location + "/" + f.Name(), Rows: int64(f.Rows), Bytes: f.Bytes, Columns: columns,
			Partition: f.Min[from.PartitionedBy],
		})
	}
	return s, nil
}

// columnsOf returns what the footer of a Parquet file has of its columns.
func (u *updater) columnsOf(f *bulk.File, fields []Field) ([]Column, error) {
	if columns, ok := u.columns[f.Name()]; ok {
		return columns, nil
	}
	file, err := os.Open(u.bulk.Path(f))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	opened, err := parquet.OpenFile(file, f.Bytes, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	columns, unbounded := make([]Column, len(fields)), make([]bool, len(fields))
	for _, group := range opened.Metadata().RowGroups {
		for i, f := range fields {
			if columns[i].ID = f.ID; f.ID > len(group.Columns) {
				return nil, fmt.Errorf("the file has %d columns, the manifest more", len(group.Columns))
			}
			if !columns[i].add(&group.Columns[f.ID-1].MetaData, f.Type) {
				unbounded[i] = true
			}
		}
	}
	for i := range columns {
		switch c := &columns[i]; {
		case unbounded[i]:
			c.Least, c.Most = nil, nil
		case fields[i].Type == String && c.Least != nil:
			c.Least, c.Most = Least(string(c.Least)), Most(string(c.Most))
		}
	}
	u.columns[f.Name()] = columns
	return columns, nil
}

// add adds the column of a row group. It reports false if the group has values without bounds.
func (c *Column) add(m *format.ColumnMetaData, of Type) (bounded bool) {
	c.Bytes += m.TotalCompressedSize
	c.Nulls += m.Statistics.NullCount
	least, most := m.Statistics.MinValue, m.Statistics.MaxValue
	switch {
	case m.Statistics.NullCount == m.NumValues:
		return true
	case least == nil || most == nil:
		return false
	}
	if c.Least == nil || less(of, least, c.Least) {
		c.Least = least
	}
	if c.Most == nil || less(of, c.Most, most) {
		c.Most = most
	}
	return true
}
