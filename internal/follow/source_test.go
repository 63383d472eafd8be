package follow

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hdqs/internal/history"
	"hdqs/internal/objects"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestManifestOfOpenSnapshot checks that the manifest of an open snapshot is not read again: no
// store is behind this one.
func TestManifestOfOpenSnapshot(t *testing.T) {
	open := []*store.Snapshot{nil, {Manifest: &store.Manifest{ID: "a"}}, {Manifest: &store.Manifest{ID: "b"}}}
	for i, id := range []string{"a", "b"} {
		m, err := (&Source{}).manifestOf(id, open)
		if err != nil || m != open[i+1].Manifest {
			t.Errorf("manifest %q: %v, %v", id, m, err)
		}
	}
}

// remoteFiles is a remote store that counts what is read from it.
type remoteFiles struct {
	objects.Store
	files map[string][]byte
	reads int
}

func (r *remoteFiles) Read(_ context.Context, name, _ string, _ int64) ([]byte, string, error) {
	r.reads++
	if data := r.files[name]; data != nil {
		return data, "", nil
	}
	return nil, "", fs.ErrNotExist
}

// TestKeptChanges: changes of snapshots that were removed are those that were kept, from the store
// or from a remote one, which is read once. What is damaged or not signed counts as not kept.
func TestKeptChanges(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	st, ids := newStore(t, day, day.AddDate(0, 0, 1), day.AddDate(0, 0, 2))
	s := &Source{Store: st, ChannelName: channel}
	c, err := st.Channels.History(channel)
	testkit.Must(t, err)
	want := s.changesOf(t.Context(), nil, c, "")
	if len(want) != 2 || want[0].From != ids[1] || want[1].From != ids[0] || want[0].Counts != nil {
		t.Fatalf("%d changes: %+v", len(want), want)
	}
	key, keys := testkit.SigningKey(t)
	files := map[string][]byte{}
	for i := range 2 {
		var snaps [2]*store.Snapshot
		for k := range snaps {
			snaps[k], err = st.Snapshots.Open(ids[i+k])
			testkit.Must(t, err)
			defer closeSnapshot(snaps[k])
		}
		files[history.Name(ids[i], ids[i+1])], _, err = history.Make(snaps[0], snaps[1], st.Signing(key).Keys)
		testkit.Must(t, err)
	}
	for _, id := range ids[:2] {
		testkit.Must(t, os.Remove(filepath.Join(st.Dir(), "manifests", id+".json")))
	}
	if got := s.changesOf(t.Context(), nil, c, ""); len(got) != 0 {
		t.Errorf("without manifests: %d changes", len(got))
	}
	remote := &remoteFiles{files: files}
	check := func(what string, from objects.Store, reads int) {
		t.Helper()
		got := s.changesOf(t.Context(), from, c, "")
		if len(got) != 2 || remote.reads != reads {
			t.Fatalf("%s: %d changes, %d reads, want %d", what, len(got), remote.reads, reads)
		}
		for i := range got {
			if got[i].ID != want[i].ID || !got[i].At.Equal(want[i].At) || got[i].Counts == nil {
				t.Errorf("%s: %+v, want %+v", what, got[i], want[i])
			}
		}
	}
	check("remote", remote, 2)
	check("copied", nil, 2)
	s.Store = st.Trusting(keys)
	check("signed", remote, 2)
	name := history.Name(ids[1], ids[2])
	forged := bytes.Replace(files[name], []byte(ids[1]), []byte(ids[0]), 1)
	testkit.Must(t, st.Snapshots.PutFile(name, forged))
	if got := s.changesOf(t.Context(), nil, c, ""); len(got) != 1 || got[0].To != ids[1] {
		t.Errorf("forged: %d changes", len(got))
	}
}

// TestPreopen checks that a snapshot that was opened before is returned once and for its pointer
// only, that what cannot be opened is left to the first poll, and that only one call waits.
func TestPreopen(t *testing.T) {
	t.Parallel()
	st, _ := newStore(t, time.Now())
	p := testkit.Value(st.Channels.Channel(channel))(t)
	fits := func(*store.Manifest) bool { return true }
	preopen := func() *Preopened {
		return Preopen(func() (*Source, error) { return &Source{Store: st, ChannelName: channel}, nil }, fits)
	}

	a := preopen()
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
	a = preopen()
	if a.take(other) != nil || a.take(p) != nil {
		t.Error("a snapshot was returned for another pointer, or after that")
	}

	fits = func(*store.Manifest) bool { return false }
	if preopen().take(p) != nil {
		t.Error("a snapshot that does not fit was opened")
	}
	fits = func(*store.Manifest) bool { return true }

	damage(t, filepath.Join(st.Dir(), "segments", snap.Manifest.Tables[0].SHA256+".seg"))
	if preopen().take(p) != nil {
		t.Error("a damaged snapshot was returned")
	}
	missing := Preopen(func() (*Source, error) { return nil, fs.ErrNotExist }, fits)
	if missing.take(p) != nil {
		t.Error("a store that is missing has a snapshot")
	}
	stuck := &Preopened{done: make(chan struct{})}
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
	a = nil
	a.Close()
	if a.take(p) != nil {
		t.Error("without a store there is a snapshot")
	}
}

// damage replaces a segment by one with another byte. A mapping of the old file stays as it is.
func damage(t *testing.T, path string) {
	t.Helper()
	data := testkit.ReadFile(t, path)
	data[len(data)/2]++
	testkit.Must(t, errors.Join(os.Remove(path), os.WriteFile(path, data, 0o600)))
}
