package list_test

import (
	"bufio"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

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
