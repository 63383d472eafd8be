package list_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/state"
)

// BenchmarkKeptPage measures pages of 100 records with admin_level=coarsest and with latest=edition
// beside the same pages without, in turns, without the cache of bodies. kind=first has filters that
// nobody asked for before, kind=next those of the page before. Metric ratio is the median of the
// rounds, target what it should be at most. It reads the store at HDQS_BENCH_STORE, or the sample
// without one.
func BenchmarkKeptPage(b *testing.B) {
	s := keptServer(b)
	const (
		conflict = "coordination-context/conflict-events"
		needs    = "affected-people/humanitarian-needs"
		idps     = "affected-people/idps"
		food     = "food-security-nutrition-poverty/food-security"
		rain     = "climate/rainfall"
		coarsest = "&admin_level=coarsest"
		edition  = "&latest=edition"
	)
	for _, c := range []struct{ path, filters, kept string }{
		{conflict, "", coarsest},
		{conflict, "&location_code=AFG", coarsest},
		{needs, "", coarsest},
		{needs, "&location_code=AFG&population_status=INN", edition},
		{idps, "", edition},
		{idps, "&location_code=AFG", coarsest},
		{food, "&classification_type=current", coarsest},
		{food, "&classification_type=current", edition},
		{rain, "&aggregation_period=3-month&version=final", edition},
	} {
		for _, kind := range []string{"first", "next"} {
			name := fmt.Sprintf("kind=%s/%s?%s", kind, c.path, (c.filters + c.kept)[1:])
			b.Run(name, func(b *testing.B) {
				benchInTurns(b, s, kind == "first", "/api/v2/"+c.path+"?limit=100"+c.filters, c.kept)
			})
		}
	}
}

func keptServer(b *testing.B) *api.Server {
	b.Helper()
	o := state.Options{Identifier: state.IgnoreIdentifier, CacheBytes: -1}
	dir := os.Getenv("HDQS_BENCH_STORE")
	if dir == "" {
		return apitest.Sample(b, o, 2000)
	}
	snap, _ := apitest.OpenShown(b, dir, cmp.Or(os.Getenv("HDQS_BENCH_CHANNEL"), "stable"))
	return apitest.Serve(b, o, snap)
}

// asked counts the filters of BenchmarkKeptPage that nobody asked for before.
var asked int

// benchInTurns answers a page without and with a parameter, in turns.
func benchInTurns(b *testing.B, s *api.Server, first bool, target, kept string) {
	var took, ratios []float64
	for round := 0; b.Loop(); round++ {
		var spent [2]float64
		for i := range 2 {
			which := (round + i) % 2
			page := target
			if asked++; first { // with a start before all rows
				start := time.Date(1900, 1, 1, 0, 0, asked, 0, time.UTC)
				page += start.Format("&start_date=2006-01-02T15:04:05")
			}
			if which == 1 {
				page += kept
			}
			before := time.Now()
			a := s.Answer("GET", page, nil)
			if spent[which] = float64(time.Since(before).Nanoseconds()) / 1000; a.Status != 200 {
				b.Fatalf("%s: %d %.300s", page, a.Status, a.Body)
			}
		}
		took, ratios = append(took, spent[1]), append(ratios, spent[1]/spent[0])
	}
	slices.Sort(took)
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(took[len(took)/2], "µs")
	b.ReportMetric(1.5, "target")
}
