//go:build !race

package files_test

import (
	"bytes"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestNDJSON compares random pages as NDJSON with the same pages as JSON, byte by byte, in both
// sets of names and in every coding: its lines are the records.
func TestNDJSON(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, apitest.SampleTables(t, 300))
	random := testkit.Random(t)
	lines, empty := 0, 0
	for _, m := range s.Lists.Routes.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			e := &endpoints[i]
			for _, page := range []string{"", "&limit=7&offset=20", "&limit=0", "&limit=1&offset=299", "&offset=9999"} {
				target := m.Prefix + e.Path + "?" + randomExport(e,
					random) + page + "&app_identifier=" + apitest.Identifier
				plain, got := s.Answer("GET", target, nil), s.Answer("GET", target+"&output_format=ndjson", nil)
				if plain.Status != 200 || got.Status != 200 {
					t.Fatalf("%s: %d, %d %s", target, plain.Status, got.Status, got.Body)
				}
				if len(got.Body) == 0 {
					empty++
				} else if lines++; got.Body[len(got.Body)-1] != '\n' {
					t.Errorf("%s: the last line does not end: %.300s", target, got.Body)
				}
				records := bytes.ReplaceAll(bytes.TrimSuffix(got.Body, []byte("\n")), []byte("\n"), []byte(","))
				if have := `{"data":[` + string(records) + "]}"; have != string(plain.Body) {
					t.Errorf("%s:\n got %.300s\nwant %.300s", target, have, plain.Body)
				}
				checkLines(t, s, target, plain, got)
			}
		}
	}
	if lines < 50 || empty < 100 {
		t.Errorf("%d answers with lines, %d without", lines, empty)
	}
}

// checkLines compares the header of an answer as NDJSON with that as JSON, and its body with those
// in content codings.
func checkLines(t *testing.T, s *api.Server, target string, plain, got api.Answer) {
	t.Helper()
	for _, name := range []string{"X-Total-Count", "X-Result-Count", "Cache-Control", "Vary", "X-Snapshot-Id"} {
		if a, b := apitest.Header(got, name), apitest.Header(plain, name); a != b {
			t.Errorf("%s: %s is %q, as JSON %q", target, name, a, b)
		}
	}
	if have := apitest.Header(got, "Content-Type"); have != "application/x-ndjson" {
		t.Errorf("%s: Content-Type %q", target, have)
	}
	if have := apitest.Header(got, "Content-Disposition"); !strings.Contains(have, `_2026-11-20.ndjson"`) {
		t.Errorf("%s: Content-Disposition %q", target, have)
	}
	if apitest.Header(got, "ETag") == apitest.Header(plain, "ETag") {
		t.Errorf("%s: the tag is that of JSON", target)
	}
	want := strings.ReplaceAll(apitest.Header(plain, "Link"), "&offset", "&output_format=ndjson&offset")
	if links := apitest.Header(got, "Link"); len(links) > 0 != (len(want) > 0) ||
		strings.Count(links, "output_format=ndjson") != strings.Count(want, "rel=") {
		t.Errorf("%s: links %q, as JSON %q", target, links, want)
	}
	target += "&output_format=ndjson"
	head := s.Answer("HEAD", target, nil)
	if a, b := apitest.Header(head, "Content-Length"), apitest.Header(got, "Content-Length"); a != b ||
		len(head.Body) > 0 {
		t.Errorf("%s: HEAD has length %s, GET %s", target, a, b)
	}
	for _, coding := range []string{"gzip", "zstd"} {
		coded := s.Answer("GET", target, apitest.Fields("Accept-Encoding", coding))
		text, err := apitest.Decode(apitest.Header(coded, "Content-Encoding"), coded.Body)
		if err != nil || !bytes.Equal(text, got.Body) {
			t.Errorf("%s: as %s: %v, other bytes", target, coding, err)
		}
	}
}

// TestNDJSONErrors checks that a refused request is answered in the contract's words, and that a
// page of a table that is missing is empty.
func TestNDJSONErrors(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/climate/rainfall?app_identifier=" + apitest.Identifier
	s := apitest.Server(t, state.Options{}, nil)
	for query, want := range map[string]string{
		"&output_format=ndjson":              "",
		"&output_format=ndjson&limit=x":      `"loc":["query","limit"]`,
		"&output_format=NDJSON":              `"msg":"Input should be 'csv' or 'json'"`,
		"&output_format=ndjson&start_date=x": `"Invalid start_date format`,
	} {
		got := s.Answer("GET", path+query, nil)
		kind, refused := apitest.Header(got, "Content-Type"), want != ""
		if !bytes.Contains(got.Body, []byte(want)) || refused != (got.Status >= 400) ||
			refused != (kind == contract.JSONType) || !refused && len(got.Body) > 0 {
			t.Errorf("%s: %d, %s, %s", query, got.Status, kind, got.Body)
		}
	}
}
