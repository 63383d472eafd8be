package main

import (
	_ "embed"
	"io"

	"github.com/spf13/cobra"
)

// thirdParty is made from the modules that go.mod names. THIRD_PARTY at the root of the repository
// is a link to it.
//
//go:generate go run ../notices -o third_party.txt
//go:embed third_party.txt
var thirdParty string

func newLicenses() *cobra.Command {
	return &cobra.Command{
		Use:   "licenses",
		Short: "Prints the licences of everything that is linked into this program, and the sources of its lists",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), thirdParty)
			return err
		},
	}
}
