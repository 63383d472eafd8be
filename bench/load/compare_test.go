package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"hdqs/internal/testkit"
)

// pages is a server of a list of some rows.
type pages struct {
	total int
	extra string // at the end of a body
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Total-Count", strconv.Itoa(p.total))
	body := `{"data":[` + strings.Repeat(`{"a":1},`, 500) + `{"a":1}]}` + p.extra
	if r.Header.Get("Accept-Encoding") != Gzip {
		fmt.Fprint(w, body)
		return
	}
	w.Header().Set("Content-Encoding", Gzip)
	z := gzip.NewWriter(w)
	defer z.Close()
	fmt.Fprint(z, body)
}

func (p *pages) start(t *testing.T, name string) *Server {
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return &Server{Name: name, URL: server.URL, PID: os.Getpid()}
}

// TestComparison measures servers in this process, so that the ratios are not far from 1, and
// checks which take part.
func TestComparison(t *testing.T) {
	t.Parallel()
	ours, control := (&pages{total: 20_000}).start(t, "ours"), (&pages{total: 20_000}).start(t, "control")
	named := (&pages{total: 20_000}).start(t, "whole")
	control.Path = func(q Query, encoding string) string { return "/x" }
	bounded := Query{Weight: 0, Name: "bounded", Target: "/y?limit=500", Status: 200, Bounds: []Bound{
		{Encoding: Gzip, Other: "whole", Most: 1e6},
		{Encoding: Gzip, Other: "identity", Most: 1e6},
		{Encoding: Identity, Other: "control", Most: 1e-9},
		{Encoding: Gzip, Level: 6, Most: 1e6},
		{Encoding: Zstd, Other: "gzip", Most: 1},
	}}
	named.Bounded = true
	s := Comparison{
		Servers:   []*Server{ours, control, named},
		Queries:   []Query{{Weight: 1, Name: "same", Target: "/y?limit=500", Status: 200}, bounded},
		Encodings: []string{Identity, Gzip}, Rounds: 2, Burst: 200 * time.Millisecond, Connections: 2, Progress: t.Logf,
	}
	testkit.Must(t, s.Run())
	var arms []string
	for _, c := range s.Cells {
		arms = append(arms, c.Encoding+" "+c.Server)
		if c.Rows != 500 || c.CPUMicros <= 0 || len(c.Costs) != 2 || c.Query != "bounded" {
			t.Errorf("%+v", c)
		}
	}
	want := []string{
		"identity ours", "identity control", "gzip ours", "gzip control", "gzip whole",
	}
	if !slices.Equal(arms, want) {
		t.Errorf("arms %q, want %q", arms, want)
	}
	var met []bool
	for _, v := range s.Verdicts {
		met = append(met, v.Met())
		if v.Query != "bounded" || v.Micros <= 0 || v.Got.Low > v.Got.Median {
			t.Errorf("%+v", v)
		}
	}
	if !slices.Equal(met, []bool{true, true, false, true}) {
		t.Errorf("met %v: %+v", met, s.Verdicts)
	}
}

// TestComparisonOfBytes checks that nothing is measured where an answer differs by a blank.
func TestComparisonOfBytes(t *testing.T) {
	t.Parallel()
	ours, other := (&pages{total: 9}).start(t, "ours"), (&pages{total: 9, extra: " "}).start(t, "other")
	s := Comparison{
		Servers: []*Server{ours, other}, Queries: []Query{{Name: "q", Target: "/", Status: 200}},
		Encodings: []string{Identity}, Rounds: 1, Burst: time.Millisecond, Connections: 1, Progress: t.Logf,
	}
	if err := s.Run(); err == nil || !strings.Contains(err.Error(), "other bytes") || len(s.Cells) > 0 {
		t.Errorf("%v, %+v", err, s.Cells)
	}
}

// TestVerdictsDivideByRound checks the arithmetic on made-up costs.
func TestVerdictsDivideByRound(t *testing.T) {
	cell := func(server, encoding string, costs ...float64) Cell {
		return Cell{
			Query: "q", Server: server, Encoding: encoding, Rows: 7, Costs: costs,
			CPUMicros: median(costs), SentBytes: 50,
		}
	}
	cells := []Cell{
		cell("ours", Identity, 10, 20, 30), cell("ours", Gzip, 5, 40, 90), cell("nginx", Gzip, 5, 10, 10),
	}
	verdicts, err := judge(Query{Name: "q", Bounds: []Bound{
		{Encoding: Gzip, Other: "nginx", Most: 4},
		{Encoding: Gzip, Other: "identity", Most: 1.5},
		{Encoding: Identity, Other: "absent", Most: 1},
	}}, cells, nil)
	if err != nil || len(verdicts) != 2 {
		t.Fatalf("%+v, %v", verdicts, err)
	}
	if v := verdicts[0]; v.Got != (Ratio{4, 1, 9}) || !v.Met() || v.Micros != 40 {
		t.Errorf("%+v", v)
	}
	if v := verdicts[1]; v.Got != (Ratio{2, 0.5, 3}) || v.Met() {
		t.Errorf("%+v", v)
	}
}

// TestReportOfARun writes a report with all parts of a run.
func TestReportOfARun(t *testing.T) {
	r := Report{
		Targets: []Verdict{
			{Most: 0.1, Got: Ratio{0.5, 0.5, 0.5}}, {Work: "w", Control: "c", Most: 2, Got: Ratio{1.5, 1, 2}},
		},
	}
	page := r.Markdown()
	for _, want := range []string{
		"| w | c | 2 | 1.5 (1-2) | yes |", "| 0.1 | 0.5 (0.5-0.5) | **no** |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the report:\n%s", want, page)
		}
	}
}
