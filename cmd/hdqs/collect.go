package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hdqs/snapshot/store"
)

func newCollect() *cobra.Command {
	var (
		f      storeFlags
		o      store.CollectOptions
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "gc --store DST",
		Short: "Removes snapshots that no channel shows, and the segments that only they use",
		Long: `Removes snapshots that no channel shows, except the latest --keep, with their reports and
signatures, and the segments that no remaining snapshot uses. A channel can be rolled back only to
snapshots that are kept.

Nothing younger than --grace is removed, since it may belong to a snapshot that is about to be
published. The grace must be longer than a load takes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := f.openExisting()
			if err != nil {
				return err
			}
			var found *store.Collected
			if st.remote != nil {
				found, err = st.remote.Collect(cmd.Context(), o)
			} else {
				release, lockErr := st.lock("gc")
				if lockErr != nil {
					return lockErr
				}
				defer release()
				found, err = st.Collect(o)
			}
			if err != nil {
				return storeError(err)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			}
			verb := "removed"
			if o.DryRun {
				verb = "would remove"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %d snapshots and %d segments, %s; %d snapshots stay\n",
				verb, len(found.Manifests), found.Segments, formatBytes(found.Bytes), found.Kept)
			return err
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().IntVar(&o.Keep, "keep", 3, "how many snapshots that no channel shows are kept, the latest first")
	cmd.Flags().DurationVar(&o.Grace, "grace", 24*time.Hour, "age below which nothing is removed")
	bound(cmd.Flags(), "keep", &o.Keep, 0, mostAtOnce)
	bound(cmd.Flags(), "grace", &o.Grace, 0, longestPause)
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "print what would be removed, and remove nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
