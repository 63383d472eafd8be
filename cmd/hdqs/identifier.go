package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hdqs/api"
)

func newIdentifier() *cobra.Command {
	cmd := &cobra.Command{Use: "identifier", Short: "Makes app identifiers"}
	cmd.AddCommand(&cobra.Command{
		Use:   "encode APPLICATION EMAIL",
		Short: "Prints the app identifier of an application and its contact e-mail",
		Args:  usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, issues := api.EncodeIdentifier(args[0], args[1])
			if len(issues) > 0 {
				return exitWith(exitUsage, &api.Invalid{Issues: issues})
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	})
	return cmd
}
