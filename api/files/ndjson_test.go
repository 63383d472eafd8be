//go:build !race

package files_test

import (
	"bytes"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
)

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
