package main_test

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"hdqs/internal/testkit"
)

// TestClientsGnumeric opens the workbook and the CSV file of a list with gnumeric, whose ssconvert
// writes what the first sheet shows, and compares names, texts, numbers and sum with the list.
func TestClientsGnumeric(t *testing.T) {
	parallel(t)
	program := testkit.Program(t, "ssconvert", "gnumeric")
	s := serve(t, "--store", sampleStore(t))
	events := s.list(t, conflictPath+"?location_code=AFG")
	for _, form := range []string{"xlsx", "csv"} {
		dir := t.TempDir()
		a := ask(t, "GET", s.base+with(conflictPath+"/export?location_code=AFG&output_format="+form))
		if a.status != 200 {
			t.Fatalf("%s: %d %s", form, a.status, a.body)
		}
		file, shown := filepath.Join(dir, "events."+form), filepath.Join(dir, "shown.csv")
		testkit.WriteFile(t, file, a.body)
		tool(t, dir, program, "--export-type=Gnumeric_stf:stf_csv", file, shown)
		rows, err := csv.NewReader(bytes.NewReader(testkit.ReadFile(t, shown))).ReadAll()
		testkit.Must(t, err)
		if len(rows) != len(events)+1 || len(events) == 0 {
			t.Fatalf("%s: %d rows with that of the names, want %d", form, len(rows), len(events)+1)
		}
		code, kind, deaths := slices.Index(rows[0], "location_code"), slices.Index(rows[0], "event_type"),
			slices.Index(rows[0], "fatalities")
		if min(code, kind, deaths) < 0 {
			t.Fatalf("%s: the names are %q", form, rows[0])
		}
		var sum int64
		for i, row := range rows[1:] {
			if row[code] != "AFG" || row[kind] != events[i]["event_type"] {
				t.Errorf("%s: row %d is %q, want %v", form, i+1, row, events[i])
			}
			if row[deaths] != "" {
				n, err := strconv.ParseInt(row[deaths], 10, 64)
				testkit.Must(t, err)
				sum += n
			}
		}
		if want := sumOf(t, events, "fatalities"); sum != want {
			t.Errorf("%s: %d deaths, want %d", form, sum, want)
		}
	}
}
