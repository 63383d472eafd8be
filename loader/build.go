package loader

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// Options say what to load and where to. Catalog and Store are needed; every other zero value is the default.
type Options struct {
	Catalog     fs.FS        // a directory catalog, or a directory of view dumps
	CatalogName string       // what messages call it
	Store       *store.Store // where segments and the manifest go
	Channel     string       // the pointer that is moved last; "" is stable

	CatalogURL   string    // the site that links name; "" is that of catalog.json, else DefaultCatalogURL
	SnapshotTime time.Time // the time of this load and of its publication; zero is that of catalog.json, else now, and published now

	AllowNoPCodes   bool // load without a list of units: every row falls to its country
	AllowShrink     bool // publish a table that has less than half of the rows that the current snapshot has, or of which a file cannot be used
	StrictResources bool // drop rows whose resource is in no package

	Fetched  *FetchReport // how the catalog was brought; nil for one that was there
	Verified bool         // every file has the sum that catalog.json says: one that has not changed is not read for it
	Cache    BuildCache   // zero: every load reads the catalog

	Parallel int            // tables loaded at once; 0 is the number of cores, at most 4
	Progress func(Progress) // called from time to time, from several goroutines; nil for nobody
}

// Progress is how far the reading of files has come, in bytes as they lie on disk.
type Progress struct {
	Path        string
	Done, Total int64
}

const (
	reportFormat   = 1
	defaultChannel = "stable"
	maxParallel    = 4
)

// Build loads a catalog into a store: it writes the segments that changed, then a manifest and a report, and moves the channel's pointer
// last. A load whose tables all equal those of the current snapshot leaves that one as it is. On an error nothing is published.
func Build(ctx context.Context, opts Options) (*Report, error) {
	began := time.Now()
	l, err := newLoad(opts)
	if err != nil {
		return nil, err
	}
	if r, ok := l.cachedReport(began); ok {
		return r, nil
	}
	if isViews(opts.Catalog) {
		err = l.readViews(ctx)
	} else {
		err = l.readCatalog(ctx)
	}
	if moved := (*movedUnits)(nil); errors.As(err, &moved) {
		if l, err = newLoad(opts); err == nil {
			l.hold = moved
			err = l.readCatalog(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	l.settleStale()
	l.report.Seconds = time.Since(began).Seconds()
	l.report.settle()
	if err := l.publish(); err != nil {
		return l.report, err
	}
	l.saveReport()
	return l.report, nil
}

// load is one run of Build.
type load struct {
	opts    Options
	time    int64 // the snapshot's time
	catalog *catalog
	report  *Report

	current  *store.Manifest // of the channel; nil when the store is new
	before   loadState
	state    loadState
	units    *units
	lists    map[string]*joinTable
	packages *packages
	progress progress
	broken   map[string]error // roles of lists that are kept from the current snapshot, and why
	hold     *movedUnits      // why the lists of locations and units are to be those of before; nil when they need not

	mu       sync.Mutex // what the tables that are loaded at the same time share
	segments map[string]store.SegmentRef
	uses     map[string]*sourceUse // by resource id
	datasets map[string]bool       // ids that kept rows name

	placed    string                 // a table that was kept and has ids of places; "" for none
	available map[string][]available // by table
}

func newLoad(opts Options) (*load, error) {
	opts.Channel = cmp.Or(opts.Channel, defaultChannel)
	opts.Parallel = cmp.Or(opts.Parallel, min(runtime.GOMAXPROCS(0), maxParallel))
	l := &load{
		opts: opts, units: newUnits(), lists: map[string]*joinTable{}, segments: map[string]store.SegmentRef{},
		uses: map[string]*sourceUse{}, datasets: map[string]bool{}, broken: map[string]error{}, available: map[string][]available{},
		state:  loadState{Resources: map[string]resourceState{}, Roles: map[string]roleState{}},
		report: &Report{Format: reportFormat, Catalog: opts.CatalogName},
	}
	l.progress.call = opts.Progress
	return l, l.readCurrent()
}

// setTime settles the time of the load, from Options, the catalog, or the clock, and the site that links name.
func (l *load) setTime(fromCatalog time.Time, catalogURL string) {
	t := l.opts.SnapshotTime
	if t.IsZero() {
		t = fromCatalog
	}
	if t.IsZero() {
		t = time.Now()
	}
	t = t.UTC().Truncate(time.Second)
	l.time = t.UnixMicro()
	l.report.SnapshotTime = t
	l.report.CatalogURL = strings.TrimRight(cmp.Or(l.opts.CatalogURL, catalogURL, DefaultCatalogURL), "/")
}

// readCatalog loads a directory catalog: what others join first, then the themes side by side, then what follows from all of them.
func (l *load) readCatalog(ctx context.Context) (err error) {
	if l.catalog, err = openCatalog(l.opts.Catalog, l.opts.CatalogName); err != nil {
		return err
	}
	l.setTime(l.catalog.time, l.catalog.url)
	l.report.Notes = append(l.report.Notes, l.catalog.notes...)
	l.useEmbedded()
	l.progress.measure(l.catalog)
	l.readPackages()
	if err := l.readLocations(ctx); err != nil {
		return err
	}
	if err := l.readUnits(ctx); err != nil {
		return err
	}
	location, admin1, admin2 := l.units.tables()
	for _, a := range []*tableBuilder{location, admin1, admin2} {
		if err := l.putRows(a); err != nil {
			return err
		}
	}
	var read []*tableBuilder
	for _, src := range lists {
		out, err := l.readRole(ctx, src)
		if err != nil {
			return err
		}
		if why := l.brokenList(src, out); why != nil {
			l.keepList(src, out, why)
			continue
		}
		l.take(src, out)
		l.joinable(src, out.rows)
		read = append(read, out.rows)
	}
	l.settleJoins()
	if err := l.readThemes(ctx); err != nil {
		return err
	}
	if moved := l.movedUnits(); moved != nil {
		return moved
	}
	for _, a := range read { // only now, as finish uses an tableBuilder up
		if err := l.putRows(a); err != nil {
			return err
		}
	}
	out := l.listedPackages()
	l.settleTimes(out)
	l.noteUnknownSources(out)
	if err := l.putPackages(out); err != nil {
		return err
	}
	return l.putAvailability()
}

// readThemes loads the data tables.
func (l *load) readThemes(ctx context.Context) error {
	return largestFirst(ctx, l.opts.Parallel, themes, func(src *source) int64 { return l.catalog.bytesOf(src.role) }, l.readTheme)
}

// largestFirst does work on all items, parallel at once, the largest first so that the last ones to end are small. The first error ends it.
func largestFirst[T any](ctx context.Context, parallel int, items []T, size func(T) int64, work func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan T, len(items))
	for _, item := range slices.SortedStableFunc(slices.Values(items), func(a, b T) int { return cmp.Compare(size(b), size(a)) }) {
		queue <- item
	}
	close(queue)
	var wait sync.WaitGroup
	for range parallel {
		wait.Go(func() {
			for item := range queue {
				if err := work(ctx, item); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// readTheme loads one data table and writes it, or keeps that of the current snapshot.
func (l *load) readTheme(ctx context.Context, src *source) error {
	if kept, err := l.reuse(ctx, src); kept || err != nil {
		return err
	}
	out, err := l.readRole(ctx, src)
	if err != nil {
		return err
	}
	if why := l.unusable(src, out); why != nil {
		return l.keepTable(src, out, why)
	}
	data, found := out.rows.finish(false)
	if old, shrunk := l.shrunk(src.table, data.Rows); shrunk {
		return l.keepShrunk(src, out, old, data.Rows)
	}
	entries := availableIn(data)
	l.mu.Lock()
	l.available[src.table] = entries
	l.take(src, out)
	uses := keptUses(out.uses, data)
	l.countUses(uses)
	l.mu.Unlock()
	if err := l.put(data, found); err != nil {
		return err
	}
	l.remember(src, out, uses, found)
	return nil
}

// take adds what came of a role to the report. The caller holds mu while roles are read at the same time.
func (l *load) take(src *source, out *roleRows) {
	l.report.Resources = append(l.report.Resources, out.resources...)
	l.report.Refused = append(l.report.Refused, out.refused...)
	if len(l.catalog.files[src.role]) == 0 {
		l.report.MissingRoles = append(l.report.MissingRoles, src.role)
	}
}

// keptUses are the uses by rows that stay: those of a resource whose rows all gave way to others are left out.
func keptUses(uses sourceUses, data *snapshot.TableData) []useState {
	kept := map[string]bool{}
	for _, id := range columnData(data.Columns, "resource_catalog_id").Values {
		kept[id] = true
	}
	var out []useState
	for _, u := range uses {
		if kept[u.resource] {
			out = append(out, useState{Dataset: u.dataset, Resource: u.resource, Rows: u.rows, Sum: sumText(u.sum)})
		}
	}
	slices.SortFunc(out, func(a, b useState) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Dataset, b.Dataset))
	})
	return out
}

// countUses adds the uses of a table to those of all. The caller holds mu.
func (l *load) countUses(uses []useState) {
	for _, u := range uses {
		l.datasets[u.Dataset] = true
		all := l.uses[u.Resource]
		if all == nil {
			all = &sourceUse{resource: u.Resource}
			l.uses[u.Resource] = all
		}
		all.rows += u.Rows
		all.sum += u.sum()
	}
}

// putRows writes a table that was gathered row by row.
func (l *load) putRows(a *tableBuilder) error {
	data, found := a.finish(false)
	return l.put(data, found)
}

// put writes a table as a segment of the snapshot to be.
func (l *load) put(data *snapshot.TableData, found duplicateRows) error {
	segment, err := l.opts.Store.PutSegment(data)
	if err != nil {
		return fmt.Errorf("table %s: %w", data.Name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments[data.Name] = segment
	l.report.Tables = append(l.report.Tables, TableReport{
		Table: data.Name, Rows: segment.Rows, Bytes: segment.Bytes, SHA256: segment.SHA256, Duplicates: found,
	})
	return nil
}

// putAvailability writes the list of what there is.
func (l *load) putAvailability() error {
	var entries []available
	for _, src := range themes {
		entries = append(entries, l.available[src.table]...)
	}
	return l.put(availabilityTable(entries, func(resource string) int64 {
		return l.state.Resources[resource].Since.UnixMicro()
	}), duplicateRows{})
}

// publish writes manifest and report and moves the pointer, unless nothing changed.
func (l *load) publish() error {
	m := &store.Manifest{Format: 1, SnapshotTime: l.report.SnapshotTime, CatalogURL: l.report.CatalogURL}
	for _, t := range tables {
		segment, ok := l.segments[t.name]
		if !ok {
			return fmt.Errorf("table %s was not loaded", t.name)
		}
		m.Tables = append(m.Tables, segment)
	}
	if l.current != nil && slices.Equal(l.current.Tables, m.Tables) && l.current.CatalogURL == m.CatalogURL && sameStale(l.before.Stale, l.state.Stale) {
		l.report.Outcome, l.report.Snapshot = "unchanged", l.current.ID
		return nil
	}
	if err := l.checkShrunk(); err != nil {
		return err
	}
	var err error
	if m.State, err = l.stateText(); err != nil {
		return err
	}
	m.ID = manifestID(m)
	l.report.Outcome, l.report.Snapshot = "published", m.ID
	text, err := json.MarshalIndent(l.report, "", "  ")
	if err != nil {
		return err
	}
	if err := l.opts.Store.PutManifest(m); err != nil {
		return err
	}
	if err := l.opts.Store.PutReport(m.ID, text); err != nil {
		return err
	}
	// The catalog's time is none of publication: clients that have only a date ask what came since, and until now another snapshot was shown.
	published := l.opts.SnapshotTime
	if published.IsZero() {
		published = time.Now()
	}
	return l.opts.Store.Publish(l.opts.Channel, m.ID, published)
}

// manifestID names a snapshot by its time and its content, so that equal loads have equal names.
func manifestID(m *store.Manifest) string {
	h := sha256.New()
	fmt.Fprintln(h, m.Format, m.SnapshotTime, m.CatalogURL)
	for _, t := range m.Tables {
		fmt.Fprintln(h, t.Table, t.SHA256)
	}
	h.Write(m.State)
	return m.SnapshotTime.Format("20060102T150405Z") + "-" + hex.EncodeToString(h.Sum(nil))[:12]
}
