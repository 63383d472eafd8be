package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// configure returns the flags of a command after it has read a file of settings.
func configure(t *testing.T, text, command string, args ...string) (*pflag.FlagSet, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hdqs.yaml")
	testkit.WriteFile(t, path, []byte(text))
	var cmd *cobra.Command
	for _, c := range newRoot(nil).Commands() {
		if c.Name() == command {
			cmd = c
		}
	}
	testkit.Must(t, cmd.ParseFlags(append(args, "--config", path)))
	err := applyEnvironment(cmd.Flags())
	if err == nil {
		err = applyConfig(cmd)
	}
	return cmd.Flags(), err
}

// TestGroups: each flag of serve is in one group of its help.
func TestGroups(t *testing.T) {
	t.Parallel()
	groups := map[string]int{}
	for _, g := range serveGroups {
		for _, name := range g.flags {
			groups[name]++
		}
	}
	newServe(nil).Flags().VisitAll(func(f *pflag.Flag) {
		if groups[f.Name] != 1 && !f.Hidden {
			t.Errorf("--%s is in %d groups of serveGroups", f.Name, groups[f.Name])
		}
	})
}

// TestInit: with every line of the file in force each flag has its default, in both commands, and
// each flag is there. As it is written the file sets nothing.
func TestInit(t *testing.T) {
	t.Parallel()
	written := configTemplate(newRoot(nil))
	inForce := regexp.MustCompile(`(?m)^( *)#([a-z])`).ReplaceAllString(written, "$1$2")
	for _, command := range configured {
		flags, err := configure(t, inForce, command)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Name != "config" && (f.Changed == isForCommandLine(f) || f.Value.String() != f.DefValue) {
				t.Errorf("%s --%s: changed %t, value %q, default %q", command, f.Name, f.Changed, f.Value, f.DefValue)
			}
		})
		flags = testkit.Value(configure(t, written, command))(t)
		flags.Visit(func(f *pflag.Flag) {
			if f.Name != "config" {
				t.Errorf("%s --%s is set by comments", command, f.Name)
			}
		})
	}
}

// TestConfigPrecedence: flags win over variables, those over the file, and there the part of a
// command over what all have.
func TestConfigPrecedence(t *testing.T) {
	t.Setenv("HDQS_CHANNEL", "from-variable")
	const text = "store: one\nchannel: two\ndata-dir: three\nonly: [idps, funding]\n" +
		"listen: 8081\nrequire-signature: true\nserve:\n  store: four\nbuild:\n  bulk: true\n"
	for _, c := range []struct{ command, flag, want string }{
		{"serve", "store", "four"},
		{"build", "store", "one"},
		{"serve", "channel", "from-variable"},
		{"serve", "data-dir", "from-flag"},
		{"serve", "only", "[idps,funding]"},
		{"serve", "listen", "8081"},
		{"serve", "require-signature", "true"},
		{"serve", "bulk", "false"},
		{"build", "bulk", "true"},
	} {
		flags := testkit.Value(configure(t, text, c.command, "--data-dir", "from-flag"))(t)
		if got := flags.Lookup(c.flag).Value.String(); got != c.want {
			t.Errorf("%s --%s is %q, want %q", c.command, c.flag, got, c.want)
		}
	}
}

func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"stor: x\n", `hdqs.yaml:1: no flag has the name "stor": did you mean store?`},
		{"\nrequire_signature: true\n", `hdqs.yaml:2: no flag has the name "require_signature": did you mean require-signature?`},
		{"serve:\n  dry-run: true\n", `hdqs.yaml:2: no flag has the name "dry-run"`},
		{"serve:\n  allow-shrinc: true\n", "did you mean allow-shrink?"},
		{"check: true\n", `no flag has the name "check"`},
		{"config: other.yaml\n", `no flag has the name "config"`},
		{"store: a\nstore: b\n", `hdqs.yaml:2: "store" is there twice: remove one`},
		{"store:\n", "hdqs.yaml:1: store: want a value after the colon, or no line"},
		{"store: [a, b]\n", "store: want a value after the colon"},
		{"require-signature: yes please\n", "hdqs.yaml:1: "},
		{"drain-timeout: 20\n", "want a number with its unit"},
		{"identifier: maybe\n", "want require, observe or off"},
		{"- store\n", "want lines such as store:"},
		{"store: a\n---\nstore: b\n", "want one document"},
		{"store: 'a\n", "yaml: "},
	} {
		_, err := configure(t, c.text, "serve")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "serve:\n  # nothing\n"} {
		if _, err := configure(t, text, "serve"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	large, pipe := filepath.Join(t.TempDir(), "large"), filepath.Join(t.TempDir(), "pipe")
	testkit.WriteFile(t, large, make([]byte, maxSetting+1))
	testkit.Must(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{large, pipe, "/dev/zero", t.TempDir()} {
		if _, err := readConfig(path); err == nil || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "1 MiB") {
			t.Errorf("%s: %v", path, err)
		}
		trust := trustFlags{require: true, publicKey: path}
		if _, err := trust.apply(new(store.Store)); err == nil || !strings.Contains(err.Error(), "1 MiB") {
			t.Errorf("--public-key %s: %v", path, err)
		}
	}
	path := filepath.Join(t.TempDir(), "none.yaml")
	cmd := newServe(nil)
	testkit.Must(t, cmd.ParseFlags([]string{"--config", path}))
	if err := applyConfig(cmd); err == nil || !strings.Contains(err.Error(), path) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is missing: %v", err)
	}
}
