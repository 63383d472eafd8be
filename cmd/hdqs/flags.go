package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"hdqs/api/state"
	"hdqs/internal/memory"
)

// Bounds of flags. Values beyond them are mistakes, and some would overflow in computations.
const (
	longestPause = 10 * 365 * 24 * time.Hour // between two polls, and for lifetimes in caches
	longestWait  = 24 * time.Hour            // for requests and queries to end
	// Below the shortest timeout a busy machine would time out by itself; the longest one is still
	// shorter than an operator waits.
	shortestTimeout = 100 * time.Millisecond
	longestTimeout  = 5 * time.Minute

	shortestPoll = 10 * time.Millisecond // less would be a busy loop
	mostAtOnce   = 1 << 24               // queries, connections, snapshots
	noLimit      = math.MaxInt64
)

// word is a value of a flag by its name.
type word[T any] struct {
	name  string
	value T
}

// words returns the names of values that print themselves.
func words[T fmt.Stringer](values ...T) (all []word[T]) {
	for _, v := range values {
		all = append(all, word[T]{v.String(), v})
	}
	return all
}

var identifierModes = []word[state.IdentifierMode]{
	{"require", state.RequireIdentifier}, {"observe", state.ObserveIdentifier}, {"off", state.IgnoreIdentifier},
}

// choice is the value of a flag that is one of some words.
type choice[T comparable] struct {
	into *T
	all  []word[T]
}

// choiceVar registers a flag that is one of some words. Its default is what into has.
func choiceVar[T comparable](fl *pflag.FlagSet, into *T, name string, all []word[T], usage string) {
	fl.Var(&choice[T]{into, all}, name, usage)
}

func (c *choice[T]) Set(text string) error {
	var names []string
	for _, w := range c.all {
		if w.name == text {
			*c.into = w.value
			return nil
		}
		names = append(names, w.name)
	}
	last := len(names) - 1
	return fmt.Errorf("want %s or %s", strings.Join(names[:last], ", "), names[last])
}

func (c *choice[T]) String() string {
	for _, w := range c.all {
		if w.value == *c.into {
			return w.name
		}
	}
	return ""
}

func (c *choice[T]) Type() string { return "string" }

// number is the type of a flag with bounds.
type number interface {
	int | int64 | time.Duration
}

// bounded is the value of a flag with bounds. Its errors name them; the flag parser adds the name
// of the flag and the value.
type bounded[T number] struct {
	into        *T
	least, most T
	orZero      bool // 0 is accepted too, and has another meaning
}

// numberVar registers a flag with bounds.
func numberVar[T number](fl *pflag.FlagSet, into *T, name string, value, least, most T, usage string) *bounded[T] {
	*into = value
	b := &bounded[T]{into: into, least: least, most: most}
	fl.Var(b, name, usage)
	return b
}

func (b *bounded[T]) Set(text string) (err error) {
	if into, is := any(b.into).(*time.Duration); is {
		if *into, err = time.ParseDuration(text); err != nil {
			return errors.New("want a number with its unit, such as 90s, 15m or 24h")
		}
	} else {
		n, err := strconv.ParseInt(text, 0, 64)
		if *b.into = T(n); err != nil {
			return errors.New("want a whole number")
		}
	}
	switch v := *b.into; {
	case b.orZero && v == 0 || v >= b.least && v <= b.most:
		return nil
	case int64(b.most) == noLimit:
		return fmt.Errorf("want %v or more", b.least)
	case b.orZero:
		return fmt.Errorf("want 0, or %v to %v", b.least, b.most)
	}
	return fmt.Errorf("want %v to %v", b.least, b.most)
}

func (b *bounded[T]) String() string { return fmt.Sprint(*b.into) }

func (b *bounded[T]) Type() string {
	if _, is := any(b.into).(*time.Duration); is {
		return "duration"
	}
	return "int"
}

// flagGroup is a part of the flags in the help of a command.
type flagGroup struct {
	title string
	flags []string
}

// serveGroups order the flags of serve as an operator comes to need them.
var serveGroups = []flagGroup{
	{"What is served", []string{
		"store", "channel", "replica", "catalog", "refresh", "data-dir", "snapshot-poll", "store-timeout",
		"keep-previous",
	}},
	{"Where it listens", []string{"listen", "admin", "admin-pprof", "base-url"}},
	{"Requests and answers", []string{
		"identifier", "strict", "names", "compression", "boundaries", "boundaries-source", "groups",
		"bulk", "bulk-identifier", "odata-identifier", "ogc-identifier", "mcp",
	}},
	{"Limits", []string{
		"max-queries", "queue-wait", "max-inflight-bytes", "memory-limit", "max-connections",
		"max-connections-per-address", "body-cache",
		"max-exports", "max-export-rows", "export-timeout",
	}},
	{"Caches in front", []string{
		"max-age", "s-maxage", "stale-while-revalidate", "stale-if-error", "cdn-cache-control", "surrogate-key",
		"cache-tag",
	}},
	{"Messages and logs", []string{"log-format", "access-log", "access-log-sample", "access-log-key-file"}},
	{"End", []string{"shutdown-delay", "drain-timeout"}},
	{"Instead of flags", []string{"config"}},
	{"Instead of serving", []string{"check"}},
	{"Trust and network", []string{
		"require-signature", "public-key", "allow-host", "allow-http", "allow-private-hosts", "user-agent",
		"longest-wait", "request-pause",
	}},
	{"Loads, with --catalog", []string{
		"catalog-url", "snapshot-time", "allow-no-pcodes", "allow-shrink", "allow-empty", "strict-resources",
		"max-rows",
		"max-download", "download-timeout", "cache", "offline", "only", "location-list",
	}},
}

// groupFlags makes the help of a command list its flags in groups. Flags that are in no group come
// last.
func groupFlags(cmd *cobra.Command, groups []flagGroup) {
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		fmt.Fprintf(out, "Usage:\n  %s\n", cmd.UseLine())
		shown := map[string]bool{}
		for _, g := range groups {
			part := pflag.NewFlagSet("", pflag.ContinueOnError)
			part.SortFlags = false
			for _, name := range g.flags {
				if flag := cmd.Flags().Lookup(name); flag != nil {
					part.AddFlag(flag)
					shown[name] = true
				}
			}
			if part.HasFlags() {
				fmt.Fprintf(out, "\n%s:\n%s", g.title, part.FlagUsages())
			}
		}
		rest := pflag.NewFlagSet("", pflag.ContinueOnError)
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if !shown[flag.Name] {
				rest.AddFlag(flag)
			}
		})
		_, err := fmt.Fprintf(out, "\nOther flags:\n%s", rest.FlagUsages())
		return err
	})
}

func configFlag(fl *pflag.FlagSet) {
	fl.String("config", "", "YAML file of settings that are neither flags nor variables here: 'hdqs init' writes one")
}

// configured are the commands that read a file of settings.
var configured = []string{"serve", "build"}

// setting is a flag of a command in a file of settings.
type setting struct {
	command    string // empty: of each command that has the flag
	key, value *yaml.Node
}

// applyConfig sets the flags that neither the command line nor a variable has set from the file of
// --config. A key that no command has is an error: a setting that is not applied, such as a
// misspelled require-signature, is worse than a server that does not start.
func applyConfig(cmd *cobra.Command) error {
	file := cmd.Flags().Lookup("config")
	if file == nil || file.Value.String() == "" {
		return nil
	}
	path := file.Value.String()
	all, err := readConfig(path)
	if err != nil {
		return usagef("--config: %w", err)
	}
	for _, s := range all {
		if err := s.check(cmd.Root()); err != nil {
			return usagef("%s:%d: %w", path, s.key.Line, err)
		}
		flag := cmd.Flags().Lookup(s.key.Value)
		if flag == nil || flag.Changed || s.command != "" && s.command != cmd.Name() {
			continue
		}
		if err := s.apply(cmd.Flags(), flag); err != nil {
			return usagef("%s:%d: %w", path, s.key.Line, err)
		}
	}
	return nil
}

// readConfig returns the settings of a file, those of one command first: they win, since a flag is
// set once.
func readConfig(path string) (all []setting, err error) {
	data, err := readSetting(path)
	if err != nil {
		return nil, err
	}
	var document, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil // comments only
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: want one document, it goes on after ---", path)
	}
	var common []setting
	seen := map[string]bool{}
	var visit func(command string, node *yaml.Node) error
	visit = func(command string, node *yaml.Node) error {
		if node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
			return nil // a part whose lines are all comments
		}
		if node.Kind != yaml.MappingNode {
			return fmt.Errorf("%s:%d: want lines such as store: /var/lib/hdqs/store", path, node.Line)
		}
		for i := 0; i < len(node.Content); i += 2 {
			s := setting{command, node.Content[i], node.Content[i+1]}
			name := command + "/" + s.key.Value
			if seen[name] {
				return fmt.Errorf("%s:%d: %q is there twice: remove one", path, s.key.Line, s.key.Value)
			}
			seen[name] = true
			switch {
			case command == "" && slices.Contains(configured, s.key.Value):
				if err := visit(s.key.Value, s.value); err != nil {
					return err
				}
			case command == "":
				common = append(common, s)
			default:
				all = append(all, s)
			}
		}
		return nil
	}
	err = visit("", document.Content[0])
	return append(all, common...), err
}

// check refuses a key that is no flag of the command, or of any that reads the file.
func (s setting) check(root *cobra.Command) error {
	var names []string
	for _, cmd := range root.Commands() {
		if cmd.Name() == s.command || s.command == "" && slices.Contains(configured, cmd.Name()) {
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if !isForCommandLine(f) {
					names = append(names, f.Name)
				}
			})
		}
	}
	if slices.Contains(names, s.key.Value) {
		return nil
	}
	return fmt.Errorf("no flag has the name %q%s", s.key.Value, didYouMean("", s.key.Value, names))
}

// isForCommandLine reports whether a flag makes no sense in a file.
func isForCommandLine(f *pflag.Flag) bool {
	return f.Hidden || slices.Contains([]string{"config", "check", "help", "dry-run"}, f.Name)
}

func (s setting) apply(fl *pflag.FlagSet, flag *pflag.Flag) error {
	list, isList := flag.Value.(pflag.SliceValue)
	switch {
	case s.value.Kind == yaml.SequenceNode && isList:
		var texts []string
		if err := s.value.Decode(&texts); err != nil {
			return fmt.Errorf("%s: want a list of texts", flag.Name)
		}
		flag.Changed = true
		return list.Replace(texts)
	case s.value.Kind != yaml.ScalarNode || s.value.Tag == "!!null":
		return fmt.Errorf("%s: want a value after the colon, or no line", flag.Name)
	}
	return fl.Set(flag.Name, s.value.Value)
}

func newInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Writes a file of settings in which every flag of serve and build is a comment",
		Long: `Writes a file of settings, hdqs.yaml unless FILE is given (- is stdout), for 'serve --config' and
'build --config'. Each flag is there with its meaning and its default, as a comment.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "hdqs.yaml"
			if len(args) > 0 {
				path = args[0]
			}
			text := configTemplate(cmd.Root())
			if path == "-" {
				_, err := io.WriteString(cmd.OutOrStdout(), text)
				return err
			}
			if err := writeNew(path, []byte(text), 0o644); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: next 'hdqs serve --config %s --check'\n", path, path)
			return err
		},
	}
}

// configTemplate is made from the flags themselves. Those of both commands come first.
func configTemplate(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# Settings of 'hdqs serve --config' and 'hdqs build --config', with their defaults. Remove the #
# before those that you change. Names are those of flags; flags and variables (HDQS_DATA_DIR) win.
# A name that no flag has is an error. Write what only one command should use below serve: or
# build:, indented. This file needs no secrets. 'hdqs serve --config FILE --check' checks it.
`)
	flags := map[string]*pflag.FlagSet{}
	for _, cmd := range root.Commands() {
		flags[cmd.Name()] = cmd.Flags()
	}
	line := func(indent string, f *pflag.Flag) {
		if f == nil || isForCommandLine(f) {
			return
		}
		_, usage := pflag.UnquoteUsage(f)
		value := f.DefValue
		if value == "" {
			value = `""`
		}
		fmt.Fprintf(&b, "\n%s# %s\n%s#%s: %s\n", indent, usage, indent, f.Name, value)
	}
	shown := map[string]bool{}
	for _, group := range serveGroups {
		if group.flags[0] != "config" && group.flags[0] != "check" {
			fmt.Fprintf(&b, "\n## %s\n", group.title)
		}
		for _, name := range group.flags {
			shown[name] = true
			line("", flags["serve"].Lookup(name))
		}
	}
	b.WriteString("\n## Only of loads\nbuild:\n")
	flags["build"].VisitAll(func(f *pflag.Flag) {
		if !shown[f.Name] {
			line("  ", f)
		}
	})
	return b.String()
}

// size is a flag with an amount of memory. With auto the amount follows from something else.
type size struct {
	bytes int64
	auto  bool
}

// Set reads an amount of memory. The flag parser adds the name of the flag and the value to an
// error.
func (s *size) Set(text string) (err error) {
	if s.auto = text == "auto"; s.auto {
		return nil
	}
	s.bytes, err = memory.ParseSize(text)
	return err
}

func (s *size) String() string {
	if s.auto {
		return "auto"
	}
	return strconv.FormatInt(s.bytes, 10)
}

func (s *size) Type() string { return "size" }

// leastMemory is the least limit that leaves something for a snapshot.
const leastMemory = 32 << 20

// apply sets how much memory the Go runtime may use, unless the environment does, and the option.
func (s *size) apply(o *state.Options, log *slog.Logger) error {
	group, err := memory.CgroupLimit()
	if err != nil {
		log.Warn("the memory limit of the control group could not be read", "error", err)
	}
	limit := group
	if !s.auto {
		limit = memory.Limit{Bytes: s.bytes, Source: "--memory-limit"}
		if s.bytes > 0 && s.bytes < leastMemory {
			return usagef("--memory-limit %s: want 0, or %s or more", memory.Size(s.bytes), memory.Size(leastMemory))
		}
		if group.Bytes > 0 && s.bytes > group.Bytes {
			log.Warn("--memory-limit is above the limit of the control group, which ends the process first",
				"memory_limit", memory.Size(s.bytes), "control_group", memory.Size(group.Bytes))
		}
	}
	if limit.Bytes > 0 && os.Getenv("GOMEMLIMIT") == "" {
		o.HeapLimit = func(bytes int64) { debug.SetMemoryLimit(bytes) }
		o.HeapLimit(state.HeapLimit(limit.Bytes))
	}
	if heap := debug.SetMemoryLimit(-1); limit.Bytes > 0 {
		log.Info("memory is limited", "limit", memory.Size(limit.Bytes), "by", limit.Source, "go", memory.Size(heap))
	} else if heap < math.MaxInt64 {
		log.Info("memory is limited", "by", "GOMEMLIMIT", "go", memory.Size(heap))
	}
	o.MemoryLimit = limit.Bytes
	return nil
}
