package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

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
when it starts, or asks a replica at a URL. Without --store and --url the answers are from the
embedded sample, whose figures are all made up.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var server *mcp.Server
			base, err := baseURL(address)
			switch {
			case err != nil:
				return exitWith(exitUsage, fmt.Errorf("--url %q: want http or https and a host", address))
			case base != "" && (f.store != "" || f.load.catalog != ""):
				return exitWith(exitUsage, errors.New("--url asks a replica, so it goes with no --store or --catalog"))
			case base != "":
				server = mcp.New(mcp.Options{
					Asker: &mcp.Remote{Base: base, UserAgent: userAgent()}, Version: release,
					Log: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)),
				})
			default:
				offline, done, err := openOffline(cmd.Context(), &f, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				defer done()
				server = offline.NewAgents(release)
			}
			return server.Run(mcp.WithBase(cmd.Context(), base), mcp.Lines(os.Stdin, os.Stdout))
		},
	}
	fl := cmd.Flags()
	f.register(fl)
	fl.StringVar(&address, "url", "", "address of a replica to ask, such as https://HOST; with /contract at its end "+
		"where the replica has HAPI names at its root")
	f.answers.Identifier = state.IgnoreIdentifier
	return cmd
}
