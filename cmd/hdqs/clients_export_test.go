package main_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientsReadExports has pyarrow and openpyxl read exports. Each must see all rows, every null
// and the sum that the test computes from the list in JSON.
func TestClientsReadExports(t *testing.T) {
	parallel(t)
	python := filepath.Join(clientsDir(t), "engines", "bin", "python")
	s := serve(t, "--store", storeOfScale(t, 0.01))
	var plan strings.Builder
	var wants []string
	for _, list := range []struct{ path, query, field string }{
		{conflictPath, "?limit=10000", "fatalities"},
		{"/hapi" + pricesPath, "?limit=10000&offset=300", "price"},
		{rainfallPath, "?limit=7000&fields=reference_period_start,rainfall,version", "rainfall"},
		{"/hapi" + refugeesPath, "?limit=5000", "min_age"},
	} {
		want := summary(t, ask(t, "GET", s.base+with(list.path+list.query)).body, list.field)
		for _, format := range []string{"arrow", "arrow&compression=zstd", "parquet", "xlsx"} {
			name, _, _ := strings.Cut(format, "&")
			url := s.base + with(list.path+"/export"+list.query+"&output_format="+format)
			fmt.Fprintf(&plan, "%s\t%s\t%s\n", name, url, list.field)
			wants = append(wants, want)
		}
	}
	script := filepath.Join("testdata", "clients", "export.py")
	got := strings.Split(strings.TrimSpace(fetchProgram(python, script)(t, plan.String())), "\n")
	if len(got) != len(wants) {
		t.Fatalf("%d exports read, want %d:\n%s", len(got), len(wants), got)
	}
	for i, want := range wants {
		if !sameSummary(got[i], want) {
			t.Errorf("export %d: read %.300s\nwant %s and the columns", i, got[i], want)
		}
	}
}
