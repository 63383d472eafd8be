// Command hdqs builds snapshots of humanitarian data from a catalog and serves them from memory.
// Each file of this package is one command. The commands only wire the other packages together.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes of all commands. Data goes to stdout, messages to stderr.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitUpstream     = 3
	exitVerification = 4
	exitPartial      = 5
	exitInterrupted  = 130
)

// exitError is an error with the exit code of the process.
type exitError struct {
	code  int
	err   error
	quiet bool // the command has reported the error itself
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func exitWith(code int, err error) error { return &exitError{code: code, err: err} }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, hangups := handleSignals(args)
	root := newRoot(hangups)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled): // whatever it has interrupted
		fmt.Fprintln(os.Stderr, "hdqs: interrupted")
		return exitInterrupted
	case errors.As(err, &exit):
		if !exit.quiet {
			fmt.Fprintln(os.Stderr, "hdqs:", exit.err)
		}
		return exit.code
	}
	fmt.Fprintln(os.Stderr, "hdqs:", err)
	return exitFailed
}

func newRoot(hangups <-chan os.Signal) *cobra.Command {
	root := &cobra.Command{
		Use:           "hdqs",
		Short:         "Builds snapshots of a humanitarian data catalog and answers the query service from memory",
		Version:       versionText(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return applyEnvironment(cmd.Flags())
		},
		// Without Args the library would report an unknown command as an error without exit code.
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exitWith(exitUsage, fmt.Errorf("%w\nsee '%s --help'", err, cmd.CommandPath()))
	})
	root.AddCommand(newServe(hangups), newBuild(), newQuery(), newInspect(), newVerify(), newDiff(),
		newPublish(), newRollback(), newCollect(), newMirror(), newKeygen(), newIdentifier(), newLicenses())
	for _, cmd := range root.Commands() {
		cmd.Args = usageArgs(cmd.Args)
	}
	return root
}

// usageArgs turns a wrong number of arguments into a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			check = cobra.NoArgs
		}
		if err := check(cmd, args); err != nil {
			return exitWith(exitUsage, fmt.Errorf("%w\nsee '%s --help'", err, cmd.CommandPath()))
		}
		return nil
	}
}

// applyEnvironment sets the flags that are not on the command line from environment variables:
// --data-dir from HDQS_DATA_DIR.
func applyEnvironment(flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "HDQS_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, set := os.LookupEnv(name)
		if err != nil || f.Changed || !set {
			return
		}
		if setErr := flags.Set(f.Name, value); setErr != nil {
			err = exitWith(exitUsage, fmt.Errorf("%s: %w", name, setErr))
		}
	})
	return err
}

// printJSON prints a value as indented JSON.
func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
