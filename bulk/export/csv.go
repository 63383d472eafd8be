package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"time"

	kgzip "github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/bulk"
	"hdqs/columnar"
	"hdqs/snapshot/store"
)

// csvFolder is where the CSV files are: the folder of a table has its Parquet files only, so that
// it can be read as one data set.
const csvFolder = "csv/"

// window is that of zstd files: browsers refuse more than 8 MiB.
const window = 4 << 20

// writeCSV writes the CSV files of a table in those of some formats that are CSV.
func (t *table) writeCSV(ctx context.Context, to *target, some []bulk.Format) (files []bulk.File, err error) {
	var writers []io.Writer
	var finish []func() error
	for _, format := range some {
		if format != bulk.CSVGzip && format != bulk.CSVZstd {
			continue
		}
		f := &bulk.File{Path: csvFolder + t.info.Table + "." + string(format), Format: format, Rows: t.seg.Rows()}
		p, err := to.create(f)
		if err != nil {
			return nil, err
		}
		defer p.Discard()
		w, err := compressor(p, format)
		if err != nil {
			return nil, err
		}
		writers = append(writers, w)
		finish = append(finish, func() error {
			if err := w.Close(); err != nil {
				return err
			}
			err := to.commit(p, f)
			files = append(files, *f)
			return err
		})
	}
	if len(writers) == 0 {
		return nil, nil
	}
	if err := t.renderCSV(stoppable{ctx, io.MultiWriter(writers...)}); err != nil {
		return nil, err
	}
	for _, f := range finish {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// compressor compresses into one gzip member or one zstd frame. The same bytes give the same file.
func compressor(w io.Writer, format bulk.Format) (io.WriteCloser, error) {
	if format == bulk.CSVGzip {
		return kgzip.NewWriterLevel(w, gzip.BestSpeed+4)
	}
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
}

// renderCSV writes the lines of all rows, as the interface sends them.
func (t *table) renderCSV(w io.Writer) error {
	fields := make([]render.Field, 0, len(t.endpoint.Fields))
	for _, f := range t.endpoint.CSVFields() {
		fields = append(fields, render.Field{Name: f.Name, Column: f.Column()})
	}
	r, err := render.New(t.seg, fields, encode.Options{})
	if err != nil {
		return err
	}
	return r.CSV().Write(w, columnar.All(t.seg))
}

// sourcesOf are the datasets of a table's rows.
func sourcesOf(m *store.Manifest, table string) (sources []bulk.Source) {
	for _, id := range m.Source(table).Datasets {
		d, ok := m.Dataset(id)
		if !ok {
			continue
		}
		sources = append(sources, bulk.Source{
			Dataset: d.ID, Title: d.Title, Provider: d.Publisher, License: d.License, LicenseURL: d.LicenseURL,
			Updated: d.Updated,
		})
	}
	return sources
}

// writeSources writes a line for each table and each dataset of its rows.
func writeSources(m *store.Manifest, tables []*table, to *target) (bulk.File, error) {
	f := bulk.File{Path: "sources.csv", Format: bulk.CSV}
	lines := [][]string{{
		"table", "dataset_id", "dataset_name", "dataset_title", "provider", "license", "license_url", "terms",
		"caveats", "updated",
	}}
	for _, t := range tables {
		for _, id := range m.Source(t.info.Table).Datasets {
			d, ok := m.Dataset(id)
			if !ok {
				continue
			}
			updated := ""
			if !d.Updated.IsZero() {
				updated = d.Updated.UTC().Format(time.RFC3339)
			}
			lines = append(lines, []string{
				t.info.Table, d.ID, d.Name, d.Title, d.Publisher, d.License, d.LicenseURL, d.Terms, d.Caveats, updated,
			})
		}
	}
	f.Rows = len(lines) - 1
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	w.UseCRLF = true
	if err := w.WriteAll(lines); err != nil {
		return f, fmt.Errorf("%s: %w", f.Path, err)
	}
	p, err := to.create(&f)
	if err != nil {
		return f, err
	}
	defer p.Discard()
	if _, err := p.Write(text.Bytes()); err != nil {
		return f, err
	}
	return f, to.commit(p, &f)
}
