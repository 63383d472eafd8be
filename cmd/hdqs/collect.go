package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hdqs/bulk"
	"hdqs/bulk/iceberg"
	"hdqs/internal/memory"
	"hdqs/internal/objects"
	"hdqs/internal/replica"
	"hdqs/snapshot/store"
)

// collected is what a collection removed, or would have removed. Bytes are those of bulk files too.
type collected struct {
	*store.Collected
	BulkFiles int `json:"bulk_files"`
}

func collectAll(ctx context.Context, from objects.Store, o store.CollectOptions) (*collected, error) {
	found, err := store.Collect(ctx, from, o)
	if err != nil {
		return nil, err
	}
	files, err := bulk.Collect(ctx, from, found.Manifests, o)
	if err != nil {
		return nil, err
	}
	found.Bytes += files.Bytes
	return &collected{found, files.Files}, nil
}

// expireIceberg removes the snapshots that were removed from the Iceberg tables of a store. Those
// of a bucket are changed in a temporary folder: the copy of the store may lack files, or have
// more.
func expireIceberg(ctx context.Context, st *openStore) error {
	kept, err := bulk.SnapshotsIn(ctx, st.Files())
	if err != nil {
		return err
	}
	if st.Remote == nil {
		return iceberg.Expire(st.Store.Dir(), kept)
	}
	dir, remove, err := temporaryDir("gc")
	if err != nil {
		return err
	}
	defer remove()
	tables, err := store.Open(dir)
	if err != nil {
		return err
	}
	if err := replica.NewReplica(st.Remote, tables, st.ChannelName).FetchIceberg(ctx); err != nil {
		return err
	}
	if err := iceberg.Expire(dir, kept); err != nil {
		return err
	}
	return st.Remote.PushIceberg(ctx, tables)
}

func newCollect() *cobra.Command {
	var (
		f      storeFlags
		o      store.CollectOptions
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "gc --store DST",
		Short: "Removes snapshots that no channel shows, and the files that only they use",
		Long: `Removes snapshots that no channel shows, except the latest --keep, with their reports and
signatures, and the segments and bulk files that no remaining snapshot uses. A channel can be rolled back only to
snapshots that are kept. Temporary files that killed writers have left in a directory are removed too.

Nothing younger than --grace is removed, since it may belong to a snapshot that is about to be
published. The grace must be longer than a load takes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			holder := "gc"
			if o.DryRun {
				holder = "" // which works on a store that can only be read
			}
			st, release, err := f.begin(holder, &signFlags{}, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer release()
			found, err := collectAll(cmd.Context(), st.Files(), o)
			if err != nil {
				return storeError(err)
			}
			if !o.DryRun && st.Remote == nil {
				if err := st.Store.Sweep(o.Grace); err != nil {
					return err
				}
			}
			if !o.DryRun {
				if err := expireIceberg(cmd.Context(), st); err != nil {
					return storeError(err)
				}
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			}
			verb := "removed"
			if o.DryRun {
				verb = "would remove"
			}
			bulkFiles := ""
			if found.BulkFiles > 0 {
				bulkFiles = fmt.Sprintf(" and %d bulk files", found.BulkFiles)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %d snapshots and %d segments%s, %s; %d snapshots stay\n",
				verb, len(found.Manifests), found.Segments, bulkFiles, memory.Size(found.Bytes), found.Kept)
			return err
		},
	}
	f.register(cmd.Flags())
	numberVar(cmd.Flags(), &o.Keep, "keep", 3, 0, mostAtOnce,
		"how many snapshots that no channel shows are kept, the latest first")
	numberVar(cmd.Flags(), &o.Grace, "grace", 24*time.Hour, 0, longestPause, "age below which nothing is removed")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "print what would be removed, and remove nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
