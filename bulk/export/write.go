package export

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"hdqs/api/contract"
	"hdqs/bulk"
	"hdqs/snapshot/store"
)

// Options are what is written. The zero value is everything.
type Options struct {
	Formats       []bulk.Format // of AllFormats; nil means Formats
	Tables        []string      // nil means all
	PartitionRows int           // tables with more rows have a file for each country; 0 means a million

	// Written is called for each file that was written, and not taken over, by one goroutine at a
	// time. It may be nil.
	Written func(f *bulk.File)
}

// Formats are the formats that tables are written in unless others are asked for. AllFormats are
// those that there are.
var (
	Formats    = []bulk.Format{bulk.Parquet, bulk.CSVZstd, bulk.CSVGzip}
	AllFormats = append(slices.Clone(Formats), bulk.HAPIParquet)
)

const defaultPartitionRows = 1_000_000

// Sink is where files go: a store, or a tree of files.
type Sink interface {
	// Path is that of a file, in a folder that does not depend on its content.
	Path(f *bulk.File) string
	// Take reports whether a file of an earlier manifest is there, whole; it may put it in its
	// place.
	Take(f *bulk.File) bool
}

// Write writes the bulk files of a snapshot and returns their manifest, which it does not write.
// Tables that an earlier manifest has with the same rows, in the same form, are taken over.
func Write(
	ctx context.Context, snap *store.Snapshot, earlier []*bulk.Manifest, sink Sink, o Options,
) (*bulk.Manifest, error) {
	if o.Formats == nil {
		o.Formats = Formats
	}
	if o.PartitionRows == 0 {
		o.PartitionRows = defaultPartitionRows
	}
	to := &target{Sink: sink, written: o.Written}
	tables, err := tablesOf(snap, &o)
	if err != nil {
		return nil, err
	}
	m := &bulk.Manifest{
		Format: bulk.ManifestFormat, Snapshot: snap.Manifest.ID, Created: snap.Manifest.SnapshotTime.UTC(),
		Files: []bulk.File{},
	}
	// The largest first, so that none of the last ones is.
	bySize := slices.Clone(tables)
	slices.SortStableFunc(bySize, func(a, b *table) int { return cmp.Compare(b.seg.Rows(), a.seg.Rows()) })
	workers, limited := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for _, t := range bySize {
		workers.Go(func() error {
			if err := t.write(limited, earlier, to, &o); err != nil {
				return fmt.Errorf("bulk files of table %q: %w", t.info.Table, err)
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	for _, t := range tables {
		m.Tables = append(m.Tables, t.info)
	}
	sources, err := writeSources(snap.Manifest, tables, to)
	if err != nil {
		return nil, err
	}
	m.Files = append(m.Files, sources)
	_, err = m.Encode() // checks it
	return m, err
}

// target is a Sink with what is called for each file that was written.
type target struct {
	Sink
	written func(*bulk.File)
	one     sync.Mutex
}

func (to *target) create(f *bulk.File) (*store.Pending, error) {
	return store.CreatePending(filepath.Dir(to.Path(f)))
}

// commit names a file, and sets its size and digest.
func (to *target) commit(p *store.Pending, f *bulk.File) (err error) {
	if f.Bytes, f.SHA256, err = p.Finish(); err != nil {
		return err
	}
	// A file that is there and whole keeps its pages in the page cache.
	if path := to.Path(f); !bulk.HasFile(path, f, true) {
		err = p.CommitAs(path)
	}
	if err == nil && to.written != nil {
		to.one.Lock()
		defer to.one.Unlock()
		to.written(f)
	}
	return err
}

// tablesOf are the tables of a snapshot that are to be written, in the order of the endpoints.
func tablesOf(snap *store.Snapshot, o *Options) ([]*table, error) {
	digests := map[string]string{}
	for _, ref := range snap.Manifest.Tables {
		digests[ref.Table] = ref.SHA256
	}
	var tables []*table
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		seg := snap.Segments[e.Table]
		if seg == nil || o.Tables != nil && !slices.Contains(o.Tables, e.Table) {
			continue
		}
		t, err := newTable(e, &contract.EndpointsIn(contract.HAPINames)[i], seg, digests[e.Table], o)
		if err != nil {
			return nil, err
		}
		t.info.Sources = sourcesOf(snap.Manifest, e.Table)
		tables = append(tables, t)
	}
	return tables, nil
}

func (t *table) write(ctx context.Context, earlier []*bulk.Manifest, to *target, o *Options) error {
	files := map[bulk.Format][]bulk.File{}
	var missing []bulk.Format
	for _, format := range o.Formats {
		if files[format] = t.takeOver(earlier, format, to); files[format] == nil {
			missing = append(missing, format)
		}
	}
	if slices.Contains(missing, bulk.Parquet) {
		written, err := t.writeParquet(ctx, to)
		if err != nil {
			return err
		}
		files[bulk.Parquet] = written
	}
	if slices.Contains(missing, bulk.HAPIParquet) {
		written, err := t.writeHAPI(ctx, to)
		if err != nil {
			return err
		}
		files[bulk.HAPIParquet] = written
	}
	written, err := t.writeCSV(ctx, to, missing)
	if err != nil {
		return err
	}
	for _, f := range written {
		files[f.Format] = []bulk.File{f}
	}
	t.info.Files = []bulk.File{}
	for _, format := range o.Formats {
		t.info.Files = append(t.info.Files, files[format]...)
	}
	return nil
}

// takeOver returns the files of a format that an earlier manifest has of the same rows, nil if
// there are none or not all of them are whole. A table without rows may have no Parquet file.
func (t *table) takeOver(earlier []*bulk.Manifest, format bulk.Format, to Sink) []bulk.File {
	for _, m := range earlier {
		old := m.Table(t.info.Table)
		if old == nil || old.Segment != t.info.Segment || old.Layout != t.info.Layout {
			continue
		}
		var files []bulk.File
		for _, f := range old.Files {
			if f.Format == format {
				files = append(files, f)
			}
		}
		if len(files) > 0 && !slices.ContainsFunc(files, func(f bulk.File) bool { return !to.Take(&f) }) {
			return files
		}
	}
	return nil
}
