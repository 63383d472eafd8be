package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/api"
	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/state"
	"hdqs/snapshot/store"
)

// rowsFlags are the flags of 'hdqs diff --rows'.
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

// check checks the flags before anything is opened.
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
	var names []string
	for i := range contract.Endpoints {
		names = append(names, contract.Endpoints[i].Table)
	}
	if !slices.Contains(names, f.table) {
		return usageError(cmd, fmt.Errorf("there is no table %q%s", f.table, didYouMean("", f.table, names)))
	}
	return nil
}

// print prints the rows that differ between the snapshots of args, as diff takes them.
func (f *rowsFlags) print(cmd *cobra.Command, st *openStore, args []string) (err error) {
	var snaps [2]*store.Snapshot
	var bound [2]*api.Bound
	for i := range snaps {
		id := args[min(i, len(args)):min(i+1, len(args))] // empty: what the channel shows
		if snaps[i], err = f.open(cmd, st, id, snaps[0]); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, snaps[i].Close()) }()
		if bound[i], err = state.Bind(snaps[i]); err != nil {
			return err
		}
	}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		if f.table != "" && f.table != e.Table {
			continue
		}
		totals, err := figures.WriteChanges(exact(cmd.OutOrStdout()), bound[0], bound[1], e, f.format == formatCSV)
		if err != nil {
			return err
		}
		if f.table != "" || totals != (figures.ChangeTotals{}) {
			fmt.Fprintf(cmd.ErrOrStderr(), "hdqs: %s: %d rows added, %d removed, %d changed\n",
				e.Table, totals.Added, totals.Removed, totals.Changed)
		}
	}
	return nil
}

// open opens a snapshot, sharing what it has in common with an earlier one, if there is one.
func (f *rowsFlags) open(
	cmd *cobra.Command, st *openStore, args []string, earlier *store.Snapshot,
) (*store.Snapshot, error) {
	id, p, err := st.find(cmd.Context(), args, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	var snap *store.Snapshot
	if p.ID != "" {
		snap, err = st.OpenPointer(p, earlier)
	} else {
		snap, err = st.OpenAfter(id, earlier)
	}
	return snap, storeError(err)
}
