package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"hdqs/internal/fetch"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

// Options of a Sync; Source and Cache are needed.
type Options struct {
	Source   string   // https://site of a CKAN catalog, https:// of a mirror's root, s3://bucket/prefix, or a directory
	Cache    string   // directory of the download cache, which also holds the tree
	Only     []string // roles to read from the source; others come from the cache
	Location string   // file with the list of countries, for a source without one; "": the loader's own copy
	// AllowShrink are the roles whose files may be gone, loader.AllRoles all of them.
	AllowShrink []string
	Offline     bool // make no request: everything comes from the cache
	DryRun      bool // find out what would be read, download nothing, make no tree

	// Check reads a downloaded file, whose path in the tree is name. It returns the packages that
	// rows name, and why a load would not use the file. Such a file does not replace a good copy.
	// Nil is loader.CheckFile.
	Check func(ctx context.Context, role, name, file string) (datasets []string, err error)

	Fetch fetch.Options
	// Progress is told how far the downloads have come. Its total sums the sizes that the catalog
	// gives. It is called from several goroutines and may be nil.
	Progress func(loader.Progress)
}

// FileState is what happened to one file.
type FileState struct {
	loader.SourceReport
	Dataset string `json:"dataset,omitempty"`
	ID      string `json:"id,omitempty"`
	SHA256  string `json:"sha256,omitempty"`

	key      string
	otherKey string // that it had if its path had no id, or had one
	link     string
	size     int64
	hash     string // as the catalog says it, in lower case
	md5      string // the same, if it is one
	received int64  // of size, already in the progress
}

// Summary is what a Sync did, or after a dry run, which has no Sources, what it would do.
type Summary struct {
	loader.FetchReport
	Dir      string      `json:"-"` // the tree, empty after a dry run
	Files    []FileState `json:"files"`
	Packages int         `json:"packages"`
}

// ErrUnreachable marks a source of which nothing could be read, now or before.
var ErrUnreachable = errors.New("upstream: the catalog cannot be read, and the cache holds no copy of it")

// Sync brings a catalog into the cache and makes a tree of it that the loader reads. A file that
// fails does not fail the rest: see FileState. The error is ErrUnreachable when there is nothing to
// make a tree of; a cache that cannot be written is an error too.
func Sync(ctx context.Context, o Options) (*Summary, error) {
	began := time.Now()
	store, err := openCache(o.Cache)
	if err != nil {
		return nil, err
	}
	from, err := openSource(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &syncRun{
		options: o, cache: store, from: from, began: began, summary: &Summary{},
		checks: make(chan struct{}, checksAtOnce),
	}
	s.summary.Source, s.summary.Kind = o.Source, from.kind()
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	c := from.counts()
	s.summary.Requests, s.summary.Retries, s.summary.Bytes = c.Requests, c.Retries, c.Bytes
	s.summary.Seconds = time.Since(began).Seconds()
	return s.summary, nil
}

// syncRun is one run of Sync.
type syncRun struct {
	options Options
	cache   *cache
	from    source
	began   time.Time
	summary *Summary
	url     string // the catalog's address, for printed links

	snapshotTime string
	described    []catalogfile.Dataset // datasets, by a tree

	checks chan struct{} // a slot for each check that runs

	mu   sync.Mutex // the cache's index, which downloads share
	stop context.CancelCauseFunc

	progress    sync.Mutex
	done, total int64
}

// lastListing is the file with the listing of the last tree, for when the source cannot be reached.
const lastListing = "last-listing.json"

type savedListing struct {
	Source     string `json:"source"`
	CatalogURL string `json:"catalog_url"`

	Datasets []catalogfile.Dataset `json:"datasets,omitempty"`

	Files []FileState `json:"files"`
}

func (s *syncRun) run(ctx context.Context) error {
	last := s.savedListing()
	l, err := s.list(ctx, last)
	if err != nil {
		return err
	}
	s.url, s.snapshotTime, s.described = l.catalogURL, l.snapshotTime, l.datasets
	if l.note != "" {
		s.note(l.note)
	}
	if s.options.DryRun {
		s.dryRun(l)
		return nil
	}
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	s.fetchAll(ctx, l)
	s.keepDelisted(l, last)
	if !s.options.Offline {
		if err := s.fetchPackages(ctx, last); err != nil {
			return err
		}
	} else {
		s.countPackages()
	}
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), s.cache.save(s.began))
	}
	err = s.writeTree()
	for i := range s.summary.Files {
		s.summary.Sources = append(s.summary.Sources, s.summary.Files[i].SourceReport)
	}
	return errors.Join(err, s.cache.save(s.began), s.cache.tidy(s.began))
}

func (s *syncRun) savedListing() *savedListing {
	data, err := os.ReadFile(filepath.Join(s.options.Cache, lastListing))
	var last savedListing
	if err != nil || json.Unmarshal(data, &last) != nil || last.Source != s.options.Source {
		return nil
	}
	return &last
}

// list asks the source what it has. If the source cannot be reached, it is the last listing, with
// every file stale.
func (s *syncRun) list(ctx context.Context, last *savedListing) (*listing, error) {
	var err error
	if !s.options.Offline {
		var l *listing
		err = s.bounded(ctx, "the list of files", func(ctx context.Context) error {
			l, err = s.from.list(ctx)
			return err
		})
		if err == nil {
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
	}
	if last == nil {
		return nil, errors.Join(ErrUnreachable, err)
	}
	if err != nil {
		s.note("the catalog could not be listed, its last listing is used: " + err.Error())
	}
	l := &listing{catalogURL: last.CatalogURL, datasets: last.Datasets}
	for _, f := range last.Files {
		f.key = f.newKey()
		f.Why, f.Blocked, f.NotAsked = "", false, false
		if err != nil {
			f.State, f.Why, f.NotAsked = loader.SourceStale, "the catalog could not be listed", true
		}
		l.files = append(l.files, f)
	}
	return l, nil
}

// bounded calls read with a context that ends after the time limit of one file.
func (s *syncRun) bounded(ctx context.Context, what string, read func(ctx context.Context) error) error {
	limit := cmp.Or(s.options.Fetch.Total, time.Hour)
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := read(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: not read within %s (--download-timeout): %w", what, limit, err)
	}
	return err
}

// note adds a note for people to the summary.
func (s *syncRun) note(text string) { s.summary.Notes = append(s.summary.Notes, text) }

func (s *syncRun) wanted(role string) bool {
	return len(s.options.Only) == 0 || slices.Contains(s.options.Only, role)
}

func (s *syncRun) dryRun(l *listing) {
	for _, f := range l.files {
		f.State, f.Bytes = loader.SourceNew, f.size
		// A load reads a directory itself: only a mirror has copies of it.
		if e, ok := s.find(&f); ok && s.from.kind() != "directory" && s.fits(&e, &f) {
			f.State, f.Bytes = loader.SourceUnchanged, e.Bytes
		}
		s.summary.Files = append(s.summary.Files, f)
	}
	s.summary.Files = append(s.summary.Files, l.unread...)
}

// keepDelisted adds the files that the source lists no more: a file does not disappear overnight.
// Where it lists one instead that is new, both may have the same rows, and the loader decides.
func (s *syncRun) keepDelisted(l *listing, last *savedListing) {
	if last == nil {
		return
	}
	same := func(f FileState) func(FileState) bool {
		return func(g FileState) bool { return f.Role == g.Role && (f.Path == g.Path || f.ID != "" && f.ID == g.ID) }
	}
	isNew := map[string]bool{catalogfile.PackageRole: true} // roles with a new file
	for _, f := range l.files {
		isNew[f.Role] = isNew[f.Role] || !slices.ContainsFunc(last.Files, same(f))
	}
	for _, f := range last.Files {
		if isNew[f.Role] || slices.ContainsFunc(l.files, same(f)) ||
			slices.Contains(s.options.AllowShrink, f.Role) || slices.Contains(s.options.AllowShrink, loader.AllRoles) {
			continue
		}
		s.keepCopy(f, fmt.Errorf("the catalog lists it no more; --allow-shrink=%s accepts it", f.Role))
	}
}

// keepCopy uses the last copy of a file that the source did not list, if the cache has one.
func (s *syncRun) keepCopy(f FileState, why error) {
	f.key = f.newKey()
	if e, ok := s.cache.find(f.key); ok {
		f.failed(loader.SourceStale, why)
		f.use(e)
		s.touch(f.key, e.Hash)
		s.summary.Files = append(s.summary.Files, f)
	}
}
