//go:build !race

package site_test

import (
	"regexp"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestCompare: countries are named in any language, their figures are those of the interface, and
// each is named that is left out.
func TestCompare(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.FigureTables(t))
	value := regexp.MustCompile(`<bdi>[^<]*</bdi></a></td><td class="number"><data value="([^"]*)"`)
	page := apitest.Browse(s, "/compare?figure=people_in_need&country=afg%2CName+of+SDN%2CMLI%2CAtlantis")
	shown := map[string]bool{}
	for _, m := range value.FindAllStringSubmatch(string(page.Body), -1) {
		shown[m[1]] = true
	}
	figures, _ := apitest.Records(t, s, "/api/v2/figures/people_in_need?location_code__in=AFG,SDN,MLI")
	known := 0
	for _, r := range figures {
		if n, ok := r["value"].(interface{ String() string }); ok {
			if known++; !shown[n.String()] {
				t.Errorf("%s of %s is not among %v", n, r["location_code"], shown)
			}
		}
	}
	if known == 0 || known != len(shown) || !strings.Contains(string(page.Body), "called <bdi>Atlantis</bdi>") {
		t.Errorf("%d figures, %d shown: %.3000s", known, len(shown), page.Body)
	}
	for _, path := range []string{
		"/compare", "/fr/compare?figure=x&country=AFG", "/ar/compare?country=AFG%2CSDN&per=1000",
	} {
		if page := apitest.Browse(s, path); page.Status != 200 {
			t.Errorf("%s: %d", path, page.Status)
		}
	}
}
