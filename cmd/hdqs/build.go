package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/loader"
	"hdqs/snapshot"
)

// stableChannel is the channel of everyone who names none.
const stableChannel = "stable"

// loadFlags are the choices of a load, shared by build and serve.
type loadFlags struct {
	catalogURL   string
	snapshotTime string
	allowNoCodes bool
	allowShrink  bool
	strict       bool
}

func (f *loadFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.catalogURL, "catalog-url", "", "site that printed links name; default: catalog.json's, else "+loader.DefaultCatalogURL)
	fl.StringVar(&f.snapshotTime, "snapshot-time", "", "time of the load as 2026-11-21T01:02:00Z; default: catalog.json's, else now")
	fl.BoolVar(&f.allowNoCodes, "allow-no-pcodes", false, "build without a list of administrative units: every row falls to its country")
	fl.BoolVar(&f.allowShrink, "allow-shrink", false, "publish tables that lost more than half of their rows")
	fl.BoolVar(&f.strict, "strict-resources", false, "drop rows whose resource has no package, as the public service does")
}

// options opens a catalog directory for a load into a store.
func (f *loadFlags) options(catalog string, store *snapshot.Store, channel string) (loader.Options, error) {
	o := loader.Options{
		CatalogName: catalog, Store: store, Channel: channel, CatalogURL: f.catalogURL,
		AllowNoPCodes: f.allowNoCodes, AllowShrink: f.allowShrink, StrictResources: f.strict,
	}
	if f.snapshotTime != "" {
		t, err := time.Parse(time.RFC3339, f.snapshotTime)
		if err != nil {
			return o, exitWith(exitUsage, fmt.Errorf("--snapshot-time %q: want a time like 2026-11-21T01:02:00Z", f.snapshotTime))
		}
		o.SnapshotTime = t
	}
	info, err := os.Stat(catalog)
	if err != nil {
		return o, fmt.Errorf("catalog: %w", err)
	}
	if !info.IsDir() {
		return o, fmt.Errorf("catalog %s: not a directory", catalog)
	}
	o.Catalog = os.DirFS(catalog)
	return o, nil
}

func newBuild() *cobra.Command {
	var (
		f                       loadFlags
		catalog, store, channel string
		asJSON                  bool
	)
	cmd := &cobra.Command{
		Use:   "build --catalog SRC --store DIR",
		Short: "Loads a catalog into a snapshot store and moves the channel to the new snapshot",
		Long: `Loads a catalog into a snapshot store and moves the channel to the new snapshot.

SRC is a directory of catalog files (one folder a role, reference/, packages/), or a directory of view dumps (*_view.csv[.gz]).
Only changed tables are written. The report of the load goes to stdout, as a table or with --json, and beside the manifest.

Exit codes: 0 ok, 1 nothing could be built, 2 usage, 5 built, but a source was refused or our checks dropped rows.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if catalog == "" || store == "" {
				return exitWith(exitUsage, errors.New("build needs --catalog and --store"))
			}
			into, err := snapshot.OpenStore(store)
			if err != nil {
				return err
			}
			o, err := f.options(catalog, into, channel)
			if err != nil {
				return err
			}
			report, err := build(cmd.Context(), o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if asJSON {
				err = report.WriteJSON(cmd.OutOrStdout())
			} else {
				err = report.WriteText(cmd.OutOrStdout())
			}
			if err == nil && report.Partial {
				err = exitWith(exitPartial, errPartial)
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&catalog, "catalog", "", "catalog to load")
	fl.StringVar(&store, "store", "", "directory of the snapshot store")
	fl.StringVar(&channel, "channel", stableChannel, "channel to move")
	fl.BoolVar(&asJSON, "json", false, "print the report as JSON")
	f.register(fl)
	return cmd
}

var errPartial = errors.New("a source was refused, or rows were dropped by our checks: see the report")

// build runs a load with its progress on messages.
func build(ctx context.Context, o loader.Options, messages io.Writer) (*loader.Report, error) {
	bar := newProgress(messages)
	defer bar.finish()
	o.Progress = bar.update
	return loader.Build(ctx, o)
}

// openFault gives a store's error its exit code: a snapshot that is there but broken is a failed verification.
func openFault(err error) error {
	if errors.Is(err, snapshot.ErrCorrupt) {
		return exitWith(exitVerification, err)
	}
	return err
}

// jitter spreads the looks of many replicas: 90 to 110 % of d.
func jitter(d time.Duration) time.Duration {
	return d*9/10 + rand.N(d/5+1)
}

// isTerminal tells whether a person watches w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// plainly formats bytes for people.
func plainly(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
