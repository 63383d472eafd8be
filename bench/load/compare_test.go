package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// pages is a server of a list of some rows: it counts requests by limit and offset.
type pages struct {
	total int
	extra string // at the end of a body

	mu    sync.Mutex
	asked map[string]int
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	limit, offset := r.FormValue("limit"), r.FormValue("offset")
	p.mu.Lock()
	if p.asked == nil {
		p.asked = map[string]int{}
	}
	p.asked[limit+" "+offset]++
	p.mu.Unlock()
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

// TestFreshPages checks that the pages differ, and that they have nearly all rows of the query's.
func TestFreshPages(t *testing.T) {
	for _, c := range []struct{ limit, offset, total int }{
		{10000, 1_000_000, 2_000_000},
		{10000, 0, 10_000},
		{10000, 0, 249},
		{10000, 0, 9260},
		{100, 0, 5000},
		{3, 0, 400},
		{1000, 1000, 2001},
		{10000, 38362, 40000},
		{10, 5, 0},
		{0, 0, 9},
	} {
		rows := max(0, min(c.limit, c.total-c.offset))
		f := pagesOf(c.limit, c.offset, c.total)
		seen := map[[2]int]bool{{c.limit, c.offset}: true}
		for range f.limits*f.offsets - 1 {
			limit, offset := f.take()
			got := max(0, min(limit, c.total-offset))
			if page := [2]int{limit, offset}; seen[page] || limit < 0 || got > rows || got < rows-rows/100 {
				t.Fatalf("%+v: page %v again, or %d rows in place of %d", c, page, got, rows)
			}
			seen[[2]int{limit, offset}] = true
		}
	}
	// A page that is requested again goes into the server's cache, and the new memory for it would
	// count as page faults of the answer. So also a page of all rows of a list needs many variants.
	if f := pagesOf(10000, 0, 9260); f.limits*f.offsets < 50_000 {
		t.Errorf("%d pages of 9,260 rows, want at least 50,000", f.limits*f.offsets)
	}
}

// TestFreshRequests checks what a server receives.
func TestFreshRequests(t *testing.T) {
	t.Parallel()
	p := &pages{total: 100_000}
	s := p.start(t, "fresh")
	s.Fresh = &Fresh{}
	q := Query{Weight: 1, Name: "q", Target: "/x?limit=1000&a=%20b&offset=70", Status: 200}
	d := Drive{Queries: []Query{q}, Encoding: Gzip, Connections: 3, Duration: time.Minute, Most: 50}
	for range 2 {
		o, err := s.Run(d)
		if err != nil || o.Requests != 50 || o.Wrong+o.Failed > 0 {
			t.Fatalf("%+v, %v", o, err)
		}
	}
	if len(p.asked) != 101 { // the first request of all is the query itself
		t.Errorf("%d different pages in 101 requests", len(p.asked))
	}
	for page, n := range p.asked {
		if n > 1 {
			t.Errorf("limit and offset %s: %d times", page, n)
		}
	}
	d.Queries[0].Target = "/x?limit=no"
	if o, err := (&Server{Name: "other", URL: s.URL, Fresh: &Fresh{}}).Run(d); err == nil {
		t.Errorf("no error for limit=no: %+v", o)
	}
}

// TestComparison measures servers in this process, so that the ratios are not far from 1, and
// checks which take part.
func TestComparison(t *testing.T) {
	t.Parallel()
	ours, control := (&pages{total: 20_000}).start(t, "ours"), (&pages{total: 20_000}).start(t, "control")
	named, fresh := (&pages{total: 20_000}).start(t, "whole"), (&pages{total: 20_000}).start(t, "configured")
	fresh.Fresh = &Fresh{}
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
		Servers: []*Server{ours, control, named}, Configured: fresh,
		Queries:   []Query{{Weight: 1, Name: "same", Target: "/y?limit=500", Status: 200}, bounded},
		Encodings: []string{Identity, Gzip}, Rounds: 2, Burst: 200 * time.Millisecond, Connections: 2, Progress: t.Logf,
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	var arms []string
	for _, c := range s.Cells {
		arms = append(arms, c.Encoding+" "+c.Server)
		if c.Rows != 500 || c.CPUMicros <= 0 || len(c.Costs) != 2 || c.Query != "bounded" {
			t.Errorf("%+v", c)
		}
	}
	want := []string{
		"identity ours", "identity control", "identity configured",
		"gzip ours", "gzip control", "gzip whole", "gzip configured",
	}
	if !slices.Equal(arms, want) {
		t.Errorf("arms %q, want %q", arms, want)
	}
	var met []bool
	for _, v := range s.Verdicts {
		met = append(met, v.Met())
		if v.Query != "bounded" || v.Micros <= 0 || v.Got.Low > v.Got.Median ||
			strings.Contains(v.Work, "bytes") != (v.Configured == Ratio{}) {
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
	if s.Unlike = true; s.Run() != nil || len(s.Cells) != 2 {
		t.Errorf("bodies that may differ: %+v", s.Cells)
	}
}

// TestVerdictsDivideByRound checks the arithmetic on made-up costs.
func TestVerdictsDivideByRound(t *testing.T) {
	s := Comparison{Servers: []*Server{{Name: "ours"}}, Configured: &Server{Name: "configured"}}
	cell := func(server, encoding string, costs ...float64) Cell {
		return Cell{
			Query: "q", Server: server, Encoding: encoding, Rows: 7, Costs: costs,
			CPUMicros: median(costs), SentBytes: 50,
		}
	}
	cells := []Cell{
		cell("ours", Identity, 10, 20, 30), cell("ours", Gzip, 5, 40, 90), cell("configured", Identity, 20, 20, 20),
		cell("configured", Gzip, 60, 40, 20), cell("nginx", Gzip, 5, 10, 10),
	}
	verdicts, err := s.judge(Query{Name: "q", Bounds: []Bound{
		{Encoding: Gzip, Other: "nginx", Most: 4},
		{Encoding: Gzip, Other: "identity", Most: 1.5},
		{Encoding: Identity, Other: "absent", Most: 1},
	}}, cells, nil)
	if err != nil || len(verdicts) != 2 {
		t.Fatalf("%+v, %v", verdicts, err)
	}
	if v := verdicts[0]; v.Got != (Ratio{4, 1, 9}) || v.Configured != (Ratio{4, 2, 12}) || !v.Met() || v.Micros != 40 {
		t.Errorf("%+v", v)
	}
	if v := verdicts[1]; v.Got != (Ratio{2, 0.5, 3}) || v.Configured != (Ratio{2, 1, 3}) || v.Met() {
		t.Errorf("%+v", v)
	}
	// A target that the defaults miss is missed.
	if v := (Verdict{Most: 1, Got: Ratio{1, 1, 1}, Configured: Ratio{2, 2, 2}}); v.Met() {
		t.Errorf("%+v counts as met", v)
	}
}

func TestReadMicro(t *testing.T) {
	all, err := ReadMicro(strings.NewReader("goos: linux\nBenchmarkPlainPage/conflict-run-2  \t 33\t 7012345 ns/op\t"+
		" 1.71 ratio\t1.6 ratio-low\t 2 ratio-high\t1.6 target\t 543 µs\nBenchmarkOther-2 10 5 ns/op\nPASS\n"),
		"rendering", "a copy")
	want := Verdict{
		Query: "conflict-run", Encoding: "rendering", Work: "conflict-run, rendering", Control: "a copy", Micros: 543,
		Most: 1.6, Got: Ratio{1.71, 1.6, 2},
	}
	if err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("%+v, %v, want %+v", all, err, want)
	}
}

// TestReportOfARun writes a report with all parts of a run.
func TestReportOfARun(t *testing.T) {
	cells := []Cell{
		{Query: "a", Server: "configured", Encoding: Gzip, SentBytes: 40960, Faults: 1},
		{Query: "b", Server: "configured", Encoding: Gzip, SentBytes: 81920, Faults: 10},
		{Query: "c", Server: "ours", Encoding: Gzip, SentBytes: 81920, Faults: 20},
		{Query: "d", Server: "configured", Encoding: Gzip, SentBytes: 4096, Faults: 1},
	}
	c := Comparison{Configured: &Server{Name: "configured"}, Cells: cells}
	v, ok := c.FaultsVerdict(0.1)
	if !ok || v.Met() || v.Got.Median != 0.5 || v.Query != "b-faults" {
		t.Errorf("%+v", v)
	}
	c.Configured = nil
	if _, ok := c.FaultsVerdict(0.1); ok {
		t.Error("page faults without a server as configured")
	}
	r := Report{
		Targets: []Verdict{v, {Work: "w", Control: "c", Most: 2, Got: Ratio{1.5, 1, 2}}},
		Beside:  []Beside{{Small: "s", Large: "l", Encoding: Gzip, Rate: 1000, Readers: 10, P99: Ratio{2, 1, 3}}},
	}
	page := r.Markdown()
	for _, want := range []string{
		"| w | c | 2 | 1.5 (1-2) |  | yes |", "| 0.1 | 0.5 (0.5-0.5) |  | **no** |",
		"| s | 1000 | l | gzip | 10 |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the report:\n%s", want, page)
		}
	}
}

func TestSummaries(t *testing.T) {
	verdict := func(query, encoding, control string, got, configured float64) Verdict {
		return Verdict{
			Query: query, Encoding: encoding, Control: control, Most: 1.5, Got: Ratio{got, 0, 9},
			Configured: Ratio{configured, configured, configured},
		}
	}
	r := Report{Targets: []Verdict{
		verdict("a", Gzip, "nginx", 1.2, 1.3), verdict("x", Identity, "fixed", 1, 0),
		verdict("b", Gzip, "nginx", 2, 1.1), verdict("c", Gzip, "nginx", 1.4, 1.6),
	}}
	page := r.Tables()
	for _, want := range []string{
		"| gzip: a, b, c | nginx | 1.5 | 1.2 to 2 | 1.1 to 1.6 | 1 of 3 |",
		"| identity: x | fixed | 1.5 | 1 |  | 1 of 1 |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
}
