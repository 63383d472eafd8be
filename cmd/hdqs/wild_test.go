package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// wildRequest is a request as a program in use sends it, with what is expected. testdata/wild.txt
// explains the parts.
type wildRequest struct {
	line          int
	status        int
	rows          int // 1 for some, 0 for none, -1 if the status is another
	hint, unknown string
	path, query   string
	inHeader      bool
}

// TestWild sends what programs in use send. Each request is answered as the public service
// answers it, or with a hint that names how to mend it, and as its line expects.
func TestWild(t *testing.T) {
	parallel(t)
	store := storeOfScale(t, 0.005)
	requests := readWild(t)
	for _, way := range []struct {
		name, prefix string
		args         []string
	}{
		{"below hapi", contract.HAPIPrefix, []string{"--store", store}},
		{"names hapi", "", []string{"--store", store, "--names", "hapi"}},
	} {
		t.Run(way.name, func(t *testing.T) {
			s := serve(t, way.args...)
			counts := map[string]int{}
			for _, r := range requests {
				kind := r.check(t, s.base+way.prefix, way.prefix)
				if kind == "neither" {
					t.Errorf("line %d: %s?%s: neither the public service's answer nor a hint", r.line, r.path, r.query)
				}
				counts[kind]++
			}
			t.Logf("%v of %d", counts, len(requests))
		})
	}
	if len(requests) < 150 {
		t.Errorf("%d requests, want 150", len(requests))
	}
}

// readWild reads testdata/wild.txt.
func readWild(t *testing.T) []wildRequest {
	t.Helper()
	text := string(testkit.ReadFile(t, filepath.Join("..", "..", "testdata", "wild.txt")))
	var all []wildRequest
	for number, line := range strings.Split(text, "\n") {
		parts := strings.Split(line, " | ")
		if line == "" || line[0] == '#' || line[0] == '[' {
			continue
		}
		r := wildRequest{line: number + 1, status: 200, rows: -1, inHeader: len(parts) == 3 && parts[2] == "header"}
		if len(parts) < 2 || len(parts) == 3 && !r.inHeader {
			t.Fatalf("line %d: %s", r.line, line)
		}
		expected, unknown, _ := strings.Cut(parts[0], " unknown ")
		expected, r.hint, _ = strings.Cut(expected, " hint ")
		r.unknown = unknown
		switch expected {
		case "rows":
			r.rows = 1
		case "none":
			r.rows = 0
		default:
			var err error
			if r.status, err = strconv.Atoi(expected); err != nil {
				t.Fatalf("line %d: %v", r.line, err)
			}
		}
		r.path, r.query, _ = strings.Cut(parts[1], "?")
		all = append(all, r)
	}
	return all
}

// check sends a request, and returns whether its answer is the public service's, has a hint, or
// neither.
func (r *wildRequest) check(t *testing.T, base, prefix string) string {
	t.Helper()
	what := fmt.Sprintf("line %d: %s?%s", r.line, r.path, r.query)
	var fields []string
	if r.inHeader {
		fields = []string{"X-HDX-HAPI-APP-IDENTIFIER", identifier}
	}
	a := ask(t, "GET", base+r.path+"?"+strings.ReplaceAll(r.query, "{ID}", url.QueryEscape(identifier)), fields...)
	if a.status != r.status {
		t.Errorf("%s: %d %.300s, want %d", what, a.status, a.body, r.status)
	}
	if unknown := a.header.Get("X-Unknown-Params"); unknown != r.unknown && !r.isLost(&a) {
		t.Errorf("%s: X-Unknown-Params %q, want %q", what, unknown, r.unknown)
	}
	hint := a.header.Get("X-Hint") + remediesOf(&a)
	if !strings.Contains(hint, r.hint) || (r.hint == "") != (hint == "") {
		t.Errorf("%s: hint %q, want %q", what, hint, r.hint)
	}
	if strings.HasPrefix(r.hint, "/api/") && !strings.Contains(hint, prefix+r.hint) {
		t.Errorf("%s: the hint %q is not below %q", what, hint, prefix)
	}
	if r.rows >= 0 && a.status == 200 {
		r.checkRows(t, what, &a)
	}
	switch {
	case hint != "":
		return "hint"
	case a.status == 200, a.status == 400, a.status == 422 && isPublicFault(&a):
		return "public"
	}
	return "neither"
}

// isLost reports whether the answer refuses filters that version 2 lost, which it names as unknown
// too.
func (r *wildRequest) isLost(a *answer) bool {
	return a.status == 422 && strings.Contains(string(a.body), `"extra_forbidden"`)
}

// checkRows checks that there are records or none. The judge compares records with their filters.
func (r *wildRequest) checkRows(t *testing.T, what string, a *answer) {
	t.Helper()
	count := a.header.Get("X-Result-Count")
	isList := count != ""
	if isList && (count != "0") != (r.rows > 0) || !isList && (!json.Valid(a.body) || len(a.body) < len(`{"a":"b"}`)) {
		t.Errorf("%s: %s records, want some: %v; %.200s", what, count, r.rows > 0, a.body)
	}
	if isCSV := strings.HasPrefix(a.header.Get("Content-Type"), "text/csv"); isCSV && r.rows == 0 && len(a.body) > 0 {
		t.Errorf("%s: %q, where a header line alone would be a record to some", what, a.body)
	}
}

// jsonRows are the records of a list in JSON.
func jsonRows(t *testing.T, body []byte) []map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var list struct{ Data []map[string]any }
	if err := decoder.Decode(&list); err != nil {
		t.Fatalf("%v in %.200s", err, body)
	}
	return list.Data
}

// faultsOf are the items of a 422.
func faultsOf(a *answer) (items []struct{ Type, Msg string }) {
	var body struct{ Detail json.RawMessage }
	if a.status == 422 && json.Unmarshal(a.body, &body) == nil {
		_ = json.Unmarshal(body.Detail, &items)
	}
	return items
}

// isPublicFault reports whether a 422 has faults of the public service's kinds only.
func isPublicFault(a *answer) bool {
	for _, item := range faultsOf(a) {
		switch item.Type {
		case "missing", "enum", "int_parsing", "bool_parsing", "greater_than_equal", "less_than_equal",
			"string_too_short", "string_too_long", "value_error":
		default:
			return false
		}
	}
	return len(faultsOf(a)) > 0
}

// remediesOf is what a 403, or a 422 with faults of kinds that the public service does not have,
// says to do.
func remediesOf(a *answer) string {
	text := ""
	for _, item := range faultsOf(a) {
		if item.Type == "extra_forbidden" {
			text += item.Msg
		}
	}
	var refused struct{ Hint string }
	if a.status == 403 && json.Unmarshal(a.body, &refused) == nil {
		text += refused.Hint
	}
	return text
}
