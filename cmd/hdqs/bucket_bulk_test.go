package main_test

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestBucketBulk writes bulk files and Iceberg tables to a bucket, from two machines, and collects.
// TestReplicaOfBulk serves those of a remote store.
func TestBucketBulk(t *testing.T) {
	o := onVersity(t)
	files := smallCatalog(t)
	one, two := t.TempDir(), t.TempDir()
	build := func(data, at string) (put []string, got int) {
		t.Helper()
		o.take(t)
		o.run(t, 0, "build", "--catalog", files, "--store", storeAddress, "--data-dir", data, "--bulk",
			"--snapshot-time", at)
		for _, p := range o.take(t) {
			name, is := strings.CutPrefix(p.path, "store/")
			switch {
			case is && p.method == "PUT":
				put = append(put, name)
			case p.method == "GET" && strings.HasPrefix(name, "bulk/data/"):
				got++
			}
		}
		return put, got
	}
	put, _ := build(one, buildTime)
	testOrderOfBulk(t, put)
	first := o.inspect(t, one).ID

	// Nothing has changed.
	if put, _ = build(one, buildTime); len(bulkData(put)) > 0 {
		t.Errorf("an unchanged load wrote %q", put)
	}
	// Another machine takes over what the bucket has, and writes the files of changed tables only.
	changeRows(t, files, "funding")
	put, got := build(two, "2026-11-22T00:00:00Z")
	data := bulkData(put)
	if len(data) < 4 || len(data) > 10 || got < 20 {
		t.Errorf("a change of funding wrote %q, after %d files were read", data, got)
	}
	second := o.inspect(t, two).ID
	o.testIceberg(t, first, second)

	// After a collection the tables have the snapshot that stays, also after a load from a machine
	// whose copy of the store has the other one too.
	o.run(t, 0, "gc", "--store", storeAddress, "--keep", "0", "--grace", "0s")
	o.testIceberg(t, second)
	build(one, "2026-11-22T00:00:00Z")
	o.testIceberg(t, second)
	changeRows(t, files, "poverty-rate")
	build(one, "2026-11-23T00:00:00Z")
	third := o.inspect(t, one).ID
	o.testIceberg(t, second, third)
}

// testOrderOfBulk: bulk files are written before the channel, Iceberg tables after it, the files
// that publish them last.
func testOrderOfBulk(t *testing.T, put []string) {
	t.Helper()
	var order []string
	for _, name := range put {
		switch {
		case path.Base(name) == "version-hint.text":
			name = "hints"
		case strings.HasPrefix(name, "bulk/"):
			name = path.Join(strings.Split(name, "/")[:2]...)
		default:
			name, _, _ = strings.Cut(name, "/")
		}
		order = append(order, name)
	}
	want := "segments manifests bulk/data bulk/snapshots channels bulk/iceberg hints"
	if got := strings.Join(slices.Compact(order), " "); got != want {
		t.Errorf("order of PUTs: %s, want %s", got, want)
	}
}

// bulkData are the names of tables' files. Lists of sources are new with every snapshot.
func bulkData(put []string) []string {
	return slices.DeleteFunc(slices.Clone(put), func(name string) bool {
		return !strings.HasPrefix(name, "bulk/data/")
	})
}

// testIceberg checks that each Iceberg table in the bucket has exactly the given snapshots, and
// that the files that its metadata names are there.
func (o *objectStore) testIceberg(t *testing.T, ids ...string) {
	t.Helper()
	there := o.list(t, "store/bulk/")
	tables := 0
	for hint := range there {
		if path.Base(hint) != "version-hint.text" {
			continue
		}
		tables++
		folder := path.Dir(hint)
		var metadata struct {
			Location  string
			Snapshots []struct {
				List    string `json:"manifest-list"`
				Summary map[string]string
			}
			Refs map[string]struct{ Type string }
		}
		text := o.get(t, folder+"/v"+string(o.get(t, hint))+".metadata.json")
		testkit.Must(t, json.Unmarshal(text, &metadata))
		var found []string
		for _, s := range metadata.Snapshots {
			found = append(found, s.Summary["hdqs.snapshot-id"])
			for _, name := range append(strings.Fields(s.Summary["hdqs.manifests"]), path.Base(s.List)) {
				if _, ok := there[folder+"/"+name]; !ok {
					t.Errorf("%s/%s of %q is missing", folder, name, found)
				}
			}
		}
		if !slices.Equal(found, ids) || len(metadata.Refs) != len(ids)+1 {
			t.Errorf("%s has the snapshots %q with the names %v, want %q", folder, found, metadata.Refs, ids)
		}
		if !strings.HasPrefix(metadata.Location, storeAddress+"/bulk/iceberg/") {
			t.Errorf("%s says that it is at %s", folder, metadata.Location)
		}
	}
	if tables < 20 {
		t.Errorf("%d Iceberg tables", tables)
	}
	for _, id := range ids {
		m := decode[bulkManifest](t, o.get(t, "store/bulk/snapshots/"+id+".json"))
		for _, table := range m.Tables {
			for _, f := range table.Files {
				name := "store/bulk/data/" + path.Dir(f.Path) + "/" + f.SHA256 + "." +
					strings.SplitN(path.Base(f.Path), ".", 2)[1]
				if _, ok := there[name]; !ok {
					t.Errorf("%s of %s is missing", name, id)
				}
			}
		}
	}
}
