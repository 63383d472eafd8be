package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// recomputed is the second implementation's result for one endpoint: its records as text, in order.
type recomputed struct {
	path, fields string
	json, csv    []string
}

// recompute runs testdata/recompute.py, which reads the contract and the source files and shares
// nothing with this program.
func recompute(t *testing.T, catalogDir, catalogURL string) []*recomputed {
	t.Helper()
	python := testkit.Program(t, "python3", "python3")
	script := filepath.Join("testdata", "recompute.py")
	cmd := exec.CommandContext(t.Context(), python, script, catalogDir, catalogURL, "2026-11-21T01:02:00")
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

// TestRecompute compares every record of every endpoint, in both formats and byte by byte, with the
// result of a second implementation, in Python, for the same catalog.
func TestRecompute(t *testing.T) {
	parallel(t)
	const catalogURL = "https://catalog.example.org"
	for name, catalog := range map[string]func(*testing.T) string{
		"sample":       func(t *testing.T) string { return newCatalog(t, 1) },
		"another seed": func(t *testing.T) string { return newCatalog(t, 7) },
		"fixtures":     func(t *testing.T) string { return filepath.Join(testkit.Fixtures(t), "catalog") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := catalog(t)
			want := recompute(t, dir, catalogURL)
			if len(want) != len(contract.Endpoints) {
				t.Fatalf("%d endpoints recomputed, want %d", len(want), len(contract.Endpoints))
			}
			store := filepath.Join(t.TempDir(), "store")
			mustExit(t, 0, "build", "--catalog", dir, "--store", store, "--snapshot-time", buildTime,
				"--catalog-url", catalogURL)
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
				t.Errorf("%s, %s: after the last record: %.200q, want %q", want.path, format, rest, ends)
			}
		}
	}
}
