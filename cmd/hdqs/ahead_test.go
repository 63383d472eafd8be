package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"hdqs/loader"
	"hdqs/loader/sample"
	"hdqs/snapshot/store"
)

// TestOpenAhead checks that a snapshot that was opened ahead is returned once and for its pointer
// only, that what cannot be opened is left to the first look, and that only one call waits.
func TestOpenAhead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	build := loader.Options{Catalog: sample.FS, CatalogName: "sample", Store: st, Channel: stableChannel}
	if _, err := loader.Build(t.Context(), build); err != nil {
		t.Fatal(err)
	}
	p, err := st.Channel(stableChannel)
	if err != nil {
		t.Fatal(err)
	}
	f := serveFlags{storeFlags: storeFlags{store: dir, channel: stableChannel}}

	a := f.openAhead()
	snap := a.take(p)
	if snap == nil || snap.Manifest.ID != p.ID {
		t.Fatalf("the snapshot of the channel was not opened: %v", snap)
	}
	defer closeSnapshot(snap)
	if a.take(p) != nil {
		t.Error("the same snapshot was returned twice")
	}

	other := p
	other.SHA256 = "00" + p.SHA256[2:]
	a = f.openAhead()
	if a.take(other) != nil || a.take(p) != nil {
		t.Error("a snapshot was returned for another pointer, or after that")
	}

	damage(t, filepath.Join(dir, "segments", snap.Manifest.Tables[0].SHA256+".seg"))
	if f.openAhead().take(p) != nil {
		t.Error("a damaged snapshot was returned")
	}
	f.store = filepath.Join(dir, "missing")
	if f.openAhead().take(p) != nil {
		t.Error("a store that is missing has a snapshot")
	}
	stuck := &ahead{done: make(chan struct{})}
	first := make(chan *store.Snapshot)
	go func() { first <- stuck.take(p) }()
	for !stuck.taken.Load() {
		runtime.Gosched()
	}
	if stuck.take(p) != nil {
		t.Error("a snapshot that is not open yet was returned")
	}
	close(stuck.done)
	if <-first != nil {
		t.Error("there is a snapshot though none was opened")
	}
	f.store = ""
	a = f.openAhead()
	a.close()
	if a.take(p) != nil {
		t.Error("without a store there is a snapshot")
	}
}

// damage replaces a segment by one with another byte. A mapping of the old file stays as it is.
func damage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2]++
	if err := errors.Join(os.Remove(path), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}
