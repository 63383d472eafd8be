package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/rowdiff"
	"hdqs/snapshot/store"
)

func newDiff() *cobra.Command {
	var (
		f      storeFlags
		asJSON bool
		rows   rowsFlags
	)
	cmd := &cobra.Command{
		Use:   "diff --store SRC A [B]",
		Short: "Compares two snapshots: changed tables, endpoints with changed responses, keys to purge at a CDN",
		Long: `Compares two snapshots of a store. Without B, it compares A with what the channel shows.

Tables are compared by content: one that was loaded again with the same result has not changed. Where
only the date of its source differs, or whether it is older than its source, its responses differ in
X-Data-Updated or X-Data-Stale. The keys are those of 'hdqs serve --surrogate-key' and '--cache-tag'.
Purging them after B was published drops exactly the cached responses that are no longer correct.

With --rows it prints the rows that differ instead, as requests for changes of 'hdqs serve' have them:
"change" is added, removed or changed, then come the fields of the row, as they are now or, of a row
that was removed, as they were, and in "was" the old values that differ. The totals go to stderr.
--format json prints one object a line, with "table" before the others. --format csv needs --table.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := rows.check(cmd, asJSON); err != nil {
				return err
			}
			st, err := f.openExisting()
			if err != nil {
				return err
			}
			if rows.enabled {
				return rows.print(cmd, st, args)
			}
			var sides [2]*store.Manifest
			for i := range sides {
				id := args[min(i, len(args)):min(i+1, len(args))] // empty: what the channel shows
				sides[i], err = st.manifest(cmd.Context(), id, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
			}
			d := compareSnapshots(sides[0], sides[1])
			if !asJSON {
				return d.print(cmd.OutOrStdout())
			}
			return printJSON(cmd.OutOrStdout(), d)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	rows.register(cmd.Flags())
	return cmd
}

type snapshotDiff struct {
	From      string      `json:"from"`
	To        string      `json:"to"`
	Same      int         `json:"tables_unchanged"`
	Tables    []tableDiff `json:"tables_changed"`
	Sources   []string    `json:"sources_changed"` // unchanged tables with other dates of their sources
	Endpoints []string    `json:"endpoints_changed"`
	Purge     []string    `json:"purge"`
}

// tableDiff is a changed table. A snapshot without the table has 0 rows and bytes of it.
type tableDiff struct {
	Table       string `json:"table"`
	RowsBefore  int    `json:"rows_before"`
	RowsAfter   int    `json:"rows_after"`
	BytesBefore int64  `json:"bytes_before"`
	BytesAfter  int64  `json:"bytes_after"`
}

func compareSnapshots(from, to *store.Manifest) snapshotDiff {
	d := snapshotDiff{
		From: from.ID, To: to.ID, Tables: []tableDiff{}, Sources: []string{}, Endpoints: []string{}, Purge: []string{},
	}
	changed, same := store.Compare(from, to)
	d.Same = len(same)
	for _, table := range same {
		if state.SourceChanged(from, to, table) {
			d.Sources = append(d.Sources, table)
		}
	}
	for _, c := range changed {
		d.Tables = append(d.Tables, tableDiff{c.Table, c.Before.Rows, c.After.Rows, c.Before.Bytes, c.After.Bytes})
	}
	tables := make([]string, len(d.Tables))
	for i, t := range d.Tables {
		tables[i] = t.Table
	}
	for _, e := range reply.EndpointsOf(tables) {
		d.Endpoints = append(d.Endpoints, e.Path)
	}
	if from.ID != to.ID {
		d.Purge = reply.PurgeKeys(append(tables, d.Sources...))
	}
	return d
}

func (d *snapshotDiff) print(out io.Writer) error {
	fmt.Fprintf(out, "%s -> %s: %d tables changed, %d unchanged\n", d.From, d.To, len(d.Tables), d.Same)
	if len(d.Tables) > 0 {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "\ntable\trows before\trows after\tdifference\tbytes before\tbytes after")
		for _, t := range d.Tables {
			fmt.Fprintf(w, "%s\t%d\t%d\t%+d\t%d\t%d\n",
				t.Table, t.RowsBefore, t.RowsAfter, t.RowsAfter-t.RowsBefore, t.BytesBefore, t.BytesAfter)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nendpoints with changed responses:\n  %s\n", strings.Join(d.Endpoints, "\n  "))
	}
	if len(d.Sources) > 0 {
		fmt.Fprintf(out, "\ntables with the same rows whose sources have other dates:\n  %s\n",
			strings.Join(d.Sources, "\n  "))
	}
	if len(d.Purge) > 0 {
		fmt.Fprintln(out)
	}
	return printPurge(out, d.Purge)
}

func printPurge(out io.Writer, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "purge: %s\n", strings.Join(keys, " "))
	return err
}

// purgeKeys returns the keys to purge when a channel has moved from one snapshot to another; from
// is "" if it showed none. If a manifest cannot be read, it says so in messages and returns the key
// of all responses.
func purgeKeys(
	from, to string, read func(id string) (*store.Manifest, error), messages io.Writer,
) []string {
	if from == "" {
		return nil
	}
	var sides [2]*store.Manifest
	for i, id := range []string{from, to} {
		m, err := read(id)
		if err != nil {
			fmt.Fprintf(messages, "hdqs: purge everything, since the difference is unknown: %v\n", err)
			return []string{reply.AllKey}
		}
		sides[i] = m
	}
	return compareSnapshots(sides[0], sides[1]).Purge
}

type rowsFlags struct {
	enabled bool
	table   string
	format  string
}

const (
	formatJSON = "json"
	formatCSV  = "csv"
)

func (f *rowsFlags) register(fl *pflag.FlagSet) {
	fl.BoolVar(&f.enabled, "rows", false, "print the rows that differ")
	fl.StringVar(&f.table, "table", "", "with --rows: only this table; default: all")
	fl.StringVar(&f.format, "format", formatJSON, "with --rows: json or csv")
}

func (f *rowsFlags) check(cmd *cobra.Command, asJSON bool) error {
	switch {
	case !f.enabled && (f.table != "" || cmd.Flags().Changed("format")):
		return usageError(cmd, errors.New("--table and --format need --rows"))
	case !f.enabled:
		return nil
	case asJSON:
		return usageError(cmd, errors.New("--json is for diff without --rows; rows have --format json"))
	case f.format != formatJSON && f.format != formatCSV:
		return usageError(cmd, fmt.Errorf("--format %q: want json or csv", f.format))
	case f.format == formatCSV && f.table == "":
		return usageError(cmd, errors.New("--format csv needs --table: tables have different columns"))
	case f.table == "":
		return nil
	}
	if names := tableNames(); !slices.Contains(names, f.table) {
		return usageError(cmd, fmt.Errorf("there is no table %q%s", f.table, didYouMean("", f.table, names)))
	}
	return nil
}

func tableNames() (names []string) {
	for i := range contract.Endpoints {
		names = append(names, contract.Endpoints[i].Table)
	}
	return names
}

// print prints the rows that differ between the snapshots of args, as diff takes them.
func (f *rowsFlags) print(cmd *cobra.Command, st *openStore, args []string) (err error) {
	var snaps [2]*store.Snapshot
	for i := range snaps {
		id := args[min(i, len(args)):min(i+1, len(args))] // empty: what the channel shows
		if snaps[i], err = st.openNamed(cmd.Context(), id, snaps[0], cmd.ErrOrStderr()); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, snaps[i].Close()) }()
	}
	bound, err := state.BindPair(snaps[0], snaps[1])
	if err != nil {
		return err
	}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		if f.table != "" && f.table != e.Table {
			continue
		}
		n, _, err := figures.WriteChanges(unwrap(cmd.OutOrStdout()), bound[0], bound[1], e, f.format == formatCSV)
		if err != nil {
			return err
		}
		if f.table != "" || n.All() > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "hdqs: %s: %d rows added, %d removed, %d changed\n",
				e.Table, n[rowdiff.Added], n[rowdiff.Removed], n[rowdiff.Changed])
		}
	}
	return nil
}

// openNamed opens the snapshot with the id in args, or what the channel shows, sharing what it has
// in common with an earlier one, if there is one.
func (s *openStore) openNamed(
	ctx context.Context, args []string, earlier *store.Snapshot, messages io.Writer,
) (*store.Snapshot, error) {
	id, p, err := s.find(ctx, args, messages)
	if err != nil {
		return nil, err
	}
	var snap *store.Snapshot
	if p.ID != "" {
		snap, err = s.Store.Snapshots.OpenPointer(p, earlier)
	} else {
		snap, err = s.Store.Snapshots.OpenAfter(id, earlier)
	}
	return snap, storeError(err)
}
