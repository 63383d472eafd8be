package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hdqs/internal/memory"
	"hdqs/internal/objects"
	"hdqs/internal/replica"
	"hdqs/loader"
)

func newMirror() *cobra.Command {
	var (
		catalog, to, data string
		source            sourceFlags
		net               netFlags
	)
	cmd := &cobra.Command{
		Use:   "mirror --catalog SRC --to DST",
		Short: "Copies a catalog to a directory or a bucket that other loads read",
		Long: `Copies a catalog to a directory or s3://bucket/prefix, as a tree of files that 'build --catalog'
reads. SRC is as for 'hdqs build'. Only new and changed files are written, catalog.json last. Files
that the catalog no longer has stay.

Exit codes: 0 success, 1 failed, 2 wrong usage, 3 a source or the target could not be reached, 5
mirrored, but a source was stale or refused, or has a table that no role takes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if catalog == "" || to == "" {
				return usagef("mirror needs --catalog and --to")
			}
			var target objects.Store = objects.Dir(to)
			if objects.IsRemote(to) {
				remote, err := replica.Open(to, net.options())
				if err = cmp.Or(err, checkWritable("to", to)); err != nil {
					return exitWith(exitUsage, err)
				}
				remote.Timeout = longestTimeout // of the list of a large mirror
				target = remote
			}
			if !objects.IsRemote(catalog) {
				if _, err := os.Stat(catalog); err != nil {
					return fmt.Errorf("catalog: %w", err)
				}
			}
			s, release, err := source.sync(cmd.Context(), catalog, data, net.options(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer release()
			copied, err := replica.CopyTree(cmd.Context(), s.Dir, catalogFile, target)
			if err != nil {
				return storeError(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "mirrored %d files to %s: %d written, %s\n",
				copied.Files, to, copied.Sent, memory.Size(copied.Bytes))
			if copied.Files != s.Linked+1 { // and catalog.json
				return fmt.Errorf("%d files were copied, catalog.json lists %d", copied.Files-1, s.Linked)
			}
			if s.Count(loader.SourceStale)+s.Count(loader.SourceRefused) > 0 {
				return exitWith(exitPartial, errors.New("a source could not be read: see the messages"))
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&catalog, "catalog", "", "catalog to copy")
	fl.StringVar(&to, "to", "", "directory or s3://bucket/prefix")
	fl.StringVar(&data, "data-dir", dataDir, "directory for downloads")
	source.register(fl)
	net.register(fl)
	return cmd
}

// catalogFile is the file of a catalog that lists the others.
const catalogFile = "catalog.json"
