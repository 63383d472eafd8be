//go:build !race

package api

import (
	"testing"

	"github.com/valyala/fasthttp"
)

// TestAllocations is the budget of a small request with three filters. What is allocated: path, filter texts and accepted codings. Nothing grows
// with rows.
func TestAllocations(t *testing.T) {
	const budget = 4
	for _, rows := range []int{50, 2000} {
		s := testServer(t, Options{}, sampleTables(t, rows))
		var ctx fasthttp.RequestCtx
		var request fasthttp.Request
		request.SetRequestURI("/api/v2/coordination-context/conflict-events?location_code=AFG&admin_level=1&start_date=2024&limit=5&app_identifier=" + goodIdentifier)
		ctx.Init2(&lineConn{flight: s.flight}, nil, true)
		request.CopyTo(&ctx.Request)
		got := testing.AllocsPerRun(500, func() {
			ctx.Response.Reset()
			s.handle(&ctx)
			if ctx.Response.StatusCode() != 200 {
				t.Fatal(ctx.Response.StatusCode())
			}
		})
		t.Logf("%d rows: %.0f allocations", rows, got)
		if got > budget {
			t.Errorf("%d rows: %.0f allocations a request, budget %d", rows, got, budget)
		}
	}
}

// BenchmarkRequest is the way of a request through the handler, without sockets.
func BenchmarkRequest(b *testing.B) {
	s := testServer(b, Options{}, sampleTables(b, 2000))
	for name, target := range map[string]string{
		"kind=small": "/api/v2/coordination-context/conflict-events?location_code=AFG&admin_level=1&start_date=2024&limit=5&app_identifier=" + goodIdentifier,
		"kind=page":  "/api/v2/coordination-context/conflict-events?limit=1000&app_identifier=" + goodIdentifier,
		"kind=same":  "/api/v2/coordination-context/conflict-events?location_code=AFG&admin_level=1&start_date=2024&limit=5&app_identifier=" + goodIdentifier,
		"kind=fault": "/api/v2/coordination-context/conflict-events?limit=x&app_identifier=" + goodIdentifier,
	} {
		b.Run(name, func(b *testing.B) {
			var ctx fasthttp.RequestCtx
			var request fasthttp.Request
			request.SetRequestURI(target)
			if name == "kind=same" {
				first := s.Answer("GET", target, nil)
				tag, _ := first.field("ETag")
				request.Header.Set("If-None-Match", tag)
			}
			ctx.Init(&request, nil, nil)
			b.ReportAllocs()
			for b.Loop() {
				ctx.Response.Reset()
				s.handle(&ctx)
			}
			if status := ctx.Response.StatusCode(); status != 200 && status != 422 && status != 304 {
				b.Fatal(status)
			}
		})
	}
}
