package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hdqs/api/figures"
	"hdqs/internal/fetch"
	"hdqs/internal/follow"
	"hdqs/internal/history"
	"hdqs/internal/memory"
	"hdqs/internal/objects"
	"hdqs/internal/threshold"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
	"hdqs/snapshot/store"
)

// loadFlags are the choices of a load, shared by build, export and serve. Most have an option of
// the loader as their target.
type loadFlags struct {
	loader.Options
	catalog      string
	snapshotTime string
	source       sourceFlags
}

func (f *loadFlags) register(fl *pflag.FlagSet, catalog string) {
	fl.StringVar(&f.catalog, "catalog", "", catalog)
	fl.StringVar(&f.CatalogURL, "catalog-url", "",
		"site of the links in records; default: that of catalog.json, else "+loader.DefaultCatalogURL)
	fl.StringVar(&f.snapshotTime, "snapshot-time", "",
		"time of the load, such as 2026-11-21T01:02:00Z; default: that of catalog.json, else now")
	fl.BoolVar(&f.AllowNoPCodes, "allow-no-pcodes", false,
		"build without a list of administrative units: every row is placed at its country")
	fl.StringSliceVar(&f.AllowEmpty, "allow-empty", nil,
		"roles that are meant to have no row")
	fl.BoolVar(&f.StrictResources, "strict-resources", false,
		"drop rows whose resource has no package, as the public service does")
	numberVar(fl, &f.MaxRows, "max-rows", loader.DefaultMaxRows, 1, math.MaxInt32,
		"the most rows that a table is built from; a file with more is refused")
	f.source.register(fl)
}

func (f *loadFlags) options(st *store.Store, channel string) (loader.Options, error) {
	o := f.Options
	o.CatalogName, o.Store, o.Channel, o.AllowShrink = f.catalog, st, channel, f.source.AllowShrink
	if err := checkRoles("allow-empty", f.AllowEmpty); err != nil {
		return o, err
	}
	if err := f.source.check(); err != nil {
		return o, err
	}
	if f.snapshotTime != "" {
		t, err := time.Parse(time.RFC3339, f.snapshotTime)
		if err != nil {
			return o, usagef("--snapshot-time %q: want a time like 2026-11-21T01:02:00Z", f.snapshotTime)
		}
		o.SnapshotTime = t
	}
	if objects.IsRemote(f.catalog) {
		return o, nil
	}
	if len(f.source.Only) > 0 || f.source.Location != "" {
		return o, usagef("--only and --location-list are for a catalog over the network: " +
			"a directory is read whole, with its reference/location.csv")
	}
	info, err := os.Stat(f.catalog)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; a systemd unit with ProtectHome= cannot read below /home and /root", err)
	}
	if isAbsent(err) {
		return o, absent("--catalog %s: no such folder; addresses begin with https:// or s3://", f.catalog)
	}
	if err != nil {
		return o, fmt.Errorf("catalog: %w", err)
	}
	if !info.IsDir() {
		return o, fmt.Errorf("catalog %s: want a directory or an address", f.catalog)
	}
	return o, nil
}

// prepare returns the options of a load, except its catalog, and locks the store for it. holder is
// what other loads report that find the store locked.
func (f *loadFlags) prepare(into *openStore, holder string) (loader.Options, func(), error) {
	o, err := f.options(into.Store, into.ChannelName)
	if err != nil {
		return o, nil, err
	}
	release, err := into.lock(holder)
	return o, release, err
}

type loaded struct {
	*loader.Report
	purge []string // keys of the responses that the load has changed
}

// partial returns the error of a load that succeeded except for some sources or rows.
func (l *loaded) partial() error {
	if !l.Partial {
		return nil
	}
	return exitWith(exitPartial, fmt.Errorf("partial, see the report: %s", strings.Join(l.Incomplete(), ", ")))
}

// run downloads the catalog, unless it is local, and loads it. publish gets the new snapshot before
// the channel shows it, and closes it. The caller holds the lock of the store.
func (f *loadFlags) run(
	ctx context.Context, o loader.Options, data string, web fetch.Options, messages io.Writer,
	publish func(*figures.Offline) (loader.Publication, error),
) (*loaded, error) {
	l := &loaded{}
	dir := f.catalog
	if objects.IsRemote(f.catalog) {
		s, release, err := f.source.sync(ctx, f.catalog, data, web, messages)
		if err != nil {
			return nil, err
		}
		defer release()
		dir = s.Dir
		o.Fetched = &s.FetchReport
	}
	o.Catalog = catalogfile.Dir(dir)
	bar := newProgress(messages, "loading")
	defer bar.finish()
	o.Progress = func(p loader.Progress) { bar.update(p.Path, p.Done, p.Total) }
	o.BeforePublish = func(id string) (loader.Publication, error) {
		bound, err := opener(o.Store.Snapshots.OpenAfter).bound(id)
		if err != nil { // no replica of this program could serve it
			return loader.Publication{}, &follow.RefusedError{ID: id, Err: err}
		}
		return publish(bound)
	}
	var err error
	l.Report, err = interruptible(ctx, func() (*loader.Report, error) { return loader.Build(ctx, o) })
	if err == nil {
		for _, line := range l.Losses() {
			fmt.Fprintf(messages, "hdqs: %s\n", line)
		}
	}
	return l, err
}

// interruptGrace is how long a load may take to end after a signal.
const interruptGrace = 2 * time.Second

// interruptible returns what work returns. It waits for work only until interruptGrace after the
// end of the context: a file system that hangs, such as one of a server that is away, does not let
// a read end, and a load may be ended at any point.
func interruptible[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := work()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-time.After(interruptGrace):
		var zero T
		return zero, fmt.Errorf("a file could not be read: %w", ctx.Err())
	}
}

// limitFlags say which changes are accepted before a channel moves.
type limitFlags struct {
	most, exceptions string
	rules            threshold.Rules
}

func (f *limitFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.most, "max-change", "", "largest change of rows, places and headline figures, in all and by "+
		"country: 100% lets a number double or halve; empty: not compared")
	fl.StringVar(&f.exceptions, "exceptions", "", "file with other bounds, one a line: NAME COUNTRY BOUND "+
		"[until YYYY-MM-DD], as in 'idps SOM any until 2026-12-31'; * is any")
}

func (f *limitFlags) isSet() bool { return f.most != "" }

// read reads the values of the flags. Its errors are wrong usage.
func (f *limitFlags) read() (err error) {
	if f.most != "" {
		if f.rules.Most, err = threshold.ParseBound(f.most); err != nil {
			return fmt.Errorf("--max-change %w", err)
		}
	}
	if f.exceptions == "" {
		return nil
	}
	f.rules.Exceptions, err = readFile("exceptions", f.exceptions, threshold.ParseExceptions)
	return err
}

// mostExcesses is how many changes an error names.
const mostExcesses = 20

// compare returns an error that names the changes that are too large.
func (f *limitFlags) compare(ctx context.Context, channel string, before, after threshold.Side) error {
	all, err := threshold.Compare(ctx, before, after, f.rules, time.Now())
	if err != nil || len(all) == 0 {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "channel %s stays at %s, since %s differs too much in these numbers (%d):\n", channel,
		before.Manifest.ID, after.Manifest.ID, len(all))
	for i := range all[:min(len(all), mostExcesses)] {
		fmt.Fprintf(&b, "  %s\n", all[i].String())
	}
	if more := len(all) - mostExcesses; more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	fmt.Fprintf(&b, "If they are right, raise --max-change %s, or name them in the file of --exceptions with lines "+
		"such as\n  %s until %s", f.most, all[0].Line(), time.Now().AddDate(0, 0, 1).Format(time.DateOnly))
	return errors.New(b.String())
}

// reviewFlags say what is done with two snapshots before a channel moves from one to the other.
type reviewFlags struct {
	limitFlags
	figures figuresFlag
	keep    int
}

func (f *reviewFlags) register(fl *pflag.FlagSet) {
	f.limitFlags.register(fl)
	f.figures.register(fl)
	numberVar(fl, &f.keep, "keep-changes", 0, 0, mostAtOnce,
		"of how many publications the store keeps what they changed, for 'hdqs history' and /changelog")
}

// review compares the snapshots, and keeps what differs. That this fails keeps no snapshot from
// being published.
func (f *reviewFlags) review(
	ctx context.Context, s *openStore, from, to string, open opener, kept keptFigures, messages io.Writer,
) (err error) {
	switch {
	case from == "" && f.isSet():
		fmt.Fprintf(messages, "hdqs: channel %s shows nothing yet: there is nothing to compare %s with\n",
			s.ChannelName, to)
		return nil
	case from == "" || from == to || !f.isSet() && f.keep == 0:
		return nil
	}
	compared := false
	err = withPair(from, to, open, func(before, after *store.Snapshot) error {
		compared = true
		if f.isSet() {
			if err := f.compare(
				ctx, s.ChannelName, threshold.Side{Snapshot: before, Figures: kept.before},
				threshold.Side{Snapshot: after, Figures: kept.after},
			); err != nil {
				return err
			}
		}
		if f.keep > 0 {
			if err := s.keepChanges(ctx, before, after, f.keep); err != nil {
				fmt.Fprintf(messages, "hdqs: warning: --keep-changes: %v\n", err)
			}
		}
		return nil
	})
	switch {
	case err != nil && !compared && f.isSet():
		return fmt.Errorf("--max-change: %s and %s cannot be compared; without the flag it can be published all the "+
			"same: %w", from, to, err)
	case err != nil && !compared:
		fmt.Fprintf(messages, "hdqs: warning: --keep-changes: %v\n", err)
		return nil
	}
	return err
}

// withPair opens two snapshots and closes them afterwards.
func withPair(
	from, to string, open opener,
	do func(before, after *store.Snapshot) error,
) error {
	before, err := open(from, nil)
	if err != nil {
		return err
	}
	defer before.Close()
	after, err := open(to, before)
	if err != nil {
		return err
	}
	defer after.Close()
	return do(before, after)
}

// keepChanges writes what differs between two snapshots, the rows first.
func (s *openStore) keepChanges(ctx context.Context, from, to *store.Snapshot, keep int) error {
	text, rows, err := history.Make(from, to, s.Store.Keys)
	if err != nil {
		return err
	}
	if rows != nil {
		err = objects.PutBytes(ctx, s.Files(), history.RowsName(from.Manifest.ID, to.Manifest.ID), rows)
	}
	if err == nil {
		err = objects.PutBytes(ctx, s.Files(), history.Name(from.Manifest.ID, to.Manifest.ID), text)
	}
	if err == nil {
		err = history.Prune(ctx, s.Files(), keep)
	}
	return err
}

// deltaFlag says from how many snapshots of a channel replicas get deltas to a new one.
type deltaFlag struct{ count int }

func (f *deltaFlag) register(fl *pflag.FlagSet) {
	numberVar(fl, &f.count, "deltas", 1, 0, 16,
		"from how many of the channel's last snapshots to write deltas, for replicas of a remote store")
}

// write writes deltas to a snapshot that the channel does not show yet. Without them replicas
// download whole segments, so that an error is only reported.
func (f *deltaFlag) write(into *openStore, shown store.Channel, id string, messages io.Writer) {
	if f.count == 0 || shown.ID == "" {
		return
	}
	err := func() error {
		to, err := into.Store.Snapshots.Manifest(id)
		if isAbsent(err) {
			return nil // an error of what publishes it
		}
		if err != nil {
			return err
		}
		var written store.WrittenDeltas
		var errs []error
		last := append([]store.Pointer{shown.Pointer}, shown.Previous...)
		for _, p := range last[:min(f.count, len(last))] {
			from, err := into.Store.Snapshots.Manifest(p.ID)
			if isAbsent(err) || p.ID == id {
				continue // it was removed
			}
			if err == nil {
				var n store.WrittenDeltas
				n, err = into.Store.PutDeltas(from, to)
				written.Add(n)
			}
			errs = append(errs, err)
		}
		if written.Files > 0 {
			fmt.Fprintf(messages, "deltas to %s: %s, for segments of %s\n",
				id, memory.Size(written.Bytes), memory.Size(written.Whole))
		}
		return errors.Join(errs...)
	}()
	if err != nil {
		fmt.Fprintf(messages, "hdqs: warning: deltas to %s could not be written, "+
			"replicas will download whole segments: %v\n", id, err)
	}
}
