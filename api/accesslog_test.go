package api

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/api/accesslog"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// logged is a line of the access log.
type logged struct {
	ID, Method, Endpoint, Query, Coding, Cache, App string
	Status                                          int
	Bytes, Rows, Total                              *int64
	Took                                            *int64 `json:"dur_us"`
}

func openAccessLog(t *testing.T) (l *accesslog.Log, read func() []logged) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "access.log")
	l, err := accesslog.Open(accesslog.Options{
		Path: path, Share: 1, Key: []byte("a key for this test"), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, func() (lines []logged) {
		text := string(testkit.ReadFile(t, path))
		for line := range strings.Lines(text) {
			if !strings.HasSuffix(line, "\n") {
				break // the rest is still being written
			}
			var got logged
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if strings.Contains(line, goodIdentifier) || strings.Contains(line, "example.org") ||
				strings.Contains(line, "my-app") {
				t.Errorf("the line has the identifier or what is in it: %s", line)
			}
			lines = append(lines, got)
		}
		return lines
	}
}

// TestAccessLog checks the line of each kind of request.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	l, read := openAccessLog(t)
	s := testServer(t, state.Options{AccessLog: l},
		append(sampleTables(t, 30)[:0], numberedLocations(10_000, nil)))
	address := listen(t, s)
	const path, list = "/api/v2/metadata/location", "/api/v2/metadata/location?app_identifier=" + goodIdentifier
	const get = " HTTP/1.1\r\nHost: a\r\n\r\n"
	escaped := strings.NewReplacer("=", "%3D").Replace(goodIdentifier)
	n := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		request string
		want    logged
	}{
		{"GET " + list + "&limit=3" + get, logged{
			Method: "GET", Endpoint: "location", Query: "limit=3", Status: 200, Rows: n(3), Total: n(10_000),
			Cache: "miss",
		}},
		{"GET " + list + "&limit=3" + get, logged{
			Method: "GET", Endpoint: "location", Query: "limit=3", Status: 200, Rows: n(3), Total: n(10_000),
			Cache: "miss",
		}},
		{"GET " + list + "&limit=3&unknown=me%40example.org&" + goodIdentifier + "=1" + get, logged{
			Method: "GET", Endpoint: "location", Query: "limit=3", Status: 200, Rows: n(3), Total: n(10_000),
			Cache: "hit",
		}},
		{"GET " + list + "&limit=1000 HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n", logged{
			Method: "GET", Endpoint: "location", Query: "limit=1000", Status: 200, Rows: n(1000), Total: n(10_000),
			Cache: "miss", Coding: "gzip",
		}},
		{"GET " + list + get, logged{ // a stream
			Method: "GET", Endpoint: "location", Status: 200, Rows: n(10_000), Total: n(10_000), Cache: "miss",
		}},
		{"HEAD " + list + "&limit=2" + get, logged{
			Method: "HEAD", Endpoint: "location", Query: "limit=2", Status: 200, Rows: n(2), Total: n(10_000),
			Cache: "miss",
			Bytes: n(0),
		}},
		{"GET " + list + "&limit=2 HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n", logged{
			Method: "GET", Endpoint: "location", Query: "limit=2", Status: 304, Bytes: n(0),
		}},
		{"GET " + list + "&name=" + escaped + get, logged{
			Method: "GET", Endpoint: "location", Status: 200, Rows: n(0), Total: n(0), Cache: "miss",
		}},
		{"GET " + list + "&name=me%40example.org" + get, logged{
			Method: "GET", Endpoint: "location", Status: 200, Rows: n(0), Total: n(0), Cache: "miss",
		}},
		{"GET " + list + "&limit=" + goodIdentifier + get, logged{Method: "GET", Endpoint: "location", Status: 422}},
		{"GET " + path + "?name=a" + get, logged{Method: "GET", Endpoint: "location", Status: 403, App: "none"}},
		{"GET /" + goodIdentifier + "?me@example.org" + get, logged{
			Method: "GET", Endpoint: "other", Status: 404, App: "none",
		}},
		{"GET /docs" + get, logged{Method: "GET", Endpoint: "/docs", Status: 200, App: "none"}},
		{"BREW " + list + get, logged{Method: "other", Endpoint: "location", Status: 405}},
		{"nonsense\r\n\r\n", logged{Endpoint: "other", Status: 400, App: "none"}},
	} {
		before := len(read())
		answer := exchange(t, address, strings.Fields(c.request)[0], c.request)
		waitFor(t, "the line", func() bool { return len(read()) > before })
		got := read()[before]
		id, _ := answer.field(reply.HeaderRequestID)
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
