package main_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"hdqs/internal/testkit"
)

// TestClientsCatalogs has readers of catalogs read bulk files: pystac the STAC documents,
// frictionless and mlcroissant their packages, and DuckDB what OCHA's explorer of its own Parquet
// files asks for, with only the base of the addresses changed. See testdata/clients/catalogs.py.
func TestClientsCatalogs(t *testing.T) {
	parallel(t)
	testCatalogs(t, "../../loader/sample/catalog")
}

// TestClientsCatalogsFixtures is the same with the real input.
func TestClientsCatalogsFixtures(t *testing.T) {
	parallel(t)
	testCatalogs(t, filepath.Join(testkit.Fixtures(t), "catalog"))
}

func testCatalogs(t *testing.T, catalog string) {
	t.Helper()
	python := filepath.Join(clientsDir(t), "catalogs", "bin", "python")
	folder, tree := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "tree")
	const formats = "parquet,csv.gz,hapi-parquet"
	mustExit(t, 0, "build", "--catalog", catalog, "--store", folder, "--snapshot-time", buildTime, "--bulk",
		"--bulk-formats", formats)
	mustExit(t, 0, "export", tree, "--store", folder, "--formats", formats)
	latest, err := filepath.EvalSymlinks(filepath.Join(tree, "latest"))
	testkit.Must(t, err)
	s := serve(t, "--store", folder, "--bulk")
	script := filepath.Join("testdata", "clients", "catalogs.py")
	out, err := exec.CommandContext(t.Context(), python, "-W", "ignore", script, s.base, latest).CombinedOutput()
	t.Logf("%s", out)
	testkit.Must(t, err)
}
