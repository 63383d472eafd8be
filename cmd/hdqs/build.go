package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/api/figures"
	"hdqs/api/reply"
	"hdqs/internal/follow"
	"hdqs/internal/objects"
	"hdqs/internal/replica"
	"hdqs/loader"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

type buildFlags struct {
	storeFlags
	load   loadFlags
	bulk   bulkFlags
	sign   signFlags
	review reviewFlags
	deltas deltaFlag
	asJSON bool

	withBulk        bool
	icebergLocation string

	dryRun   bool
	markdown string
	metrics  string
}

func newBuild() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build --catalog SRC --store DST",
		Short: "Loads a catalog into a snapshot store and moves the channel to the new snapshot",
		Long: `Loads a catalog into a snapshot store and moves the channel to the new snapshot.

SRC is one of:
  - a directory of catalog files (a folder for each role, reference/, packages/)
  - a directory of view dumps (*_view.csv[.gz])
  - the https:// address of a CKAN site or of a mirror
  - s3://bucket/prefix of a mirror

DST is a directory or s3://bucket/prefix. For a bucket, the snapshot is built in --data-dir, and only
the files that the bucket lacks are uploaded. The endpoint of the object store is
AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, the region AWS_REGION. Credentials are AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, the shared credentials file, or the role of the machine.

With --bulk the tables are also written as Parquet and compressed CSV, before the channel moves: see
'hdqs export'. Files of unchanged tables are used again.

With --max-change the channel stays where it is if rows, places or headline figures differ too much
from what it shows: see 'hdqs publish'.

Only changed tables are written. The report of the load is printed to stdout, as a table or with
--json, and stored with the manifest. On stdout the purge keys follow, as 'hdqs diff' prints them:
purge them at the CDN once replicas serve the new snapshot.

Only one load at a time writes to a store. A second one on the same machine fails at once and names
the first. Of two on different machines, the one that ends later fails.

Exit codes: 0 success, 1 nothing was published, 2 wrong usage, 3 a source or the store could not be
reached, 4 the store is damaged or not signed, 5 published, but a source is stale or was refused, rows
are gone or were dropped, or figures have changed much: the last line says of what.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.load.catalog == "" || f.store == "" && !f.dryRun {
				return usagef("build needs --catalog and --store")
			}
			for _, name := range []string{"bulk-formats", "bulk-tables", "iceberg-location"} {
				if !f.withBulk && cmd.Flags().Changed(name) {
					return usagef("--%s needs --bulk", name)
				}
			}
			if err := f.review.read(); err != nil {
				return exitWith(exitUsage, err)
			}
			if f.dryRun && f.sign.key != "" {
				return usagef("--sign-key signs nothing with --dry-run")
			}
			if f.dryRun {
				return f.load.source.plan(
					cmd.Context(), f.load.catalog, f.dataDir, f.net.options(), cmd.OutOrStdout(), f.asJSON,
				)
			}
			l, err := f.build(cmd.Context(), cmd.ErrOrStderr())
			if l == nil {
				return err
			}
			if err := f.report(l, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
				return fmt.Errorf("snapshot %s: %s, but the report cannot be printed: %w", l.Snapshot, l.Outcome, err)
			}
			return cmp.Or(err, l.partial())
		},
	}
	fl := cmd.Flags()
	f.register(fl)
	configFlag(fl)
	f.sign.register(fl)
	f.review.register(fl)
	fl.BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	fl.StringVar(&f.markdown, "markdown", "", "file to append a short summary in Markdown to")
	fl.StringVar(&f.metrics, "metrics", "", "file for what the load has found, as node exporter reads metrics")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print which files would be downloaded, and download none")
	f.load.register(fl, "catalog to load")
	f.registerBulk(fl)
	f.deltas.register(fl)
	return cmd
}

func (f *buildFlags) registerBulk(fl *pflag.FlagSet) {
	fl.BoolVar(&f.withBulk, "bulk", false, "write the tables as Parquet and CSV files too")
	f.bulk.register(fl, "bulk-")
	fl.StringVar(&f.icebergLocation, "iceberg-location", "", "address of the store for readers of its Iceberg tables; "+
		"default: that of --store")
}

func (f *buildFlags) report(l *loaded, out, messages io.Writer) error {
	if f.markdown != "" {
		file, err := os.OpenFile(f.markdown, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err == nil {
			err = errors.Join(l.WriteMarkdown(file), file.Close())
		}
		if err != nil { // no failure: the snapshot has been published
			fmt.Fprintf(messages, "hdqs: warning: --markdown: %v\n", err)
		}
	}
	if f.metrics != "" && l.Outcome != "not published" {
		if err := writeFindings(f.metrics, l); err != nil {
			fmt.Fprintf(messages, "hdqs: warning: --metrics: %v\n", err)
		}
	}
	if f.asJSON {
		return printJSON(out, struct {
			*loader.Report
			Purge []string `json:"purge,omitempty"`
		}{l.Report, l.purge})
	}
	if err := l.WriteText(out); err != nil {
		return err
	}
	return printPurge(out, l.purge)
}

// build loads the catalog into the store. For a remote store it builds in the local copy and pushes
// that.
func (f *buildFlags) build(ctx context.Context, messages io.Writer) (*loaded, error) {
	into, err := f.open()
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkWritable("store", f.store), f.sign.apply(into)); err != nil {
		return nil, err
	}
	o, release, err := f.load.prepare(into, "build from "+f.load.catalog)
	if err != nil {
		return nil, err
	}
	defer release()
	base, damaged, err := f.begin(ctx, into, messages)
	if err != nil {
		return nil, err
	}
	shown, shownErr := base.Channel, error(nil)
	if into.Remote == nil {
		shown, shownErr = into.Store.Channels.History(f.channel)
	}
	write, err := f.bulkOf(ctx, into, messages)
	if err != nil {
		return nil, err
	}
	publish := func(bound *figures.Offline) (loader.Publication, error) {
		return f.beforePublish(ctx, into, shown, bound, write, messages)
	}
	l, err := f.load.run(ctx, o, f.dataDir, f.net.options(), messages, publish)
	if err != nil && l != nil && l.Report != nil && l.Outcome == "published" {
		return f.stopped(l, err)
	}
	if err == nil && l.Outcome != "published" {
		err = write(l.Snapshot) // an earlier load may have had no --bulk
	}
	if err == nil {
		err = f.updateIceberg(ctx, into, l.Snapshot)
	}
	if err != nil {
		return nil, storeError(err)
	}
	if damaged {
		l.Refused, l.Partial = append(l.Refused, loader.Refusal{Path: "snapshot of " + f.channel, Why: "damaged"}), true
	}
	switch {
	case l.Outcome != "published":
	case shownErr != nil && !isAbsent(shownErr): // unknown, but replicas still serve it
		l.purge = []string{reply.AllKey}
	default:
		into.noteNew(shown.ID, messages)
		l.purge = purgeKeys(shown.ID, l.Snapshot, into.Store.Snapshots.Manifest, messages)
	}
	if f.sign.key != "" { // does nothing unless an earlier load did not sign
		err := errors.Join(into.Store.Snapshots.Sign(l.Snapshot), into.Store.Channels.SignShown(f.channel))
		if err != nil {
			return nil, err
		}
	}
	if into.Remote == nil {
		return l, nil
	}
	before := into.Remote.Traffic()
	now, err := into.Remote.Push(ctx, into.Store, f.channel, base, damaged)
	if err == nil && f.withBulk {
		err = into.Remote.PushIceberg(ctx, into.Store)
	}
	if err != nil {
		return nil, storeError(err)
	}
	t := into.Remote.Traffic().Minus(before)
	fmt.Fprintf(messages, "pushed %s to %s: %d requests, %d bytes sent\n",
		now.ID, into.Remote.Address(), t.Requests, t.Sent)
	return l, into.Copy.Keep(now)
}

// beforePublish compares a snapshot with what the channel shows, and stores what belongs to the
// publication. It closes the snapshot.
func (f *buildFlags) beforePublish(
	ctx context.Context, into *openStore, shown store.Channel, bound *figures.Offline, write func(id string) error,
	messages io.Writer,
) (p loader.Publication, err error) {
	id := bound.Served.Id
	kept, err := f.review.figures.keepBound(ctx, into, shown, bound, messages)
	if err != nil {
		return p, err
	}
	err = f.review.review(ctx, into, shown.ID, id, into.Store.Snapshots.OpenAfter, kept, messages)
	if err != nil {
		return p, err
	}
	p.Figures = kept.hash
	p.Changed, err = kept.changed(ctx, f.review.rules.Exceptions, f.load.source.AllowShrink)
	f.deltas.write(into, shown, id, messages)
	if err == nil {
		err = write(id)
	}
	return p, err
}

// stopped is for a load after which the channel has not moved: its report is printed all the same.
func (f *buildFlags) stopped(l *loaded, err error) (*loaded, error) {
	l.Outcome = "not published"
	_, refused := errors.AsType[*follow.RefusedError](err)
	if !refused && !objects.IsRemote(f.store) {
		err = fmt.Errorf("%w\nTo publish it as it is, without another load: hdqs publish --store %s --channel %s %s",
			err, f.store, f.channel, l.Snapshot)
	}
	return l, storeError(err)
}

// begin checks that the channel may be moved, and downloads the snapshot that a remote one shows:
// unchanged tables are taken from it. If it is damaged the load goes on, and all files are uploaded
// again.
func (f *buildFlags) begin(
	ctx context.Context, into *openStore, messages io.Writer,
) (base replica.Version, damaged bool, err error) {
	if into.Remote == nil {
		before, _ := into.Store.Channels.History(f.channel) // a load may replace one with faults
		return base, false, into.checkMove(before, messages)
	}
	fetched, err := into.Copy.Fetch(ctx)
	if fetched != nil {
		if err := into.checkMove(fetched.Channel, messages); err != nil {
			return base, false, err
		}
	}
	switch {
	case err == nil:
		if err := into.Copy.Keep(fetched.Version); err != nil {
			return fetched.Version, false, err
		}
		return fetched.Version, false, f.beginBulk(ctx, into, fetched.ID)
	case isAbsent(err):
		if err := into.Store.Keys.CheckMove(f.channel, into.Store.Channels.IsSigned(f.channel)); err != nil {
			return base, false, storeError(fmt.Errorf("the copy in %s, of another store: %w, or another --data-dir",
				into.Store.Dir(), err))
		}
		return base, false, nil
	case fetched != nil && errors.Is(err, snapshot.ErrCorrupt):
		fmt.Fprintf(messages, "hdqs: the store's snapshot is damaged and will be replaced: %v\n", err)
		return fetched.Version, true, nil
	}
	return base, false, storeError(err)
}
