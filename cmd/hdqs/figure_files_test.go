package main_test

import (
	"bytes"
	"encoding/csv"
	"image/png"
	"strconv"
	"strings"
	"testing"
)

// TestFigureFiles: figures of the real input as files are those that an independent program has
// found in it, and pictures of them are drawn.
func TestFigureFiles(t *testing.T) {
	parallel(t)
	s := serve(t, "--store", fixtureStore(t))
	const violence = "conflict-events?admin_level=coarsest&event_type=political_violence&start_date=2025-01" +
		"&by=location_code"
	for _, c := range []struct {
		view, code string // the code of a country, empty for the sum of all
		want       int
	}{
		{"humanitarian-needs", "SDN", 24_786_370},
		{"humanitarian-needs", "AFG", 23_666_389},
		{violence + "&measure=fatalities", "", 979},
		{violence + "&measure=events", "", 1146},
		{violence + "&measure=fatalities", "SDN", 26},
		{violence + "&measure=fatalities", "FRA", 0},
	} {
		name, query, _ := strings.Cut(c.view, "?")
		query = "?" + query
		table := ask(t, "GET", s.base+"/figure/"+name+".csv"+query)
		lines, err := csv.NewReader(bytes.NewReader(table.body)).ReadAll()
		if err != nil || table.status != 200 {
			t.Fatalf("%s: %d %v %.300s", c.view, table.status, err, table.body)
		}
		got, found := 0, false
		for _, line := range lines[1:] {
			if n, err := strconv.Atoi(line[2]); err == nil && (c.code == "" || c.code == line[0]) {
				got, found = got+n, true
			}
		}
		if got != c.want || !found {
			t.Errorf("%s %s: %d, want %d", c.view, c.code, got, c.want)
		}
		picture := ask(t, "GET", s.base+"/figure/"+name+".png"+query)
		if _, err := png.Decode(bytes.NewReader(picture.body)); err != nil || len(picture.body) > 150<<10 {
			t.Errorf("%s: %d, %d bytes, %v", c.view, picture.status, len(picture.body), err)
		}
	}
	for _, refused := range []string{
		"humanitarian-needs.png?by=location_code&measure=population&location_code=SDN&admin_level=2",
		"humanitarian-needs.png?by=location_code&measure=population", "food-prices-market-monitor.svg",
		"conflict-events.png?by=location_code&measure=fatalities",
	} {
		if a := ask(t, "GET", s.base+"/figure/"+refused); a.status != 422 {
			t.Errorf("%s: %d", refused, a.status)
		}
	}
}
