package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hdqs/api"
	"hdqs/internal/background"
	"hdqs/internal/follow"
	"hdqs/internal/memory"
	"hdqs/internal/objects"
	"hdqs/snapshot/store"
)

// checkAll does what serve does until it is ready, without listening, and prints what would be
// served. It changes no file: the segments of a remote store are downloaded to a temporary
// directory.
func (f *serveFlags) checkAll(ctx context.Context, out, messages io.Writer) error {
	_, options, err := f.configure(messages)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	// What serve logs while it starts is of no use here, except for warnings.
	log := slog.New(slog.NewTextHandler(messages, &slog.HandlerOptions{Level: slog.LevelWarn}))
	options.Logger = log
	if _, err := f.accessLog.options(log); err != nil {
		return err
	}
	background.SetGarbagePercent()
	if err := f.memory.apply(&options, log); err != nil {
		return err
	}
	server := api.New(options)
	st, remove, err := f.checkedStore(ctx, messages, follow.NewWaiter(f.hangups, log))
	if err != nil {
		return err
	}
	defer remove()
	if st == nil {
		fmt.Fprintf(out, "%s has not been loaded yet: serve loads it before it listens\n", f.load.catalog)
		return nil
	}
	follower := follow.New(f.following(server, st, follow.NewWaiter(f.hangups, log)))
	if _, err := follower.Poll(ctx); err != nil {
		return errors.Join(ctx.Err(), storeError(err))
	}
	served := server.State.Snapshots.Acquire()
	snap := served.Bound.Snap
	defer served.Release(log)
	defer server.Shutdown(ctx)
	rows, bytes := 0, int64(0)
	for _, ref := range snap.Manifest.Tables {
		rows, bytes = rows+ref.Rows, bytes+ref.Bytes
	}
	signed := "signatures are not required"
	if f.trust.require {
		signed = "signed by a trusted key"
	}
	age := time.Since(snap.Manifest.SnapshotTime).Round(time.Minute)
	fmt.Fprintf(out, "snapshot    %s of channel %s, published %s\n", snap.Manifest.ID, f.channel,
		follower.Shown().PublishedAt.Format(time.RFC3339))
	fmt.Fprintf(out, "data        of %s, %s old\n", snap.Manifest.SnapshotTime.Format(time.RFC3339), age)
	fmt.Fprintf(out, "tables      %d with %d rows, %s\n", len(snap.Manifest.Tables), rows, memory.Size(bytes))
	if missing := served.Bound.Missing(); len(missing) > 0 {
		fmt.Fprintf(out, "no rows     %s\n", strings.Join(missing, ", "))
	}
	fmt.Fprintf(out, "signature   %s\n", signed)
	if use := server.State.Memory(); use.Limit > 0 {
		fmt.Fprintf(out, "memory      %s of %s for snapshots, with a limit of %s\n", memory.Size(use.Needed),
			memory.Size(use.Snapshots), memory.Size(use.Limit))
	} else {
		fmt.Fprintln(out, "memory      no limit")
	}
	fmt.Fprintf(out, "would listen on %s", f.listen)
	if f.admin != "" {
		fmt.Fprintf(out, ", admin on %s", f.admin)
	}
	fmt.Fprintln(out)
	return nil
}

// checkedStore opens the store for a check. It is nil if a catalog has not been loaded yet.
func (f *serveFlags) checkedStore(
	ctx context.Context, messages io.Writer, w *follow.Waiter,
) (st *openStore, remove func(), err error) {
	remove = func() {}
	switch {
	case objects.IsRemote(f.store):
		if f.dataDir, remove, err = temporaryDir("check"); err != nil {
			return nil, nil, err
		}
	case f.load.catalog != "":
		if !objects.IsRemote(f.load.catalog) {
			if _, err := os.Stat(f.load.catalog); err != nil {
				return nil, nil, fmt.Errorf("--catalog: %w", err)
			}
		}
		st, err := f.openLocal(filepath.Join(f.dataDir, "store"))
		if err == nil {
			_, err = f.last(st)
		}
		if isAbsent(err) {
			return nil, remove, nil
		}
		return st, remove, storeError(err)
	}
	removeCopy := remove
	st, removeSample, err := openServed(ctx, messages, f, w)
	if err != nil {
		removeCopy()
		return nil, nil, err
	}
	return st, func() { removeSample(); removeCopy() }, nil
}

// last returns the last snapshot of the data directory. One of another catalog, or of a remote
// store, is absent: it would answer for a catalog whose address was mistyped.
func (f *serveFlags) last(st *openStore) (store.Pointer, error) {
	p, err := st.Store.Channels.Channel(f.channel)
	if of := catalogOf(st.Store, p.ID); err == nil && filepath.Clean(of) != filepath.Clean(f.load.catalog) {
		err = absent("--data-dir %s: the last snapshot is of another catalog, %q, and is not served", f.dataDir, of)
	}
	return p, err
}
