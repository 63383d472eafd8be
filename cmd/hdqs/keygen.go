package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hdqs/api/contract"
	"hdqs/snapshot/store"
)

func newKeygen() *cobra.Command {
	var private, public string
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Makes an ed25519 key pair for signing snapshots",
		Long: `Makes an ed25519 key pair for signing snapshots: the private key for 'build --sign-key', the
public key for --require-signature.

To change keys: append the new public key to the file that replicas read, sign with the new private
key, then remove the old public key.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			secret, open, err := store.NewKeys()
			if err != nil {
				return err
			}
			if err := writeNew(private, secret, 0o600); err != nil {
				return err
			}
			if err := writeNew(public, open, 0o644); err != nil {
				return errors.Join(err, os.Remove(private)) // which is of no use without it
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "private key: %s\npublic key: %s\n", private, public)
			return err
		},
	}
	cmd.Flags().StringVar(&private, "private", "hdqs-sign.pem", "file for the private key; must not exist")
	cmd.Flags().StringVar(&public, "public", "hdqs-sign.pub", "file for the public key; must not exist")
	return cmd
}

// writeNew writes a file that must not exist: to overwrite a key would make its signatures useless.
func writeNew(path string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("%w: want a new file", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(path) // an empty file of settings would be read as one without settings
	}
	return err
}

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
				return usagef("identifier %.80q: %w", args[0], err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", application, email)
			return err
		},
	})
	return cmd
}
