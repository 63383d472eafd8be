package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestClientsReadByURL has libraries for tables read lists by URL with their usual calls. Each must
// see all rows, every null and the sum that the test computes from the list in JSON.
func TestClientsReadByURL(t *testing.T) {
	parallel(t)
	dir := clientsDir(t)
	s := serve(t, "--store", storeOfScale(t, 0.01))
	lists := []struct{ path, field string }{
		{conflictPath + "?limit=10000", "fatalities"},
		{"/hapi" + pricesPath + "?limit=10000&offset=300", "price"},
		{rainfallPath + "?limit=7000", "rainfall"},
		{"/hapi" + refugeesPath + "?limit=5000", "min_age"},
	}
	wants := make([]string, len(lists))
	for i, list := range lists {
		wants[i] = summary(t, ask(t, "GET", s.base+with(list.path)).body, list.field)
	}
	python := filepath.Join(dir, "clients", "bin", "python")
	python2 := filepath.Join(dir, "polars2", "bin", "python")
	script := filepath.Join("testdata", "clients", "read.py")
	for _, reader := range []struct {
		name, format string
		program      []string
	}{
		{"pandas", "csv", []string{python, script, "pandas"}},
		{"polars read_csv", "csv", []string{python, script, "polars_read"}},
		{"polars scan_csv", "csv", []string{python, script, "polars_scan"}},
		{"polars 2", "csv", []string{python2, script, "polars_bytes"}},
		{"polars 2 read_csv", "csv", []string{python2, script, "polars_read"}},
		{"polars 2 scan_csv", "csv", []string{python2, script, "polars_scan"}},
		{"duckdb read_csv", "csv", []string{python, script, "duckdb_csv"}},
		{"duckdb read_json", "json", []string{python, script, "duckdb_json"}},
		{"R", "csv", []string{"Rscript", filepath.Join("testdata", "clients", "read.R")}},
	} {
		t.Run(reader.name, func(t *testing.T) {
			var plan strings.Builder
			for _, list := range lists {
				url := s.base + with(list.path+"&output_format="+reader.format)
				fmt.Fprintf(&plan, "%s\t%s\n", url, list.field)
			}
			checkSummaries(t, fetchProgram(reader.program[0], reader.program[1:]...)(t, plan.String()), wants)
		})
	}
}

// summary is what the programs print about a list: rows, sum and nulls of a field.
func summary(t *testing.T, body []byte, field string) string {
	t.Helper()
	rows, nulls, sum := jsonRows(t, body), 0, 0.0
	for _, row := range rows {
		number, is := row[field].(json.Number)
		if !is {
			nulls++
			continue
		}
		value, err := number.Float64()
		testkit.Must(t, err)
		sum += value
	}
	if len(rows) == 0 || sum == 0 {
		t.Fatalf("%d rows, the sum of %s is %v", len(rows), field, sum)
	}
	return fmt.Sprintf("%d\t%.6f\t%d", len(rows), sum, nulls)
}

// checkSummaries compares what a program has printed with the summaries of lists.
func checkSummaries(t *testing.T, read string, wants []string) {
	t.Helper()
	got := strings.Split(strings.TrimSpace(read), "\n")
	if len(got) != len(wants) {
		t.Fatalf("%d lists read, want %d:\n%s", len(got), len(wants), read)
	}
	for i, want := range wants {
		if !sameSummary(got[i], want) {
			t.Errorf("list %d: read %.300s\nwant %s and the columns", i, got[i], want)
		}
	}
}

// sameSummary compares summaries. Sums may differ in the last digits, since programs add in another
// order.
func sameSummary(got, want string) bool {
	g, w := strings.Split(got, "\t"), strings.Split(want, "\t")
	if len(g) != 4 || !strings.Contains(g[3], "reference_period_start") {
		return false
	}
	a, errA := strconv.ParseFloat(g[1], 64)
	b, errB := strconv.ParseFloat(w[1], 64)
	near := errA == nil && errB == nil && max(a-b, b-a) <= 1e-9*max(b, -b)+1e-6
	return g[0] == w[0] && near && g[2] == w[2]
}

// TestClientsPoints has GDAL read points by URL in parts, longer than those that it reads at once.
func TestClientsPoints(t *testing.T) {
	parallel(t)
	dir := clientsDir(t)
	s := serve(t, "--store", storeOfScale(t, 0.01))
	var plan strings.Builder
	want := ""
	for _, path := range []string{pricesPath + "?limit=3000", "/hapi" + pricesPath + "/export?limit=3000"} {
		a := ask(t, "GET", s.base+with(path+"&output_format=geojson"))
		var whole struct {
			Features []struct {
				Geometry   struct{ Coordinates []float64 }
				Properties struct{ Price json.Number }
			}
		}
		if err := json.Unmarshal(a.body, &whole); err != nil || len(a.body) < 1<<18 {
			t.Fatalf("%s: %v, %d bytes", path, err, len(a.body))
		}
		placed, sum := 0, 0.0
		for _, f := range whole.Features {
			if len(f.Geometry.Coordinates) == 2 {
				placed++
			}
			price, _ := f.Properties.Price.Float64()
			sum += price
		}
		fmt.Fprintf(&plan, "%s\tprice\n", s.base+with(path+"&output_format=geojson"))
		want += fmt.Sprintf("%d\t%d\t%.3f\n", len(whole.Features), placed, sum)
	}
	read := fetchProgram(filepath.Join(dir, "polars2", "bin", "python"),
		filepath.Join("testdata", "clients", "points.py"))(t, plan.String())
	if read != want {
		t.Errorf("GDAL read\n%swant\n%s", read, want)
	}
}
