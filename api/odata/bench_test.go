//go:build !race

package odata_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/odata"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/testkit"
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

// BenchmarkListsBesideOData compares lists alone with lists beside 16 clients over loopback, which
// send a request 50 ms after the answer to their last one: a long filter of 72,000 computed
// records, or, as a control, one for five rows of a list. All take turns. The clients are a process
// of a low priority, so that mostly the server's work counts and not theirs. Metrics are the
// medians of the rounds: p99 of lists in milliseconds, and its ratio to p99 of lists alone, which
// should be at most 2 beside filters on a machine that does nothing else.
func BenchmarkListsBesideOData(b *testing.B) {
	s := apitest.Server(b, state.Options{BaseURL: apitest.ODataBase, QueueWait: wire.DefaultWait},
		eventTables(b, 250, 96))
	var all []string
	for i := range 95 {
		all = append(all, fmt.Sprintf("reference_period_start gt 25%02d-01-01", i))
	}
	filter := odata.Root + monthlyEvents + "?$top=1&$filter=" + url.QueryEscape(strings.Join(all, " or "))
	if a := s.Answer("GET", filter, nil); a.Status != 200 {
		b.Fatalf("%d %s", a.Status, a.Body)
	}
	address := "http://" + apitest.Listen(b, s)
	const list = "/hapi/api/v2/coordination-context/conflict-events?app_identifier=" + apitest.Identifier
	p99 := func() float64 {
		c := &http.Client{Transport: &http.Transport{}}
		var took []float64
		for i := range 400 {
			began := time.Now()
			if status := statusOf(c, fmt.Sprintf("%s%s&limit=100&offset=%d", address, list, i*100)); status != 200 {
				b.Errorf("a list is %d", status)
			}
			took = append(took, time.Since(began).Seconds()*1e3)
			time.Sleep(time.Millisecond)
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	beside := func(target string) float64 {
		clients := exec.Command("nice", "-n", "19", os.Args[0])
		clients.Env = append(os.Environ(), clientsTarget+"="+address+target)
		stop, err := clients.StdinPipe()
		if err == nil {
			err = clients.Start()
		}
		testkit.Must(b, err)
		time.Sleep(200 * time.Millisecond) // until they have started
		took := p99()
		stop.Close()
		if err := clients.Wait(); err != nil {
			b.Error(err)
		}
		return took
	}
	of := map[string][]float64{}
	for b.Loop() {
		alone, filters, short := p99(), beside(filter), beside(list+"&limit=5")
		for name, value := range map[string]float64{
			"ms-alone": alone, "ms-filters": filters, "ms-short": short,
			"ratio-filters": filters / alone, "ratio-short": short / alone,
		} {
			of[name] = append(of[name], value)
		}
	}
	for name, values := range of {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], name)
	}
}
