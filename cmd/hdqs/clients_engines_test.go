package main_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// usualEngines are those that are tested each time. HDQS_ENGINES names others, with the folder of
// their Python environment in front: see `make engines`.
const usualEngines = "engines duckdb duckdb_iceberg duckdb_join polars pandas pyarrow pyiceberg"

// TestClientsEngines has engines read every table of bulk files by URL, by path or as an Iceberg
// table. Rows, sums and hashes of each column must be those of the interface.
func TestClientsEngines(t *testing.T) {
	parallel(t)
	dir := clientsDir(t)
	engines := strings.Fields(cmp.Or(os.Getenv("HDQS_ENGINES"), usualEngines))
	folder := filepath.Join(t.TempDir(), "store")
	mustExit(t, 0, "build", "--catalog", "../../loader/sample/catalog", "--store", folder, "--bulk", "--bulk-formats",
		"parquet")
	s := serve(t, "--store", folder, "--bulk")
	python := filepath.Join(dir, engines[0], "bin", "python")
	args := append([]string{filepath.Join("testdata", "clients", "engines.py"), s.base, folder}, engines[1:]...)
	out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// TestClientsCurlResumes cuts downloads after any number of bytes and has curl continue them.
func TestClientsCurlResumes(t *testing.T) {
	parallel(t)
	clientsDir(t)
	folder := filepath.Join(t.TempDir(), "store")
	mustExit(t, 0, "build", "--catalog", "../../loader/sample/catalog", "--store", folder, "--bulk")
	s := serve(t, "--store", folder, "--bulk")
	manifests, err := filepath.Glob(filepath.Join(folder, "bulk", "snapshots", "*.json"))
	if err != nil || len(manifests) != 1 {
		t.Fatalf("manifests %q, %v", manifests, err)
	}
	m := readBulkManifest(t, manifests[0])
	r := rand.New(rand.NewPCG(17, 17))
	for range 8 {
		files := m.Tables[r.IntN(len(m.Tables))].Files
		f := files[r.IntN(len(files))]
		whole := ask(t, "GET", s.base+"/bulk/"+m.Snapshot+"/"+f.Path).body
		url := s.base + "/bulk/latest/" + f.Path
		path := filepath.Join(t.TempDir(), "file")
		testkit.WriteFile(t, path, whole[:r.IntN(len(whole))])
		if out, err := exec.CommandContext(t.Context(), "curl", "-sSLf", "-C", "-", "-o", path,
			url).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if sum := sha256.Sum256(testkit.ReadFile(t, path)); hex.EncodeToString(sum[:]) != f.SHA256 {
			t.Errorf("%s is another file after it was continued", f.Path)
		}
	}
}
