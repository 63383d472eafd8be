package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// dataset returns the store of the flags.
func (d *drill) dataset(ctx context.Context) (*dataset, error) {
	if d.data != nil {
		return d.data, nil
	}
	if d.store == "" && d.scale == 0 {
		data, err := d.sample(ctx)
		d.data = data
		return data, err
	}
	store := filepath.Join(d.dir, "data")
	data := &dataset{store: store}
	var err error
	if d.store == "" {
		err = d.makeStore(ctx, data, d.scale)
	} else {
		err = d.copyStore(ctx, data)
	}
	if err != nil {
		return nil, err
	}
	d.data = data
	return data, data.finish(ctx, d)
}

// sample returns the store of the smallest made-up catalog.
func (d *drill) sample(ctx context.Context) (*dataset, error) {
	if d.small != nil {
		return d.small, nil
	}
	data := &dataset{store: filepath.Join(d.dir, "sample")}
	if err := d.makeStore(ctx, data, 0); err != nil {
		return nil, err
	}
	d.small = data
	return data, data.finish(ctx, d)
}

// makeStore builds three snapshots: the second differs from the first by the rows of one source,
// the third by its seed.
func (d *drill) makeStore(ctx context.Context, data *dataset, scale float64) error {
	catalogs, err := d.folder("catalogs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(catalogs)
	first, third := filepath.Join(catalogs, "1"), filepath.Join(catalogs, "3")
	for i, dir := range []string{first, third} {
		if _, err := generator.Write(dir, generator.Options{Seed: uint64(i + 1), Scale: scale}); err != nil {
			return err
		}
	}
	build := func(catalog string, n int) error {
		args := []string{
			"build", "--catalog", catalog, "--store", data.store, "--allow-shrink",
			"--snapshot-time", fmt.Sprintf("2026-11-21T0%d:00:00Z", n),
		}
		if _, err := d.run(ctx, args...); err != nil {
			return err
		}
		return data.addShown()
	}
	if err := build(first, 1); err != nil {
		return err
	}
	if err := dropRows(first, "conflict-events"); err != nil {
		return err
	}
	return errors.Join(build(first, 2), build(third, 3))
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
		if _, err := d.run(ctx, "publish", "--store", data.store, id); err != nil {
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

// addShown adds the snapshot that the channel shows.
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

// finish finds the pairs and the answers of each snapshot.
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
func (d *drill) copied(data *dataset, r *release) (store string, err error) {
	if store, err = d.folder("store"); err != nil {
		return "", err
	}
	return store, errors.Join(os.CopyFS(store, os.DirFS(data.store)), showIn(store, r))
}

// dropRows leaves out the last twentieth of the lines of each file of a role.
func dropRows(catalog, role string) error {
	name := filepath.Join(catalog, "catalog.json")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var listing map[string]any
	if err := json.Unmarshal(text, &listing); err != nil {
		return err
	}
	resources, _ := listing["resources"].([]any)
	changed := 0
	for _, r := range resources {
		entry, _ := r.(map[string]any)
		path, _ := entry["path"].(string)
		if entry["role"] != role {
			continue
		}
		path = filepath.Join(catalog, path)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		data = bytes.Join(lines[:len(lines)-max(2, len(lines)/20)], nil)
		digest := sha256.Sum256(data)
		entry["size"], entry["sha256"] = len(data), hex.EncodeToString(digest[:])
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
		changed++
	}
	if changed == 0 {
		return fmt.Errorf("no resource of %s has the role %s", name, role)
	}
	if text, err = json.Marshal(listing); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
