package main

import (
	_ "embed"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"hdqs/api/contract"
)

// release is the version of the program, as in CHANGELOG.md. It says nothing about the interface,
// which has a separate version.
const release = "0.11.0"

// commit is what was built. "make build" sets it to the output of git describe.
var commit string

// built is commit, or without it what the compiler has noted.
func built() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

func versionText() string {
	return fmt.Sprintf("%s (commit %s), contract %s", release, built(), contract.InterfaceVersion)
}

// userAgent names the program to the servers that it asks. Another commit has another name: it may
// accept a file that this one has rejected.
func userAgent() string { return fmt.Sprintf("hdqs/%s (%s)", release, built()) }

// thirdParty has the licences of the modules that go.mod names.
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
