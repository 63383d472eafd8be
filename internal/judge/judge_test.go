package judge

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

func smallWorld(t testing.TB) *world {
	t.Helper()
	c, err := readContract(contractFile)
	if err != nil {
		t.Fatal(err)
	}
	w, err := readWorld(c, "testdata/views", "", time.Date(2026, 11, 21, 1, 2, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if len(w.warnings) > 0 {
		t.Fatal(w.warnings)
	}
	return w
}

// TestCases compares the judge's answers with answers written by hand.
func TestCases(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	text, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got answer
	cases := 0
	for n, line := range strings.Split(string(text), "\n") {
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "", "#":
		case "ask", "bare":
			r := request{}
			r.Method, r.Path, _ = strings.Cut(rest, " ")
			if verb == "ask" {
				r.Headers = map[string]string{identifierHeader: goodOne}
			}
			got = w.answer(r)
		case "rows":
			cases++
			name, values, _ := strings.Cut(rest, " ")
			if have := strings.Join(shownIn(t, got.Body, name), " | "); have != values {
				t.Errorf("cases.txt:%d: got %d %q, want %q", n+1, got.Status, have, values)
			}
		case "says":
			cases++
			if have := strings.TrimSuffix(fmt.Sprintf("%d %s", got.Status, got.Body), " "); have != rest {
				t.Errorf("cases.txt:%d:\n got %s\nwant %s", n+1, have, rest)
			}
		default:
			t.Fatalf("cases.txt:%d: unknown verb %q", n+1, verb)
		}
	}
	if cases < 70 {
		t.Errorf("only %d cases ran", cases)
	}
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

// twin serves the judge's own answers, changed by spoil, over HTTP.
func twin(t *testing.T, w *world, spoil func(r request, a *answer)) string {
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
		h["Content-Type"] = nil // else the library guesses one
		for name, value := range map[string]string{
			"Content-Type": a.ContentType, "Allow": a.Allow,
			"Location": a.Location,
		} {
			if value != "" {
				h.Set(name, value)
			}
		}
		if a.Total != nil {
			h.Set("X-Total-Count", fmt.Sprint(*a.Total))
			h.Set("Vary", "Accept-Encoding")
		}
		if a.File != "" {
			h.Set("Content-Disposition", `attachment; filename="`+a.File+a.fileEnd()+`"`)
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
		case checkHint:
			a.Body = strings.TrimSuffix(a.Body, "}") + `,"hint":"read on"}`
		}
		body := []byte(a.Body)
		if coding := wantedCoding(r.header("Accept-Encoding")); coding != "" && a.Total != nil && len(body) > 1024 {
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
		"check", "-contract", contractFile, "-views", "testdata/views", "-base", base,
		"-snapshot-time", "2026-11-21T01:02:00Z",
	}, more...)
}

// TestAgainstItself sends requests to a server of the judge's own answers. Differences would come
// from the client or the comparison.
func TestAgainstItself(t *testing.T) {
	t.Parallel()
	base := twin(t, smallWorld(t), nil)
	var out bytes.Buffer
	if err := run(judgeFlags(base, "-n", "2000", "-seed", "7"), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "2000 requests, 0 differ") {
		t.Error(out.String())
	}
}

// TestSeesFaults makes one error at a time in the answers; each must be found.
func TestSeesFaults(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	for name, spoil := range map[string]func(r request, a *answer){
		"status":   func(_ request, a *answer) { a.Status = map[int]int{404: 405}[a.Status] | a.Status },
		"total":    func(_ request, a *answer) { *orZero(&a.Total) += 1 },
		"a byte":   func(_ request, a *answer) { a.Body = strings.Replace(a.Body, "2024", "2025", 1) },
		"order":    func(_ request, a *answer) { a.Body = strings.Replace(a.Body, "},{", "}, {", 1) },
		"allow":    func(_ request, a *answer) { a.Allow = strings.Replace(a.Allow, ", HEAD", "", 1) },
		"location": func(_ request, a *answer) { a.Location = strings.Replace(a.Location, "%20", "+", 1) },
		"type": func(_ request, a *answer) {
			a.ContentType = strings.Replace(a.ContentType, "; charset=utf-8", "", 1)
		},
		"line end": func(_ request, a *answer) { a.Body = strings.TrimSuffix(a.Body, "\r\n") },
		"reason": func(_ request, a *answer) {
			a.Body = strings.Replace(a.Body, "input is too short", "too short", 1)
		},
		"error text": func(_ request, a *answer) {
			a.Body = strings.Replace(a.Body, "Missing app", "Missing the app", 1)
		},
		"file name": func(_ request, a *answer) { // of any endpoint: which ones are drawn depends on their number
			if a.File != "" {
				a.File = "x" + a.File
			}
		},
		"empty answer": func(_ request, a *answer) { a.Body = strings.Replace(a.Body, `"data":[]`, `"data":null`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := twin(t, w, spoil)
			if err := run(judgeFlags(base, "-n", "2500", "-seed", "7", "-show", "1"), io.Discard); err == nil {
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

// TestRecordThenReplay checks the same through a recording, and through the batch form.
func TestRecordThenReplay(t *testing.T) {
	t.Parallel()
	base := twin(t, smallWorld(t), nil)
	recording := t.TempDir() + "/recording.jsonl"
	var out bytes.Buffer
	if err := run([]string{
		"record", "-contract", contractFile, "-views", "testdata/views", "-n", "300", "-seed", "3",
		"-snapshot-time", "2026-11-21T01:02:00Z",
	}, &out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recording, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := run([]string{
		"record", "-contract", contractFile, "-views", "testdata/views", "-n", "300", "-seed", "3",
		"-snapshot-time", "2026-11-21T01:02:00Z",
	}, &again); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("the same seed gave two different recordings (%v)", err)
	}
	out.Reset()
	if err := run([]string{"replay", "-file", recording, "-base", base}, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := run([]string{"requests", "-file", recording}, &out); err != nil {
		t.Fatal(err)
	}
	c, err := newClient(base)
	if err != nil {
		t.Fatal(err)
	}
	var answers bytes.Buffer
	for line := range strings.Lines(out.String()) {
		var r request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		delete(r.Headers, "Accept-Encoding")
		got, err := c.send(r)
		if err != nil {
			t.Fatal(err)
		}
		headers := map[string]any{}
		for name := range got.Headers {
			headers[name] = got.Headers.Get(name)
		}
		text, err := encodePlain(batchAnswer{
			Request: json.RawMessage(line), Status: got.Status, Headers: headers,
			Body: &got.Body,
		})
		if err != nil {
			t.Fatal(err)
		}
		answers.Write(append(text, '\n'))
	}
	file := t.TempDir() + "/answers.jsonl"
	if err := os.WriteFile(file, answers.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	err = run([]string{"grade", "-file", recording, "-answers", file}, &out)
	if n := strings.Count(out.String(), "Content-Encoding"); err != nil && strings.Count(out.String(), "\n    ") != n {
		t.Errorf("%v\n%s", err, out.String()) // only the coding, which was removed from the requests, may differ
	}
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
	if err := z.Close(); err != nil {
		t.Error(err)
	}
	return b.Bytes()
}

// TestSeesWrongExtensions makes one error at a time in the answers of extensions.
func TestSeesWrongExtensions(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	replace := func(old, by string) func(r request, a *answer) {
		return func(_ request, a *answer) { a.Body = strings.Replace(a.Body, old, by, 1) }
	}
	for name, spoil := range map[string]func(r request, a *answer){
		"a sum":     func(_ request, a *answer) { a.Body = sums.ReplaceAllString(a.Body, "${1}9") },
		"a count":   replace(`"count":1`, `"count":2`),
		"a group":   replace(`"data":[{"`, `"data":[{},{"`),
		"a field":   replace(`"location_code"`, `"location_cod"`),
		"a point":   replace(`"coordinates":[`, `"coordinates":[1`),
		"a total":   func(_ request, a *answer) { *orZero(&a.Total) += 1 },
		"a hint":    func(_ request, a *answer) { a.Hint = "" },
		"unrefused": func(_ request, a *answer) { a.Status = map[int]int{422: 200}[a.Status] | a.Status },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := twin(t, w, spoil)
			if err := run(judgeFlags(base, "-n", "100", "-seed", "7", "-show", "1", "-extensions",
				allExtensions), io.Discard); err == nil {
				t.Error("the error was not found")
			}
		})
	}
	var out bytes.Buffer
	if err := run(judgeFlags(twin(t, w, nil), "-n", "100", "-extensions", allExtensions), &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

var sums = regexp.MustCompile(`("(?:sum|mean)_[a-z_]*":[0-9.]+)`)
