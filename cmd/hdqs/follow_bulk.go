package main

import (
	"context"
	"sync"
	"sync/atomic"

	"hdqs/bulk"
)

// bulkCopy is what a follower does about the bulk files of a remote store.
type bulkCopy struct {
	wanted  bool         // they are served
	running atomic.Bool  // a download is
	have    atomic.Value // id of the snapshot whose files were downloaded last
	look    sync.Mutex
}

// lookForBulk serves the bulk files that the store has now. Without them the rest is served.
func (f *follower) lookForBulk(snapshotID string) {
	f.bulk.look.Lock()
	defer f.bulk.look.Unlock()
	if err := f.server.LookForBulk(bulk.Open(f.store.Store)); err != nil {
		f.log.Error("some bulk files cannot be served", "snapshot", snapshotID, "error", err)
	}
}

// fetchBulk downloads the bulk files of a snapshot of a remote store, beside everything else: they
// are large, and nothing waits for them. A download that fails is tried again after the next look.
func (f *follower) fetchBulk(ctx context.Context, snapshotID string) {
	if !f.bulk.wanted || f.store.remote == nil || snapshotID == "" || f.bulk.have.Load() == snapshotID ||
		!f.bulk.running.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer f.bulk.running.Store(false)
		switch fetched, err := f.store.copy.FetchBulk(ctx, snapshotID); {
		case err == nil:
			f.bulk.have.Store(snapshotID)
			f.log.Info("bulk files fetched", "snapshot", snapshotID, "files", fetched.Files, "bytes", fetched.Bytes)
			f.lookForBulk(snapshotID)
		case !isAbsent(err) && ctx.Err() == nil:
			f.log.Warn("bulk files could not be downloaded; trying again later", "snapshot", snapshotID, "error", err)
		}
	}()
}
