package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"hdqs/internal/atomicfile"
)

// cache is a directory of objects named by their digest, and an index of what each resource was
// when it was read.
type cache struct {
	dir     string
	entries map[string]cacheEntry // by resource key
	saved   time.Time             // when saveForNow has last written the index
}

// A large index is written at most once in saveInterval while files are being downloaded: writing
// it after each of ten thousand files would take longer than downloading them.
const (
	largeIndex   = 1000 // entries
	saveInterval = 5 * time.Second
)

// cacheEntry is the last complete copy of a resource.
type cacheEntry struct {
	SHA256       string    `json:"sha256"`
	LastModified string    `json:"last_modified"`
	Size         int64     `json:"size"`           // as the catalog says; 0 when it does not
	Hash         string    `json:"hash,omitempty"` // as the catalog says
	Bytes        int64     `json:"bytes"`
	ETag         string    `json:"etag,omitempty"`
	Used         time.Time `json:"used"`
	// Datasets are the source packages that the rows of a data file name, as its check found them.
	// Scanned says that there was one.
	Datasets []string `json:"datasets,omitempty"`
	Scanned  bool     `json:"scanned,omitempty"`
	// Suspect explains why the only cached copy failed validation; any newer download replaces it
	// unconditionally.
	Suspect string `json:"doubt,omitempty"`
	// Rejected is a later form that failed its check.
	Rejected *rejection `json:"rejected,omitempty"`
}

type rejection struct {
	LastModified string `json:"last_modified"`
	Size         int64  `json:"size"`
	Hash         string `json:"hash,omitempty"`
	Why          string `json:"why"`
	By           string `json:"by"` // the program that rejected it: another one checks it again
}

// forgetAfter is how long an object is kept that no sync uses.
const forgetAfter = 30 * 24 * time.Hour

var sha256Name = regexp.MustCompile(`^[0-9a-f]{64}$`)

func openCache(dir string) (*cache, error) {
	c := &cache{dir: dir, entries: map[string]cacheEntry{}}
	for _, name := range []string{"objects", "parts"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, err
		}
	}
	data, err := os.ReadFile(c.indexPath())
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	// An unreadable index costs downloads, not data: the objects carry their own digests.
	if json.Unmarshal(data, &c.entries) != nil || c.entries == nil {
		c.entries = map[string]cacheEntry{}
	}
	return c, nil
}

func (c *cache) indexPath() string            { return filepath.Join(c.dir, "index.json") }
func (c *cache) objectPath(sha string) string { return filepath.Join(c.dir, "objects", sha) }

// partsPath has downloads, and newPath is one that is complete and not checked yet.
func (c *cache) partsPath() string { return filepath.Join(c.dir, "parts") }

func (c *cache) newPath(key string) string { return filepath.Join(c.partsPath(), nameOf(key)+".new") }

// nameOf makes a file name from a key, which may contain anything.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// find returns the copy of a resource, if its object still exists with its length.
func (c *cache) find(key string) (cacheEntry, bool) {
	e, ok := c.entries[key]
	if !ok || !sha256Name.MatchString(e.SHA256) {
		return cacheEntry{}, false
	}
	info, err := os.Stat(c.objectPath(e.SHA256))
	return e, err == nil && info.Size() == e.Bytes
}

// keep moves a downloaded file into the cache under its digest.
func (c *cache) keep(key, path string, e cacheEntry) error {
	if err := os.Rename(path, c.objectPath(e.SHA256)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	c.entries[key] = e
	return nil
}

// keepBytes stores a small text that was part of an answer.
func (c *cache) keepBytes(key string, data []byte) (cacheEntry, error) {
	sum := sha256.Sum256(data)
	e := cacheEntry{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data)), Used: time.Now().UTC()}
	if info, err := os.Stat(c.objectPath(e.SHA256)); err != nil || info.Size() != e.Bytes {
		if err := atomicfile.Write(c.objectPath(e.SHA256), data); err != nil {
			return e, err
		}
	}
	c.entries[key] = e
	return e, nil
}

// saveForNow writes the index while files are being downloaded, so that a process that is stopped
// does not lose them.
func (c *cache) saveForNow() error {
	if len(c.entries) > largeIndex && time.Since(c.saved) < saveInterval {
		return nil
	}
	c.saved = time.Now()
	return c.writeIndex()
}

func (c *cache) writeIndex() error {
	data, err := json.Marshal(c.entries)
	if err != nil {
		return err
	}
	return atomicfile.Write(c.indexPath(), data)
}

// save writes the index, without entries that have not been used for long.
func (c *cache) save(now time.Time) error {
	for key, e := range c.entries {
		if now.Sub(e.Used) > forgetAfter {
			delete(c.entries, key)
		}
	}
	return c.writeIndex()
}

// tidy removes objects that the index does not name, and what a process that was killed was
// downloading or writing. The caller has the cache for itself.
func (c *cache) tidy() error {
	used := map[string]bool{}
	for _, e := range c.entries {
		used[e.SHA256] = true
	}
	objects, err := os.ReadDir(filepath.Join(c.dir, "objects"))
	if err != nil {
		return err
	}
	for _, o := range objects {
		if !used[o.Name()] {
			err = errors.Join(err, os.Remove(c.objectPath(o.Name())))
		}
	}
	trees, globErr := filepath.Glob(filepath.Join(c.dir, ".tree-*"))
	err = errors.Join(err, globErr, atomicfile.Sweep(c.dir))
	for _, path := range append(trees, c.partsPath()) {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// link puts an object into a tree: a hard link, or a copy where the file system has none.
func (c *cache) link(sha, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if os.Link(c.objectPath(sha), path) == nil {
		return nil
	}
	in, err := os.Open(c.objectPath(sha))
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.WriteFrom(path, in)
}
