package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hdqs/api/contract"
	"hdqs/internal/history"
	"hdqs/internal/memory"
	"hdqs/loader"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

func newInspect() *cobra.Command {
	var (
		f                       storeFlags
		asJSON, columns, report bool
		datasets                bool
		bytesOf                 string
	)
	cmd := &cobra.Command{
		Use:   "inspect --store SRC [ID] | --bytes FILE",
		Short: "Prints the tables of a snapshot with rows, periods and sizes, or the report of its load",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if bytesOf != "" {
				data, err := os.ReadFile(bytesOf)
				if err != nil {
					return err
				}
				return storeError(snapshot.Dump(out, data))
			}
			st, err := f.openExisting()
			if err != nil {
				return err
			}
			id, pointer, err := st.find(cmd.Context(), args, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if report {
				return printReport(out, st.Store, id, asJSON)
			}
			snap, err := st.Store.Snapshots.Open(id)
			if err != nil {
				return storeError(err)
			}
			defer snap.Close()
			view := inspectSnapshot(snap, pointer, columns)
			if view.Stale, err = loader.StaleIn(snap.Manifest); err != nil {
				return err
			}
			switch {
			case asJSON:
				return printJSON(out, view)
			case datasets:
				return view.printDatasets(out)
			}
			return view.print(out, catalogOf(st.Store, id))
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&columns, "columns", false, "print every column with its storage and size")
	cmd.Flags().BoolVar(&report, "report", false, "print the report of the load that made the snapshot")
	cmd.Flags().BoolVar(&datasets, "datasets", false,
		"print the datasets that rows come from, with provider and licence")
	cmd.Flags().StringVar(&bytesOf, "bytes", "", "print the bytes of a segment file with their meaning")
	return cmd
}

func printReport(out io.Writer, st *store.Store, id string, asJSON bool) error {
	data, err := st.Snapshots.Report(id)
	if err != nil {
		return err
	}
	if asJSON {
		_, err = out.Write(data)
		return err
	}
	var report loader.Report
	if err := json.Unmarshal(data, &report); err != nil {
		return fmt.Errorf("report of %s: %w", id, err)
	}
	return report.WriteText(out)
}

// catalogOf is the catalog that a snapshot was loaded from, "" if its report cannot be read.
func catalogOf(st *store.Store, id string) string {
	var report loader.Report
	if data, err := st.Snapshots.Report(id); err != nil || json.Unmarshal(data, &report) != nil {
		return ""
	}
	return report.Catalog
}

type snapshotView struct {
	ID           string     `json:"id"`
	SnapshotTime time.Time  `json:"snapshot_time"`
	PublishedAt  *time.Time `json:"published_at,omitempty"`
	CatalogURL   string     `json:"catalog_url"` // site of the links in records
	Rows         int        `json:"rows"`
	Bytes        int64      `json:"bytes"`

	Stale    []loader.Stale  `json:"stale,omitempty"` // sources that could not be used, so that an older form is
	Tables   []tableView     `json:"tables"`
	Datasets []store.Dataset `json:"datasets,omitempty"` // that rows come from
}

type tableView struct {
	Table       string       `json:"table"`
	Rows        int          `json:"rows"`
	Bytes       int64        `json:"bytes"`
	BytesPerRow float64      `json:"bytes_per_row"`
	From        string       `json:"from,omitempty"`        // earliest reference_period_start
	To          string       `json:"to,omitempty"`          // latest reference_period_end
	Updated     *time.Time   `json:"updated,omitempty"`     // of the newest source
	StaleSince  *time.Time   `json:"stale_since,omitempty"` // when a newer source could not be used for the first time
	SHA256      string       `json:"sha256"`
	Datasets    []string     `json:"datasets,omitempty"` // ids
	Columns     []columnView `json:"columns,omitempty"`
}

type columnView struct {
	Column      string `json:"column"`
	Kind        string `json:"kind"`
	Group       string `json:"group,omitempty"`
	Cardinality int    `json:"cardinality,omitempty"`
	Nullable    bool   `json:"nullable,omitempty"`
	snapshot.ColumnSize
}

func inspectSnapshot(snap *store.Snapshot, p store.Pointer, columns bool) snapshotView {
	m := snap.Manifest
	view := snapshotView{ID: m.ID, SnapshotTime: m.SnapshotTime, CatalogURL: m.CatalogURL, Datasets: m.Datasets}
	if p.ID != "" {
		view.PublishedAt = &p.PublishedAt
	}
	for _, ref := range m.Tables {
		seg := snap.Segments[ref.Table]
		t := tableView{Table: ref.Table, Rows: ref.Rows, Bytes: ref.Bytes, SHA256: ref.SHA256}
		if ref.Rows > 0 {
			t.BytesPerRow = float64(ref.Bytes) / float64(ref.Rows)
		}
		t.From, _ = span(seg, "reference_period_start")
		_, t.To = span(seg, "reference_period_end")
		t.describe(m.Source(ref.Table))
		for _, c := range seg.Columns() {
			if columns {
				t.Columns = append(t.Columns, viewColumn(c))
			}
		}
		view.Tables = append(view.Tables, t)
		view.Rows += ref.Rows
		view.Bytes += ref.Bytes
	}
	return view
}

func viewColumn(c *snapshot.Column) columnView {
	v := columnView{Column: c.Name, Kind: c.Kind.String(), Nullable: c.Nullable, ColumnSize: c.Size()}
	if c.Coded() {
		v.Cardinality = c.Cardinality()
	}
	if c.Group != nil {
		v.Group = c.Group.Name
	}
	return v
}

func (t *tableView) describe(s store.TableSource) {
	if !s.Updated.IsZero() {
		t.Updated = &s.Updated
	}
	if !s.StaleSince.IsZero() {
		t.StaleSince = &s.StaleSince
	}
	t.Datasets = s.Datasets
}

func span(seg *snapshot.Segment, name string) (first, last string) {
	c, err := seg.Column(name)
	if err != nil {
		return "", ""
	}
	least, most, ok := c.Span()
	if !ok {
		return "", ""
	}
	day := func(at int64) string { return time.UnixMicro(at).UTC().Format(time.DateOnly) }
	return day(least), day(most)
}

func dayOf(at *time.Time) string {
	if at == nil || at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateOnly)
}

func (v snapshotView) printDatasets(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "dataset\tprovider\tlicence\tupdated\ttables\ttitle")
	for _, d := range v.Datasets {
		var tables []string
		for _, t := range v.Tables {
			if slices.Contains(t.Datasets, d.ID) {
				tables = append(tables, t.Table)
			}
		}
		for _, text := range []*string{&d.Name, &d.ID, &d.Publisher, &d.License, &d.Title} {
			*text = escape(*text, "") // also of line ends and tabs
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", cmp.Or(d.Name, d.ID), d.Publisher, d.License, dayOf(&d.Updated),
			strings.Join(tables, " "), d.Title)
	}
	return w.Flush()
}

func (v snapshotView) print(out io.Writer, catalog string) error {
	fmt.Fprintf(out, "snapshot %s of %s", v.ID, v.SnapshotTime.Format(time.RFC3339))
	if catalog != "" {
		fmt.Fprintf(out, " from %s", escape(catalog, ""))
	}
	if v.PublishedAt != nil {
		fmt.Fprintf(out, ", published %s", v.PublishedAt.Format(time.RFC3339))
	}
	fmt.Fprintf(out, "\n%d rows in %d tables, %s\n", v.Rows, len(v.Tables), memory.Size(v.Bytes))
	for _, s := range v.Stale {
		fmt.Fprintf(out, "stale since %s: %s: %s\n", s.Since.Format(time.RFC3339), escape(s.Path, ""), escape(s.Why,
			""))
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "table\trows\tbytes\tbytes/row\tfrom\tto\tupdated\tsha256")
	for _, t := range v.Tables {
		updated := dayOf(t.Updated)
		if t.StaleSince != nil {
			updated += ", stale since " + dayOf(t.StaleSince)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t%s\t%s\t%s\t%.12s\n",
			t.Table, t.Rows, t.Bytes, t.BytesPerRow, t.From, t.To, strings.TrimPrefix(updated, ", "), t.SHA256)
		for _, c := range t.Columns {
			nullable := ""
			if c.Nullable {
				nullable = "nulls"
			}
			fmt.Fprintf(w, "  %s\t%s\t%d values\t%s\t%s\t%+v\t\n",
				c.Column, c.Kind, c.Cardinality, c.Group, nullable, c.ColumnSize)
		}
	}
	return w.Flush()
}

func newHistory() *cobra.Command {
	var (
		f     storeFlags
		table string
		row   []string
	)
	cmd := &cobra.Command{
		Use:   "history --store SRC --table NAME --row FIELD=VALUE...",
		Short: "Prints the versions of a row in the snapshots that a channel has shown",
		Long: `Prints the versions of a row, the newest first, one JSON object a line: as the channel shows it now,
with "change":"none", then each change as requests for changes have it, with the snapshot that it came
with and when that was published. A row is named by values of its fields; repeat --row
until it is the only one. A change is printed if the row fits after it or before it.

The changes between two snapshots are read from what build --keep-changes and publish --keep-changes
have kept, or found by comparing the two, if the store has both. Otherwise a message names the two.
The exit code is 1 if no row fits, and 5 if some changes are not known.`,
		Example: "  hdqs history --store /srv/store --table national_risk --row location_code=AFG",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at := slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Table == table })
			if at < 0 {
				near := didYouMean("", table, tableNames())
				return usageError(cmd, fmt.Errorf("--table: there is no table %q%s", table, near))
			}
			h := &history.Row{Endpoint: &contract.Endpoints[at], Out: unwrap(cmd.OutOrStdout())}
			names := contract.FieldNames(h.Endpoint.Fields)
			for _, text := range row {
				if field, ok := h.Name(text); !ok {
					near := table + didYouMean("", field, names)
					return usageError(cmd, fmt.Errorf("--row %q: want FIELD=VALUE with a field of %s", text, near))
				}
			}
			if len(row) == 0 {
				return usageError(cmd, errors.New("history needs --row FIELD=VALUE"))
			}
			st, err := f.openExisting()
			if err != nil {
				return err
			}
			return printHistory(cmd, st, h)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&table, "table", "", "table of the row")
	cmd.Flags().StringArrayVar(&row, "row", nil, "value of a field of the row, as in location_code=AFG; repeatable")
	return cmd
}

func printHistory(cmd *cobra.Command, st *openStore, h *history.Row) error {
	ctx, messages := cmd.Context(), cmd.ErrOrStderr()
	shown, err := st.read(ctx, st.ChannelName)
	if err == nil {
		err = st.Store.Keys.CheckChannel(st.ChannelName, shown.Channel)
	}
	if err != nil {
		return storeError(st.channelError(ctx, err))
	}
	open := st.opener(cmd)
	snap, err := open(shown.ID, nil)
	if err != nil {
		return err
	}
	defer snap.Close()
	if err := h.Current(snap, shown.Pointer); err != nil {
		return err
	}
	unknown, later := 0, shown.Pointer
	for _, p := range shown.Previous {
		err := h.Kept(ctx, st.Files(), st.Store.Keys, p, later)
		if err != nil && ctx.Err() == nil {
			err = withPair(p.ID, later.ID, open, func(from, to *store.Snapshot) error {
				return h.Between(from, to, later)
			})
		}
		if err != nil {
			fmt.Fprintf(messages, "hdqs: what changed between %s and %s is not known: %v\n", p.ID, later.ID, err)
			unknown++
		}
		later = p
	}
	switch {
	case h.Found == 0:
		return fmt.Errorf("no row of %s has these values, now or before", h.Endpoint.Table)
	case unknown > 0:
		return &exitError{code: exitPartial, err: errors.New("not all is known"), quiet: true}
	}
	return nil
}
