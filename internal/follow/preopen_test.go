package follow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestPreopen checks that a snapshot that was opened before is returned once and for its pointer
// only, that what cannot be opened is left to the first poll, and that only one call waits.
func TestPreopen(t *testing.T) {
	t.Parallel()
	st, _ := newStore(t, time.Now())
	p, err := st.Channels.Channel(channel)
	testkit.Must(t, err)
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
