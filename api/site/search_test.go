//go:build !race

package site_test

import (
	"cmp"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestSearchFigures: the number of each figure, also of a year and of a sector, is
// at the top of the page that its link opens.
func TestSearchFigures(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, apitest.FigureTables(t))
	shown := regexp.MustCompile(`(?s)<data value="([^"]*)">.*?<a href="([^"]*)">The records it is made of`)
	top := regexp.MustCompile(`<p class="value[^"]*"><strong(?: title="([^"]*)")?>([^<]*)</strong>`)
	coded := regexp.MustCompile(`no record of (AFG|MLI|SDN|CAF)\b|in the list [a-z]`)
	seen := map[string]int{}
	for _, m := range s.Lists.Routes.Mounts {
		for _, h := range contract.Headlines {
			for _, more := range []string{
				"Afghanistan", "Afghanistan in 2024", "Mali", "Mali health", "Sudan", "Central African Republic",
			} {
				query := h.Title + " " + more
				found := apitest.Browse(s, m.Prefix+"/search?q="+url.QueryEscape(query)).Body
				if why := coded.Find(found); why != nil {
					t.Errorf("%s: %s: a code in place of a name: %s", m.Prefix, query, why)
				}
				of := shown.FindSubmatch(found)
				if of == nil {
					continue
				}
				seen[more]++
				view := html.UnescapeString(string(of[2]))
				got := top.FindSubmatch(apitest.Browse(s, view).Body)
				if got == nil || apitest.PlainNumber(cmp.Or(string(got[1]), string(got[2]))) !=
					apitest.PlainNumber(string(of[1])) {
					t.Errorf("%s: %s is %s, but %s begins with %q", m.Prefix, query, of[1], view, got)
				}
			}
		}
	}
	testkit.AtLeast(t, len(seen), 4, "so few numbers were found: %v", seen)
}

// TestSearchUnits: where a unit has no number and its country has one, that is a link, without it.
func TestSearchUnits(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
table humanitarian_needs
CAF 2024; population_status=INN; sector_code=Intersectoral; category=total; population=70`)
	page := string(apitest.Browse(apitest.Server(t, state.Options{}, tables), "/search?q=people+in+need+CF01").Body)
	const link = `location_code=CAF[^"]*">People in need, Name of CAF`
	if !strings.Contains(page, "no record is of all that") || !regexp.MustCompile(link).MatchString(page) ||
		strings.Contains(page, ">70<") {
		t.Errorf("want %s: %.3000s", link, page[strings.Index(page, "<main"):])
	}
}

// TestSearchSpellings: a list that has a unit by its name only may write it with other accents.
func TestSearchSpellings(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
only operational_presence
CAF 2024; admin1_name=ĆF01; provider_admin1_name=ĆF01; admin_level=1; org_acronym=ABC; org_name=Abc; sector_code=HEA`)
	page := string(apitest.Browse(apitest.Server(t, state.Options{}, tables), "/search?q=organisations+CF01").Body)
	testkit.Contains(t, page, `<data value="1"`, "one organisation")
}

// TestSearchByCountry: a result that is titled as a figure leads to a page that draws it.
func TestSearchByCountry(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 300)
	first := regexp.MustCompile(`(?s)<ol class="results">.*?<a href="([^"]*)">(.*?)</a>`)
	drawn := regexp.MustCompile(`<h2 id="figure[^>]*>([^<]*)`)
	for q, want := range map[string]string{
		"which countries are least funded":    "Share of the appeal that is funded</bdi>: Share of each country",
		"all humanitarian funding by country": "</bdi>: 20 countries: all humanitarian funding by",
		"food prices by country":              "Food prices by market and commodity</bdi>: 20 countries: mean of price",
		"where is violence worst":             "start_date=2023-05 <bdi>Events of political violence</bdi>",
	} {
		of := first.FindSubmatch(apitest.Browse(s, "/search?q="+url.QueryEscape(q)).Body)
		page := apitest.Browse(s, html.UnescapeString(string(of[1]))).Body
		testkit.Contains(t, fmt.Sprintf("%s %s: %s", of[1], of[2], drawn.FindSubmatch(page)[1]), want, "%s", q)
	}
}

// TestSearchTitles: the title of each list has a page of results.
func TestSearchTitles(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 300)
	for i := range contract.Endpoints {
		q := "/search?q=" + url.QueryEscape(contract.Endpoints[i].Summary)
		testkit.Equal(t, apitest.Browse(s, q).Status, 200, "%s", q)
	}
}

// TestSearchAges: people of an age have a number where all are counted by age, or by sex where the
// list has some ranges of ages only.
func TestSearchAges(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
only population
CAF/CF01 2024; gender=all; age_range=all; population=10
CAF/CF01 2024; gender=f; age_range=all; population=6
CAF/CF01 2024; gender=m; age_range=all; population=4
CAF/CF01 2024; gender=f; age_range=0-4; min_age=0; max_age=4; population=2
CAF/CF01 2024; gender=m; age_range=0-4; min_age=0; max_age=4; population=1
CAF/CF02 2024; gender=all; age_range=all; population=10
CAF/CF02 2024; gender=f; age_range=all; population=6
CAF/CF02 2024; gender=m; age_range=all; population=4
CAF/CF02 2024; gender=f; age_range=0-4; min_age=0; max_age=4; population=2
CAF/CF02 2024; gender=m; age_range=5+; min_age=5; population=1`)
	s := apitest.Server(t, state.Options{}, tables)
	for unit, want := range map[string]string{"CF01": `<data value="3"`, "CF02": "only 3 of its people"} {
		page := string(apitest.Browse(s, "/search?q=population+under+5+"+unit).Body)
		testkit.Contains(t, page, want, "%s: %.2000s", unit, page[strings.Index(page, "<main"):])
	}
}

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
		{"/es", "el Sudán", "SDN"},
		{"", "sd", "SDN"},
		{"", "%", ""},
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

// TestSearchSince: amounts since a year are those of all years, which is no single number. How they
// changed since then is the newest one beside an earlier one.
func TestSearchSince(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
only funding
- 2022; location_code=CAF; appeal_code=A1; appeal_name=A; appeal_type=HRP; requirements_usd=9; funding_usd=5
- 2024; location_code=CAF; appeal_code=A2; appeal_name=B; appeal_type=HRP; requirements_usd=9; funding_usd=7`)
	s := apitest.Server(t, state.Options{}, tables)
	for question, want := range map[string]bool{
		"funding received since 2022": false, "how did funding received change since 2022": true,
	} {
		page := string(apitest.Browse(s, "/search?q="+url.QueryEscape(question+" Central African Republic")).Body)
		is := strings.Contains(page, `<data value="7"`) && strings.Contains(page, `<data value="5"`)
		testkit.Equal(t, is, want, "%s: the newest value beside an earlier one", question)
	}
}
