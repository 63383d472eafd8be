package accesslog_test

import (
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestAccessLog checks the line of each kind of request.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	l, read := apitest.OpenAccessLog(t)
	s := apitest.Server(t, state.Options{AccessLog: l},
		append(apitest.SampleTables(t, 30)[:0], apitest.Locations(10_000, nil)))
	address := apitest.Listen(t, s)
	const path, list = "/api/v2/metadata/location", "/api/v2/metadata/location?app_identifier=" + apitest.Identifier
	const get = " HTTP/1.1\r\nHost: a\r\n\r\n"
	escaped := strings.NewReplacer("=", "%3D").Replace(apitest.Identifier)
	n := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		request string
		want    apitest.Logged
	}{
		{"GET " + list + "&limit=3" + get, apitest.Logged{
			Method: "GET", Endpoint: "location", Query: "limit=3", Status: 200, Rows: n(3), Total: n(10_000),
			Cache: "miss",
		}},
		{"GET " + list + "&limit=3" + get, apitest.Logged{
			Method: "GET", Endpoint: "location", Query: "limit=3", Status: 200, Rows: n(3), Total: n(10_000),
			Cache: "miss",
		}},
		{"GET " + list + "&limit=3&unknown=me%40example.org&" + apitest.Identifier + "=1" + get, apitest.Logged{
			Method: "GET", Endpoint: "location", Query: "limit=3", Status: 200, Rows: n(3), Total: n(10_000),
			Cache: "hit",
		}},
		{"GET " + list + "&limit=1000 HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n", apitest.Logged{
			Method: "GET", Endpoint: "location", Query: "limit=1000", Status: 200, Rows: n(1000), Total: n(10_000),
			Cache: "miss", Coding: "gzip",
		}},
		{"GET " + list + get, apitest.Logged{ // a stream
			Method: "GET", Endpoint: "location", Status: 200, Rows: n(10_000), Total: n(10_000), Cache: "miss",
		}},
		{"HEAD " + list + "&limit=2" + get, apitest.Logged{
			Method: "HEAD", Endpoint: "location", Query: "limit=2", Status: 200, Rows: n(2), Total: n(10_000),
			Cache: "miss",
			Bytes: n(0),
		}},
		{"GET " + list + "&limit=2 HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n", apitest.Logged{
			Method: "GET", Endpoint: "location", Query: "limit=2", Status: 304, Bytes: n(0),
		}},
		{"GET " + list + "&name=" + escaped + get, apitest.Logged{
			Method: "GET", Endpoint: "location", Status: 200, Rows: n(0), Total: n(0), Cache: "miss",
		}},
		{"GET " + list + "&name=me%40example.org" + get, apitest.Logged{
			Method: "GET", Endpoint: "location", Status: 200, Rows: n(0), Total: n(0), Cache: "miss",
		}},
		{
			"GET " + list + "&limit=" + apitest.Identifier + get,
			apitest.Logged{Method: "GET", Endpoint: "location", Status: 422},
		},
		{
			"GET " + path + "?name=a" + get,
			apitest.Logged{Method: "GET", Endpoint: "location", Status: 403, App: "none"},
		},
		{"GET /" + apitest.Identifier + "?me@example.org" + get, apitest.Logged{
			Method: "GET", Endpoint: "other", Status: 404, App: "none",
		}},
		{"GET /docs" + get, apitest.Logged{Method: "GET", Endpoint: "/docs", Status: 200, App: "none"}},
		{"BREW " + list + get, apitest.Logged{Method: "other", Endpoint: "location", Status: 405}},
		{"nonsense\r\n\r\n", apitest.Logged{Endpoint: "other", Status: 400, App: "none"}},
	} {
		before := len(read())
		answer := apitest.Exchange(t, address, strings.Fields(c.request)[0], c.request)
		testkit.WaitFor(t, "the line", func() bool { return len(read()) > before })
		got := read()[before]
		id, _ := apitest.Field(answer, reply.HeaderRequestID)
		if len(answer.Body) > 0 && *got.Bytes != int64(len(answer.Body)) && got.Coding == "" {
			t.Errorf("%q: %d bytes logged, %d received", c.request, *got.Bytes, len(answer.Body))
		}
		if (got.App == "") != (c.want.App == "none") || got.App != "" && len(got.App) != 16 {
			t.Errorf("%q: application %q", c.request, got.App)
		}
		if got.ID != id || *got.Took < 0 || c.want.Bytes != nil && *got.Bytes != *c.want.Bytes {
			t.Errorf("%q: id %q, want %q; %d µs, %d bytes", c.request, got.ID, id, *got.Took, *got.Bytes)
		}
		if got.Method != c.want.Method || got.Endpoint != c.want.Endpoint || got.Query != c.want.Query ||
			got.Status != c.want.Status || got.Cache != c.want.Cache || got.Coding != c.want.Coding ||
			!equalNumbers(got.Rows, c.want.Rows) || !equalNumbers(got.Total, c.want.Total) {
			t.Errorf("%q:\n%+v, want\n%+v", c.request, got, c.want)
		}
	}
	if s.State.Options.AccessLog.Dropped() != 0 {
		t.Errorf("%d lines dropped", s.State.Options.AccessLog.Dropped())
	}
}

func equalNumbers(a, b *int64) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}
