package generator

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// program returns the binary under test: HDQS_BINARY, or one built here.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the whole program")
	}
	if binary := os.Getenv("HDQS_BINARY"); binary != "" {
		return binary
	}
	binary := filepath.Join(t.TempDir(), "hdqs")
	build := exec.Command("go", "build", "-o", binary, "./cmd/hdqs")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// load builds a store from a catalog and returns its directory and the program's exit code.
func load(t *testing.T, binary, catalog string) (store string, exit int) {
	t.Helper()
	store = t.TempDir()
	out, err := exec.Command(binary, "build", "--catalog", catalog, "--store", store,
		"--allow-empty", strings.Join(Roles(), ",")).CombinedOutput()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		return store, failed.ExitCode()
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	return store, 0
}

// manifestOf reads the only manifest of a store, or its report.
func manifestOf(t *testing.T, store string, report bool, into any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(store, "manifests", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, ".report.json") != report {
			continue
		}
		text, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("%s: no manifest (report: %v) among %v", store, report, files)
}

// TestBothFormsMakeOneSnapshot loads a world from its CSV files, whose codes are stale, missing or
// shifted, and from its views, in which all joins are done. Every table must have the same bytes.
func TestBothFormsMakeOneSnapshot(t *testing.T) {
	t.Parallel()
	binary := program(t)
	endpoints := len(testkit.ReadContract(t, "../../testdata/contract.json").Paths)
	for name, o := range map[string]Options{
		"sample":         {Seed: 1},
		"scale=0.004":    {Seed: 2, Scale: 0.004, Compress: true},
		"small":          {Seed: 1, Small: true},
		"two themes":     {Seed: 1, Small: true, Roles: []string{"funding", "idps"}},
		"sample, a part": {Seed: 3, Roles: []string{"national-risk", "food-prices-market-monitor"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tables := [2]map[string]string{}
			for i, write := range []func(string, Options) ([]Count, error){Write, WriteViews} {
				dir := t.TempDir()
				counts, err := write(dir, o)
				if err != nil {
					t.Fatal(err)
				}
				store, exit := load(t, binary, dir)
				if exit != 0 {
					t.Fatalf("exit %d", exit)
				}
				var m struct {
					Tables []struct {
						Table, SHA256 string
						Rows          int
					}
				}
				manifestOf(t, store, false, &m)
				tables[i] = map[string]string{}
				rows := map[string]int{}
				for _, table := range m.Tables {
					tables[i][table.Table] = table.SHA256
					rows[table.Table] = table.Rows
				}
				for _, th := range themes {
					kept := 0
					if k := slices.IndexFunc(counts, func(c Count) bool { return c.Role == th.role }); k >= 0 {
						kept = counts[k].Kept
					}
					if rows[th.view] != kept {
						t.Errorf("%s: %d rows, the generator counts %d", th.view, rows[th.view], kept)
					}
				}
			}
			if len(tables[0]) != endpoints {
				t.Errorf("%d tables, want one for each of %d endpoints", len(tables[0]), endpoints)
			}
			for table, sum := range tables[0] {
				if tables[1][table] != sum {
					t.Errorf("%s: the segments of files and views differ", table)
				}
			}
		})
	}
}

// TestHostile loads a catalog full of faults. Exactly the bad rows are dropped, and exactly the
// broken files refused.
func TestHostile(t *testing.T) {
	t.Parallel()
	binary := program(t)
	dir := t.TempDir()
	faults, err := WriteHostile(dir, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	store, exit := load(t, binary, dir)
	if exit != 5 {
		t.Errorf("exit %d, want 5 (some input refused)", exit)
	}
	var report struct {
		Refused   []struct{ Path string }
		Resources []struct {
			Path string
			Rows struct{ Dropped, Kept int }
		}
	}
	manifestOf(t, store, true, &report)
	refused := map[string]bool{}
	for _, r := range report.Refused {
		refused[r.Path] = true
	}
	want := map[string]int{}
	for _, f := range faults {
		if f.Fatal && !refused[f.Path] {
			t.Errorf("%s (%s): not refused", f.Path, f.What)
		}
		if !f.Fatal {
			want[f.Path]++
		}
	}
	for _, r := range report.Resources {
		n, bad := want[r.Path]
		if !bad {
			continue
		}
		delete(want, r.Path)
		if r.Rows.Dropped != n || r.Rows.Kept != 1 {
			t.Errorf("%s: %d rows dropped and %d kept, want %d and the good one", r.Path, r.Rows.Dropped, r.Rows.Kept,
				n)
		}
	}
	if len(want) > 0 {
		t.Errorf("not in the report: %v", want)
	}
}
