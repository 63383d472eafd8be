package loader

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"hdqs/loader/catalogfile"
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
	// unusable: their tables are published as they are. AllRoles means all of them.
	AllowShrink     []string
	AllowEmpty      []string // roles that are meant to have no row
	StrictResources bool     // drop rows whose resource is in no package

	Fetched *FetchReport // how the catalog was fetched; nil for a local one

	// BeforePublish is called with the id of a new snapshot when its files are there and the
	// channel does not show it yet. Its error is that of the load. It may be nil.
	BeforePublish func(id string) (Publication, error)

	// MaxRows bounds the rows of a table, which are held in memory until it is written: a file with
	// more is refused. 0 is DefaultMaxRows.
	MaxRows  int
	Parallel int            // tables loaded at once; 0 is the number of cores, at most 4
	Progress func(Progress) // called from time to time, from several goroutines; may be nil
}

// Publication is what is known of a snapshot before the channel shows it.
type Publication struct {
	Figures string   // its file of figures (store.Pointer.Figures)
	Changed []string // for Report.Changed
}

// mayShrink reports whether the operator has allowed a role to lose files and rows.
func (o *Options) mayShrink(role string) bool {
	return slices.Contains(o.AllowShrink, role) || slices.Contains(o.AllowShrink, AllRoles)
}

// packagesMayShrink: the lists of datasets and resources follow from all others.
func (o *Options) packagesMayShrink() bool { return len(o.AllowShrink) > 0 }

const (
	reportFormat   = 1
	defaultChannel = "stable"
	maxParallel    = 4
)

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
	l.progress.call = opts.Progress
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

// pass reads the catalog once under a plan.
type pass struct {
	load   *load
	plan   plan
	refs   references
	broken map[string]error // roles of lists that are kept from the previous snapshot, and why
	result *result
}

// plan says, before any data theme is read, which lists of places a load uses: those of the
// catalog, or those of the previous snapshot. Rows refer to places by number, and the numbers
// follow from the lists. So a table that is kept from the previous snapshot is right only together
// with the places it was made with.
//
// The plan begins with the lists of the catalog. It is revised when they would change a place's
// number and some table is kept, which is known when the themes have been read: they are read a
// second time.
type plan struct {
	why       error // why the previous lists of places are used; nil when they are not
	locations bool  // that of locations too
}

// kept is why the plan uses the previous list of a role, nil when it does not.
func (p plan) kept(role string) *listFault {
	if p.why == nil || role == catalogfile.LocationRole && !p.locations {
		return nil
	}
	return &listFault{role: role, why: p.why}
}

// listFault is why the list of a role cannot be used, and the file it is about, if it is about one.
type listFault struct {
	role, path string
	why        error
}

func newListFault(role, path, format string, args ...any) *listFault {
	return &listFault{role: role, path: path, why: fmt.Errorf("list "+role+": "+format, args...)}
}

// roleRows is what came of reading a role.
type roleRows struct {
	rows      *tableBuilder
	uses      sourceUses
	resources []*ResourceReport
	refused   []Refusal
	lacking   []string // added columns that a file does not have
}

// result gathers the tables of the snapshot to be, and what is reported and remembered of them.
// Tables are loaded concurrently; the mutex guards everything but the store.
type result struct {
	store *store.Store

	mu         sync.Mutex
	report     *Report
	segments   map[string]store.SegmentRef
	available  map[string][]available // by table
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
		uses: map[string]*sourceUse{}, datasets: map[string]bool{},
		sources: sources{resources: map[string]sourceResource{}, datasets: map[string]store.Dataset{}},
		state:   loadState{Resources: map[string]resourceState{}, Roles: map[string]roleState{}},
	}
}

// largestFirst does work on all items, at most parallel of them at a time, the largest first so
// that the last ones to end are small. The first error cancels the rest.
func largestFirst[T any](
	ctx context.Context, parallel int, items []T, size func(T) int64, work func(context.Context, T) error,
) error {
	bySize := func(a, b T) int { return cmp.Compare(size(b), size(a)) }
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, item := range slices.SortedStableFunc(slices.Values(items), bySize) {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return work(ctx, item)
		})
	}
	return group.Wait()
}

func (r *result) putRows(b *tableBuilder) error {
	data, found := b.finish(false)
	return r.put(data, found)
}

func (r *result) put(data *snapshot.TableData, found duplicateRows) error {
	counts := tableCounts{found, countOddTexts(data)}
	segment, err := r.store.Segments.PutSegment(data)
	if err != nil {
		return fmt.Errorf("table %s: %w", data.Name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.segments[data.Name] = segment
	r.report.Tables = append(r.report.Tables, TableReport{
		Table: data.Name, Rows: segment.Rows, Bytes: segment.Bytes, SHA256: segment.SHA256, tableCounts: counts,
	})
	return nil
}

// keep takes a table over from the previous snapshot. The caller holds mu.
func (r *result) keep(old store.SegmentRef, was roleState) {
	r.segments[old.Table] = old
	r.report.Tables = append(r.report.Tables, TableReport{
		Table: old.Table, Rows: old.Rows, Bytes: old.Bytes, SHA256: old.SHA256, Reused: true,
		tableCounts: was.tableCounts,
	})
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

// sources are the resources and datasets that rows come from. They are written to the manifest,
// from which replicas show them.
type sources struct {
	resources map[string]sourceResource // by id
	datasets  map[string]store.Dataset  // by id
}

// sourceResource is the dataset of a resource, and when it changed last.
type sourceResource struct {
	dataset  string
	modified int64 // to the second; 0 when it is not known
	updated  int64 // its api_updated_date; 0 unless it is read from a table
}
