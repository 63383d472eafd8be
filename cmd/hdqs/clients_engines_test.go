package main_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdqs/bulk"
	"hdqs/bulk/export"
	"hdqs/bulk/iceberg"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// usualEngines are those that are tested each time. HDQS_ENGINES names others, with the folder of
// their Python environment in front: see `make engines`.
const usualEngines = "engines duckdb duckdb_iceberg duckdb_join polars pandas pyarrow pyiceberg"

// TestClientsEngines has engines read every table of bulk files by URL, by path or as an Iceberg
// table. Rows, sums and hashes of each column must be those of the interface. The store is that of
// the sample, in which tables of more than 500 rows have a file for each country, or the one with
// bulk files that HDQS_ENGINES_STORE names.
func TestClientsEngines(t *testing.T) {
	parallel(t)
	folder := os.Getenv("HDQS_ENGINES_STORE")
	if folder == "" {
		folder = filepath.Join(t.TempDir(), "store")
		mustExit(t, 0, "build", "--catalog", "../../loader/sample/catalog", "--store", folder)
		addBulk(t, folder, 500, bulk.Parquet)
	}
	testEngines(t, folder, usualEngines)
}

// TestClientsEnginesFixtures is the same with the real input. pandas, which reads with pyarrow, is
// left to `make soak`.
func TestClientsEnginesFixtures(t *testing.T) {
	parallel(t)
	clientsDir(t)
	folder := filepath.Join(t.TempDir(), "store")
	mustExit(t, 0, "build", "--catalog", filepath.Join(testkit.Fixtures(t), "catalog"), "--store", folder,
		"--snapshot-time", buildTime)
	addBulk(t, folder, testkit.Trials(2000, 15000), bulk.Parquet) // the sample has partitioned tables too
	engines := strings.Fields(usualEngines)
	if !testkit.Long() {
		engines = slices.DeleteFunc(engines, func(name string) bool { return name == "pandas" })
	}
	testEngines(t, folder, strings.Join(engines, " "))
}

// addBulk writes the bulk files and Iceberg tables of a store. Tables of more than some rows have a
// file for each country.
func addBulk(t *testing.T, folder string, rows int, formats ...bulk.Format) {
	t.Helper()
	st, snap := openShown(t, folder)
	defer snap.Close()
	b := bulk.Open(st)
	o := export.Options{Formats: formats, PartitionRows: rows}
	_, err := export.ToStore(t.Context(), b, snap, o)
	testkit.Must(t, err)
	testkit.Must(t, iceberg.Update(b, folder, "", nil))
}

// openShown opens the snapshot that a store shows.
func openShown(t *testing.T, folder string) (*store.Store, *store.Snapshot) {
	t.Helper()
	st, err := store.Open(folder)
	testkit.Must(t, err)
	p, err := st.Channels.Channel("stable")
	testkit.Must(t, err)
	snap, err := st.Snapshots.Open(p.ID)
	testkit.Must(t, err)
	return st, snap
}

func testEngines(t *testing.T, folder, usual string) {
	t.Helper()
	dir := clientsDir(t)
	engines := strings.Fields(cmp.Or(os.Getenv("HDQS_ENGINES"), usual))
	s := serve(t, "--store", folder, "--bulk")
	python := filepath.Join(dir, engines[0], "bin", "python")
	args := append([]string{filepath.Join("testdata", "clients", "engines.py"), s.base, folder}, engines[1:]...)
	out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
	t.Logf("%s", out)
	testkit.Must(t, err)
}
