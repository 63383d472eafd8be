package loader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hdqs/snapshot/store"
)

// Build loads a catalog into a store: it writes the segments that changed, then a manifest and a
// report, and moves the channel's pointer last. A load whose tables all equal those of the current
// snapshot leaves that one as it is. On an error nothing is published.
func Build(ctx context.Context, opts Options) (*Report, error) {
	began := time.Now()
	l := newLoad(opts)
	read := l.readCatalog
	if path, err := viewFile(opts.Catalog, "location_view"); err == nil && path != "" {
		read = l.readViews
	}
	r, err := read(ctx)
	if err != nil {
		return nil, err
	}
	l.finishStale(r)
	l.countFiles(r)
	l.compareRows(r)
	l.compareFiles(r)
	r.report.Seconds = time.Since(began).Seconds()
	r.report.finish()
	return r.report, l.publish(r)
}

// publish writes manifest and report and moves the pointer, unless nothing changed.
func (l *load) publish(r *result) error {
	report := r.report
	m := &store.Manifest{
		Format: store.ManifestFormat, SnapshotTime: report.SnapshotTime, CatalogURL: report.CatalogURL,
	}
	for _, t := range tables {
		segment, ok := r.segments[t.name]
		if !ok {
			return fmt.Errorf("table %s was not loaded", t.name)
		}
		m.Tables = append(m.Tables, segment)
	}
	m.Sources, m.Datasets = l.describeSources(r)
	now := l.previous.manifest
	if slices.Equal(now.Tables, m.Tables) && now.CatalogURL == m.CatalogURL &&
		sameStale(l.previous.state.Stale, r.state.Stale) && sameSources(now, m) {
		report.Outcome, report.Snapshot = "unchanged", now.ID
		return nil
	}
	if now.ID != "" && now.CatalogURL != m.CatalogURL {
		report.odd("links lead to %s, before to %s", m.CatalogURL, now.CatalogURL)
	}
	var err error
	if m.State, err = r.stateText(); err != nil {
		return err
	}
	m.ID = manifestID(m)
	report.Outcome, report.Snapshot = "published", m.ID
	if err := l.opts.Store.Snapshots.PutManifest(m); err != nil {
		return err
	}
	if err := l.putReport(report); err != nil {
		return err
	}
	var p Publication
	if l.opts.BeforePublish != nil {
		if p, err = l.opts.BeforePublish(m.ID); err != nil {
			return err
		}
	}
	if len(p.Changed) > 0 {
		report.Changed, report.Partial = p.Changed, true
		if err := l.putReport(report); err != nil {
			return err
		}
	}
	// Publish with the wall clock, not the catalog's time: If-Modified-Since compares against when
	// this snapshot became visible.
	published := l.opts.SnapshotTime
	if published.IsZero() {
		published = time.Now()
	}
	return l.opts.Store.Channels.Move(l.opts.Channel, m.ID, store.PublishAt(published).WithFigures(p.Figures))
}

// putReport stores the report beside the manifest.
func (l *load) putReport(r *Report) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return l.opts.Store.Snapshots.PutReport(r.Snapshot, text)
}

// manifestID names a snapshot by its time and content, so that equal loads have equal names.
func manifestID(m *store.Manifest) string {
	h := sha256.New()
	fmt.Fprintln(h, m.Format, m.SnapshotTime, m.CatalogURL)
	for _, t := range m.Tables {
		fmt.Fprintln(h, t.Table, t.SHA256)
	}
	h.Write(m.State)
	_ = json.NewEncoder(h).Encode([]any{m.Sources, m.Datasets})
	return m.SnapshotTime.Format("20060102T150405Z") + "-" + hex.EncodeToString(h.Sum(nil))[:12]
}

func (r *result) stateText() (json.RawMessage, error) {
	n := len(r.state.Resources)
	for _, r := range r.state.Roles {
		n += len(r.Uses)
	}
	if n > maxRemembered {
		r.note(fmt.Sprintf("%d resources are too many to remember; the next load reads everything anew", n))
		return nil, nil
	}
	return json.Marshal(r.state)
}

// maxRemembered bounds the state in a manifest; a catalog with more resources is read anew each
// time.
const maxRemembered = 100_000
