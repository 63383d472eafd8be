//go:build !race

package site_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
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

// TestCompareGroups: the figure of a group is the sum of those of its countries, and says of how
// many of them it is.
func TestCompareGroups(t *testing.T) {
	t.Parallel()
	ours := contract.CountryGroup{
		Kind: contract.OwnGroup, Slug: "our-crises", Name: "Our crises", Members: []string{"AFG", "CAF", "SDN"},
	}
	options := state.Options{Identifier: state.IgnoreIdentifier, Groups: []contract.CountryGroup{ours}}
	s := apitest.Server(t, options, apitest.FigureTables(t))
	sum := func(figure string) (total float64, known int) {
		figures, _ := apitest.Records(t, s, "/api/v2/figures/"+figure+"?location_code__in=AFG,CAF,SDN")
		for _, r := range figures {
			if n, ok := r["value"].(interface{ Float64() (float64, error) }); ok {
				f, err := n.Float64()
				if err != nil {
					t.Fatal(err)
				}
				total, known = total+f, known+1
			}
		}
		return total, known
	}
	for figure, name := range map[string]string{"people_in_need": "our+crises", "internally_displaced": "our-crises"} {
		total, known := sum(figure)
		page := string(apitest.Browse(s, "/compare?figure="+figure+"&country=MLI%2C"+name).Body)
		row := regexp.MustCompile(`Our crises</bdi></a></td>(.*)`).FindString(page)
		value := fmt.Sprintf(`<data value="%v"`, total)
		if known == 0 || !strings.Contains(row, value) || !strings.Contains(row, fmt.Sprintf("from %d of 3", known)) {
			t.Errorf("%s: want %s of %d countries: %s", figure, value, known, row)
		}
	}
	page := string(apitest.Browse(s, "/compare?figure=overall_risk&country=AFG%2COur+crises").Body)
	if !strings.Contains(page, "are not added up") {
		t.Error("ratings of countries are added up")
	}
}
