package upstream

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hdqs/fetch"
)

// Options of a Sync; Source and Cache are needed.
type Options struct {
	Source   string   // https://site of a CKAN catalog, https:// of a mirror's root, s3://bucket/prefix, or a directory
	Cache    string   // directory of the download cache; the tree is made in it
	Only     []string // roles to read from the source; others come from the cache as they are
	Location string   // file with the list of countries, for a source that has none; "": the loader's own copy
	Offline  bool     // ask nobody: everything comes from the cache
	DryRun   bool     // find out what would be read, download nothing, make no tree

	Fetch    fetch.Options
	Progress func(Progress) // called from several goroutines; nil for nobody
}

// Progress is how far the downloads have come. Total is what the catalog says of their sizes, as far as it does.
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

	key  string
	link string
	size int64
	md5  string
}

// Summary is what a Sync did.
type Summary struct {
	Source   string      `json:"source"`
	Kind     string      `json:"kind"` // ckan, mirror, s3 or directory
	Dir      string      `json:"-"`    // the tree, empty after a dry run
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

// listing is what a source says it has: files to download, and the texts that its answers brought along.
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
	download(ctx context.Context, f *FileState, etag, path string) (fetch.Result, error)
	// more lists what can only be known after the data files were read: the packages that their rows name.
	more(ctx context.Context, datasets []string) (*listing, error)
	counts() fetch.Counts
}

// Sync brings a catalog into the cache and makes a tree of it that the loader reads. One failed file does not fail the rest: see FileState. The
// error is ErrUnreachable when there is nothing to make a tree of.
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
	s := &syncing{options: o, cache: store, from: from, began: began, summary: &Summary{Source: o.Source, Kind: from.kind()}}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	c := from.counts()
	s.summary.Requests, s.summary.Retries, s.summary.Bytes = c.Requests, c.Retries, c.Bytes
	s.summary.Seconds = time.Since(began).Seconds()
	return s.summary, nil
}

// syncing is one run of Sync.
type syncing struct {
	options Options
	cache   *cache
	from    source
	began   time.Time
	summary *Summary
	url     string // the catalog's address, for printed links

	snapshotTime string

	mu          sync.Mutex // the cache's index and the progress, which downloads share
	done, total int64
}

// lastListing is the cache's memory of the last tree, for when the source is away.
const lastListing = "last-listing.json"

type rememberedListing struct {
	Source     string      `json:"source"`
	CatalogURL string      `json:"catalog_url"`
	Files      []FileState `json:"files"`
}

func (s *syncing) run(ctx context.Context) error {
	last := s.remembered()
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
	s.fetchAll(ctx, l)
	s.keepVanished(l, last)
	if !s.options.Offline {
		if err := s.fetchMore(ctx, last); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), s.cache.save(s.began))
	}
	return errors.Join(s.writeTree(), s.cache.save(s.began))
}

func (s *syncing) remembered() *rememberedListing {
	data, err := os.ReadFile(filepath.Join(s.options.Cache, lastListing))
	var last rememberedListing
	if err != nil || json.Unmarshal(data, &last) != nil || last.Source != s.options.Source {
		return nil
	}
	return &last
}

// list asks the source what it has. When it cannot say, the last listing stands in, with every file stale.
func (s *syncing) list(ctx context.Context, last *rememberedListing) (*listing, error) {
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
		s.summary.Notes = append(s.summary.Notes, "the catalog could not be listed, its last listing is used: "+err.Error())
	}
	l := &listing{catalogURL: last.CatalogURL}
	for _, f := range last.Files {
		f.key = f.Role + ":" + f.ID + ":" + f.Path
		f.Why = ""
		if err != nil {
			f.State, f.Why = Stale, "the catalog could not be listed"
		}
		l.files = append(l.files, f)
	}
	return l, nil
}

func (s *syncing) wanted(role string) bool {
	return len(s.options.Only) == 0 || slices.Contains(s.options.Only, role)
}

func (s *syncing) dryRun(l *listing) {
	for _, f := range l.files {
		f.State = New
		if e, ok := s.cache.find(f.key); ok && e.fits(&f) {
			f.State, f.Bytes = Unchanged, e.Bytes
		}
		s.summary.Files = append(s.summary.Files, f)
	}
}

// fits tells whether a copy is the file as the catalog describes it. Without a digest or a time of change nothing can be told: ask by ETag.
func (e *cacheEntry) fits(f *FileState) bool {
	if f.SHA256 != "" {
		return e.SHA256 == f.SHA256
	}
	return f.LastModified != "" && e.LastModified == f.LastModified && e.Size == f.size
}

// fetchAll brings all files of a listing into the cache, several at a time; how many the fetch client lets through.
func (s *syncing) fetchAll(ctx context.Context, l *listing) {
	for i := range l.files {
		s.total += l.files[i].size
	}
	results := make([]FileState, len(l.files))
	var wait sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range l.files {
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wait.Done() }()
			results[i] = s.fetchOne(ctx, l.files[i], l.texts[l.files[i].key])
		}()
	}
	wait.Wait()
	s.summary.Files = append(s.summary.Files, results...)
}

// fetchOne settles the state of one file.
func (s *syncing) fetchOne(ctx context.Context, f FileState, text []byte) FileState {
	began := time.Now()
	s.mu.Lock()
	old, have := s.cache.find(f.key)
	s.mu.Unlock()
	switch {
	case text != nil:
		s.keepText(&f, old, text)
	case have && f.State == Stale:
		f.take(old)
	case have && (s.options.Offline || !s.wanted(f.Role) || old.fits(&f)):
		f.State = Unchanged
		f.take(old)
		s.touch(f.key)
	case s.options.Offline || f.State == Stale:
		f.State, f.Why = Refused, "not in the cache"
	default:
		s.download(ctx, &f, old, have)
	}
	f.Seconds = time.Since(began).Seconds()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += f.size
	if s.options.Progress != nil {
		s.options.Progress(Progress{Path: f.Path, Done: s.done, Total: s.total})
	}
	return f
}

func (f *FileState) take(e cacheEntry) {
	f.SHA256, f.Bytes, f.LastModified = e.SHA256, e.Bytes, e.LastModified
}

// touch keeps an entry from being forgotten.
func (s *syncing) touch(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.cache.entries[key]
	e.Used = s.began.UTC()
	s.cache.entries[key] = e
}

func (s *syncing) keepText(f *FileState, old cacheEntry, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.cache.keepBytes(f.key, text)
	if err != nil {
		f.State, f.Why = Refused, err.Error()
		return
	}
	f.State = New
	if e.SHA256 == old.SHA256 {
		f.State = Unchanged
	}
	f.SHA256, f.Bytes = e.SHA256, e.Bytes
}

func (s *syncing) download(ctx context.Context, f *FileState, old cacheEntry, have bool) {
	part := filepath.Join(s.cache.dir, "objects", ".part-"+strings.NewReplacer("/", "_", ":", "_").Replace(f.key))
	etag := ""
	if have {
		etag = old.ETag
	}
	result, err := s.from.download(ctx, f, etag, part)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := cacheEntry{
		SHA256: result.SHA256, LastModified: f.LastModified, Size: f.size, Bytes: result.Bytes, ETag: result.ETag, Used: s.began.UTC(),
	}
	switch {
	case err == nil && result.NotModified:
		old.LastModified, old.Size, old.Used = f.LastModified, f.size, s.began.UTC()
		s.cache.entries[f.key] = old
		f.State = Unchanged
		f.take(old)
		return
	case err == nil:
		err = s.cache.keep(f.key, part, e)
	}
	switch {
	case err == nil:
		f.State = New
		f.take(e)
	case have:
		f.State, f.Why = Stale, err.Error()
		f.take(old)
	default:
		f.State, f.Why = Refused, err.Error()
	}
}

// keepVanished adds, for every role that the source has no file of any more, the files it last had: a dataset does not go away in one night.
func (s *syncing) keepVanished(l *listing, last *rememberedListing) {
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
		f.key = f.Role + ":" + f.ID + ":" + f.Path
		if e, ok := s.cache.find(f.key); ok {
			f.State, f.Why = Stale, "the catalog lists no file of this role any more"
			f.take(e)
			s.touch(f.key)
			s.summary.Files = append(s.summary.Files, f)
		}
	}
}

// fetchMore reads the packages that rows name. Without them the data is whole but its sources lack their description, so the last ones stand in.
func (s *syncing) fetchMore(ctx context.Context, last *rememberedListing) error {
	datasets, err := s.datasets()
	if err != nil {
		return err
	}
	l, err := s.from.more(ctx, datasets)
	if err == nil {
		s.fetchAll(ctx, l)
	} else {
		s.summary.Notes = append(s.summary.Notes, "the source packages could not be read, the last ones are used: "+err.Error())
		if last != nil {
			for _, f := range last.Files {
				f.key = f.Role + ":" + f.ID + ":" + f.Path
				if e, ok := s.cache.find(f.key); ok && f.Role == "package" {
					f.State, f.Why = Stale, err.Error()
					f.take(e)
					s.touch(f.key)
					s.summary.Files = append(s.summary.Files, f)
				}
			}
		}
	}
	for _, f := range s.summary.Files {
		if f.Role == "package" {
			s.summary.Packages++
		}
	}
	return nil
}

// datasets are the source packages that the rows of all data files name. A file is read for them once.
func (s *syncing) datasets() ([]string, error) {
	all := map[string]bool{}
	for _, f := range s.summary.Files {
		if f.SHA256 == "" || isReference(f.Role) || f.Role == "package" {
			continue
		}
		e := s.cache.entries[f.key]
		if !e.Scanned || e.SHA256 != f.SHA256 {
			found, err := namedDatasets(s.cache.objectPath(f.SHA256))
			if err != nil {
				s.summary.Notes = append(s.summary.Notes, fmt.Sprintf("%s: not read for the packages its rows name: %v", f.Path, err))
				continue
			}
			e.Datasets, e.Scanned = found, true
			s.cache.entries[f.key] = e
		}
		for _, id := range e.Datasets {
			all[id] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// namedDatasets reads the distinct values of the column dataset_hdx_id.
func namedDatasets(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := csv.NewReader(bufio.NewReaderSize(file, 1<<20))
	reader.ReuseRecord, reader.LazyQuotes, reader.FieldsPerRecord = true, true, -1
	header, err := reader.Read()
	if err != nil {
		return nil, err
	}
	column := slices.IndexFunc(header, func(name string) bool { return strings.TrimPrefix(name, "\ufeff") == "dataset_hdx_id" })
	found := map[string]bool{}
	for column >= 0 {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if column < len(record) && packageID.MatchString(record[column]) && !found[record[column]] {
			found[strings.Clone(record[column])] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}
