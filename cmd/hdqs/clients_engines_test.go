package main_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	if _, err := export.ToStore(t.Context(), b, snap, o); err != nil {
		t.Fatal(err)
	}
	if err := iceberg.Update(b, folder, "", nil); err != nil {
		t.Fatal(err)
	}
}

// openShown opens the snapshot that a store shows.
func openShown(t *testing.T, folder string) (*store.Store, *store.Snapshot) {
	t.Helper()
	st, err := store.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	p, err := st.Channel("stable")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := st.Open(p.ID)
	if err != nil {
		t.Fatal(err)
	}
	return st, snap
}

func testEngines(t *testing.T, folder, usual string) {
	t.Helper()
	dir := clientsDir(t)
	engines := withoutSlowClients(strings.Fields(cmp.Or(os.Getenv("HDQS_ENGINES"), usual)))
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
	m := onlyBulkManifest(t, folder)
	r := rand.New(rand.NewPCG(17, 17))
	for range 8 {
		files := m.Tables[r.IntN(len(m.Tables))].Files
		f := files[r.IntN(len(files))]
		whole := ask(t, "GET", s.base+"/bulk/"+m.Snapshot+"/"+f.Path).body
		url := s.base + "/bulk/" + m.Snapshot + "/" + f.Path
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

// TestClientsDuckDBSurvivesCuts breaks the connections of DuckDB after any number of bytes: it must
// read the right rows or report an error, after which it can read the file again.
func TestClientsDuckDBSurvivesCuts(t *testing.T) {
	parallel(t)
	dir := clientsDir(t)
	folder := filepath.Join(t.TempDir(), "store")
	mustExit(t, 0, "build", "--catalog", "../../loader/sample/catalog", "--store", folder, "--bulk", "--bulk-formats",
		"parquet")
	s, m := serve(t, "--store", folder, "--bulk"), onlyBulkManifest(t, folder)
	cut := cuttingProxy(t, strings.TrimPrefix(s.base, "http://"))
	args := []string{filepath.Join("testdata", "clients", "cuts.py"), s.base, "http://" + cut}
	for _, table := range []string{"conflict_event", "food_price", "refugees", "data_availability"} {
		args = append(args, "/bulk/"+m.Snapshot+"/"+table+"/part-0.parquet")
	}
	python := filepath.Join(dir, "engines", "bin", "python")
	out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// onlyBulkManifest reads the manifest of the only snapshot of a store that has bulk files.
func onlyBulkManifest(t *testing.T, store string) bulkManifest {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join(store, "bulk", "snapshots", "*.json"))
	if err != nil || len(manifests) != 1 {
		t.Fatalf("manifests %q, %v", manifests, err)
	}
	return readBulkManifest(t, manifests[0])
}

// cuttingProxy passes connections on to an address. Two of three break after a random number of
// bytes of the answers. It returns its own address.
func cuttingProxy(t *testing.T, to string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		open.Wait()
	})
	r := rand.New(rand.NewPCG(17, 18))
	open.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			most := int64(math.MaxInt64)
			if r.IntN(3) > 0 {
				most = 1 + int64(math.Pow(2, 17*r.Float64())) // often in the head of an answer
			}
			open.Go(func() { passOn(client, to, most) })
		}
	})
	return listener.Addr().String()
}

// passOn passes a connection on until one side ends it, or most bytes were answered.
func passOn(client net.Conn, to string, most int64) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client) // ends with one of them
		server.Close()
	}()
	_, _ = io.CopyN(client, server, most)
}
