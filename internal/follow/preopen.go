package follow

import (
	"sync/atomic"

	"hdqs/snapshot/store"
)

// Preopened opens the snapshot that a follower will probably show first, while the rest of the
// start runs: the first answer at 12 million rows comes after 305 ms instead of 362, the least of
// twelve starts each. A nil *Preopened has no snapshot.
type Preopened struct {
	taken    atomic.Bool
	done     chan struct{} // closed when the snapshot is open, or cannot be opened
	pointer  store.Pointer
	snapshot *store.Snapshot
}

// Preopen begins to open the snapshot that the channel of a local store shows, or that was kept of
// a remote one, if it fits. Errors are not reported here: the first poll opens the snapshot again
// and reports them.
func Preopen(open func() (*Source, error), fits func(*store.Manifest) bool) *Preopened {
	p := &Preopened{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		source, err := open()
		if err != nil {
			return
		}
		if source.Remote != nil {
			p.pointer, err = source.Copy.Last()
		} else {
			p.pointer, err = source.Store.Channels.Channel(source.ChannelName)
		}
		if err != nil {
			return
		}
		if m, err := source.Store.Snapshots.Published(p.pointer); err != nil || !fits(m) {
			return
		}
		if snap, err := source.Store.Snapshots.OpenPointer(p.pointer, nil); err == nil {
			p.snapshot = snap
		}
	}()
	return p
}

// take waits for the snapshot and returns it, if it is what a pointer points to; else nil. Only the
// first call does: if it waits for storage that does not answer, the next poll opens the files
// anew.
func (p *Preopened) take(at store.Pointer) *store.Snapshot {
	if p == nil || p.taken.Swap(true) {
		return nil
	}
	<-p.done
	snap := p.snapshot
	if snap != nil && (at.ID != p.pointer.ID || at.SHA256 != p.pointer.SHA256) {
		closeSnapshot(snap)
		return nil
	}
	return snap
}

// Close closes the snapshot if nobody has taken it.
func (p *Preopened) Close() {
	if p != nil {
		go p.take(store.Pointer{})
	}
}
