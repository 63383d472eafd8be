package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hdqs/api/contract"
	"hdqs/api/mcp"
	"hdqs/api/state"
)

func newMCP() *cobra.Command {
	f := serveFlags{}
	address := ""
	cmd := &cobra.Command{
		Use:   "mcp [--store DIR | --url URL]",
		Short: "Answers an agent on this machine by the Model Context Protocol, over stdin and stdout",
		Long: `Answers an agent on this machine by the Model Context Protocol (see docs/agents.md): each line
of stdin is a message, and so is each line of stdout. It answers from the snapshot that a store has
when it starts, or forwards the messages to a replica that was started with serve --mcp. Without
--store and --url the answers are from the embedded sample, whose figures are all made up.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			base, err := baseURL(address)
			switch {
			case err != nil:
				return usagef("--url %q: want http or https and a host", address)
			case base != "" && (f.store != "" || f.load.catalog != ""):
				return usagef("--url asks a replica, so it goes with no --store or --catalog")
			case base != "":
				base = strings.TrimSuffix(base, contract.ContractPrefix) // which was asked for once
				return mcp.Forward(cmd.Context(), base, userAgent(), os.Stdin, os.Stdout)
			}
			offline, done, err := openOffline(cmd.Context(), &f, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer done()
			return offline.NewAgents(release).Lines(cmd.Context(), os.Stdin, os.Stdout)
		},
	}
	fl := cmd.Flags()
	f.register(fl)
	fl.StringVar(&address, "url", "", "address of a replica that was started with serve --mcp, such as https://HOST")
	f.answers.Identifier = state.IgnoreIdentifier
	return cmd
}
