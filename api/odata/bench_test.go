//go:build !race

package odata_test

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/odata"
	"hdqs/api/state"
)

// BenchmarkODataPage compares pages of 10,000 records by OData with those of the list, of the
// snapshot that BenchmarkPlainPage reads: neighbouring rows and scattered ones, plain and
// compressed. Both take turns. Metric ratio is the median of the rounds, of processor time; it
// should be at most 1.2.
func BenchmarkODataPage(b *testing.B) {
	dir := os.Getenv("HDQS_BENCH_STORE")
	if dir == "" {
		b.Skip("HDQS_BENCH_STORE names no store")
	}
	snap, _ := apitest.OpenShown(b, dir, cmp.Or(os.Getenv("HDQS_BENCH_CHANNEL"), "stable"))
	s := apitest.Serve(b, state.Options{BaseURL: apitest.ODataBase, CacheBytes: -1}, snap)
	const list = "/hapi/api/v2/coordination-context/conflict-events?app_identifier=" + apitest.Identifier
	const set = odata.Root + "conflict_events"
	for _, c := range []struct{ name, plain, odata string }{
		{"neighbours", list + "&offset=20000", set + "?$skip=20000"},
		{"scattered", list + "&event_type=demonstration", set + "?$filter=event_type%20eq%20'demonstration'"},
		{
			"fields", list + "&fields=location_code,event_type,events",
			set + "?$select=location_code,event_type,events",
		},
	} {
		for _, coding := range []string{"identity", "gzip"} {
			b.Run(c.name+"/"+coding, func(b *testing.B) {
				header := apitest.Fields("Accept-Encoding", coding)
				ask := func(target string) float64 {
					before := apitest.CPUTime(b)
					for range 8 {
						if a := s.Answer("GET", target, header); a.Status != 200 || len(a.Body) < 5_000 {
							b.Fatal(target, a.Status, len(a.Body))
						}
					}
					return float64(apitest.CPUTime(b) - before)
				}
				for range 20 { // stored blocks are made by the first requests
					ask(c.plain)
					ask(c.odata)
				}
				var ratios []float64
				for b.Loop() {
					plain := ask(c.plain)
					ratios = append(ratios, ask(c.odata)/max(1, plain))
				}
				slices.Sort(ratios)
				bytes := float64(len(s.Answer("GET", c.odata, header).Body))
				b.ReportMetric(bytes/float64(len(s.Answer("GET", c.plain, header).Body)), "bytes-ratio")
				b.ReportMetric(ratios[len(ratios)/2], "ratio")
			})
		}
	}
}
