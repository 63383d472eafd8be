package main

import (
	"sync/atomic"

	"hdqs/internal/replica"
	"hdqs/snapshot/store"
)

// ahead opens the snapshot that serve will probably show first, while the rest of the start runs. A
// nil *ahead has no snapshot.
type ahead struct {
	taken    atomic.Bool
	done     chan struct{} // closed when the snapshot is open, or cannot be opened
	pointer  store.Pointer
	snapshot *store.Snapshot
}

// openAhead begins to open the snapshot that a channel of a local store shows, or that was kept of
// a remote one. Errors are not reported here: the first look opens the snapshot again and
// reports them.
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
			a.snapshot = snap
		}
	}()
	return a
}

// take waits for the snapshot and returns it, if it is what a pointer points to; else nil. Only the
// first call does: if it waits for storage that does not answer, the next look opens the files
// anew.
func (a *ahead) take(p store.Pointer) *store.Snapshot {
	if a == nil || a.taken.Swap(true) {
		return nil
	}
	<-a.done
	snap := a.snapshot
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
