//go:build !race

package api_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestIdentifierLeakKeepAlive sends 10,000 requests of every kind with one identifier over
// kept-alive connections. The identifier must not appear in any header, body, log line or metric,
// except in the redirect, which repeats the caller's own query. All requests are counted, and none
// creates a metric series.
func TestIdentifierLeakKeepAlive(t *testing.T) {
	t.Parallel()
	requests := 10000
	if testing.Short() {
		requests = 2000
	}
	var log testkit.Log
	s := apitest.Sample(t, state.Options{Logger: slog.New(slog.NewJSONHandler(&log,
		&slog.HandlerOptions{Level: slog.LevelDebug})), SurrogateKey: true, CacheTag: true}, 40)
	s.Lists.Routes.Add(s.Lists.Routes.Mounts[0], "/api/panic", list.Route{
		Answer: func(ctx *fasthttp.RequestCtx) error { panic(ctx.QueryArgs().String()) },
	})
	address := apitest.Listen(t, s)
	admin := apitest.ListenAdmin(t, s)
	secrets := []string{apitest.Identifier, "me@example.org", "bXktYXBw", "my-app:"}
	conn := apitest.Dial(t, address)
	kinds := []string{
		"", "&limit=0", "&output_format=csv", "&limit=x", "&start_date=x", "&offset=1&limit=2", "&unknown=1",
		"&" + apitest.Identifier, "&snapshot=x",
		"&snapshot=20261120T0200Z-test&limit=2", "&limit=1&location_code=%25", "&me%40example.org=1",
	}
	methods := []string{"GET", "GET", "GET", "HEAD", "OPTIONS", "PUT"}
	tags := []string{
		"", "If-None-Match: *\r\n", "Accept-Encoding: gzip\r\n", "Prefer: handling=strict\r\n",
		"Accept-Encoding: *;q=0\r\n",
	}
	first := apitest.Metrics(t, admin)
	for n := range requests {
		path := contract.Endpoints[n%len(contract.Endpoints)].Path
		switch n % 97 {
		case 0:
			path = "/api/v2/nowhere"
		case 1:
			path = "/api/panic"
		}
		method, header := methods[n%len(methods)], tags[n/7%len(tags)]
		query, identifier := "?"+kinds[n%len(kinds)], apitest.Identifier
		if n%11 == 3 {
			identifier = "bXktYXBwOm1lQGV4YW1wbGU=" // my-app:me@example, which is not a valid address
		}
		if n%2 == 0 {
			query = "?app_identifier=" + identifier + kinds[n%len(kinds)]
		} else {
			header += "X-Catalog-Api-App-Identifier: " + identifier + "\r\n"
		}
		if n%50 == 2 {
			header += "broken " + identifier + "\r\n"
		}
		answer, closed := conn.Raw(t, method, method+" "+path+query+" HTTP/1.1\r\nHost: a\r\n"+header+"\r\n")
		for _, secret := range secrets {
			if strings.Contains(strings.ReplaceAll(answer, identifierHelp, ""), secret) {
				t.Fatalf("the answer to %s %s%s contains %q: %.400s", method, path, query, secret, answer)
			}
		}
		if closed {
			conn = apitest.Dial(t, address)
		}
	}
	if log.String() == "" {
		t.Error("nothing was logged, so the log was not checked")
	}
	page := string(apitest.Ask(t, admin, "GET", "/metrics", nil).Body)
	for _, secret := range secrets {
		testkit.Lacks(t, log.String(), secret, "the log contains")
		testkit.Lacks(t, page, secret, "the metrics contain")
	}
	last := apitest.Metrics(t, admin)
	for series := range last {
		if _, known := first[series]; !known && !hasKnownLabels(s, series) {
			t.Errorf("the requests created the series %s", series)
		}
	}
	if answered := apitest.RequestsWith(last, ""); answered != float64(requests) || last["hdqs_panics_total"] == 0 {
		t.Errorf("%v of %d answers are counted, and %v panics", answered, requests, last["hdqs_panics_total"])
	}
}
