package main_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// TestSampleFigures checks the headline figures of the embedded sample, which people see first, by
// the rules of a file. Those of nine countries in ten are of the last four years.
func TestSampleFigures(t *testing.T) {
	parallel(t)
	s := serve(t)
	values := map[string]map[string]float64{}
	for _, h := range contract.Headlines {
		of, old := map[string]float64{}, 0
		for _, r := range s.records(t, "figures/"+h.Name) {
			if value, is := r["value"].(float64); is {
				of[r["location_code"].(string)] = value
				if end, ends := r["period_end"].(string); ends && end < "2022" {
					old++
				}
			}
		}
		if values[h.Name] = of; len(of) < 8 || old > len(of)/10 {
			t.Errorf("%s is known of %d countries, of which %d are older than 2022", h.Name, len(of), old)
		}
	}
	holds := map[string]func(a, b float64) bool{
		"<":  func(a, b float64) bool { return a < b },
		"<=": func(a, b float64) bool { return a <= b },
		">":  func(a, b float64) bool { return a > b },
	}
	for line := range strings.Lines(string(testkit.ReadFile(t, filepath.Join("testdata", "sample_figures.txt")))) {
		f := strings.Fields(line)
		if f[0] == "#" {
			continue
		}
		figure, other := values[f[0]], values[f[2]]
		number, err := strconv.ParseFloat(f[2], 64)
		if figure == nil || other == nil && err != nil || holds[f[1]] == nil {
			t.Fatalf("%q is no rule", line)
		}
		var compared int
		var broken []string
		for country, value := range figure {
			bound, known := other[country]
			if other == nil {
				bound, known = number, true
			}
			if !known {
				continue
			}
			if compared++; !holds[f[1]](value, bound) {
				broken = append(broken, country)
			}
		}
		share := 100
		if len(f) == 5 {
			share, err = strconv.Atoi(f[4])
			testkit.Must(t, err)
		}
		if compared < 8 || 100*(compared-len(broken)) < share*compared {
			t.Errorf("%s: compared in %d countries, not so in %q", strings.TrimSpace(line), compared, broken)
		}
	}
}
