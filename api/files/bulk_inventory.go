package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync"

	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/bulk"
)

// bulkInventory is what there is of bulk files. It is replaced whole.
type bulkInventory struct {
	Latest string // the latest snapshot served here that has bulk files, empty without one
	index  *list.PageContent
	byID   map[string]*bulkFiles
	gone   map[string]bool // snapshots whose files were here earlier, or whose manifest cannot be read
}

type bulkFiles struct {
	id                  string
	idField             []byte
	entries             *bulk.Manifest
	manifest, signature *list.PageContent
	byPath              map[string]*bulkFile

	// documents describe the files to catalogs, by path. They are made when one is asked for.
	documents func() map[string]*list.PageContent
}

type bulkFile struct {
	path, contentType string
	tag, weakTag      []byte
	*openFile
}

// contentTypes are the media types of the formats.
var contentTypes = map[bulk.Format]string{
	bulk.Parquet: "application/vnd.apache.parquet", bulk.CSVZstd: "application/zstd", bulk.CSVGzip: "application/gzip",
	bulk.CSV: reply.CsvType, bulk.HAPIParquet: "application/vnd.apache.parquet",
}

// LookForBulk looks which snapshots of a store have bulk files. The caller does so after each Swap,
// and whenever files may have been added or removed. The files of the served snapshot are opened
// now, others when they are requested.
func (s *Files) LookForBulk(b *bulk.Bulk) error {
	if !s.State.Options.Bulk {
		return nil
	}
	ids, err := b.Snapshots()
	if err != nil {
		return err
	}
	before := s.Bulk.Load()
	if before == nil {
		before = &bulkInventory{}
	}
	next := &bulkInventory{Latest: before.Latest, byID: map[string]*bulkFiles{}, gone: map[string]bool{}}
	current, known := s.State.Snapshots.CurrentID(), before.openFiles()
	for _, id := range ids {
		files := before.byID[id]
		if files == nil {
			var fault error
			if files, fault = readBulk(b, id, known, s.State.Options.BaseURL); fault != nil {
				if next.gone[id] = id != current; id == current {
					err = fmt.Errorf("bulk files of %s: %w", id, fault)
				}
				continue
			}
		}
		next.byID[id] = files
	}
	if files := next.byID[current]; files != nil {
		err = files.openAll()
		next.Latest = current
	}
	for id := range before.gone {
		next.gone[id] = next.byID[id] == nil
	}
	for id, files := range before.byID {
		switch {
		case next.byID[id] != nil:
		case id == next.Latest || s.State.Snapshots.Holds(id): // its files are open
			next.byID[id] = files
		default:
			next.gone[id] = true
		}
	}
	if next.index = before.index; next.index == nil || !maps.Equal(before.byID, next.byID) {
		var manifests []*bulk.Manifest
		for _, files := range next.byID {
			manifests = append(manifests, files.entries)
		}
		next.index = list.MadeOnce(bulk.NewIndex(manifests).Encode)()
	}
	s.Bulk.Store(next)
	return err
}

// openFiles returns the files of the latest snapshot, by name.
func (n *bulkInventory) openFiles() map[string]*openFile {
	known := map[string]*openFile{}
	if files := n.byID[n.Latest]; files != nil {
		for _, f := range files.byPath {
			known[f.name] = f.openFile
		}
	}
	return known
}

// readBulk reads the manifest of a snapshot. It uses those of the known files that the snapshot
// has.
func readBulk(b *bulk.Bulk, id string, known map[string]*openFile, base string) (*bulkFiles, error) {
	data, signature, err := b.ManifestFile(id)
	if err != nil {
		return nil, err
	}
	manifest, err := bulk.ParseManifest(data)
	if err != nil {
		return nil, err
	}
	if manifest.Snapshot != id {
		return nil, fmt.Errorf("the manifest is of snapshot %s", manifest.Snapshot)
	}
	text := func(data []byte) *list.PageContent {
		return list.MadeOnce(func() ([]byte, error) { return data, nil })()
	}
	files := &bulkFiles{
		id: id, idField: []byte(id), entries: manifest, manifest: text(data),
		byPath: map[string]*bulkFile{},
	}
	files.documents = sync.OnceValue(func() map[string]*list.PageContent { return documentsOf(manifest, base) })
	if signature != nil {
		files.signature = text(signature)
	}
	for f := range manifest.All {
		name := b.Path(f)
		file := known[name]
		if file == nil || file.bytes != f.Bytes {
			file = &openFile{name: name, sha256: f.SHA256, bytes: f.Bytes}
		}
		tag := []byte(`"` + f.SHA256 + `"`)
		files.byPath[f.Path] = &bulkFile{f.Path, contentTypes[f.Format], tag, append([]byte("W/"), tag...), file}
	}
	return files, nil
}

// documentsOf are what describes files to catalogs. An error is a bug: what they are made of is
// ours.
func documentsOf(m *bulk.Manifest, base string) map[string]*list.PageContent {
	if base != "" {
		base += BulkPath + m.Snapshot + "/"
	}
	texts, err := m.Documents(base)
	if err != nil {
		panic(err)
	}
	documents := map[string]*list.PageContent{}
	for name, text := range texts {
		documents[name] = list.NewContent(text)
	}
	if text := texts[bulk.Collection]; text != nil {
		// Readers of STAC resolve links against the address that they asked for, not that of a
		// redirect.
		from, to := []byte(`"href": "./`), []byte(`"href": "./`+m.Snapshot+"/")
		documents[latestCollection] = list.NewContent(bytes.ReplaceAll(text, from, to))
	}
	return documents
}

// latestCollection is the collection for where the latest snapshot is found: its links are to the
// paths of that snapshot, which do not move. No file has a path like this.
const latestCollection = "/" + bulk.Collection

// has reports whether a snapshot has a file or a document at a path.
func (f *bulkFiles) has(path string) bool { return f.byPath[path] != nil || f.documents()[path] != nil }

// openAll opens all files. It returns the first error, and how many files have one.
func (f *bulkFiles) openAll() (err error) {
	failed := 0
	for _, file := range f.byPath {
		file.mu.Lock()
		fault := file.open()
		file.mu.Unlock()
		if fault != nil {
			if failed++; failed == 1 {
				err = fault
			}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: write them again with 'hdqs export' or 'hdqs build --bulk'", err)
	}
	if failed > 0 {
		err = fmt.Errorf("%d bulk files of %s cannot be served, among them: %w", failed, f.id, err)
	}
	return err
}
