package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"hdqs/internal/objects"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

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

type savedListing struct {
	Source     string `json:"source"`
	CatalogURL string `json:"catalog_url"`

	Datasets []catalogfile.Dataset `json:"datasets,omitempty"`

	Files []FileState `json:"files"`
}

// lastListing is the file with the listing of the last tree, for when the source cannot be reached.
const lastListing = "last-listing.json"

// fits reports whether a copy is the file as the catalog describes it. Without a digest and a time
// of change the answer is no, and the source is asked by ETag.
func fits(e *cacheEntry, f *FileState) bool {
	if f.SHA256 != "" {
		return e.SHA256 == f.SHA256
	}
	if f.LastModified == "" || e.LastModified != f.LastModified || e.Size != f.size {
		return false
	}
	return e.Hash == f.hash // the time of change stays the same in some uploads, the hash does not
}

// downloads is how many files are fetched at once. The fetch client bounds the requests to each
// host.
const downloads = 16

// checksAtOnce is how many downloaded files are checked at once. A check of a compressed file or a
// workbook takes up to tens of megabytes.
const checksAtOnce = 2

// listedBefore is why a file is refused that would take the place of another one.
const listedBefore = "the catalog lists another file before that has this path too"

func (s *syncRun) fetchAll(ctx context.Context, l *listing) {
	for i := range l.files {
		s.total += l.files[i].size
	}
	results := make([]FileState, len(l.files))
	var group errgroup.Group // without errors: each file has its own state
	group.SetLimit(downloads)
	listed := map[string]bool{}
	for i, f := range l.files {
		if results[i] = f; listed[f.key] {
			results[i].State, results[i].Why = loader.SourceRefused, listedBefore
			continue
		}
		listed[f.key] = true
		group.Go(func() error {
			results[i] = s.fetchOne(ctx, l.files[i], l.texts[l.files[i].key])
			return nil
		})
	}
	_ = group.Wait()
	s.summary.Files = slices.Concat(s.summary.Files, results, l.unread)
}

// fetchOne brings one file into the cache, unless the copy there is good, and returns its state.
func (s *syncRun) fetchOne(ctx context.Context, f FileState, text []byte) FileState {
	began := time.Now()
	s.mu.Lock()
	old, have := s.cache.find(f.key)
	s.mu.Unlock()
	switch {
	case text != nil:
		s.keepText(&f, old, text)
	case have && f.State == loader.SourceStale:
		f.use(old)
	case have && (s.options.Offline || !s.wanted(f.Role)):
		f.State, f.Why = loader.SourceUnchanged, old.Suspect
		f.use(old)
		s.touch(f.key, old.Hash)
	case have && fits(&old, &f):
		f.State, f.Why = loader.SourceUnchanged, old.Suspect
		f.use(old)
		s.touch(f.key, f.hash)
	case s.rejected(&f, old) && have:
		f.State, f.Why = loader.SourceStale, old.Rejected.Why
		f.use(old)
		s.touch(f.key, old.Hash)
	case s.options.Offline || f.State == loader.SourceStale:
		f.State, f.Why = loader.SourceRefused, cmp.Or(f.Why, "not in the cache")
	default:
		s.download(ctx, &f, old, have)
	}
	f.Seconds = time.Since(began).Seconds()
	s.move(f.Path, f.size-f.received)
	return f
}

// move reports how far the downloads have come.
func (s *syncRun) move(path string, n int64) {
	if s.options.Progress == nil {
		return
	}
	s.progress.Lock()
	defer s.progress.Unlock()
	s.done += n
	s.options.Progress(loader.Progress{Path: path, Done: s.done, Total: s.total})
}

// rejected reports whether this program has already checked the present form of a file and refused
// it.
func (s *syncRun) rejected(f *FileState, old cacheEntry) bool {
	r := old.Rejected
	return r != nil && f.LastModified != "" && r.LastModified == f.LastModified && r.Size == f.size &&
		r.Hash == f.hash && r.By == s.options.Fetch.UserAgent
}

// touch marks an entry as used, so that it is not removed for its age.
func (s *syncRun) touch(key, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.cache.entries[key]
	e.Used, e.Hash = s.began.UTC(), hash
	s.cache.entries[key] = e
}

func (s *syncRun) keepText(f *FileState, old cacheEntry, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.cache.keepBytes(f.key, text)
	if err != nil {
		s.stop(err)
		f.State, f.Why = loader.SourceRefused, err.Error()
		return
	}
	f.State = loader.SourceNew
	if e.SHA256 == old.SHA256 {
		f.State = loader.SourceUnchanged
	}
	f.SHA256, f.Bytes = e.SHA256, e.Bytes
}

// download fetches a file and decides which copy is used. A file that cannot be fetched, or that
// its check refuses, does not replace a good copy.
func (s *syncRun) download(ctx context.Context, f *FileState, old cacheEntry, have bool) {
	to := s.cache.newPath(f.key)
	etag := ""
	if have && (f.md5 == "" || f.md5 == old.Hash) { // else its bytes are others, whatever an ETag says
		etag = old.ETag
	}
	q := objects.Request{
		Name: f.link, Size: f.size, SHA256: f.SHA256, MD5: f.md5, ETag: etag,
		Received: func(n int64) {
			f.received += n
			s.move(f.Path, n)
		},
	}
	result, err := s.from.Download(ctx, q, to)
	if err != nil { // the disk may have failed after the file had its name
		err = errors.Join(err, os.RemoveAll(to))
	}
	var suspect error
	var datasets []string
	if err == nil && !result.NotModified {
		s.checks <- struct{}{}
		datasets, suspect = s.options.check(ctx, f.Role, f.Path, to)
		<-s.checks
		if suspect != nil && ctx.Err() != nil { // the check was stopped: the file is neither good nor bad
			err, suspect = errors.Join(context.Cause(ctx), os.Remove(to)), nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil && result.NotModified:
		old.LastModified, old.Size, old.Hash, old.Used = f.LastModified, f.size, f.hash, s.began.UTC()
		s.cache.entries[f.key] = old
		f.State, f.Why = loader.SourceUnchanged, old.Suspect
		f.use(old)
		return
	case suspect != nil && have && old.Suspect == "" && ctx.Err() == nil:
		old.Rejected = &rejection{
			LastModified: f.LastModified, Size: f.size, Hash: f.hash, Why: suspect.Error(),
			By: s.options.Fetch.UserAgent,
		}
		old.Used = s.began.UTC()
		s.cache.entries[f.key] = old
		err = errors.Join(suspect, os.Remove(to))
	case err == nil:
		e := cacheEntry{
			SHA256: result.SHA256, LastModified: f.LastModified, Size: f.size, Hash: f.hash, Bytes: result.Bytes,
			ETag: result.ETag, Used: s.began.UTC(), Datasets: datasets, Scanned: true,
		}
		if suspect != nil {
			e.Suspect = suspect.Error()
		}
		if err = s.cache.keep(f.key, to, e); err == nil {
			f.State, f.Why = loader.SourceNew, e.Suspect
			f.use(e)
			err = s.cache.saveForNow()
		}
		if err != nil {
			s.stop(err)
		}
	}
	if errors.Is(err, objects.ErrDisk) {
		s.stop(err) // not the source's fault: end the sync, without calling copies stale
	}
	switch {
	case err == nil:
	case have:
		f.failed(loader.SourceStale, err)
		f.use(old)
	default:
		f.failed(loader.SourceRefused, err)
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

// note adds a note for people to the summary.
func (s *syncRun) note(text string) { s.summary.Notes = append(s.summary.Notes, text) }

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

func (s *syncRun) wanted(role string) bool {
	return len(s.options.Only) == 0 || slices.Contains(s.options.Only, role)
}
