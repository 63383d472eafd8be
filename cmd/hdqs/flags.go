package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/api/state"
)

// Bounds of flags. Values beyond them are mistakes, and some would overflow in computations.
const (
	longestPause = 10 * 365 * 24 * time.Hour // between two polls, and for lifetimes in caches
	longestWait  = 24 * time.Hour            // for requests and queries to end
	// Below the shortest timeout a busy machine would time out by itself; the longest one is still
	// shorter than an operator waits.
	shortestTimeout = 100 * time.Millisecond
	longestTimeout  = 5 * time.Minute

	shortestPoll  = 10 * time.Millisecond // less would be a busy loop
	shortestScrub = 100 * time.Millisecond
	mostAtOnce    = 1 << 24 // queries, connections, snapshots
	noLimit       = math.MaxInt64
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

// bounded checks the value of a flag when it is set. Its errors name the bounds; the flag parser
// adds the name of the flag and the value.
type bounded[T number] struct {
	pflag.Value
	into        *T
	least, most T
	orZero      bool
}

// bound sets the bounds of a registered flag. A value outside them is refused like one that cannot
// be parsed.
func bound[T number](fl *pflag.FlagSet, name string, into *T, least, most T) {
	f := fl.Lookup(name)
	f.Value = &bounded[T]{Value: f.Value, into: into, least: least, most: most}
}

func durationVar(
	fl *pflag.FlagSet, into *time.Duration, name string, value, least, most time.Duration, usage string,
) {
	fl.DurationVar(into, name, value, usage)
	bound(fl, name, into, least, most)
}

// boundOrZero is bound for a flag that may also be 0, with a meaning of its own.
func boundOrZero[T number](fl *pflag.FlagSet, name string, into *T, least, most T) {
	bound(fl, name, into, least, most)
	fl.Lookup(name).Value.(*bounded[T]).orZero = true
}

func (b *bounded[T]) Set(text string) error {
	if b.Value.Set(text) != nil {
		if b.Type() == "duration" {
			return errors.New("want a number with its unit, such as 90s, 15m or 24h")
		}
		return errors.New("want a whole number")
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

// flagGroup is a part of the flags in the help of a command.
type flagGroup struct {
	title string
	flags []string
}

// serveGroups order the flags of serve as an operator comes to need them.
var serveGroups = []flagGroup{
	{"What is served", []string{
		"store", "channel", "catalog", "refresh", "data-dir", "snapshot-poll", "store-timeout", "keep-previous",
		"scrub",
	}},
	{"Where it listens", []string{"listen", "admin", "admin-pprof", "base-url"}},
	{"Requests and answers", []string{
		"identifier", "strict", "names", "compression", "boundaries", "boundaries-source",
		"bulk", "bulk-identifier", "odata-identifier", "mcp",
	}},
	{"Limits", []string{
		"max-queries", "queue-wait", "max-inflight-bytes", "memory-limit", "max-connections",
		"max-connections-per-address", "body-cache", "keep-buffers",
		"max-exports", "max-export-rows", "export-timeout",
	}},
	{"Caches in front", []string{
		"max-age", "s-maxage", "stale-while-revalidate", "stale-if-error", "cdn-cache-control", "surrogate-key",
		"cache-tag",
	}},
	{"Messages and logs", []string{"log-format", "access-log", "access-log-sample", "access-log-key-file"}},
	{"End", []string{"shutdown-delay", "drain-timeout"}},
	{"Instead of serving", []string{"check"}},
	{"Trust and network", []string{
		"require-signature", "public-key", "allow-host", "allow-http", "allow-private-hosts", "user-agent",
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
