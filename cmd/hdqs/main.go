package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, hangups := handleSignals(args)
	root := newRoot(hangups)
	root.SetArgs(args)
	messages := printable{os.Stderr}
	root.SetOut(printable{os.Stdout})
	root.SetErr(messages)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled): // whatever it has interrupted
		fmt.Fprintln(messages, "hdqs: interrupted")
		return exitInterrupted
	case errors.As(err, &exit):
		if !exit.quiet {
			fmt.Fprintln(messages, "hdqs:", exit.err)
		}
		return exit.code
	}
	fmt.Fprintln(messages, "hdqs:", err)
	return exitFailed
}

// moreCommands are those of builds with a tag.
var moreCommands []*cobra.Command

func newRoot(hangups <-chan os.Signal) *cobra.Command {
	root := &cobra.Command{
		Use:           "hdqs",
		Short:         "Builds snapshots of a humanitarian data catalog and answers the query service from memory",
		Version:       versionText(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSystem(runtime.GOOS, cmd.Name()); err != nil {
				return err
			}
			warnOfVariables(cmd.Root(), os.Environ(), cmd.ErrOrStderr())
			// Of the command line: variables may be for several commands, or left empty.
			empty, forLoads := "", ""
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if text := f.Value.String(); (text == "" || text == "[]") && !strings.Contains(f.Usage, "empty:") {
					empty = f.Name
				}
				if slices.Contains(serveGroups[len(serveGroups)-1].flags, f.Name) {
					forLoads = f.Name
				}
			})
			if empty != "" { // as of --store "$STORE" without STORE
				return usagef("--%s is empty: want a value, or none of this flag", empty)
			}
			if err := applyEnvironment(cmd.Flags()); err != nil {
				return err
			}
			err := applyConfig(cmd)
			catalog := cmd.Flags().Lookup("catalog")
			if err == nil && forLoads != "" && catalog != nil && !catalog.Changed {
				err = usagef("--%s is for a load: it needs --catalog", forLoads)
			}
			if err == nil {
				err = refusePasswords(cmd.Flags())
			}
			endsInOrder.Store(cmd.Name() != "serve")
			return err
		},
		// Without Args the library would report an unknown command as an error without exit code.
		Args: usageArgs(nil),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newServe(hangups), newStatus(), newBuild(), newQuery(), newMCP(), newInspect(), newVerify(),
		newDiff(), newHistory(), newExport(), newPublish(), newRollback(), newCollect(), newMirror(), newBoundaries(),
		newKeygen(), newIdentifier(), newInit(), newLicenses())
	root.AddCommand(moreCommands...)
	for _, cmd := range root.Commands() {
		cmd.Args = usageArgs(cmd.Args)
	}
	return root
}

// writers are the commands that write or follow stores. On Windows a file that is open keeps its
// name, so what they do to a store would end halfway.
var writers = []string{"serve", "build", "publish", "rollback", "mirror", "gc"}

// checkSystem refuses those commands on Windows.
func checkSystem(system, command string) error {
	if system != "windows" || !slices.Contains(writers, command) {
		return nil
	}
	return usagef("%s does not run on Windows: use Linux, such as WSL or the container image; "+
		"query, export, inspect, verify, diff, history, mcp and identifier run here", command)
}

// handleSignals installs the signal handlers of the process, which stay until it ends. The context
// ends with the first SIGINT or SIGTERM. The second one ends the process at once, and so does the
// first one after interruptGrace if there is nothing to end in order. SIGHUP is for
// `hdqs serve`, which main therefore has to recognize before flags are parsed; it ends every other
// command.
func handleSignals(args []string) (ctx context.Context, hangups <-chan os.Signal) {
	hup := make(chan os.Signal, 1)
	if len(args) > 0 && args[0] == "serve" {
		signal.Notify(hup, syscall.SIGHUP)
	}
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-ends
		cancel()
		text, late := "a second signal: ending at once", (<-chan time.Time)(nil)
		if !endsInOrder.Load() { // reading a file may hang
			late = time.After(interruptGrace)
		}
		select {
		case <-ends:
		case <-late:
			text = "interrupted"
		}
		fmt.Fprintln(os.Stderr, "hdqs:", text)
		os.Exit(exitInterrupted)
	}()
	return ctx, hup
}
