package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
		"bulk", "bulk-identifier",
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
