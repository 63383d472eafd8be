package files

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync"

	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/bulk"
)

// BulkInventory is what there is of bulk files. It is replaced whole.
type BulkInventory struct {
	Latest string // the latest snapshot served here that has bulk files, empty without one
	index  *list.PageContent
	byID   map[string]*bulkSnapshot
	gone   map[string]bool // snapshots whose files were here earlier
}

// bulkSnapshot is a snapshot that has bulk files. Its manifest is read when it is first needed.
type bulkSnapshot struct {
	id    string
	store *bulk.Bulk
	mu    sync.Mutex
	files *bulkFiles
	known map[string]*openFile // files that other snapshots have, by name
}

// bulkFiles are the bulk files of a snapshot.
type bulkFiles struct {
	id                  string
	idField             []byte
	entries             *bulk.Manifest
	manifest, signature *list.PageContent
	byPath              map[string]*bulkFile
}

// bulkFile is one file of a snapshot.
type bulkFile struct {
	path, contentType string
	tag, weakTag      []byte
	*openFile
}

// contentTypes are the media types of the formats.
var contentTypes = map[bulk.Format]string{
	bulk.Parquet: "application/vnd.apache.parquet", bulk.CSVZstd: "application/zstd", bulk.CSVGzip: "application/gzip",
	bulk.CSV: reply.CsvType,
}

// LookForBulk looks which snapshots of a store have bulk files. The caller does so after each Swap,
// and whenever files may have been added or removed. The files of the served snapshot are opened
// now, others when they are requested.
func (s *Files) LookForBulk(b *bulk.Bulk) error {
	if !s.Options.Bulk {
		return nil
	}
	ids, err := b.Snapshots()
	if err != nil {
		return err
	}
	before := s.Bulk.Load()
	if before == nil {
		before = &BulkInventory{}
	}
	next := &BulkInventory{Latest: before.Latest, byID: map[string]*bulkSnapshot{}, gone: map[string]bool{}}
	for _, id := range ids {
		if next.byID[id] = before.byID[id]; next.byID[id] == nil {
			next.byID[id] = &bulkSnapshot{id: id, store: b, known: before.openFiles()}
		}
	}
	current := s.CurrentID()
	if v := next.byID[current]; v != nil {
		var files *bulkFiles
		if files, err = v.load(); err == nil {
			err = files.openAll()
			next.Latest = current
		} else {
			err = fmt.Errorf("bulk files of %s: %w", current, err)
			delete(next.byID, current)
		}
	}
	for id := range before.gone {
		next.gone[id] = next.byID[id] == nil
	}
	for id, v := range before.byID {
		switch {
		case next.byID[id] != nil:
		case id == next.Latest || s.Holds(id): // its files are open
			next.byID[id] = v
		default:
			next.gone[id] = true
		}
	}
	if next.index = before.index; next.index == nil || !maps.Equal(before.byID, next.byID) {
		next.index = newBulkIndex(next)
	}
	s.Bulk.Store(next)
	return err
}

// open returns the files of a snapshot, nil if there are none. known is also true for a snapshot
// that had files earlier.
func (n *BulkInventory) open(id string) (files *bulkFiles, known bool) {
	v := n.byID[id]
	if v == nil {
		return nil, n.gone[id]
	}
	files, err := v.load()
	return files, err != nil
}

// openFiles returns the files of the latest snapshot, by name.
func (n *BulkInventory) openFiles() map[string]*openFile {
	known := map[string]*openFile{}
	if v := n.byID[n.Latest]; v != nil {
		if files, err := v.load(); err == nil {
			for _, f := range files.byPath {
				known[f.name] = f.openFile
			}
		}
	}
	return known
}

// load reads the manifest of the snapshot, unless it was read before.
func (v *bulkSnapshot) load() (files *bulkFiles, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.files == nil {
		if v.files, err = readBulk(v.store, v.id, v.known); err == nil {
			v.known = nil
		}
	}
	return v.files, err
}

// readBulk reads the manifest of a snapshot. It uses those of the known files that the snapshot
// has.
func readBulk(b *bulk.Bulk, id string, known map[string]*openFile) (*bulkFiles, error) {
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

// newBulkIndex makes the index. Snapshots whose manifest cannot be read are not in it.
func newBulkIndex(n *BulkInventory) *list.PageContent {
	var manifests []*bulk.Manifest
	for _, v := range n.byID {
		if files, err := v.load(); err == nil {
			manifests = append(manifests, files.entries)
		}
	}
	return list.MadeOnce(bulk.NewIndex(manifests).Encode)()
}
