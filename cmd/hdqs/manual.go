//go:build manual

package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Only `make release` builds this command: what makes manual pages is not linked into the program.
func init() {
	moreCommands = append(moreCommands, &cobra.Command{
		Use:   "manual DIRECTORY TIME",
		Short: "Writes the manual pages",
		Args:  usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			seconds, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return err
			}
			made := time.Unix(seconds, 0).UTC()
			cmd.Root().DisableAutoGenTag = true
			cmd.Hidden = true
			return doc.GenManTree(cmd.Root(), &doc.GenManHeader{
				Section: "1", Source: "hdqs " + release, Manual: "Humanitarian data query service", Date: &made,
			}, args[0])
		},
	})
}
