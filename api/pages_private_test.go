//go:build !race

package api_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
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

// everyPage are addresses of every kind of page and file, with queries of the kinds that pages
// repeat in links.
func everyPage(prefix string) (targets []string) {
	for _, path := range []string{
		"/", "/docs", "/docs?q=price", "/docs/org", "/docs/interactive", "/docs/identifier", "/changelog",
		"/country", "/country/AFG", "/country/AFG.xlsx", "/country/AFX", "/country/afg",
		"/changelog.atom", "/search?q=price", "/search/suggest?q=a",
		"/openapi.json", "/api/v2", "/nowhere", "/docs/nowhere", "/browse/nowhere", "/bulk", "/bulk/",
		"/bulk/index.json",
		"/bulk/latest/manifest.json", "/bulk/" + apitest.SampleID, "/browse/org",
		"/browse/org/download?output_format=csv&limit=2",
		"/browse/org?location_code=AFG,MLI", "/browse/org?column=acronym&column=name",
		"/browse/org?limit=5&offset=2&x=1",
		"/browse/conflict-events?by=location_code&measure=events", "/browse/conflict-events?admin_level=0&latest=true",
		"/browse/conflict-events?row=1", "/browse/conflict-events?limit=x",
		"/browse/idps?location_code=AFG&by=admin1_code",
		"/figure/conflict-events.csv?by=location_code&measure=records", "/figure/conflict-events.xlsx",
		"/figure/conflict-events.svg", "/figure/conflict-events.png", "/country/AFG.png",
		"/figure/humanitarian-needs.csv?limit=x", "/figure/idps.csv?location_code=AFG,MLI",
		"/embed/conflict-events?by=location_code&measure=records&x=1", "/embed/conflict-events?measure=fatalities",
		"/oembed?url=http://example.org/browse/conflict-events", "/oembed?url=x",
		"/api/v2/metadata/org?limit=2", "/api/v2/metadata/org?limit=x", "/api/v2/metadata/org/facets?fields=org_type_code",
		"/api/v2/coordination-context/conflict-events/aggregate?group_by=location_code&measures=count",
	} {
		targets = append(targets, prefix+path)
	}
	return targets
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
		for _, target := range everyPage(m.Prefix) {
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

// TestEdgeIdentifiers checks that visitors behind one cache see nothing of each other's
// identifiers.
func TestEdgeIdentifiers(t *testing.T) { onFronts(t, testEdgeIdentifiers) }

func testEdgeIdentifiers(t *testing.T, f *front) {
	g, b := startEdge(t, f, state.Options{Bulk: true, BaseURL: "http://edge.example"}), apitest.NewBulkDir(t)
	b.Put(t, apitest.SampleID, rand.New(rand.NewPCG(6, 17)))
	testkit.Must(t, g.server.Files.LookForBulk(b.Bulk))
	visitors := []string{visitorIdentifier(t, "first-visitor"), visitorIdentifier(t, "second-visitor")}
	for _, m := range g.server.Lists.Routes.Mounts {
		for _, target := range everyPage(m.Prefix) {
			for i, mine := range visitors {
				got := g.ask(t, "GET", withPair(target, "app_identifier="+url.QueryEscape(mine)), nil)
				if got.Status >= 500 || repeats(&got, visitors[1-i]) || repeats(&got, mine) {
					t.Errorf("%s: %d, %v %.300s", target, got.Status, got.Header, got.Body)
				}
			}
		}
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
