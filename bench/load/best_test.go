package load

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestStandings(t *testing.T) {
	cell := func(query, server string, cost, rate float64) Cell {
		return Cell{
			Query: query, Encoding: Identity, Server: server, Rows: 5, CPUMicros: cost, PerSecond: rate,
			Costs: []float64{cost, cost}, Rates: []float64{rate, rate},
		}
	}
	cells := []Cell{
		cell("q", "ours", 10, 800), cell("q", "packed", 5, 2000), cell("q", "cheapest", 150, 50),
		cell("q", "fast", 400, 100),
		cell("alone", "ours", 10, 800),
	}
	all := Standings(cells, "ours", "packed")
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	s := all[0]
	if s.LeastCPU != "cheapest" || s.HighestRate != "fast" || s.CPU.Median != 15 || s.CompressedCPU.Median != 30 ||
		s.Rate.Median != 8 || s.CompressedRate.Median != 20 {
		t.Errorf("%+v", s)
	}
	missed := s.Missed(Wanted{CPU: 20, Rate: 8, CompressedRate: 15})
	if !slices.Equal(missed, []string{"CPU 15 of 20"}) {
		t.Errorf("missed %q", missed)
	}
	r := Report{Cells: cells, Standings: all, Wanted: Wanted{CPU: 20, Rate: 8, CompressedRate: 15}}
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(),
		"| q | 5 | cheapest | 150 | 15 (15-15) | 30 (30-30) | fast | 100 | 8 (8-8) | 20 (20-20) | CPU 15 of 20 |") {
		t.Errorf("%v\n%s", err, b.String())
	}
	plots := r.Plots()
	for _, name := range []string{"cost-by-question", "rate-by-question"} {
		var b strings.Builder
		if plots[name] == nil {
			t.Fatalf("no picture %s of %v", name, plots)
		}
		if err := plots[name].WriteSVG(&b); err != nil || !strings.Contains(b.String(), ">alone<") ||
			!strings.Contains(b.String(), ">cheapest<") {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	f, err := os.Open("../incumbent.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := ReadRecorded(f)
	if err != nil || len(all) != 21 {
		t.Fatalf("%d queries, %v", len(all), err)
	}
	for _, bad := range []string{
		"q 1 2", "q 1 2 3 4 5 6 7 x /", "q 1 2 3 4 5 6 7 0 /", "q 1 2 3 4 5 6 7 8 x",
		"q 1 2 3 4 5 6 7 8 / strange",
	} {
		if _, err := ReadRecorded(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(list))
	defer server.Close()
	some, err := ReadRecorded(strings.NewReader("easy 2 50 0.001 9 0.001 9 1e9 9 /\n\nrefused 2 50 0.001 9 0.001 " +
		"9 0.001 9 /bad status=422\nwrong 2 50 1 1 1 1 1 1 /bad\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Name: "test", URL: server.URL, PID: os.Getpid()}
	for i := range some[:2] {
		if err := some[i].Measure(s, 2, 30*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if some[0].Rows != 2 || some[0].Points[0].Multiple() < 1000 || some[0].Points[2].Multiple() > 1 ||
		some[1].Rows != 0 {
		t.Errorf("%+v", some)
	}
	if err := some[2].Measure(s, 1, time.Millisecond); err == nil {
		t.Error("no error for an answer with another status")
	}
	r := Report{Recorded: some[:2]}
	var b strings.Builder
	if err := r.WriteTables(&b); err != nil || !strings.Contains(b.String(), "| missed over 64 |\n") ||
		!strings.Contains(b.String(), "| met |\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
