package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

const mistakesHTTPFile = "testdata/mistakes_http.txt"

// TestGoldenMistakesHTTP sends what people mistype, and compares the answers with
// testdata/mistakes_http.txt. Each block there is a request, the status, and what a caller sees of
// the answer: the header fields that explain it, the messages of the body, and how many rows of the
// endpoint it has.
func TestGoldenMistakesHTTP(t *testing.T) {
	parallel(t)
	s := serve(t, "--store", sampleStore(t))
	text := string(testkit.ReadFile(t, mistakesHTTPFile))
	intro, rest, _ := strings.Cut(text, "\n$ ")
	var out strings.Builder
	out.WriteString(intro)
	blocks := strings.Split(rest, "\n$ ")
	for _, block := range blocks {
		line, _, _ := strings.Cut(block, "\n")
		fmt.Fprintf(&out, "\n$ %s\n%s", line, s.mistaken(t, line))
	}
	if *update {
		testkit.WriteFile(t, mistakesHTTPFile, []byte(out.String()))
		return
	}
	if len(blocks) < 30 {
		t.Errorf("%d mistakes, want at least 30", len(blocks))
	}
	compareLines(t, mistakesHTTPFile, text, out.String())
}

// mistaken sends a request and returns what a caller sees of the answer. The line is a method, a
// path with a query, and header fields as Name:value. The identifier is in a header field, unless
// the line has one or says "anonymous".
func (s *server) mistaken(t *testing.T, line string) string {
	t.Helper()
	words := strings.Fields(line)
	fields := []string{"X-CATALOG-API-APP-IDENTIFIER", identifier}
	for _, word := range words[2:] {
		name, value, given := strings.Cut(word, ":")
		switch {
		case word == "anonymous":
			fields = fields[2:]
		case given:
			fields = append(fields, name, value)
		default:
			t.Fatalf("%s: %q is no header field", line, word)
		}
	}
	a := ask(t, words[0], s.base+words[1], fields...)
	var out strings.Builder
	fmt.Fprintf(&out, "%d\n", a.status)
	for _, name := range []string{"Allow", "Location", "Content-Encoding", "X-Unknown-Params", "X-Hint"} {
		if value := a.header.Get(name); value != "" {
			fmt.Fprintf(&out, "%s: %s\n", name, value)
		}
	}
	if link := a.header.Get("Link"); a.status == 404 && link != "" {
		fmt.Fprintf(&out, "Link: %s\n", link)
	}
	if total := a.header.Get("X-Total-Count"); total != "" {
		path, _, _ := strings.Cut(words[1], "?")
		all := ask(t, "GET", s.base+with(path+"?limit=0")).header.Get("X-Total-Count")
		switch total {
		case "0":
			out.WriteString("no rows\n")
		case all:
			out.WriteString("all rows\n")
		default:
			out.WriteString("some rows\n")
		}
	}
	if a.status >= 400 {
		out.WriteString(messages(t, a.body))
	}
	return out.String()
}

// messages are the texts of an error's body, one a line.
func messages(t *testing.T, body []byte) string {
	t.Helper()
	var out strings.Builder
	said := decode[struct {
		Error, Hint string
		Detail      json.RawMessage
	}](t, body)
	var text string
	var items []struct {
		Loc []string
		Msg string
	}
	switch {
	case len(said.Detail) == 0:
	case json.Unmarshal(said.Detail, &text) == nil:
		fmt.Fprintf(&out, "detail: %s\n", text)
	case json.Unmarshal(said.Detail, &items) == nil:
		for _, item := range items {
			fmt.Fprintf(&out, "detail: %s: %s\n", strings.Join(item.Loc, "."), item.Msg)
		}
	default:
		t.Fatalf("%s", body)
	}
	if said.Error != "" {
		fmt.Fprintf(&out, "error: %s\n", said.Error)
	}
	if said.Hint != "" {
		fmt.Fprintf(&out, "hint: %s\n", said.Hint)
	}
	if out.Len() == 0 {
		t.Errorf("an error without a message: %s", body)
	}
	return out.String()
}
