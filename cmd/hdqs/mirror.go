package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hdqs/internal/replica"
	"hdqs/loader/upstream"
)

func newMirror() *cobra.Command {
	var (
		catalog, to, data string
		source            sourceFlags
		net               netFlags
	)
	cmd := &cobra.Command{
		Use:   "mirror --catalog SRC --to DST",
		Short: "Copies a catalog into a directory or a bucket, from where other loads read it",
		Long: `Copies a catalog into a directory or s3://bucket/prefix, as a tree of files that 'build --catalog' reads. SRC is what 'build' takes. Only files
that are new or have changed are written, catalog.json last; what the catalog does not have any more stays.

Exit codes: 0 ok, 1 failed, 2 usage, 3 a source or the target could not be reached, 5 mirrored, but a source was stale or refused.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if catalog == "" || to == "" {
				return exitWith(exitUsage, errors.New("mirror needs --catalog and --to"))
			}
			var target replica.Target = replica.DirTarget(to)
			var remote *replica.Remote
			if replica.IsRemote(to) {
				var err error
				if remote, err = replica.Open(to, net.options()); err != nil {
					return exitWith(exitUsage, err)
				}
				target = remote.Tree()
			}
			if !upstream.IsRemote(catalog) {
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
				return storeFault(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "mirrored %d files to %s: %d written, %s\n", copied.Files, to, copied.Sent, plainly(copied.Bytes))
			if isPartial(s) {
				return exitWith(exitPartial, errStale)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&catalog, "catalog", "", "catalog to copy")
	fl.StringVar(&to, "to", "", "directory or s3://bucket/prefix")
	fl.StringVar(&data, "data-dir", dataDir, "directory for what is downloaded")
	source.register(fl)
	net.register(fl)
	return cmd
}

// catalogFile is the file of a catalog that names the others.
const catalogFile = "catalog.json"
