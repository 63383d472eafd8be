package follow

import (
	"context"
	"slices"

	"hdqs/bulk"
)

// serveBulk serves the bulk files that the store has now. Without them the rest is served.
func (f *Follower) serveBulk(snapshotID string) {
	f.bulk.serve.Lock()
	defer f.bulk.serve.Unlock()
	files := bulk.Open(f.source.Store)
	if ids, err := files.Snapshots(); err == nil && !slices.Contains(ids, snapshotID) && f.source.Remote == nil {
		f.sayNoBulk()
	}
	if err := f.server.Files.LookForBulk(files); err != nil {
		f.log.Error("some bulk files cannot be served", "snapshot", snapshotID, "error", err)
		f.bulk.have.Store("")
		f.bulk.damaged.Store(true)
	}
}

// sayNoBulk logs once that --bulk has nothing to serve yet.
func (f *Follower) sayNoBulk() {
	if f.options.Bulk {
		f.bulk.said.Do(func() {
			f.log.Warn("--bulk: the store has no bulk files of its snapshot; 'hdqs build --bulk' makes them")
		})
	}
}

// fetchBulk downloads the bulk files of a snapshot of a remote store, beside everything else: they
// are large, and nothing waits for them. A download that fails is tried again after the next poll.
func (f *Follower) fetchBulk(ctx context.Context, snapshotID string) {
	if !f.options.Bulk || f.source.Remote == nil || snapshotID == "" || f.bulk.have.Load() == snapshotID ||
		!f.bulk.running.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer f.bulk.running.Store(false)
		switch fetched, err := f.source.Copy.FetchBulk(ctx, snapshotID, f.bulk.damaged.Swap(false)); {
		case err == nil:
			f.bulk.have.Store(snapshotID)
			f.log.Info("bulk files fetched", "snapshot", snapshotID, "files", fetched.Files, "bytes", fetched.Bytes)
			f.serveBulk(snapshotID)
		case isAbsent(err):
			f.sayNoBulk()
		case ctx.Err() == nil:
			f.log.Warn("bulk files could not be downloaded; trying again later", "snapshot", snapshotID, "error", err)
		}
	}()
}
