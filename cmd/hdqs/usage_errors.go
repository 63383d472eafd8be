package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/internal/nearest"
)

// usageArgs turns wrong arguments into a usage error, which names the nearest command if one was
// mistyped.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if cmd.HasSubCommands() {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			hint := didYouMean("", args[0], names)
			if cmd.Flags().Lookup(args[0]) != nil { // version
				hint = didYouMean("--", args[0], args[:1])
			}
			return usageError(cmd, fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint))
		}
		if check == nil {
			check = cobra.NoArgs
		}
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		if len(args) > 0 && check(cmd, nil) == nil && check(cmd, args[:1]) != nil {
			return usageError(cmd, fmt.Errorf("%s takes no arguments, only flags: %q", cmd.Name(), args[0]))
		}
		return usageError(cmd, fmt.Errorf("%w; want %s", err, cmd.UseLine()))
	}
}

func usageError(cmd *cobra.Command, err error) error {
	return usagef("%w\nsee '%s --help'", err, cmd.CommandPath())
}

// elsewhere says what to do in place of flags that other servers have.
var elsewhere = map[string]string{
	"port": "use --listen HOST:PORT or --listen PORT", "host": "use --listen HOST:PORT",
	"bind":     "use --listen HOST:PORT",
	"tls-cert": "TLS ends in front of it, at a CDN or nginx", "tls-key": "TLS ends in front of it, at a CDN or nginx",
}

// flagError adds to the error about an unknown flag which one was probably meant, or which command
// has it.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usageError(cmd, err)
	}
	name := unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); len(letters) > 1 { // -store
		name = letters
	}
	name, _, _ = strings.Cut(name, "=")
	var names, others []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, c := range cmd.Root().Commands() {
		if c.Flags().Lookup(name) != nil {
			others = append(others, fmt.Sprintf("'%s'", c.CommandPath()))
		}
	}
	hint := didYouMean("--", name, names)
	if advice := elsewhere[name]; advice != "" && !slices.Contains(names, name) {
		hint = ": " + advice
	}
	if hint == "" && len(others) > 0 && !slices.Contains(names, name) {
		hint = ": it is a flag of " + strings.Join(others, ", ")
	}
	return usageError(cmd, fmt.Errorf("%w%s", err, hint))
}

// didYouMean returns a hint at the nearest name, empty if none is near.
func didYouMean(prefix, text string, names []string) string {
	name := nearest.Of(text, names)
	if name == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %s%s?", prefix, name)
}

const variablePrefix = "HDQS_"

// variableOf returns the environment variable of a flag: HDQS_DATA_DIR of data-dir.
func variableOf(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// warnOfVariables reports variables that no flag of any command reads. They are no errors: a file
// of variables may be newer than the program, and a replica must start all the same.
func warnOfVariables(root *cobra.Command, environment []string, messages io.Writer) {
	known := []string{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, variableOf(f.Name)) })
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, variablePrefix) && !slices.Contains(known, name) && !isServiceLink(name) {
			fmt.Fprintf(messages, "hdqs: warning: no flag has the variable %s%s\n", name, didYouMean("", name, known))
		}
	}
}

// isServiceLink reports whether Kubernetes sets the variable in every container, for a service with
// the name hdqs.
func isServiceLink(name string) bool {
	rest := strings.TrimPrefix(name, variablePrefix)
	return rest == "PORT" || strings.HasPrefix(rest, "PORT_") || rest == "SERVICE_HOST" ||
		strings.HasPrefix(rest, "SERVICE_PORT")
}

// applyEnvironment sets the flags that are not on the command line from environment variables.
func applyEnvironment(flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		name := variableOf(f.Name)
		value, set := os.LookupEnv(name)
		if err != nil || f.Changed || !set {
			return
		}
		if setErr := flags.Set(f.Name, value); setErr != nil {
			err = usagef("%s: %w", name, setErr)
		}
	})
	return err
}

// refusePasswords refuses addresses with a user name in flags: locks, reports and admin listeners
// would show them. A replica that 'hdqs mcp' asks may want one.
func refusePasswords(fl *pflag.FlagSet) (err error) {
	fl.VisitAll(func(f *pflag.Flag) {
		if u, parseErr := url.Parse(f.Value.String()); parseErr == nil && u.User != nil && f.Name != "url" {
			err = usagef("--%s %s: want an address without user name and password", f.Name, u)
		}
	})
	return err
}

// maxSetting is the most bytes of a file that a flag names.
const maxSetting = 1 << 20

// readSetting reads a small file that a flag names. Anything but a regular file could keep the
// program waiting, or have no end.
func readSetting(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: want a regular file of at most 1 MiB, and no folder, pipe or device", path)
	case info.Size() > maxSetting:
		return nil, fmt.Errorf("%s has %d bytes, want a file of at most %d (1 MiB)", path, info.Size(), maxSetting)
	}
	return os.ReadFile(path)
}
