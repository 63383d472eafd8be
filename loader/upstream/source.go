package upstream

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"hdqs/internal/fetch"
	"hdqs/loader/catalogfile"
)

// packageID restricts ids that rows name to what is safe in a search and in a file name.
var packageID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,100}$`)

// IsRemote reports whether a catalog is read over the network.
func IsRemote(source string) bool {
	return strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://") || strings.HasPrefix(source,
		"s3://")
}

// openSource finds out what kind of source an address is: a tree with a catalog.json, or else a
// CKAN site.
func openSource(ctx context.Context, o Options) (source, error) {
	if !IsRemote(o.Source) {
		return &dirSource{dir: o.Source}, nil
	}
	if strings.HasPrefix(o.Source, "s3://") {
		return openBucket(o)
	}
	base := strings.TrimRight(o.Source, "/")
	client := fetch.New(o.Fetch)
	ckan := &ckanSource{remote: remote{client}, site: &ckanSite{base: base, client: client}}
	if o.Offline {
		return ckan, nil
	}
	tree := &mirrorSource{base: base, remote: remote{client}}
	err := tree.readCatalog(ctx)
	var badTree *badTreeError
	var tooMany *catalogfile.TooManyError
	var badKey *catalogfile.UnknownKeyError
	switch {
	case err == nil:
		return tree, nil
	case errors.Is(err, fetch.ErrRefused) || ctx.Err() != nil:
		return nil, err
	case errors.As(err, &badTree), errors.As(err, &tooMany), errors.Is(err, fetch.ErrTooLarge),
		errors.As(err, &badKey) && badKey.Near != "":
		tree.fault = err // it is a mirror, and its last good listing can be used
		return tree, nil
	}
	ckan.noMirror = err
	return ckan, nil
}

// listing is what a source has: files to download, and texts that were part of its answers.
type listing struct {
	catalogURL   string
	snapshotTime string                // of a tree that has one
	datasets     []catalogfile.Dataset // what a tree says about datasets
	files        []FileState
	unread       []FileState       // what a tree has beside them and may have rows
	texts        map[string][]byte // of files that need no download, by key
	note         string            // for people
}

// source is one kind of upstream.
type source interface {
	kind() string
	list(ctx context.Context) (*listing, error)
	download(ctx context.Context, f *FileState, d destination) (fetch.Result, error)
	// listsPackages reports whether packages has anything to list: a tree has listed its packages
	// already.
	listsPackages() bool
	// packages lists the packages of these datasets, which rows of the data files name. It calls
	// use for each part of the list, so that no more than that part has to be in memory.
	packages(ctx context.Context, datasets []string, use func(*listing)) error
	counts() fetch.Counts
}

// listsAll is the part of a source that is a tree: its list has the packages too.
type listsAll struct{}

func (listsAll) listsPackages() bool { return false }

func (listsAll) packages(context.Context, []string, func(*listing)) error { return nil }

// remote downloads the files of a source.
type remote struct{ client *fetch.Client }

func (r remote) counts() fetch.Counts { return r.client.Counts() }

func (r remote) download(ctx context.Context, f *FileState, d destination) (fetch.Result, error) {
	q := fetch.Request{
		URL: f.link, Size: f.size, SHA256: f.SHA256, MD5: f.md5, ETag: d.etag, Part: d.part, Received: d.received,
	}
	return r.client.Download(ctx, q, d.to)
}

// destination says where a download is written.
type destination struct {
	etag     string // of the copy that is there
	to, part string
	received func(n int64)
}
