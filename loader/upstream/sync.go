package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"hdqs/internal/fetch"
)

// Options of a Sync; Source and Cache are needed.
type Options struct {
	Source   string   // https://site of a CKAN catalog, https:// of a mirror's root, s3://bucket/prefix, or a directory
	Cache    string   // directory of the download cache; the tree is made in it
	Only     []string // roles to read from the source; others come from the cache as they are
	Location string   // file with the list of countries, for a source that has none; "": the loader's own copy
	Offline  bool     // ask nobody: everything comes from the cache
	DryRun   bool     // find out what would be read, download nothing, make no tree

	// Check reads a downloaded file, whose path in the tree is name. It returns the packages that
	// rows name, and why a load would not use the file. Such a file does not replace a good copy.
	// Nil is loader.CheckFile.
	Check func(ctx context.Context, role, name, file string) (datasets []string, err error)

	Fetch    fetch.Options
	Progress func(Progress) // called from several goroutines; nil for nobody
}

// Progress is how far the downloads have come. Total is what the catalog says of their sizes, as
// far as it does.
type Progress struct {
	Path        string
	Done, Total int64
}

// The states of a file after a Sync.
const (
	New       = "new"       // downloaded: not seen before, or changed
	Unchanged = "unchanged" // the copy in the cache is what the catalog has
	Stale     = "stale"     // could not be read; the last good copy stands in
	Refused   = "refused"   // could not be read, and there is no copy
)

// FileState is what became of one file.
type FileState struct {
	Role         string  `json:"role"`
	Path         string  `json:"path"`
	Dataset      string  `json:"dataset,omitempty"`
	ID           string  `json:"id,omitempty"`
	LastModified string  `json:"last_modified,omitempty"`
	State        string  `json:"state"`
	Why          string  `json:"why,omitempty"`
	Bytes        int64   `json:"bytes"`
	SHA256       string  `json:"sha256,omitempty"`
	Seconds      float64 `json:"seconds"`

	key      string
	link     string
	size     int64
	md5      string
	received int64 // of size, already told to the progress
}

// Summary is what a Sync did.
type Summary struct {
	Source   string      `json:"source"`
	Kind     string      `json:"kind"` // ckan, mirror, s3 or directory
	Dir      string      `json:"-"`    // the tree, empty after a dry run
	Inputs   string      `json:"-"`    // a sum of everything in the tree
	Files    []FileState `json:"files"`
	Packages int         `json:"packages"`
	Requests int64       `json:"requests"`
	Retries  int64       `json:"retries"`
	Bytes    int64       `json:"bytes"` // that travelled
	Seconds  float64     `json:"seconds"`
	Notes    []string    `json:"notes,omitempty"`
}

// Count is how many files are in a state.
func (s *Summary) Count(state string) int {
	n := 0
	for _, f := range s.Files {
		if f.State == state {
			n++
		}
	}
	return n
}

// ErrUnreachable marks a source of which nothing could be read, now or before.
var ErrUnreachable = errors.New("upstream: the catalog cannot be read, and the cache holds no copy of it")

// listing is what a source says it has: files to download, and the texts that its answers brought
// along.
type listing struct {
	catalogURL   string
	snapshotTime string // of a tree that says when it was made
	files        []FileState
	texts        map[string][]byte // of files that need no download, by key
	note         string            // for people
}

// source is one kind of upstream.
type source interface {
	kind() string
	list(ctx context.Context) (*listing, error)
	download(ctx context.Context, f *FileState, w wanted) (fetch.Result, error)
	// listsPackages reports whether packages has anything to list: a tree has listed its packages
	// already.
	listsPackages() bool
	// packages lists the packages of these datasets, which rows of the data files name.
	packages(ctx context.Context, datasets []string) (*listing, error)
	counts() fetch.Counts
}

// wanted says where a download goes to.
type wanted struct {
	etag     string // of the copy that is there
	to, part string
	received func(n int64)
}

// Sync brings a catalog into the cache and makes a tree of it that the loader reads. One failed
// file does not fail the rest: see FileState. The error is ErrUnreachable when there is nothing to
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
		options: o, cache: store, from: from, began: began,
		summary: &Summary{Source: o.Source, Kind: from.kind()},
	}
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

	mu   sync.Mutex // the cache's index, which downloads share
	stop context.CancelCauseFunc

	progress    sync.Mutex
	done, total int64
}

// lastListing is the cache's memory of the last tree, for when the source is away.
const lastListing = "last-listing.json"

type savedListing struct {
	Source     string      `json:"source"`
	CatalogURL string      `json:"catalog_url"`
	Files      []FileState `json:"files"`
}

func (s *syncRun) run(ctx context.Context) error {
	last := s.savedListing()
	l, err := s.list(ctx, last)
	if err != nil {
		return err
	}
	s.url, s.snapshotTime = l.catalogURL, l.snapshotTime
	if l.note != "" {
		s.summary.Notes = append(s.summary.Notes, l.note)
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
	return errors.Join(s.writeTree(), s.cache.save(s.began), s.cache.tidy(s.began))
}

func (s *syncRun) savedListing() *savedListing {
	data, err := os.ReadFile(filepath.Join(s.options.Cache, lastListing))
	var last savedListing
	if err != nil || json.Unmarshal(data, &last) != nil || last.Source != s.options.Source {
		return nil
	}
	return &last
}

// list asks the source what it has. When it cannot say, the last listing stands in, with every file
// stale.
func (s *syncRun) list(ctx context.Context, last *savedListing) (*listing, error) {
	var err error
	if !s.options.Offline {
		var l *listing
		if l, err = s.from.list(ctx); err == nil {
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
		s.summary.Notes = append(s.summary.Notes,
			"the catalog could not be listed, its last listing is used: "+err.Error())
	}
	l := &listing{catalogURL: last.CatalogURL}
	for _, f := range last.Files {
		f.key = f.newKey()
		f.Why = ""
		if err != nil {
			f.State, f.Why = Stale, "the catalog could not be listed"
		}
		l.files = append(l.files, f)
	}
	return l, nil
}

// note adds a note for people to the summary.
func (s *syncRun) note(text string) { s.summary.Notes = append(s.summary.Notes, text) }

func (s *syncRun) wanted(role string) bool {
	return len(s.options.Only) == 0 || slices.Contains(s.options.Only, role)
}

func (s *syncRun) dryRun(l *listing) {
	for _, f := range l.files {
		f.State, f.Bytes = New, f.size
		if e, ok := s.cache.find(f.key); ok && e.fits(&f) {
			f.State, f.Bytes = Unchanged, e.Bytes
		}
		s.summary.Files = append(s.summary.Files, f)
	}
}

// fits tells whether a copy is the file as the catalog describes it. Without a digest or a time of
// change nothing can be told: ask by ETag.
func (e *cacheEntry) fits(f *FileState) bool {
	if f.SHA256 != "" {
		return e.SHA256 == f.SHA256
	}
	return f.LastModified != "" && e.LastModified == f.LastModified && e.Size == f.size
}

// fetchAll brings all files of a listing into the cache, several at a time; how many the fetch
// client lets through.
func (s *syncRun) fetchAll(ctx context.Context, l *listing) {
	for i := range l.files {
		s.total += l.files[i].size
	}
	results := make([]FileState, len(l.files))
	var workers errgroup.Group
	workers.SetLimit(16)
	for i := range l.files {
		workers.Go(func() error {
			results[i] = s.fetchOne(ctx, l.files[i], l.texts[l.files[i].key])
			return nil
		})
	}
	_ = workers.Wait() // the errors are in the results
	s.summary.Files = append(s.summary.Files, results...)
}

// fetchOne settles the state of one file.
func (s *syncRun) fetchOne(ctx context.Context, f FileState, text []byte) FileState {
	began := time.Now()
	s.mu.Lock()
	old, have := s.cache.find(f.key)
	s.mu.Unlock()
	switch {
	case text != nil:
		s.keepText(&f, old, text)
	case have && f.State == Stale:
		f.use(old)
	case have && (s.options.Offline || !s.wanted(f.Role) || old.fits(&f)):
		f.State, f.Why = Unchanged, old.Suspect
		f.use(old)
		s.touch(f.key)
	case s.rejected(&f, old) && have:
		f.State, f.Why = Stale, old.Rejected.Why
		f.use(old)
		s.touch(f.key)
	case s.options.Offline || f.State == Stale:
		f.State, f.Why = Refused, "not in the cache"
	default:
		s.download(ctx, &f, old, have)
	}
	f.Seconds = time.Since(began).Seconds()
	s.move(f.Path, f.size-f.received)
	return f
}

// move tells how far the downloads have come.
func (s *syncRun) move(path string, n int64) {
	if s.options.Progress == nil {
		return
	}
	s.progress.Lock()
	defer s.progress.Unlock()
	s.done += n
	s.options.Progress(Progress{Path: path, Done: s.done, Total: s.total})
}

// rejected tells whether this program has read the present form of a file already, and would not
// use it.
func (s *syncRun) rejected(f *FileState, old cacheEntry) bool {
	r := old.Rejected
	return r != nil && f.LastModified != "" && r.LastModified == f.LastModified && r.Size == f.size &&
		r.By == s.options.Fetch.UserAgent
}

// newKey identifies a file in the cache.
func (f *FileState) newKey() string { return f.Role + ":" + f.ID + ":" + f.Path }

// use makes a copy in the cache the file.
func (f *FileState) use(e cacheEntry) {
	f.SHA256, f.Bytes, f.LastModified = e.SHA256, e.Bytes, e.LastModified
}

// touch keeps an entry from being forgotten.
func (s *syncRun) touch(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.cache.entries[key]
	e.Used = s.began.UTC()
	s.cache.entries[key] = e
}

func (s *syncRun) keepText(f *FileState, old cacheEntry, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.cache.keepBytes(f.key, text)
	if err != nil {
		s.stop(err)
		f.State, f.Why = Refused, err.Error()
		return
	}
	f.State = New
	if e.SHA256 == old.SHA256 {
		f.State = Unchanged
	}
	f.SHA256, f.Bytes = e.SHA256, e.Bytes
}

// download reads a file and settles what stands for it. What cannot be read, or is of no use, does
// not take the place of a good copy.
func (s *syncRun) download(ctx context.Context, f *FileState, old cacheEntry, have bool) {
	to := s.cache.newPath(f.key)
	etag := ""
	if have {
		etag = old.ETag
	}
	result, err := s.from.download(ctx, f,
		wanted{etag: etag, to: to, part: s.cache.partPath(f.key), received: func(n int64) {
			f.received += n
			s.move(f.Path, n)
		}})
	var suspect error
	var datasets []string
	if err == nil && !result.NotModified {
		datasets, suspect = s.options.check(ctx, f.Role, f.Path, to)
		if suspect != nil && ctx.Err() != nil { // the check was stopped: the file is neither good nor bad
			err, suspect = errors.Join(context.Cause(ctx), os.Remove(to)), nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil && result.NotModified:
		old.LastModified, old.Size, old.Used = f.LastModified, f.size, s.began.UTC()
		s.cache.entries[f.key] = old
		f.State, f.Why = Unchanged, old.Suspect
		f.use(old)
		return
	case suspect != nil && have && old.Suspect == "" && ctx.Err() == nil:
		old.Rejected = &rejection{
			LastModified: f.LastModified, Size: f.size, Why: suspect.Error(),
			By: s.options.Fetch.UserAgent,
		}
		old.Used = s.began.UTC()
		s.cache.entries[f.key] = old
		err = errors.Join(suspect, os.Remove(to))
	case err == nil:
		e := cacheEntry{
			SHA256: result.SHA256, LastModified: f.LastModified, Size: f.size, Bytes: result.Bytes, ETag: result.ETag,
			Used: s.began.UTC(), Datasets: datasets, Scanned: true,
		}
		if suspect != nil {
			e.Suspect = suspect.Error()
		}
		if err = s.cache.keep(f.key, to, e); err == nil {
			f.State, f.Why = New, e.Suspect
			f.use(e)
			err = s.cache.saveForNow()
		}
		if err != nil {
			s.stop(err)
		}
	}
	if errors.Is(err, fetch.ErrDisk) {
		s.stop(err) // no fault of the source: there is no use in asking for more, and what is kept is not stale for that
	}
	switch {
	case err == nil:
	case have:
		f.State, f.Why = Stale, err.Error()
		f.use(old)
	default:
		f.State, f.Why = Refused, err.Error()
	}
}

// keepDelisted adds, for every role that the source has no file of any more, the files it last had:
// a dataset does not go away in one night.
func (s *syncRun) keepDelisted(l *listing, last *savedListing) {
	if last == nil {
		return
	}
	has := map[string]bool{"package": true}
	for _, f := range l.files {
		has[f.Role] = true
	}
	for _, f := range last.Files {
		if has[f.Role] {
			continue
		}
		f.key = f.newKey()
		if e, ok := s.cache.find(f.key); ok {
			f.State, f.Why = Stale, "the catalog lists no file of this role any more"
			f.use(e)
			s.touch(f.key)
			s.summary.Files = append(s.summary.Files, f)
		}
	}
}
