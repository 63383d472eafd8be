//go:build !race

package figures_test

import (
	"fmt"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestKeptFigures: figures that a publication has kept are those that are computed, over time too.
// A figure over time has values of as many units as the newest one, and of their level.
func TestKeptFigures(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	for _, rows := range []string{"testdata/parts.txt", "testdata/future.txt"} {
		apitest.AddRows(t, tables, string(testkit.ReadFile(t, rows)))
	}
	apitest.AddRows(t, tables, `
table population
CAF/CF01 2022; gender=all; age_range=all; population=9
CAF/CF01 2021; gender=all; age_range=all; population=3
CAF/CF02 2021; gender=all; age_range=all; population=4`)
	open := func() *figures.Offline {
		snap := apitest.StoreSnapshot(t, apitest.SampleID, apitest.SampleTime, tables)
		return testkit.Value(figures.NewOffline(snap))(t)
	}
	of := open()
	defer of.Close()
	making := figures.Making{
		Of: of.Served.Bound.Snap.Manifest, Open: func() (*figures.Offline, error) { return open(), nil },
	}
	o := state.Options{Identifier: state.IgnoreIdentifier}
	computed, kept := apitest.Server(t, o, tables), apitest.Server(t, o, tables)
	apitest.Swap(t, kept, state.Release{
		Snapshot: apitest.StoreSnapshot(t, apitest.SampleID, apitest.SampleTime, tables),
		Figures:  state.KeptFigures{Data: testkit.Value(making.Make())(t), SHA256: "s"},
	})
	for _, h := range contract.Headlines {
		for _, query := range []string{"", "?location_code=SDN", "?location_code__in=AFG,CAF,HTI,MLI,TCD"} {
			path := "/api/v2/figures/" + h.Name + query
			a, b := computed.Answer("GET", path, nil), kept.Answer("GET", path, nil)
			testkit.Equal(t, string(b.Body), string(a.Body), "%s, kept", path)
		}
		for _, code := range []string{"AFG", "CAF", "MLI"} {
			was := testkit.Value(figures.SeriesOf(of.Lists, of.Served, h, code))(t)
			is := testkit.Value(figures.SeriesOf(kept.Lists, kept.State.Snapshots.Current.Load(), h, code))(t)
			testkit.Equal(t, fmt.Sprint(is), fmt.Sprint(was), "%s of %s over time, kept", h.Name, code)
			if h.Name == "population" && code == "CAF" {
				testkit.Equal(t, fmt.Sprint(is), "map[2021:7 2024:14]", "population over time")
			}
		}
	}
}
