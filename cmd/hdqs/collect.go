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
		Short: "Removes snapshots that no channel shows, and the segments that only they have",
		Long: `Removes snapshots that no channel shows beyond the latest --keep, with their reports and signatures, and the segments that no remaining
snapshot names. Nothing younger than --grace is removed: it may belong to a snapshot that is about to be published, so the grace must be
longer than a load takes. A channel can be rolled back only to snapshots that are kept.`,
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
				return storeFault(err)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			}
			verb := "removed"
			if o.DryRun {
				verb = "would remove"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %d snapshots and %d segments, %s; %d snapshots stay\n",
				verb, len(found.Manifests), found.Segments, plainly(found.Bytes), found.Kept)
			return err
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().IntVar(&o.Keep, "keep", 3, "how many snapshots that no channel shows stay, the latest first")
	cmd.Flags().DurationVar(&o.Grace, "grace", 24*time.Hour, "age below which nothing is removed")
	bound(cmd.Flags(), "keep", &o.Keep, 0, mostAtOnce)
	bound(cmd.Flags(), "grace", &o.Grace, 0, longestPause)
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "tell what would be removed, remove nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
