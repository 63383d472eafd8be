package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/api/state"
	"hdqs/bulk"
	"hdqs/bulk/export"
	"hdqs/bulk/iceberg"
	"hdqs/internal/follow"
	"hdqs/internal/memory"
	"hdqs/snapshot"
)

type bulkFlags struct{ formats, tables []string }

func (f *bulkFlags) register(fl *pflag.FlagSet, prefix string) {
	fl.StringSliceVar(&f.formats, prefix+"formats", formatNames(export.Formats),
		"formats of the files; hapi-parquet too, in the layout and names of HDX HAPI")
	fl.StringSliceVar(&f.tables, prefix+"tables", nil, "tables to write; default: all")
}

func (f *bulkFlags) options() (o export.Options, err error) {
	want := "want some of " + strings.Join(formatNames(export.AllFormats), ", ")
	for _, name := range f.formats {
		if !slices.Contains(export.AllFormats, bulk.Format(name)) {
			return o, usagef("format %q: %s", name, want)
		}
		if slices.Contains(o.Formats, bulk.Format(name)) {
			return o, usagef("format %q is given twice", name)
		}
		o.Formats = append(o.Formats, bulk.Format(name))
	}
	if len(o.Formats) == 0 {
		return o, usagef("no format: %s", want)
	}
	if len(f.tables) > 0 {
		o.Tables = f.tables
	}
	known := tableNames()
	for _, name := range f.tables {
		if !slices.Contains(known, name) {
			return o, usagef("there is no table %q%s; want some of %s", name,
				didYouMean("", name, known), strings.Join(known, ", "))
		}
	}
	return o, nil
}

func formatNames(formats []bulk.Format) (names []string) {
	for _, f := range formats {
		names = append(names, string(f))
	}
	return names
}

func newExport() *cobra.Command {
	var (
		f      = serveFlags{}
		files  bulkFlags
		keep   int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "export DIR [ID]",
		Short: "Writes the tables of a snapshot as Parquet and CSV files, for other programs",
		Long: `Writes the tables of a snapshot as Parquet and compressed CSV files into the folder DIR/ID, with a
manifest.json that lists them: rows, bytes, SHA-256, columns with meaning and unit, sources and licences.
A table of more than a million rows has one Parquet file for each country, others have one. The folder
gets its name when all of it is there. DIR/latest is a link to it, and DIR/index.json lists the
snapshots in DIR. Files of unchanged tables are hard links to those of the export before.

The snapshot is the one with ID, or the one that the channel of --store shows, or one that is built from
--catalog, or the embedded sample, whose figures are all made up.

Exit codes: 0 success, 1 nothing was exported, 2 wrong usage, 3 a source or the store could not be
reached, 4 the store is damaged or not signed, 5 exported, but of --catalog something is as
after 5 of 'hdqs build'.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := files.options()
			if err != nil {
				return err
			}
			r, err := runExport(cmd.Context(), &f, args, keep, o, cmd.ErrOrStderr())
			if err != nil {
				return storeError(err)
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), r)
			} else {
				err = r.print(cmd.OutOrStdout())
			}
			return cmp.Or(err, f.partial)
		},
	}
	fl := cmd.Flags()
	f.register(fl)
	f.load.register(fl, "catalog to load, instead of --store")
	files.register(fl, "")
	numberVar(fl, &keep, "keep", 1, 0, mostAtOnce, "how many earlier exports stay in DIR, the newest first")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type exported struct {
	Snapshot string                        `json:"snapshot"`
	Path     string                        `json:"path,omitempty"`
	Formats  map[bulk.Format]formatSummary `json:"formats"`
}

type formatSummary struct {
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Written int   `json:"written"` // the others were there already
}

func summarize(m *bulk.Manifest, path string, written map[bulk.Format]int) *exported {
	r := &exported{Snapshot: m.Snapshot, Path: path, Formats: map[bulk.Format]formatSummary{}}
	for f := range m.All {
		s := r.Formats[f.Format]
		s.Files++
		s.Bytes += f.Bytes
		s.Written = written[f.Format]
		r.Formats[f.Format] = s
	}
	return r
}

func (r *exported) print(out io.Writer) error {
	fmt.Fprintf(out, "snapshot %s is in %s\n", r.Snapshot, r.Path)
	return r.printFormats(out)
}

func (r *exported) printFormats(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FORMAT\tFILES\tWRITTEN\tSIZE")
	for _, format := range append(slices.Clone(export.AllFormats), bulk.CSV) {
		if s, ok := r.Formats[format]; ok {
			fmt.Fprintf(table, "%s\t%d\t%d\t%s\n", format, s.Files, s.Written, memory.Size(s.Bytes))
		}
	}
	return table.Flush()
}

func runExport(
	ctx context.Context, f *serveFlags, args []string, keep int, o export.Options, messages io.Writer,
) (*exported, error) {
	w := follow.NewWaiter(nil, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	st, done, err := openServed(ctx, messages, f, w)
	if err != nil {
		return nil, err
	}
	defer done()
	id, _, err := st.find(ctx, args[1:], messages)
	if err != nil {
		return nil, err
	}
	snap, err := st.Store.Snapshots.Open(id)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	if err := state.Complete(snap); err != nil {
		return nil, err
	}
	written := map[bulk.Format]int{}
	o.Written = func(f *bulk.File) { written[f.Format]++ }
	m, path, err := export.ToTree(ctx, args[0], snap, keep, o)
	if err != nil {
		return nil, err
	}
	return summarize(m, path, written), nil
}

// tablesAt is the address by which engines find the store.
func (f *buildFlags) tablesAt(into *openStore) string {
	switch absolute, err := filepath.Abs(into.Store.Dir()); {
	case f.icebergLocation != "":
		return f.icebergLocation
	case into.Remote != nil:
		return f.store
	case err == nil:
		return filepath.ToSlash(absolute)
	}
	return into.Store.Dir()
}

// updateIceberg adds the published snapshot to the Iceberg tables. If that fails, the next load
// does it. The tables of a bucket have the snapshots that the bucket has, not those of the copy.
func (f *buildFlags) updateIceberg(ctx context.Context, into *openStore, id string) error {
	if !f.withBulk {
		return nil
	}
	var only map[string]bool
	if into.Remote != nil {
		var err error
		if only, err = bulk.SnapshotsIn(ctx, into.Remote); err != nil {
			return err
		}
		only[id] = true
	}
	if err := iceberg.Update(bulk.Open(into.Store), into.Store.Dir(), f.tablesAt(into), only); err != nil {
		return fmt.Errorf("the Iceberg tables of the store: %w", err)
	}
	return nil
}

// beginBulk downloads the bulk files of the snapshot that a remote channel shows: those of
// unchanged tables are used again.
func (f *buildFlags) beginBulk(ctx context.Context, into *openStore, id string) error {
	if !f.withBulk {
		return nil
	}
	_, err := into.Copy.FetchBulk(ctx, id, false)
	if err != nil && !isAbsent(err) && !errors.Is(err, snapshot.ErrCorrupt) {
		return storeError(err)
	}
	return storeError(into.Copy.FetchIceberg(ctx))
}

// bulkOf returns what writes the bulk files of a snapshot beside the store. Without --bulk it does
// nothing.
func (f *buildFlags) bulkOf(ctx context.Context, into *openStore, messages io.Writer) (func(id string) error, error) {
	if !f.withBulk {
		return func(string) error { return nil }, nil
	}
	o, err := f.bulk.options()
	if err != nil {
		return nil, err
	}
	return func(id string) error {
		snap, err := into.Store.Snapshots.Open(id)
		if err != nil {
			return err
		}
		defer snap.Close()
		if err := state.Complete(snap); err != nil {
			return err
		}
		written := map[bulk.Format]int{}
		o.Written = func(f *bulk.File) { written[f.Format]++ }
		m, err := export.ToStore(ctx, bulk.Open(into.Store), snap, o)
		if err != nil {
			return err
		}
		fmt.Fprintf(messages, "bulk files of snapshot %s:\n", id)
		return summarize(m, "", written).printFormats(messages)
	}, nil
}
