package list_test

import (
	"bufio"
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/state"
	"hdqs/index"
	"hdqs/internal/testkit"
)

// BenchmarkPlainPage renders pages of 10,000 rows of the snapshot that channel HDQS_BENCH_CHANNEL
// (stable) of the store at HDQS_BENCH_STORE shows: neighbouring rows, and scattered ones, one in
// twelve. It does so as the server does: first the length, then one part after the other in the
// same memory. The control copies the same body; both take turns. Metric ratio is the median of the
// rounds, target what it should be at most. Without a store it is skipped.
func BenchmarkPlainPage(b *testing.B) {
	dir := os.Getenv("HDQS_BENCH_STORE")
	if dir == "" {
		b.Skip("HDQS_BENCH_STORE names no store")
	}
	snap, _ := apitest.OpenShown(b, dir, cmp.Or(os.Getenv("HDQS_BENCH_CHANNEL"), "stable"))
	defer func() { testkit.Must(b, snap.Close()) }()
	bound := testkit.Value(state.Bind(snap))(b)
	const page, apart = 10_000, 12
	for _, c := range []struct {
		name, path string
		from       uint32
		target     float64
	}{
		{"conflict", "/api/v2/coordination-context/conflict-events", 1_000_000, 1.6},
		{"prices", "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor", 300_000, 1.6},
		{"rainfall", "/api/v2/climate/rainfall", 500_000, 2.2},
		{"refugees", "/api/v2/affected-people/refugees-persons-of-concern", 400_000, 1.6},
		{"presence", "/api/v2/coordination-context/operational-presence", 20_000, 1.6},
	} {
		list := bound.Lists[c.path]
		step := uint32(min(apart, list.Rows/page))
		if step == 0 {
			b.Fatalf("%s has %d rows, fewer than a page", c.path, list.Rows)
		}
		from := min(c.from, uint32(list.Rows-page))
		var scattered []index.Range
		for i := range uint32(page) {
			scattered = append(scattered, index.Range{From: i * step, To: i*step + 1})
		}
		form := list.Named[contract.ContractNames].Renderer.JSON()
		for _, kind := range []struct {
			name string
			rows []index.Range
		}{
			{"run", []index.Range{{From: from, To: from + page}}}, {"scattered", scattered},
		} {
			b.Run(c.name+"-"+kind.name, func(b *testing.B) {
				benchBesideCopy(b, c.target, form, kind.rows)
			})
		}
	}
}

// benchBesideCopy renders a body in parts and copies the whole, in turns.
func benchBesideCopy(b *testing.B, target float64, form *render.Form, rows []index.Range) {
	const each = 8
	whole := form.Append(nil, rows)
	copied := make([]byte, len(whole))
	var body render.Body
	var part []byte
	var made, ratios []float64
	for first := 0; b.Loop(); first++ {
		var took [2]float64
		for i := range 2 {
			which := (first + i) % 2
			before := apitest.CPUTime(b)
			for range each {
				if which == 1 {
					copy(copied, whole)
					continue
				}
				body.Start(form, rows)
				length := 0
				for more := true; more; length += len(part) {
					part, more = body.AppendPart(part[:0])
				}
				if length != len(whole) || body.Len() != length {
					b.Fatalf("%d bytes in parts, announced %d, want %d", length, body.Len(), len(whole))
				}
			}
			took[which] = float64(apitest.CPUTime(b)-before) / each / 1000
		}
		made, ratios = append(made, took[0]), append(ratios, took[0]/max(took[1], 0.001))
	}
	slices.Sort(made)
	slices.Sort(ratios)
	// The lowest and highest of many short rounds say little; these are the middle four fifths.
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(ratios[len(ratios)/10], "ratio-low")
	b.ReportMetric(ratios[len(ratios)*9/10], "ratio-high")
	b.ReportMetric(made[len(made)/2], "µs")
	b.ReportMetric(target, "target")
	b.ReportMetric(float64(len(whole)), "bytes")
}

// BenchmarkRequest measures a request through the handler of the public listener, on a connection
// without a socket. It is in a file of its own so that bench/compare.sh can also run it on
// revisions whose benchmark measured less.
func BenchmarkRequest(b *testing.B) {
	// The header of a browser's request as a caching proxy forwards it.
	const browser = "Host: data.example.org\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) " +
		"Gecko/20100101 Firefox/140.0\r\nAccept: */*\r\nAccept-Language: en-US,en;q=0.5\r\n" +
		"Referer: https://data.example.org/docs\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n"
	const events = "/api/v2/coordination-context/conflict-events?"
	const small = events + "location_code=AFG&admin_level=1&start_date=2024&limit=5&app_identifier=" +
		apitest.Identifier
	s := apitest.Sample(b, state.Options{}, 2000)
	for _, c := range []struct {
		name, target string
		status       int
	}{
		{"kind=small", small, 200},
		{"kind=page", events + "limit=1000&app_identifier=" + apitest.Identifier, 200},
		{"kind=same", small, 304},
		{"kind=fault", events + "limit=x&app_identifier=" + apitest.Identifier, 422},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ctx fasthttp.RequestCtx
			ctx.Init2(s.Lists.Callers.Wrap(nil), nil, true)
			sent := "GET " + c.target + " HTTP/1.1\r\n" + browser
			if c.status == 304 {
				first := s.Answer("GET", c.target, nil)
				sent += "If-None-Match: " + apitest.Header(first, "ETag") + "\r\n"
			}
			testkit.Must(b, ctx.Request.Read(bufio.NewReader(strings.NewReader(sent+"\r\n"))))
			testkit.MeasureCPU(b, func() {
				ctx.Response.Reset()
				s.Lists.Public.Handler(&ctx)
			})
			if status := ctx.Response.StatusCode(); status != c.status {
				b.Fatal(status)
			}
		})
	}
}
