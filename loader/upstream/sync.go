package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hdqs/internal/bucket"
	"hdqs/internal/fetch"
	"hdqs/internal/objects"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

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
	t := from.Traffic()
	s.summary.Requests, s.summary.Retries, s.summary.Bytes = t.Requests, t.Retries, t.Received
	s.summary.Seconds = time.Since(began).Seconds()
	return s.summary, nil
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
	}
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), s.cache.save(s.began))
	}
	err = s.writeTree()
	for i := range s.summary.Files {
		f := s.summary.Files[i].SourceReport
		s.summary.Sources = append(s.summary.Sources, f)
		if f.Role == catalogfile.PackageRole {
			s.summary.Packages++
		}
	}
	return errors.Join(err, s.cache.save(s.began), s.cache.tidy())
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
	_, asksAgain := s.from.(packageSource)
	for _, f := range last.Files {
		if err != nil && asksAgain && f.Role == catalogfile.PackageRole {
			continue // fetchPackages asks for it, and uses the copy if need be
		}
		f.key = f.newKey()
		f.Why, f.Blocked, f.NotAsked = "", false, false
		if err != nil {
			f.State, f.Why, f.NotAsked = loader.SourceStale, "the catalog could not be listed", true
		}
		l.files = append(l.files, f)
	}
	return l, nil
}

func (s *syncRun) dryRun(l *listing) {
	for _, f := range l.files {
		f.State, f.Bytes = loader.SourceNew, f.size
		// A load reads a directory itself: only a mirror has copies of it.
		if e, ok := s.cache.find(f.key); ok && s.from.kind() != "directory" && fits(&e, &f) {
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

// openSource finds out what kind of source an address is: a tree with a catalog.json, or else a
// CKAN site.
func openSource(ctx context.Context, o Options) (source, error) {
	if !objects.IsRemote(o.Source) {
		return &dirSource{Dir: objects.Dir(o.Source)}, nil
	}
	if strings.HasPrefix(o.Source, "s3://") {
		o.Fetch.Parallel = downloads
		at, err := bucket.Open(o.Source, o.Fetch)
		return &treeSource{Store: at, name: "s3"}, err
	}
	base := strings.TrimRight(o.Source, "/")
	client := fetch.New(o.Fetch)
	ckan := &ckanSource{Client: client, site: &ckanSite{base: base, client: client}}
	if o.Offline {
		return ckan, nil
	}
	// One request, so that a site that has no such file is not asked again.
	tree := &treeSource{Store: client.Below(base), name: "mirror", catalog: &catalogfile.File{}}
	err := client.JSON(ctx, base+"/"+catalogfile.Name, catalogfile.MaxBytes, tree.catalog)
	if err == nil {
		err = checkTree(tree.catalog)
	}
	var badTree *badTreeError
	var tooMany *catalogfile.TooManyError
	switch {
	case err == nil:
		return tree, nil
	case errors.Is(err, fetch.ErrRefused) || ctx.Err() != nil:
		return nil, err
	case errors.As(err, &badTree), errors.As(err, &tooMany), errors.Is(err, objects.ErrTooLarge):
		tree.fault = err // it is a mirror, and its last good listing can be used
		return tree, nil
	}
	ckan.noMirror = err
	return ckan, nil
}
