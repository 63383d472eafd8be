package main_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestClientsReadExports has pyarrow and openpyxl read exports. Each must see all rows, every null
// and the sum that the test computes from the list in JSON. openpyxl takes a second for a thousand
// rows, so its exports are longer than that only in `make soak`.
func TestClientsReadExports(t *testing.T) {
	parallel(t)
	python := filepath.Join(clientsDir(t), "engines", "bin", "python")
	s := serve(t, "--store", storeOfScale(t, 0.01))
	var plan strings.Builder
	var wants []string
	for _, list := range []struct {
		path, query, field string
		rows               int
	}{
		{conflictPath, "", "fatalities", 10000},
		{"/hapi" + pricesPath, "&offset=300", "price", 10000},
		{rainfallPath, "&fields=reference_period_start,rainfall,version", "rainfall", 7000},
		{"/hapi" + refugeesPath, "", "min_age", 5000},
	} {
		for _, of := range []struct {
			rows    int
			formats []string
		}{
			{list.rows, []string{"arrow", "arrow&compression=zstd", "parquet"}},
			{testkit.Trials(list.rows, 1500), []string{"xlsx"}},
		} {
			query := fmt.Sprintf("?limit=%d%s", of.rows, list.query)
			want := summary(t, ask(t, "GET", s.base+with(list.path+query)).body, list.field)
			for _, format := range of.formats {
				name, _, _ := strings.Cut(format, "&")
				url := s.base + with(list.path+"/export"+query+"&output_format="+format)
				fmt.Fprintf(&plan, "%s\t%s\t%s\n", name, url, list.field)
				wants = append(wants, want)
			}
		}
	}
	script := filepath.Join("testdata", "clients", "export.py")
	checkSummaries(t, fetchProgram(python, script)(t, plan.String()), wants)
}
