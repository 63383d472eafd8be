package iceberg

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Expire removes from the Iceberg tables in the directory dir of a store the states of snapshots
// that are not kept, and tables of which no state is left. It reads the metadata of the tables
// only, so that dir may be a copy of that.
func Expire(dir string, kept map[string]bool) error {
	folder := filepath.Join(dir, filepath.FromSlash(Folder))
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if err := expireTable(filepath.Join(folder, e.Name()), kept); err != nil {
			return fmt.Errorf("the Iceberg table %s: %w", e.Name(), err)
		}
	}
	return nil
}

func expireTable(table string, kept map[string]bool) error {
	metadata := filepath.Join(table, "metadata")
	_, content, err := currentVersion(metadata)
	if err != nil || content == nil {
		return err
	}
	next, err := without(content, kept)
	if err != nil {
		return err
	}
	if next == nil {
		return os.RemoveAll(table)
	}
	_, err = Write(metadata, &Metadata{JSON: next})
	return err
}

// without returns a metadata file without the states that are not kept, nil if none is.
func without(content []byte, kept map[string]bool) ([]byte, error) {
	var m metadataJSON
	if err := json.Unmarshal(content, &m); err != nil {
		return nil, err
	}
	stays := map[int64]bool{}
	for _, s := range m.Snapshots {
		stays[s.ID] = kept[s.Summary[stateKey]]
	}
	all := len(m.Snapshots)
	m.Snapshots = slices.DeleteFunc(m.Snapshots, func(s snapshotJSON) bool { return !stays[s.ID] })
	switch len(m.Snapshots) {
	case all:
		return content, nil
	case 0:
		return nil, nil
	}
	last := m.Snapshots[len(m.Snapshots)-1]
	m.CurrentSnapshot, m.CurrentSchema = last.ID, last.Schema
	maps.DeleteFunc(m.Refs, func(_ string, r ref) bool { return !stays[r.Snapshot] })
	m.Refs[mainBranch] = ref{last.ID, "branch"}
	m.SnapshotLog = slices.DeleteFunc(m.SnapshotLog, func(l logJSON) bool { return !stays[l.Snapshot] })
	return m.encode()
}
