package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Object is a file of a store, wherever that is kept.
type Object struct {
	Name     string // relative to the store's root, with slashes
	Bytes    int64
	Modified time.Time
}

// Shelf is a store as its files: a directory, or the objects below an address.
type Shelf interface {
	List(folder string) ([]Object, error)          // all files of a folder
	Read(name string, limit int64) ([]byte, error) // fs.ErrNotExist when there is none
	Remove(o Object) (removed bool, err error)     // false when it has been written anew since it was listed
}

// CollectOptions say what a collection leaves.
type CollectOptions struct {
	Keep   int           // snapshots that stay beside those that channels show, the latest first; 0: none
	Grace  time.Duration // nothing younger is removed: it may belong to a snapshot that is about to be published
	Now    time.Time     // zero is the clock's
	DryRun bool          // find out, remove nothing
}

// Collected is what a collection has removed, or would have.
type Collected struct {
	Manifests []string `json:"manifests"`
	Segments  int      `json:"segments"`
	Bytes     int64    `json:"bytes"`
	Kept      int      `json:"kept"` // snapshots that stay
}

// Collect removes the snapshots that no channel shows beyond the latest Keep, with their reports and signatures, and the segments
// that no remaining snapshot names. It removes nothing if it cannot read all that decides what stays.
func Collect(shelf Shelf, o CollectOptions) (*Collected, error) {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	// Segments are listed before manifests: a snapshot that is published in between is then among the manifests.
	segments, err := shelf.List(segmentsDir)
	if err != nil {
		return nil, err
	}
	manifests, err := shelf.List(manifestsDir)
	if err != nil {
		return nil, err
	}
	shown, err := shownBy(shelf)
	if err != nil {
		return nil, err
	}
	c := collection{shelf: shelf, options: o, found: &Collected{}, used: map[string]bool{}}
	if err := c.sort(manifests, shown); err != nil {
		return nil, err
	}
	return c.found, c.remove(segments)
}

// shownBy are the snapshots that channels show. What they have shown is kept by number only: see Keep.
func shownBy(shelf Shelf) (map[string]bool, error) {
	channels, err := shelf.List(channelsDir)
	if err != nil {
		return nil, err
	}
	shown := map[string]bool{}
	for _, o := range channels {
		if !strings.HasSuffix(o.Name, jsonExt) || strings.HasPrefix(path.Base(o.Name), ".") {
			continue
		}
		data, err := shelf.Read(o.Name, maxPointer)
		if err != nil {
			return nil, err
		}
		channel, err := ParseChannel(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		shown[channel.ID] = true
	}
	return shown, nil
}

type collection struct {
	shelf   Shelf
	options CollectOptions
	found   *Collected
	used    map[string]bool // names of segments that stay
	gone    []Object        // of the manifests' folder, the manifests themselves first
}

// sort finds the manifests that go, and the segments of those that stay.
func (c *collection) sort(all []Object, shown map[string]bool) error {
	var manifests, beside []Object
	for _, o := range all {
		if id, ok := strings.CutSuffix(path.Base(o.Name), jsonExt); ok && checkID(id) == nil {
			manifests = append(manifests, o)
		} else {
			beside = append(beside, o)
		}
	}
	slices.SortFunc(manifests, func(a, b Object) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Name, b.Name))
	})
	stays, spare := map[string]bool{}, c.options.Keep
	for _, o := range manifests {
		id := strings.TrimSuffix(path.Base(o.Name), jsonExt)
		switch {
		case shown[id] || c.young(o):
		case spare > 0:
			spare--
		default:
			c.gone = append(c.gone, o)
			c.found.Manifests = append(c.found.Manifests, id)
			continue
		}
		stays[id] = true
		if err := c.use(o); err != nil {
			return err
		}
	}
	c.found.Kept = len(stays)
	for id := range shown {
		if !stays[id] {
			return corruptf("a channel shows %s, whose manifest is not there", id)
		}
	}
	for _, o := range beside {
		base := path.Base(o.Name)
		id, report := strings.CutSuffix(base, reportSuffix+jsonExt)
		signature := false
		if !report {
			id, signature = strings.CutSuffix(base, signatureExt)
		}
		if (report || signature) && !stays[id] && !c.young(o) {
			c.gone = append(c.gone, o)
		}
	}
	return nil
}

func (c *collection) young(o Object) bool { return c.options.Now.Sub(o.Modified) < c.options.Grace }

// use marks the segments of a manifest that stays.
func (c *collection) use(o Object) error {
	data, err := c.shelf.Read(o.Name, maxManifest)
	if err != nil {
		return err
	}
	m, err := ParseManifest(data)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	for _, ref := range m.Tables {
		c.used[SegmentName(ref.SHA256)] = true
	}
	return nil
}

// remove takes manifests away before segments: whatever ends it early, each manifest that is left has all its segments.
func (c *collection) remove(segments []Object) error {
	for _, o := range c.gone {
		if _, err := c.removeOne(o); err != nil {
			return err
		}
	}
	for _, o := range segments {
		if !strings.HasSuffix(o.Name, segmentExt) || c.used[o.Name] || c.young(o) {
			continue
		}
		removed, err := c.removeOne(o)
		if err != nil {
			return err
		}
		if removed {
			c.found.Segments++
		}
	}
	return nil
}

func (c *collection) removeOne(o Object) (bool, error) {
	removed, err := true, error(nil)
	if !c.options.DryRun {
		removed, err = c.shelf.Remove(o)
	}
	if removed && err == nil {
		c.found.Bytes += o.Bytes
	}
	return removed, err
}

// Collect is the function of this name for the store's directory. The caller holds its Lock.
func (s *Store) Collect(o CollectOptions) (*Collected, error) { return Collect(dirShelf(s.dir), o) }

// dirShelf is a directory as a Shelf.
type dirShelf string

func (d dirShelf) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d dirShelf) List(folder string) ([]Object, error) {
	entries, err := os.ReadDir(d.path(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var objects []Object
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, Object{Name: path.Join(folder, e.Name()), Bytes: info.Size(), Modified: info.ModTime()})
	}
	return objects, nil
}

func (d dirShelf) Read(name string, limit int64) ([]byte, error) {
	return readFile(d.path(name), limit)
}

func (d dirShelf) Remove(o Object) (bool, error) {
	info, err := os.Stat(d.path(o.Name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Equal(o.Modified) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, os.Remove(d.path(o.Name))
}
