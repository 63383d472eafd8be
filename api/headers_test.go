package api

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// TestFaultHeaders is the header of each fault that testdata/http cannot bring about: all its fields' names, and the values that caches and callers go by.
func TestFaultHeaders(t *testing.T) {
	const usual = "Access-Control-Allow-Origin Access-Control-Expose-Headers Cache-Control Content-Length Content-Security-Policy Content-Type Date " +
		"Referrer-Policy X-Content-Type-Options X-Request-Id"
	quiet := slog.New(slog.DiscardHandler)
	s := testServer(t, Options{Logger: quiet, ReadTimeout: 200 * time.Millisecond, Queries: 1, QueueWait: time.Millisecond}, sampleTables(t, 3))
	s.router.ANY("/panic", func(*fasthttp.RequestCtx) { panic("x") })
	busy, unready := listen(t, s), listen(t, New(Options{Logger: quiet}))
	if !s.gate.enter(false) {
		t.Fatal("no slot")
	}
	defer s.gate.leave()
	get := func(target, more string) string { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + more + "\r\n" }
	for _, c := range []struct {
		address, request string
		status           int
		more             string // beside the usual fields
		body             string
	}{
		{unready, get(listTarget, ""), 503, "Retry-After", bodyUnavailable},
		{busy, get(listTarget, ""), 503, "Retry-After X-Snapshot-Id", `{"detail":"Too much is asked at once; try again after Retry-After","rule":"queries at once"}`},
		{busy, get("/panic", ""), 500, "X-Snapshot-Id", bodyInternal},
		{busy, get(listTarget+"&x="+strings.Repeat("y", maxURI), ""), 414, "X-Snapshot-Id", bodyURITooLong},
		{busy, get(listTarget+"&x="+strings.Repeat("y", 2*readBuffer), ""), 414, "", bodyURITooLong},
		{busy, get(listTarget, "X: "+strings.Repeat("y", 2*readBuffer)+"\r\n"), 431, "", bodyHeadersTooLarge},
		{busy, "POST " + listTarget + " HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n" + strings.Repeat("x", 2000), 413, "", bodyTooLarge},
		{busy, "GET /docs HTTP/1.1\r\n\r\n", 400, "", bodyBadRequest},
		{busy, "GET /docs HTTP/1.1\r\nHost: a", 408, "", bodyTimeout},
		{busy, "GET /docs HTTP/2.0\r\nHost: a\r\n\r\n", 505, "X-Snapshot-Id", bodyVersionNotSupported},
	} {
		got := exchange(t, c.address, "GET", c.request)
		var names []string
		for _, f := range got.Header {
			names = append(names, f.Name)
		}
		slices.Sort(names)
		want := strings.Fields(usual + " " + c.more)
		slices.Sort(want)
		if got.Status != c.status || !slices.Equal(names, want) || string(got.Body) != c.body {
			t.Errorf("%.60q: %d %s\nfields %q,\nwant   %q", c.request, got.Status, got.Body, names, want)
		}
		for name, want := range map[string]string{"Cache-Control": noStore, "Retry-After": "1", "Access-Control-Allow-Origin": "*", "Content-Type": jsonType} {
			if value, ok := got.field(name); ok && value != want {
				t.Errorf("%.60q: %s: %s", c.request, name, value)
			}
		}
	}
}
