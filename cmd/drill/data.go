package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hdqs/internal/generator"
)

// release is a snapshot of a store and the channel file that shows it.
type release struct {
	id      string
	channel []byte
	tables  map[string]string // digests by name
	answers []expected        // to the requests of the dataset
}

// dataset is a store with two or more snapshots.
type dataset struct {
	store    string
	releases []*release
	requests []request
	one, all [2]*release // the pairs with the fewest and the most tables that differ
}

const channelFile = "channels/stable.json"

func (d *drill) prepare(ctx context.Context) error {
	d.data = &dataset{store: filepath.Join(d.dir, "data")}
	begin := d.makeStore
	if d.store != "" {
		begin = d.copyStore
	}
	if err := begin(ctx, d.data); err != nil {
		return err
	}
	return d.data.finish(ctx, d)
}

// makeStore builds three snapshots: the second differs from the first by the rows of one source,
// the third by its seed.
func (d *drill) makeStore(ctx context.Context, data *dataset) error {
	catalogs, err := d.folder("catalogs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(catalogs)
	for i, o := range []generator.Options{
		{Seed: 1, Scale: d.scale},
		{Seed: 1, Scale: d.scale, Roles: []string{"conflict-events"}, Edited: 20},
		{Seed: 2, Scale: d.scale},
	} {
		if _, err := generator.Write(catalogs, o); err != nil {
			return err
		}
		// Without the list of its files, a catalog is what is in its folders.
		if err := os.Remove(filepath.Join(catalogs, "catalog.json")); err != nil {
			return err
		}
		if err := d.run(ctx, "build", "--catalog", catalogs, "--store", data.store, "--allow-shrink",
			"--snapshot-time", fmt.Sprintf("2026-11-21T0%d:00:00Z", i+1)); err != nil {
			return err
		}
		if err := data.addShown(); err != nil {
			return err
		}
	}
	return nil
}

// copyStore copies the store of --store, of which any file may be replaced later.
func (d *drill) copyStore(ctx context.Context, data *dataset) error {
	if err := os.CopyFS(data.store, os.DirFS(d.store)); err != nil {
		return err
	}
	// Without a channel, every snapshot can be published, also the one that it showed.
	if err := os.Remove(filepath.Join(data.store, channelFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	reports, err := filepath.Glob(filepath.Join(data.store, "manifests", "*.json"))
	if err != nil {
		return err
	}
	for _, path := range reports {
		id := strings.TrimSuffix(filepath.Base(path), ".json")
		if strings.HasSuffix(id, ".report") {
			continue
		}
		if err := d.run(ctx, "publish", "--store", data.store, id); err != nil {
			return err
		}
		if err := data.addShown(); err != nil {
			return err
		}
	}
	if len(data.releases) < 2 {
		return fmt.Errorf("--store %s has %d snapshots, and a swap needs two: build another one",
			d.store, len(data.releases))
	}
	return nil
}

func (data *dataset) addShown() error {
	channel, err := os.ReadFile(filepath.Join(data.store, channelFile))
	if err != nil {
		return err
	}
	var pointer struct{ ID string }
	if err := json.Unmarshal(channel, &pointer); err != nil {
		return fmt.Errorf("%s: %w", channelFile, err)
	}
	text, err := os.ReadFile(filepath.Join(data.store, "manifests", pointer.ID+".json"))
	if err != nil {
		return err
	}
	var manifest struct {
		Tables []struct{ Table, SHA256 string }
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("manifest %s: %w", pointer.ID, err)
	}
	r := &release{id: pointer.ID, channel: channel, tables: map[string]string{}}
	for _, t := range manifest.Tables {
		r.tables[t.Table] = t.SHA256
	}
	data.releases = append(data.releases, r)
	return nil
}

func (data *dataset) finish(ctx context.Context, d *drill) error {
	fewest, most := -1, -1
	for i, a := range data.releases {
		for _, b := range data.releases[:i] {
			n := a.differs(b)
			if n > 0 && (fewest < 0 || n < fewest) {
				fewest, data.one = n, [2]*release{b, a}
			}
			if n > most {
				most, data.all = n, [2]*release{b, a}
			}
		}
	}
	if most < 1 {
		return errors.New("all snapshots of the store have the same tables, so a swap would show nothing")
	}
	data.requests = makeRequests()
	for _, r := range data.releases {
		if err := data.learn(ctx, d, r); err != nil {
			return err
		}
	}
	return showIn(data.store, data.releases[0])
}

// differs counts the tables that differ between two snapshots.
func (r *release) differs(other *release) (n int) {
	for name, digest := range r.tables {
		if other.tables[name] != digest {
			n++
		}
	}
	return n
}

// showIn makes the channel of a store show a snapshot.
func showIn(store string, r *release) error {
	path := filepath.Join(store, channelFile)
	return errors.Join(os.WriteFile(path+".new", r.channel, 0o644), os.Rename(path+".new", path))
}

// copied makes a copy of the store that shows a snapshot.
func (d *drill) copied(r *release) (store string, err error) {
	if store, err = d.folder("store"); err != nil {
		return "", err
	}
	return store, errors.Join(os.CopyFS(store, os.DirFS(d.data.store)), showIn(store, r))
}
