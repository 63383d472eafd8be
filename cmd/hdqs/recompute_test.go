package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"hdqs/internal/generator"
)

// recomputed is what the second implementation says of one endpoint: the texts of its records, in order.
type recomputed struct {
	path, fields string
	json, csv    []string
}

// recompute runs testdata/recompute.py, which knows the contract and the sources but nothing of this program.
func recompute(t *testing.T, catalogDir, catalogURL string) []*recomputed {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("no python3: %s is not run", t.Name())
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "recompute.py"), catalogDir, catalogURL, "2026-11-21T01:02:00")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []*recomputed
	for lines := json.NewDecoder(bytes.NewReader(out)); lines.More(); {
		var line struct{ Path, Fields, JSON, CSV string }
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.Path != "" {
			all = append(all, &recomputed{path: line.Path, fields: line.Fields})
			continue
		}
		last := all[len(all)-1]
		last.json, last.csv = append(last.json, line.JSON), append(last.csv, line.CSV)
	}
	return all
}

// TestRecompute compares every record of every endpoint, in both formats and byte by byte, with what a second implementation in another
// language makes of the same catalog.
func TestRecompute(t *testing.T) {
	const catalogURL = "https://catalog.example.org"
	made := func(o generator.Options) func(*testing.T) string {
		return func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "catalog")
			if _, err := generator.Write(dir, o); err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
	for _, c := range []struct {
		name    string
		short   bool // also in a short run
		catalog func(*testing.T) string
	}{
		{"sample", true, made(generator.Options{Seed: 1})},
		{"another seed", false, made(generator.Options{Seed: 7})},
		{"real input", false, func(t *testing.T) string {
			needFixtures(t)
			return filepath.Join(fixtures, "catalog")
		}},
	} {
		if testing.Short() && !c.short {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			dir := c.catalog(t)
			want := recompute(t, dir, catalogURL)
			if len(want) != 25 {
				t.Fatalf("%d endpoints recomputed, want 25", len(want))
			}
			store := filepath.Join(t.TempDir(), "store")
			wants(t, 0, "build", "--catalog", dir, "--store", store, "--snapshot-time", buildTime, "--catalog-url", catalogURL)
			s := serve(t, "--store", store)
			for _, e := range want {
				s.compare(t, e)
			}
		})
	}
}

// compare pages through an endpoint.
func (s *server) compare(t *testing.T, want *recomputed) {
	t.Helper()
	const page = 10000
	for from := 0; from == 0 || from < len(want.json); from += page {
		to := min(from+page, len(want.json))
		for _, format := range []string{"json", "csv"} {
			begins, between, ends, records := `{"data":[`, ",", `]}`, want.json[from:to]
			if format == "csv" {
				begins, between, ends, records = want.fields, "", "", want.csv[from:to]
			}
			a := ask(t, "GET", s.base+with(want.path+"?output_format="+format+"&offset="+strconv.Itoa(from)))
			if total := a.header.Get("X-Total-Count"); total != strconv.Itoa(len(want.json)) {
				t.Errorf("%s: X-Total-Count %s, want %d", want.path, total, len(want.json))
			}
			rest, ok := bytes.CutPrefix(a.body, []byte(begins))
			for i, record := range records {
				if i > 0 && ok {
					rest, ok = bytes.CutPrefix(rest, []byte(between))
				}
				if !ok || !bytes.HasPrefix(rest, []byte(record)) {
					t.Errorf("%s, %s, record %d: got %.600s\nwant %s", want.path, format, from+i, rest, record)
					return
				}
				rest = rest[len(record):]
			}
			if string(rest) != ends {
				t.Errorf("%s, %s: behind the last record stands %.200q, want %q", want.path, format, rest, ends)
			}
		}
	}
}
