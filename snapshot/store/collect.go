package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hdqs/internal/atomicfile"
	"hdqs/internal/objects"
)

// CollectOptions are what a collection keeps.
type CollectOptions struct {
	Keep   int           // number of latest snapshots to keep besides those that channels point to
	Grace  time.Duration // nothing younger is removed: it may belong to a snapshot about to be published
	Now    time.Time     // zero: the current time
	DryRun bool          // remove nothing
}

// Collected is what a collection removed, or would have removed.
type Collected struct {
	Manifests []string `json:"manifests"`
	Segments  int      `json:"segments"`
	Bytes     int64    `json:"bytes"`
	Kept      int      `json:"kept"` // number of remaining snapshots
}

// Collect removes the snapshots that no channel points to, except the latest Keep, with their
// reports and signatures, the segments that no remaining snapshot names, with the deltas that make
// them, and the figures that no channel names. It removes nothing if it cannot read all that
// decides what remains.
func Collect(ctx context.Context, from objects.Store, o CollectOptions) (*Collected, error) {
	// List segments before manifests: a snapshot published in between is then among the manifests.
	segments, err := from.List(ctx, segmentsDir)
	if err != nil {
		return nil, err
	}
	deltas, err := from.List(ctx, deltasDir)
	if err != nil {
		return nil, err
	}
	manifests, err := from.List(ctx, manifestsDir)
	if err != nil {
		return nil, err
	}
	figures, err := from.List(ctx, figuresDir)
	if err != nil {
		return nil, err
	}
	channels, err := channelsOf(ctx, from)
	if err != nil {
		return nil, err
	}
	shown := map[string]bool{} // previous snapshots are kept by number only (Keep)
	for i := range channels {
		shown[channels[i].ID] = true
	}
	c := collection{Removal: NewRemoval(ctx, from, o), found: &Collected{}, used: map[string]bool{}}
	if err := c.sort(manifests, shown); err != nil {
		return nil, err
	}
	for i := range channels {
		for _, p := range append(channels[i].Previous, channels[i].Pointer) {
			c.used[FiguresName(p.Figures)] = true
		}
	}
	err = c.remove(segments, deltas, figures)
	c.found.Bytes = c.Bytes
	return c.found, err
}

// Removal removes files of a store that nothing uses.
type Removal struct {
	Bytes   int64 // of what was removed, or would have been
	ctx     context.Context
	from    objects.Store
	options CollectOptions
}

// NewRemoval returns a Removal that has removed nothing.
func NewRemoval(ctx context.Context, from objects.Store, o CollectOptions) *Removal {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return &Removal{ctx: ctx, from: from, options: o}
}

// Young reports whether a file may belong to a snapshot that is about to be published.
func (r *Removal) Young(o objects.Object) bool {
	return r.options.Now.Sub(o.Modified) < r.options.Grace
}

// Remove removes files, and returns how many. Those that were rewritten since they were listed
// stay.
func (r *Removal) Remove(gone ...objects.Object) (files int, err error) {
	for _, o := range gone {
		removed := true
		if !r.options.DryRun {
			if removed, err = r.from.Remove(r.ctx, o); err != nil {
				return files, err
			}
		}
		if removed {
			r.Bytes += o.Bytes
			files++
		}
	}
	return files, nil
}

// Unused removes those files that are neither young nor used.
func (r *Removal) Unused(all []objects.Object, used func(o objects.Object) bool) (files int, err error) {
	return r.Remove(slices.DeleteFunc(all, func(o objects.Object) bool { return r.Young(o) || used(o) })...)
}

// forgetAfter is how long the report of a replica is kept that is not renewed.
const forgetAfter = 7 * 24 * time.Hour

// forget removes the reports of replicas that are no more.
func (c *collection) forget() error {
	reports, err := c.from.List(c.ctx, ReplicasDir)
	if err != nil {
		return err
	}
	_, err = c.Unused(reports, func(o objects.Object) bool { return c.options.Now.Sub(o.Modified) <= forgetAfter })
	return err
}

// channelsOf reads all channels.
func channelsOf(ctx context.Context, from objects.Store) (all []Channel, err error) {
	files, err := from.List(ctx, channelsDir)
	if err != nil {
		return nil, err
	}
	for _, o := range files {
		if !strings.HasSuffix(o.Name, jsonExt) || strings.HasPrefix(path.Base(o.Name), ".") {
			continue
		}
		data, _, err := from.Read(ctx, o.Name, "", MaxChannel)
		if err != nil {
			return nil, err
		}
		channel, err := ParseChannel(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		all = append(all, channel)
	}
	return all, nil
}

type collection struct {
	*Removal
	found   *Collected
	used    map[string]bool  // names of segments and figures to keep
	removed []objects.Object // in the manifests' folder, manifests first
}

// sort finds the manifests to remove, and the segments of those that remain.
func (c *collection) sort(all []objects.Object, shown map[string]bool) error {
	var manifests, beside []objects.Object
	for _, o := range all {
		if id, ok := strings.CutSuffix(path.Base(o.Name), jsonExt); ok && CheckID(id) == nil {
			manifests = append(manifests, o)
		} else {
			beside = append(beside, o)
		}
	}
	slices.SortFunc(manifests, func(a, b objects.Object) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Name, b.Name))
	})
	stays, spare := map[string]bool{}, c.options.Keep
	for _, o := range manifests {
		id := strings.TrimSuffix(path.Base(o.Name), jsonExt)
		switch {
		case shown[id] || c.Young(o):
		case spare > 0:
			spare--
		default:
			c.removed = append(c.removed, o)
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
			return corruptf("a channel points to %s, whose manifest is missing", id)
		}
	}
	for _, o := range beside {
		base := path.Base(o.Name)
		id, report := strings.CutSuffix(base, reportSuffix+jsonExt)
		signature := false
		if !report {
			id, signature = strings.CutSuffix(base, signatureExt)
		}
		if (report || signature) && !stays[id] && !c.Young(o) {
			c.removed = append(c.removed, o)
		}
	}
	return nil
}

func (c *collection) use(o objects.Object) error {
	data, _, err := c.from.Read(c.ctx, o.Name, "", MaxManifest)
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

// remove removes manifests before segments: if it ends early, every remaining manifest has all its
// segments.
func (c *collection) remove(segments, deltas, figures []objects.Object) (err error) {
	if _, err = c.Remove(c.removed...); err != nil {
		return err
	}
	c.found.Segments, err = c.Unused(segments, func(o objects.Object) bool {
		return !strings.HasSuffix(o.Name, segmentExt) || c.used[o.Name]
	})
	if err != nil {
		return err
	}
	_, err = c.Unused(deltas, func(o objects.Object) bool {
		segment, ok := deltaTarget(o.Name)
		return !ok || c.used[segment]
	})
	if err != nil {
		return err
	}
	if _, err = c.Unused(figures, func(o objects.Object) bool { return c.used[o.Name] }); err != nil {
		return err
	}
	return c.forget()
}

// Sweep removes the temporary files that killed writers have left in any folder of the store,
// except those that are younger than the grace, which atomicfile bounds.
func (s *Store) Sweep(grace time.Duration) error {
	return filepath.WalkDir(s.Snapshots.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
			return nil
		case err != nil || !e.IsDir():
			return err
		}
		return atomicfile.SweepAfter(path, grace)
	})
}

// Files are the files of the store's directory.
func (s *Store) Files() objects.Store { return files{objects.Dir(s.Snapshots.dir)} }

// files is a store's directory. A file that cannot be one of a store is damaged.
type files struct{ objects.Dir }

// Read implements objects.Store.
func (f files) Read(ctx context.Context, name, etag string, limit int64) ([]byte, string, error) {
	data, version, err := f.Dir.Read(ctx, name, etag, limit)
	return data, version, asCorrupt(err)
}
