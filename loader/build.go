package loader

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// Options say what to load and where to. Catalog and Store are required; the zero value of every
// other field is its default.
type Options struct {
	Catalog     fs.FS        // a catalog directory, or a directory of view dumps
	CatalogName string       // what messages call it
	Store       *store.Store // where segments and the manifest go
	Channel     string       // the pointer that is moved last; "" is stable

	// CatalogURL is the site in printed links; "" is that of catalog.json, else DefaultCatalogURL.
	CatalogURL string
	// SnapshotTime is the time of this load and of its publication. Zero: the load has the time of
	// catalog.json, or else the present, and is published at the present time.
	SnapshotTime time.Time

	AllowNoPCodes bool // load without a list of units: every row falls to its country
	// AllowShrink are the roles that may lose rows, files and countries, and of which a file may be
	// unusable: their tables are published as they are. AllRoles stands for all of them.
	AllowShrink     []string
	AllowEmpty      []string // roles that are meant to have no row
	StrictResources bool     // drop rows whose resource is in no package

	Fetched *FetchReport // how the catalog was fetched; nil for a local one
	// Verified says that every file has the sum in catalog.json: an unchanged one is recognised
	// without reading it.
	Verified bool

	// BeforePublish is called with the id of a new snapshot when its files are there and the
	// channel does not show it yet. Its error is that of the load. It may be nil.
	BeforePublish func(id string) error

	// MaxRows bounds the rows of a table, which are held in memory until it is written: a file with
	// more is refused. 0 is DefaultMaxRows.
	MaxRows  int
	Parallel int            // tables loaded at once; 0 is the number of cores, at most 4
	Progress func(Progress) // called from time to time, from several goroutines; may be nil
}

// Progress is how much of the files has been read, in bytes on disk.
type Progress struct {
	Path        string
	Done, Total int64
}

const (
	reportFormat   = 1
	defaultChannel = "stable"
	maxParallel    = 4
)

// DefaultMaxRows is three times the rows of the largest table of the generated catalog.
const DefaultMaxRows = 10_000_000

// Build loads a catalog into a store: it writes the segments that changed, then a manifest and a
// report, and moves the channel's pointer last. A load whose tables all equal those of the current
// snapshot leaves that one as it is. On an error nothing is published. Segments of the current
// snapshot are read in place; a memory fault in one is an error.
func Build(ctx context.Context, opts Options) (r *Report, err error) {
	err = snapshot.Guard(func() error {
		r, err = buildUnguarded(ctx, opts)
		return err
	})
	return r, err
}

func buildUnguarded(ctx context.Context, opts Options) (*Report, error) {
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
	l.compareMisplaced(r)
	r.report.Seconds = time.Since(began).Seconds()
	r.report.finish()
	return r.report, l.publish(r)
}

// load is one run of Build: what it reads from and compares with.
type load struct {
	opts     Options
	previous *previous
	scanner
	time   int64   // the snapshot's time
	report *Report // what is known before tables are read; every result begins with it
}

func newLoad(opts Options) *load {
	opts.Channel = cmp.Or(opts.Channel, defaultChannel)
	opts.Parallel = cmp.Or(opts.Parallel, min(runtime.GOMAXPROCS(0), maxParallel))
	l := &load{opts: opts, report: &Report{Format: reportFormat, Catalog: opts.CatalogName}}
	l.verified, l.progress.call = opts.Verified, opts.Progress
	l.maxRows = cmp.Or(opts.MaxRows, DefaultMaxRows)
	var err error
	if l.previous, err = openPrevious(opts.Store, opts.Channel); err != nil {
		l.report.refuse("", "snapshot of "+opts.Channel, fmt.Errorf(
			"the current snapshot of %s cannot be read, so that no loss of rows can be seen: %w", opts.Channel, err))
	}
	return l
}

// setTime sets the time of the load, from Options, the catalog, or the clock, and the site in
// links.
func (l *load) setTime(fromCatalog time.Time, catalogURL string) error {
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
	return checkSite(l.report.CatalogURL)
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
	if now := l.previous.manifest; now != nil && slices.Equal(now.Tables, m.Tables) &&
		now.CatalogURL == m.CatalogURL && sameStale(l.previous.state.Stale, r.state.Stale) && sameSources(now, m) {
		report.Outcome, report.Snapshot = "unchanged", now.ID
		return nil
	}
	var err error
	if m.State, err = r.stateText(); err != nil {
		return err
	}
	m.ID = manifestID(m)
	report.Outcome, report.Snapshot = "published", m.ID
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	if err := l.opts.Store.Snapshots.PutManifest(m); err != nil {
		return err
	}
	if err := l.opts.Store.Snapshots.PutReport(m.ID, text); err != nil {
		return err
	}
	if l.opts.BeforePublish != nil {
		if err := l.opts.BeforePublish(m.ID); err != nil {
			return err
		}
	}
	// Publish with the wall clock, not the catalog's time: If-Modified-Since compares against when
	// this snapshot became visible.
	published := l.opts.SnapshotTime
	if published.IsZero() {
		published = time.Now()
	}
	return l.opts.Store.Channels.Publish(l.opts.Channel, m.ID, published)
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

// result gathers the tables of the snapshot to be, and what is reported and remembered of them.
// Tables are loaded concurrently; the mutex guards everything but the store.
type result struct {
	store *store.Store

	mu         sync.Mutex
	report     *Report
	segments   map[string]store.SegmentRef
	available  map[string][]available // by table
	countries  map[string][]string    // codes, by table; not of kept tables
	uses       map[string]*sourceUse  // by resource id
	datasets   map[string]bool        // ids that rows name
	state      loadState
	sources    sources
	keptPlaced string // a table that is kept and refers to places; "" when there is none
}

// newResult is an empty result whose report begins as a copy of the given one.
func newResult(st *store.Store, base *Report) *result {
	return &result{
		store: st, report: base.clone(), segments: map[string]store.SegmentRef{}, available: map[string][]available{},
		countries: map[string][]string{},
		uses:      map[string]*sourceUse{}, datasets: map[string]bool{},
		sources: sources{resources: map[string]sourceResource{}, datasets: map[string]store.Dataset{}},
		state:   loadState{Resources: map[string]resourceState{}, Roles: map[string]roleState{}},
	}
}

func (r *result) putRows(b *tableBuilder) error {
	data, found := b.finish(false)
	return r.put(data, found)
}

func (r *result) put(data *snapshot.TableData, found duplicateRows) error {
	formulas, countries := countFormulas(data), countriesOf(data)
	segment, err := r.store.Segments.PutSegment(data)
	if err != nil {
		return fmt.Errorf("table %s: %w", data.Name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.segments[data.Name], r.countries[data.Name] = segment, countries
	r.report.Tables = append(r.report.Tables, TableReport{
		Table: data.Name, Rows: segment.Rows, Bytes: segment.Bytes, SHA256: segment.SHA256, Duplicates: found,
		FormulaTexts: formulas,
	})
	return nil
}

// keep takes a table over from the previous snapshot. The caller holds mu.
func (r *result) keep(old store.SegmentRef, was roleState) {
	r.segments[old.Table] = old
	r.report.Tables = append(r.report.Tables, TableReport{
		Table: old.Table, Rows: old.Rows, Bytes: old.Bytes, SHA256: old.SHA256, Reused: true,
		Duplicates: was.Duplicates, FormulaTexts: was.FormulaTexts,
	})
}

// keepTheme is keep for the table of a data theme. The caller holds mu.
func (r *result) keepTheme(th *theme, old store.SegmentRef, entries []available, was roleState) {
	r.available[old.Table] = entries
	r.countUses(was.Uses)
	r.state.Roles[th.role] = was
	r.keep(old, was)
}

// addRole reports what came of reading a role. The caller holds mu.
func (r *result) addRole(th *theme, rows *roleRows, hasFiles bool) {
	r.report.Resources = append(r.report.Resources, rows.resources...)
	r.report.Refused = append(r.report.Refused, rows.refused...)
	if !hasFiles {
		r.report.MissingRoles = append(r.report.MissingRoles, th.role)
	}
}

// countUses adds the uses of a table to those of all tables. The caller holds mu.
func (r *result) countUses(uses []useState) {
	for _, u := range uses {
		r.datasets[u.Dataset] = true
		all := r.uses[u.Resource]
		if all == nil {
			all = &sourceUse{dataset: u.Dataset, resource: u.Resource}
			r.uses[u.Resource] = all
		}
		all.rows += u.Rows
		all.sum += u.sum()
	}
}

func (r *result) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Notes = append(r.report.Notes, text)
}
