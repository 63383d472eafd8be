package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hdqs/api"
)

func newIdentifier() *cobra.Command {
	cmd := &cobra.Command{Use: "identifier", Short: "Makes and reads app identifiers"}
	cmd.AddCommand(&cobra.Command{
		Use:   "encode APPLICATION EMAIL",
		Short: "Prints the app identifier of an application and its contact e-mail",
		Args:  usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := api.EncodeIdentifier(args[0], args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}, &cobra.Command{
		Use:   "decode IDENTIFIER",
		Short: "Prints the application and the e-mail of an app identifier, tab-separated",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			application, email, err := api.DecodeIdentifier(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\n", application, email)
			return err
		},
	})
	return cmd
}
