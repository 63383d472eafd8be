//go:build !race

package site_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestCountryFilter: the list of countries has those whose names have a text in them, in the
// language of the page first, and says so where there are none.
func TestCountryFilter(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, apitest.FigureTables(t))
	listed := regexp.MustCompile(`/country/([A-Z]{3})"><bdi>`)
	for _, c := range []struct{ prefix, text, want string }{
		{"", "sdn", "SDN"},
		{"", "NAME OF  sdn", "SDN"},
		{"", "of", "CAF HTI KEN PAK SDN SOM TCD"},
		{"/fr", "Soudan", "SDN"},
		{"", "Soudan", "SDN"},
		{"/ar", "السودان", "SDN"},
		{"", "atlantis", ""},
	} {
		page := apitest.Browse(s, c.prefix+"/country?name="+url.QueryEscape(c.text))
		var codes []string
		body, _, _ := strings.Cut(string(page.Body), `role="alert"`)
		for _, m := range listed.FindAllStringSubmatch(body, -1) {
			codes = append(codes, m[1])
		}
		slices.Sort(codes)
		isNone := strings.Contains(string(page.Body), "No country is called <bdi>"+c.text)
		if got := strings.Join(codes, " "); page.Status != 200 || got != c.want || isNone != (c.want == "") {
			t.Errorf("%s %q: %d, %s, want %s", c.prefix, c.text, page.Status, got, c.want)
		}
	}
	page := string(apitest.Browse(s, "/country").Body)
	if links := strings.Count(page, `href="#letter-`); links == 0 || links != strings.Count(page, `id="letter-`) {
		t.Errorf("%d letters lead to parts of the list", links)
	}
}
