//go:build !race

package edge_test

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// identifierParams are spellings of a parameter that holds a visitor's identifier.
var identifierParams = []string{"app_identifier", "%61pp_identifier", "app%5Fidentifier"}

// visitorIdentifier is the identifier of a visitor, and the name in it, which no answer may repeat.
func visitorIdentifier(tb testing.TB, name string) (identifier string) {
	tb.Helper()
	identifier, err := contract.EncodeIdentifier(name, name+"@example.org")
	if err != nil {
		tb.Fatal(err)
	}
	return identifier
}

// withPair is an address with another parameter.
func withPair(target, pair string) string {
	if strings.Contains(target, "?") {
		return target + "&" + pair
	}
	return target + "?" + pair
}

// repeats reports whether an identifier is in an answer that caches give to others. A redirect to
// the path without its last slash repeats the query, and is not stored.
func repeats(got *api.Answer, identifier string) bool {
	if got.Status == 307 && apitest.Header(*got, "Cache-Control") == reply.NoStore {
		return false
	}
	for _, text := range []string{identifier, strings.TrimRight(identifier, "="), url.QueryEscape(identifier)} {
		if bytes.Contains(got.Body, []byte(text)) ||
			slices.ContainsFunc(got.Header, func(f reply.HeaderField) bool { return strings.Contains(f.Value, text) }) {
			return true
		}
	}
	return false
}

// TestNoIdentifierInAnswers checks that no page, redirect, link or header repeats the identifier of
// the request: shared caches keep them for all.
func TestNoIdentifierInAnswers(t *testing.T) {
	t.Parallel()
	s, _ := apitest.BulkServer(t, state.Options{})
	identifier := visitorIdentifier(t, "secret-visitor")
	statuses := map[int]int{}
	for _, m := range s.Lists.Routes.Mounts {
		for _, target := range apitest.EveryPage(m.Prefix) {
			for _, name := range identifierParams {
				got := s.Answer("GET", withPair(target, name+"="+url.QueryEscape(identifier)), nil)
				if statuses[got.Status/100]++; repeats(&got, identifier) {
					t.Errorf("%s: %d repeats the identifier of the request: %v %.300s", target, got.Status,
						got.Header, got.Body)
				}
			}
		}
	}
	if statuses[2] == 0 || statuses[3] == 0 || statuses[4] == 0 {
		t.Errorf("answers by status: %v", statuses)
	}
}

// TestPagesDoNotGrow checks that a page is not much larger than its request: pages do not repeat
// parameters that mean nothing, and long addresses are refused.
func TestPagesDoNotGrow(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 300)
	var junk strings.Builder
	for i := 0; junk.Len() < 38<<10; i++ {
		fmt.Fprintf(&junk, "x%d=y&", i)
	}
	short := strings.TrimSuffix(junk.String()[:1900], "&")
	countries := "location_code=" + strings.Repeat("AFG,MLI,", 230)
	for _, path := range []string{
		"/", "/docs", "/country/AFG", "/changelog", "/browse/org", "/browse/conflict-events",
	} {
		plain := s.Answer("GET", path, nil)
		got := s.Answer("GET", path+"?"+short, nil)
		if got.Status != 200 || len(got.Body) > len(plain.Body)+8<<10 {
			t.Errorf("%s: %d, %d bytes; without unknown parameters %d", path, got.Status, len(got.Body),
				len(plain.Body))
		}
		if got = s.Answer("GET", path+"?"+junk.String(), nil); got.Status != 414 {
			t.Errorf("%s with 38 KB of parameters: %d, want 414", path, got.Status)
		}
	}
	got := s.Answer("GET", "/browse/conflict-events?"+countries, nil)
	if location, _ := apitest.Field(got, "Location"); got.Status != 303 || len(location) > 3500 {
		t.Errorf("%d, a Location of %d bytes: nginx reads a header of 4,096", got.Status, len(location))
	}
	target := "/api/v2/metadata/org?app_identifier=" + apitest.Identifier + "&" + short
	if got = s.Answer("GET", target, nil); got.Status != 200 {
		t.Errorf("a list: %d", got.Status)
	}
}
