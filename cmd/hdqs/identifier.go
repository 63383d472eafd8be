package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hdqs/api/contract"
)

func newIdentifier() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "identifier",
		Short: "Encodes and decodes app identifiers",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "encode APPLICATION EMAIL",
		Short: "Prints the app identifier of an application and its contact e-mail",
		Args:  usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, issues := contract.EncodeIdentifier(args[0], args[1])
			if len(issues) > 0 {
				return exitWith(exitUsage, &contract.Invalid{Issues: issues})
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use:   "decode IDENTIFIER",
		Short: "Prints the application and the contact e-mail of an app identifier, one per line",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			application, email, err := contract.DecodeIdentifier(args[0])
			if err != nil {
				return exitWith(exitUsage, fmt.Errorf("identifier %.80q: %w", args[0], err))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", application, email)
			return err
		},
	})
	return cmd
}
