package upstream

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"hdqs/internal/fetch"
	"hdqs/internal/objects"
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
	// Progress is called with the bytes that are downloaded. Its total is the sum of the sizes that
	// the catalog gives. It is called from several goroutines and may be nil.
	Progress func(loader.Progress)
}

// Summary is what a Sync did, or after a dry run, which has no Sources, what it would do.
type Summary struct {
	loader.FetchReport
	Dir      string      `json:"-"` // the tree, empty after a dry run
	Files    []FileState `json:"files"`
	Packages int         `json:"packages"`
}

// FileState is what happened to one file.
type FileState struct {
	loader.SourceReport
	Dataset string `json:"dataset,omitempty"`
	ID      string `json:"id,omitempty"`
	SHA256  string `json:"sha256,omitempty"`

	key      string
	link     string // the address of the file, in a tree its path
	size     int64
	hash     string // as the catalog says it, in lower case
	md5      string // the same, if it is one
	received int64  // of size, already in the progress
}

func (f *FileState) newKey() string { return f.Role + ":" + f.ID + ":" + f.Path }

// failed sets the state of a file that could not be downloaded.
func (f *FileState) failed(state string, why error) {
	f.State, f.Why = state, why.Error()
	f.Blocked, f.NotAsked = fetch.IsBlocked(why), fetch.NotAsked(why)
}

// use makes a copy in the cache the file.
func (f *FileState) use(e cacheEntry) {
	f.SHA256, f.Bytes, f.LastModified = e.SHA256, e.Bytes, e.LastModified
}

// ErrUnreachable marks a source of which nothing could be read, now or before.
var ErrUnreachable = errors.New("upstream: the catalog cannot be read, and the cache holds no copy of it")

// packageID restricts ids that rows name to what is safe in a search and in a file name.
var packageID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,100}$`)

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
	// Download and Traffic are those of an objects.Store.
	Download(ctx context.Context, q objects.Request, path string) (objects.Result, error)
	Traffic() objects.Traffic
}

// packageSource is a source whose list has no packages, as that of a tree has.
type packageSource interface {
	// packages lists the packages of these datasets, which rows of the data files name. It calls
	// use for each part of the list, so that no more than that part has to be in memory.
	packages(ctx context.Context, datasets []string, use func(*listing)) error
}

// errNoTree says that an answer is no catalog.json.
var errNoTree = errors.New("no catalog.json of format 1 with resources")

// badTreeError is a catalog.json that is one, but has a fault because of which it is not used.
type badTreeError struct{ error }

func (e *badTreeError) Unwrap() error { return e.error }

// checkTree refuses a catalog.json that a tree cannot be made from.
func checkTree(c *catalogfile.File) error {
	if c.Format != catalogfile.Format || len(c.Resources) == 0 {
		return errNoTree
	}
	if err := c.CheckPaths(); err != nil {
		return &badTreeError{err}
	}
	return nil
}

// treeListing turns the entries of a tree into files. The address of a tree is not that of the
// catalog it was copied from: where catalog.json has none, the loader uses its default.
func treeListing(c *catalogfile.File) *listing {
	l := &listing{catalogURL: c.CatalogURL, snapshotTime: c.SnapshotTime, datasets: c.Datasets}
	for _, r := range c.Resources {
		f := FileState{
			SourceReport: loader.SourceReport{Role: r.Role, Path: r.Path, LastModified: r.LastModified},
			Dataset:      r.Dataset, ID: r.ID, SHA256: strings.ToLower(r.SHA256), link: r.Path, size: r.Size,
		}
		f.key = f.newKey()
		l.files = append(l.files, f)
	}
	return l
}
