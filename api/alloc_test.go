//go:build !race

package api_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestAllocations limits the allocations and bytes of a small request with three filters, and of
// pages in each coding. A request allocates its filter texts.
// Nothing grows with the number of rows, and bodies are rendered into pooled buffers.
func TestAllocations(t *testing.T) {
	const bytesBudget = 2 << 10
	const events = "/api/v2/coordination-context/conflict-events?app_identifier=" + apitest.Identifier
	for _, rows := range []int{50, 2000} {
		s := apitest.SampleOf(t, state.Options{CacheBytes: -1}, "/api/v2/coordination-context/conflict-events", rows)
		for _, c := range []struct {
			target, coding string
			budget         float64
		}{
			{events + "&location_code=AFG&admin_level=1&start_date=2024&limit=5", "", 3},
			{events + "&limit=700", "", 2},
			{events + "&limit=1500", "gzip", 6},
			{events + "&limit=1500", "zstd", 6},
			{events + "&limit=1500&event_type=political_violence", "gzip", 6},
			{events, "", 1},
			{"/hapi" + events + "&location_code=AFG&admin_level=1&start_date=2024&limit=5", "", 3},
			{"/hapi" + events + "&limit=1500", "gzip", 6},
		} {
			var ctx fasthttp.RequestCtx
			ctx.Init2(s.Lists.Callers.Wrap(nil), nil, true)
			ctx.Request.SetRequestURI(c.target)
			if c.coding != "" {
				ctx.Request.Header.Set("Accept-Encoding", c.coding)
			}
			request := func() {
				ctx.Response.Reset()
				s.Handle(&ctx)
				if ctx.Response.StatusCode() != 200 {
					t.Fatal(ctx.Response.StatusCode())
				}
			}
			const runs = 100
			var got float64
			bytes := uint64(math.MaxUint64)
			for range 5 { // some runs include one-time allocations, ours or of the background
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got = testing.AllocsPerRun(runs, request)
				runtime.ReadMemStats(&after)
				bytes = min(bytes, (after.TotalAlloc-before.TotalAlloc)/runs)
			}
			t.Logf("%d rows, %s %s: %.0f allocations, %d bytes", rows, c.target, c.coding, got, bytes)
			if got > c.budget || bytes > bytesBudget {
				t.Errorf("%d rows, %s %s: %.0f allocations of %d bytes a request, budget %.0f of %d", rows, c.target,
					c.coding, got, bytes, c.budget, bytesBudget)
			}
		}
	}
}

// TestAllocationsOfCounting checks that counting a request allocates nothing, nor does a line
// of the access log.
func TestAllocationsOfCounting(t *testing.T) {
	l, _ := apitest.OpenAccessLog(t)
	for _, o := range []state.Options{{}, {AccessLog: l}} {
		s := apitest.Sample(t, o, 30)
		var ctx fasthttp.RequestCtx
		ctx.Init2(s.Lists.Callers.Wrap(nil), nil, true)
		ctx.Request.SetRequestURI(apitest.Target + "&limit=5")
		allocations := func(handler fasthttp.RequestHandler) float64 {
			least := math.Inf(1)
			for range 5 { // some runs include one-time allocations, ours or of the background
				least = min(least, testing.AllocsPerRun(200, func() {
					ctx.Response.Reset()
					handler(&ctx)
					if o.AccessLog != nil {
						time.Sleep(50 * time.Microsecond) // the log's writer returns the memory of the line
					}
				}))
			}
			return least
		}
		s.HandlePublic(&ctx) // the connection gets its record
		if plain, counted := allocations(s.Handle), allocations(s.HandlePublic); counted > plain {
			t.Errorf("access log %t: %v allocations with counting, %v without",
				o.AccessLog != nil, counted, plain)
		}
	}
}
