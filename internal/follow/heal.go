package follow

import (
	"context"
	"errors"
	"time"

	"hdqs/snapshot/store"
)

// Pauses between two tries to open the segments of refused tables again.
const (
	shortestHeal = 100 * time.Millisecond
	longestHeal  = time.Minute
)

// rebuildEvery is after how many failed tries a server that builds from a catalog builds again. The
// first one counts; ten tries take a minute at first and ten minutes later.
const rebuildEvery = 10

// Heal opens the segments of tables that the server refuses again: at once, after each poll, and
// after growing pauses. It runs in parallel with polls, which may take long. If tries fail, Refresh
// builds again, which replaces damaged files.
func (f *Follower) Heal(ctx context.Context) {
	pause, failed := shortestHeal, 0
	var next <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.server.State.Inspector.Quarantined():
			pause, failed = shortestHeal, 0
		case <-f.polled:
		case <-next:
		}
		next = nil
		healed, refused, err := f.server.State.Heal(func(snap *store.Snapshot) (*store.Snapshot, error) {
			return f.reopen(ctx, snap)
		})
		if len(healed) > 0 {
			f.log.Info("refused tables are served again", "tables", healed)
		}
		if len(refused) > 0 && err == nil { // refused while others were opened
			next = time.After(shortestHeal)
		} else if len(refused) > 0 && ctx.Err() == nil {
			f.log.Error("refused tables cannot be opened again and stay refused",
				"tables", refused, "next_try", pause.String(), "error", err)
			if failed++; failed%rebuildEvery == 1 {
				select {
				case f.rebuild <- struct{}{}:
				default:
				}
			}
			next = time.After(pause)
			pause = min(2*pause, longestHeal)
		}
	}
}

// reopen opens the suspect segments of a snapshot again. Those of a remote store are downloaded
// again if the local copy is damaged.
func (f *Follower) reopen(ctx context.Context, snap *store.Snapshot) (*store.Snapshot, error) {
	next, err := f.source.Store.Snapshots.Reopen(snap)
	if err == nil || f.source.Remote == nil {
		return next, err
	}
	if fetchErr := f.source.Copy.Repair(ctx, snap.Manifest.ID); fetchErr != nil {
		return next, errors.Join(err, fetchErr)
	}
	closeSnapshot(next)
	return f.source.Store.Snapshots.Reopen(snap)
}
