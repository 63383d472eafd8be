package list_test

import (
	"cmp"
	"os"
	"slices"
	"testing"

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
	defer func() {
		if err := snap.Close(); err != nil {
			b.Error(err)
		}
	}()
	bound, err := state.Bind(snap)
	testkit.Must(b, err)
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
