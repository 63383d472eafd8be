package judge

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"hdqs/internal/testkit"
	"hdqs/testdata"
)

func smallWorld(t testing.TB) *world {
	t.Helper()
	c := testkit.Value(parseContract(testdata.Contract))(t)
	return testkit.Value(readWorld(c, "testdata/views", "", time.Date(2026, 11, 21, 1, 2, 0, 0, time.UTC)))(t)
}

// TestCases compares the judge's answers with answers written by hand.
func TestCases(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	text := testkit.ReadFile(t, "testdata/cases.txt")
	var got answer
	cases := 0
	for n, line := range strings.Split(string(text), "\n") {
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "", "#":
		case "ask":
			r := request{}
			r.Method, r.Path, _ = strings.Cut(rest, " ")
			got = w.answer(r)
		case "rows":
			cases++
			name, values, _ := strings.Cut(rest, " ")
			if have := strings.Join(shownIn(t, got.Body, name), " | "); have != values {
				t.Errorf("cases.txt:%d: got %d %q, want %q", n+1, got.Status, have, values)
			}
		case "says":
			cases++
			body := strings.ReplaceAll(got.Body, "\n", `\n`)
			if have := strings.TrimSuffix(fmt.Sprintf("%d %s", got.Status, body), " "); have != rest {
				t.Errorf("cases.txt:%d:\n got %s\nwant %s", n+1, have, rest)
			}
		default:
			t.Fatalf("cases.txt:%d: unknown verb %q", n+1, verb)
		}
	}
	testkit.AtLeast(t, cases, 70, "cases ran")
}

func shownIn(t *testing.T, body, name string) []string {
	t.Helper()
	var list struct{ Data []map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	var values []string
	for _, record := range list.Data {
		var text string
		if json.Unmarshal(record[name], &text) != nil || string(record[name]) == "null" {
			text = string(record[name])
		}
		values = append(values, text)
	}
	return values
}

// serveAnswers serves the judge's own answers, changed by spoil, over HTTP.
func serveAnswers(t *testing.T, w *world, spoil func(r request, a *answer)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, hr *http.Request) {
		r := request{Method: hr.Method, Path: hr.RequestURI, Headers: map[string]string{}}
		for name := range hr.Header {
			r.Headers[name] = hr.Header.Get(name)
		}
		a := w.answer(r)
		if spoil != nil {
			spoil(r, &a)
		}
		h := rw.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Content-Type", a.ContentType)
		if a.Total != nil {
			h.Set("X-Total-Count", fmt.Sprint(*a.Total))
			h.Set("Vary", "Accept-Encoding")
		}
		if a.File != "" {
			h.Set("Content-Disposition", `attachment; filename="`+a.File+a.End+`"`)
		}
		if a.Hint != "" {
			h.Set("X-Hint", a.Hint)
		}
		if a.More != "" {
			h.Set("X-Facet-More", a.More)
		}
		switch a.Check {
		case checkRefused:
			var items []string
			for name := range strings.FieldsSeq(a.Body) {
				items = append(items, `{"loc":["query",`+quoted(name)+`],"msg":"no"}`)
			}
			a.Body = `{"detail":[` + strings.Join(items, ",") + `]}`
		case checkSome:
			a.Body = "something"
		}
		body := []byte(a.Body)
		if coding := coding(r, len(body)); coding != "" && a.Total != nil {
			h.Set("Content-Encoding", coding)
			body = packed(t, coding, body)
		}
		rw.WriteHeader(a.Status)
		if hr.Method != http.MethodHead {
			_, _ = rw.Write(body)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func judgeFlags(base string, more ...string) []string {
	return append([]string{
		"-views", "testdata/views", "-base", base, "-snapshot-time", wholeTime, "-seed", "7",
	}, more...)
}

// TestAgainstItself sends requests to a server of the judge's own answers. Differences would come
// from the client or the comparison. The same seed must give the same requests.
func TestAgainstItself(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	var sent [2]sync.Map
	for i := range sent {
		base := serveAnswers(t, w, func(r request, _ *answer) { sent[i].Store(fmt.Sprint(r.Method, r.Path), true) })
		var out bytes.Buffer
		if err := Main(judgeFlags(base, "-n", "800", "-parallel", "3"), &out); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if !strings.Contains(out.String(), "800 requests, 0 differ") {
			t.Error(out.String())
		}
	}
	sent[0].Range(func(r, _ any) bool {
		if _, again := sent[1].Load(r); !again {
			t.Errorf("the same seed did not send %s again", r)
		}
		return true
	})
}

// TestSeesFaults makes one error at a time in the answers to requests of a kind; each must be
// found.
func TestSeesFaults(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	replace := func(old, by string) func(*answer) {
		return func(a *answer) { a.Body = strings.Replace(a.Body, old, by, 1) }
	}
	status := func(from, to int) func(*answer) {
		return func(a *answer) {
			if a.Status == from {
				a.Status = to
			}
		}
	}
	for _, c := range []struct {
		name, kind string
		spoil      func(*answer)
	}{
		{"status", "odd", status(400, 422)},
		{"total", "boundary", func(a *answer) { *orZero(&a.Total) += 1 }},
		{"a byte", "boundary", replace("2024", "2025")},
		{"order", "boundary", replace("},{", "}, {")},
		{"empty answer", "odd", replace(`"data":[]`, `"data":null`)},
		{"type", "boundary", func(a *answer) { a.ContentType = strings.TrimSuffix(a.ContentType, "; charset=utf-8") }},
		{"line end", "boundary", func(a *answer) { a.Body = strings.TrimSuffix(a.Body, "\r\n") }},
		{"reason", "odd", replace("input is too short", "too short")},
		{"error text", "odd", replace("Input should", "Inputs should")},
		{"file name", "boundary", func(a *answer) { a.File = strings.Replace(a.File, "a", "b", 1) }},
		{"a sum", "aggregate", func(a *answer) { a.Body = sums.ReplaceAllString(a.Body, "${1}9") }},
		{"a count", "facets", replace(`"count":1`, `"count":2`)},
		{"a group", "aggregate", replace(`"data":[{"`, `"data":[{},{"`)},
		{"a field", "fields", replace(`"location_code"`, `"location_cod"`)},
		{"a line", "ndjson", func(a *answer) { a.Body = strings.TrimSuffix(a.Body, "\n") }},
		{"a point", "geojson", replace(`"coordinates":[`, `"coordinates":[1`)},
		{"a hint", "in", func(a *answer) { a.Hint = "" }},
		{"an old row", "latest", replace(`"reference_period_end":"20`, `"reference_period_end":"19`)},
		{"unrefused", "aggregate", status(422, 200)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := serveAnswers(t, w, func(_ request, a *answer) { c.spoil(a) })
			if err := Main(judgeFlags(base, "-kinds", c.kind, "-n", "300", "-show", "1"), io.Discard); err == nil {
				t.Error("the error was not found")
			}
		})
	}
}

func orZero(n **int) *int {
	if *n == nil {
		return new(int)
	}
	copied := **n
	*n = &copied
	return *n
}

func packed(t *testing.T, coding string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var z io.WriteCloser = gzip.NewWriter(&b)
	if coding == "zstd" {
		var err error
		if z, err = zstd.NewWriter(&b); err != nil {
			t.Error(err)
		}
	}
	if _, err := z.Write(body); err != nil {
		t.Error(err)
	}
	testkit.Is(t, z.Close(), nil, "Close")
	return b.Bytes()
}

var sums = regexp.MustCompile(`("(?:sum|mean)_[a-z_]*":[0-9.]+)`)
