package main

import (
	"sync/atomic"

	"hdqs/internal/replica"
	"hdqs/snapshot/store"
)

// ahead is the snapshot that serve will probably show first. It is opened beside all else that a
// start does. A nil ahead has none.
type ahead struct {
	done     chan struct{} // closed when the snapshot is open, or cannot be opened
	pointer  store.Pointer
	snapshot atomic.Pointer[store.Snapshot]
}

// openAhead begins to open the snapshot that a channel of a local store shows, or that was kept of
// a remote one. What fails is tried again by the first look, which reports it.
func (f *serveFlags) openAhead() *ahead {
	if f.store == "" {
		return nil
	}
	a := &ahead{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		st, err := f.openLinking()
		if err != nil {
			return
		}
		if replica.IsRemote(f.store) {
			a.pointer, err = st.copy.Last()
		} else {
			a.pointer, err = st.Channel(st.channel)
		}
		if err != nil {
			return
		}
		if snap, err := st.OpenPointer(a.pointer, nil); err == nil {
			a.snapshot.Store(snap)
		}
	}()
	return a
}

// take waits for the snapshot and returns it, if it is what a pointer points to; else nil. Only the
// first call returns it.
func (a *ahead) take(p store.Pointer) *store.Snapshot {
	if a == nil {
		return nil
	}
	<-a.done
	snap := a.snapshot.Swap(nil)
	if snap != nil && (p.ID != a.pointer.ID || p.SHA256 != a.pointer.SHA256) {
		closeSnapshot(snap)
		return nil
	}
	return snap
}

// close closes the snapshot if nobody has taken it.
func (a *ahead) close() {
	if a != nil {
		go a.take(store.Pointer{})
	}
}
