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

// loadFlags are the choices of a load, shared by build and serve.
type loadFlags struct {
	catalogURL   string
	snapshotTime string
	allowNoCodes bool
	strict       bool
}

func (f *loadFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.catalogURL, "catalog-url", "", "site that printed links name; default: catalog.json's, else "+loader.DefaultCatalogURL)
	fl.StringVar(&f.snapshotTime, "snapshot-time", "", "time of the load as 2026-11-21T01:02:00Z; default: catalog.json's, else now")
	fl.BoolVar(&f.allowNoCodes, "allow-no-pcodes", false, "build without a list of administrative units: every row falls to its country")
	fl.BoolVar(&f.strict, "strict-resources", false, "drop rows whose resource has no package, as the public service does")
}

func (f *loadFlags) options(catalog string) loader.Options {
	return loader.Options{
		Catalog: catalog, CatalogURL: f.catalogURL, SnapshotTime: f.snapshotTime,
		AllowNoPCodes: f.allowNoCodes, StrictResources: f.strict,
	}
}

func withChannel(o loader.Options, channel string) loader.Options {
	o.Channel = channel
	return o
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
			out := cmd.OutOrStdout()
			return buildInto(cmd.Context(), out, store, channel, f.options(catalog), cmd.ErrOrStderr(), asJSON)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&catalog, "catalog", "", "catalog to load")
	fl.StringVar(&store, "store", "", "directory of the snapshot store")
	fl.StringVar(&channel, "channel", snapshot.DefaultChannel, "channel to move")
	fl.BoolVar(&asJSON, "json", false, "print the report as JSON")
	f.register(fl)
	return cmd
}

// buildInto loads a catalog into a store and prints the report. progress may be nil.
func buildInto(ctx context.Context, out io.Writer, dir, channel string, o loader.Options, progress io.Writer, asJSON ...bool) error {
	store, err := snapshot.OpenStore(dir)
	if err != nil {
		return err
	}
	o.Channel = channel
	if progress != nil {
		bar := newProgress(progress)
		o.Progress = bar.update
		defer bar.finish()
	}
	report, err := loader.Build(ctx, store, o)
	if err != nil {
		return err
	}
	if len(asJSON) > 0 && asJSON[0] {
		err = report.WriteJSON(out)
	} else {
		err = report.WriteText(out)
	}
	if err == nil && report.Partial {
		err = &exitError{code: exitPartial, err: errors.New("a source was refused, or rows were dropped by our checks: see the report"), quiet: false}
	}
	return err
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
