package main_test

import (
	"cmp"
	"encoding/json"
	"html"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/find"
	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

var (
	viewTile = regexp.MustCompile(
		`(?s)<div class="tile(?: part)?"><h2>([^<]*)</h2>\s*(?:<p>[^<]*</p>\s*)?<p class="value[^"]*">(?:<strong(?: title="([^"]*)")?>([^<]*)</strong>)?`)
	viewOption = regexp.MustCompile(`(?s)<select id="choose-commodity_code".*?<option value="([^"]+)"`)
)

// refusedFigure is on pages that refuse a figure.
const refusedFigure = "so that their sum would be wrong."

// view is a page of records.
func (s *server) view(t *testing.T, path string) string {
	t.Helper()
	a := ask(t, "GET", s.base+path)
	if a.status == 303 { // the page of the same values in the form that links have
		a = ask(t, "GET", s.base+a.header.Get("Location"))
	}
	if a.status != 200 {
		t.Fatalf("%s: %d %.300s", path, a.status, a.body)
	}
	return string(a.body)
}

// tilesOf are the headline figures of a page by title, NaN without a value.
func tilesOf(page string) map[string]float64 {
	tiles := map[string]float64{}
	for _, m := range viewTile.FindAllStringSubmatch(page, -1) {
		text := strings.NewReplacer("\u202f", "", "\u2212", "-").Replace(cmp.Or(m[2], m[3]))
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			value = math.NaN()
		}
		tiles[html.UnescapeString(m[1])] = value
	}
	return tiles
}

// headlineOf is the declaration of a headline figure.
type headlineOf struct{ Name, Title, List, Place, Measure string }

// headlineValues are the values of a figure by country.
func (s *server) headlineValues(t *testing.T, name, query string) map[string]*float64 {
	t.Helper()
	a := ask(t, "GET", s.base+with("/api/v2/figures/"+name+"?"+query+"&limit=10000"))
	var body struct {
		Data []struct {
			Place string `json:"location_code"`
			Value *float64
		}
	}
	if err := json.Unmarshal(a.body, &body); err != nil || a.status != 200 {
		t.Fatalf("%s?%s: %d %v", name, query, a.status, err)
	}
	values := map[string]*float64{}
	for _, r := range body.Data {
		values[r.Place] = r.Value
	}
	return values
}

// TestFirstViews compares the headline figures of pages, of all records and of each country, with
// those of the interface.
func TestFirstViews(t *testing.T) {
	parallel(t)
	t.Run("made up", func(t *testing.T) {
		parallel(t)
		s := serve(t)
		s.testFirstViews(t)
	})
	t.Run("real", func(t *testing.T) {
		parallel(t)
		s := serve(t, "--store", fixtureStore(t))
		s.testFirstViews(t)
		if page := s.view(t, "/browse/conflict-events?more=figures"); !strings.Contains(page, "42 of 140 districts") {
			t.Error("the page does not say of how many districts figures are")
		}
		// The newest records of pairs of countries are of several years.
		mixed := s.view(t, "/browse/refugees-persons-of-concern?latest=true")
		if !strings.Contains(mixed, "Latest round, in place of: Only the newest records") ||
			strings.Contains(mixed, "1\u202f419\u202f609") {
			t.Error("refugees of several years are added up")
		}
		if page := s.view(t, "/browse/food-security?admin_level=1"); !strings.Contains(page, "17\u202f213\u202f584") {
			t.Error("the page of provinces does not name the figure of the country")
		}
		for path, want := range map[string]string{
			// A list of which one month is known begins with what can be compared.
			"conflict-events":                       `<h2 id="figure-heading">Deaths in political violence by country`,
			"operational-presence":                  "Organisations present by country, report of 2025",
			"baseline-population?location_code=COD": "There are no figures of people older than 19 years.",
			"poverty-rate?location_code=COD":        "4 have records with several values",
			// Years of which one country has a rate are no rates of all.
			"poverty-rate?by=year&measure=mpi": "Drawn by country: by year, these records have several values",
			// Shares of some phases would look like shares of all people.
			"food-security?location_code=AFG&classification_phase=4":             "People in phase: 34 groups",
			"food-security?location_code=AFG&classification_phase__in=3,4":       "People in phase: 34 groups",
			"food-security?location_code=AFG&classification_phase__in=1,2,3,4,5": "Stressed (phase 2)",
			// Months of rain can be forecasts.
			"rainfall?by=month&admin1_code=MZ03&aggregation_period=dekad&admin_level=2": "2025-03 are forecasts",
			// No drawing of the list suits these filters: another one does.
			"humanitarian-needs?admin2_code=AF0101":        `id="figure-heading">Kabul: people`,
			"returnees?age_range=12-17":                    "People: 2 groups",
			"humanitarian-needs?category=Children":         "Children - Male - Pakistan…, in need",
			"baseline-population?age_range=45-49&gender=f": "people (45-49, female) by year",
			// What is not added up is a line for each, and no round is drawn over time.
			"rainfall?by=month&measure=rainfall":                `<th scope="col" class="number">Three months`,
			"idps?by=year&location_code=HTI&measure=population": "Drawn by province: by year",
			"refugees-persons-of-concern":                       `Refugees in a few countries of asylum only.</p><div class="chosen">`,
		} {
			page := s.view(t, "/browse/"+path)
			if !strings.Contains(page, want) {
				t.Errorf("%s is without %q", path, want)
			}
			if m := regexp.MustCompile(`href="(/figure/[^"]*)"`).FindStringSubmatch(page); m != nil {
				s.view(t, html.UnescapeString(m[1]))
			}
		}
		// Drawings are the same in each language.
		kinds := regexp.MustCompile(`class="chart [^"]*"|<(circle|rect)`)
		for _, path := range []string{
			"/browse/baseline-population?location_code=COD", "/browse/food-security?location_code=ETH", "/browse/idps",
			"/browse/returnees", "/browse/funding", "/browse/food-prices-market-monitor", "/browse/humanitarian-needs",
		} {
			want := kinds.FindAllString(s.view(t, path), -1)
			for _, language := range []string{"/fr", "/es", "/ar"} {
				if got := kinds.FindAllString(s.view(t, language+path), -1); !slices.Equal(got, want) {
					t.Errorf("%s%s has %q, in English %q", language, path, got, want)
				}
			}
		}
		// A choice of provinces brings their level and the newest round.
		for _, by := range []string{
			"idps?admin_level=coarsest&location_code=AFG", "idps?admin_level=coarsest&latest=edition&location_code=AFG",
			"humanitarian-needs?admin_level=2&location_code=SDN",
		} {
			page := s.view(t, "/browse/"+by+"&by=admin1_name&measure=population")
			if strings.Contains(page, refusedFigure) || !strings.Contains(page, `class="chart bars"`) {
				t.Errorf("%s is not drawn by province", by)
			}
		}
	})
}

func (s *server) testFirstViews(t *testing.T) {
	t.Helper()
	a := ask(t, "GET", s.base+with("/api/v2/figures?limit=1000"))
	declared := decode[struct{ Data []headlineOf }](t, a.body).Data
	lists, compared, sums, views := map[string]bool{}, 0, 0, map[string]string{}
	view := func(path string) string { // most figures share their pages with others
		if views[path] == "" {
			views[path] = s.view(t, path)
		}
		return views[path]
	}
	for _, h := range declared {
		path := "/browse/" + h.List[strings.LastIndex(h.List, "/")+1:]
		whole := tilesOf(view(path))
		lists[path] = true
		some, sum, most := 0, 0.0, 0.0
		for place, value := range s.headlineValues(t, h.Name, "") {
			query := "?" + h.Place + "=" + place
			page := view(path + query)
			if m := viewOption.FindStringSubmatch(page); m != nil {
				value = s.headlineValues(t, h.Name, "location_code="+place+"&commodity_code="+m[1])[place]
				page = view(path + query + "&commodity_code=" + m[1])
			}
			got, shown := tilesOf(page)[h.Title]
			switch {
			case !shown && h.Name == "funding_received_all": // beside what was asked for it would mislead
			case value == nil && shown && math.IsNaN(got):
				compared++
			case value == nil || got != *value:
				t.Errorf("%s%s: %s is %v, shown %t, want %v", path, query, h.Title, got, shown, value)
			default:
				compared, some, sum, most = compared+1, some+1, sum+*value, max(most, *value)
			}
		}
		if got, shown := whole[h.Title]; shown && some > 1 && strings.HasPrefix(h.Measure, "sum:") &&
			!strings.Contains(h.Measure, " ") {
			apart := got == most && strings.Contains(view(path), "the highest of")
			if sums++; math.Abs(got-sum) > 1e-9*math.Abs(sum) && !apart {
				t.Errorf("%s: %s is %v, the countries have %v", path, h.Title, got, sum)
			}
		}
	}
	of := tilesOf(view("/browse/funding"))
	share := 100 * of["Funding received for appeals"] / of["Funding asked for"]
	if got := of["Share of the appeal that is funded"]; !(math.Abs(got-share) < 1e-6) {
		t.Errorf("of all countries %v per cent of the appeals are funded, want %v", got, share)
	}
	t.Logf("%d lists, %d figures, %d sums", len(lists), compared, sums)
	if len(lists) != 13 || compared < 300 || sums < 10 {
		t.Error("too little was compared")
	}
	for path := range lists {
		if page := view(path); strings.Contains(page, refusedFigure) ||
			!strings.Contains(page, `class="chart`) && !strings.Contains(page, `id="choose-`) {
			t.Errorf("%s opens without a figure", path)
		}
	}
}

var (
	refusals = regexp.MustCompile(`(?s)<strong>This cannot be answered\..*?</div>|<strong>No figure, since.*?</details>|` +
		`<p>(?:This page is after the last|No record passes these filters)[^\n]*</p>\n</section>\n|` +
		`<p>(?:This page is after the last|No record passes these filters)[^\n]*</p>\n<details`)
	linkPattern = regexp.MustCompile(`href="([^"]+)"`)
	options     = regexp.MustCompile(`<option value="([^"]+)"`)
	someRecords = regexp.MustCompile(`class="total" role="status"><strong>[1-9]`)
)

// TestRefusalsLeadOn asks for the page of each list in many ways. Whatever a page refuses, it has a
// link beside the refusal, and each such link leads to records, those to a figure to the figure.
func TestRefusalsLeadOn(t *testing.T) {
	parallel(t)
	t.Run("generated", func(t *testing.T) {
		testRefusals(t, newStoreOf(t, generator.Options{Seed: 1, Small: true, Edited: 9}))
	})
	if testkit.Long() { // the same questions, on tables that take six times as long
		t.Run("real", func(t *testing.T) { testRefusals(t, fixtureStore(t)) })
	}
}

func testRefusals(t *testing.T, store string) {
	s := serve(t, "--store", store)
	seen, found := map[string]string{}, map[string]int{}
	read := func(path string) string {
		if _, known := seen[path]; !known {
			a := ask(t, "GET", s.base+path)
			seen[path] = string(a.body)
			if a.status != 200 && a.status != 422 {
				t.Errorf("%s: %d", path, a.status)
			}
		}
		return seen[path]
	}
	for _, e := range contract.Endpoints {
		path := "/browse" + e.Path[strings.LastIndexByte(e.Path, '/'):]
		first := read(path)
		for _, query := range queriesOf(first) {
			for _, refused := range refusals.FindAllString(read(path+query), -1) {
				found[strings.Trim(refused[:20], "<>strongp")]++
				links := linkPattern.FindAllStringSubmatch(refused, -1)
				if len(links) == 0 && someRecords.MatchString(first) {
					t.Errorf("%s%s refuses without a link: %.200s", path, query, refused)
				}
				for _, l := range links {
					to := read(html.UnescapeString(l[1]))
					figure := strings.HasPrefix(refused, "<strong>No") && strings.Contains(refused, `"button" href="`+l[1])
					if !someRecords.MatchString(to) || figure && strings.Contains(to, "No figure, since") {
						t.Errorf("%s%s leads to %s, without records or a figure", path, query, l[1])
					}
				}
			}
		}
	}
	if len(found) < 2 {
		t.Errorf("refusals that were seen: %v", found)
	}
}

// queriesOf are questions to the page of a list: each measure by each field with some filters, and
// mistakes.
func queriesOf(page string) []string {
	all := []string{
		"", "?location_code=ZZZ", "?location_code=ZZZ&admin_level=1&latest=true", "?offset=9999999", "?limit=x",
		"?fields=nothing", "?start_date=never&admin_level=7", "?location_code=ZZZ&admin_level=7", "?name=ZZZ&code=ZZZ",
	}
	of := func(id string) [][]string {
		_, rest, _ := strings.Cut(page, `<select id="`+id+`"`)
		choices, _, _ := strings.Cut(rest, "</select>")
		return options.FindAllStringSubmatch(choices, -1)
	}
	for _, measure := range of("measure") {
		for _, by := range of("by") {
			for _, filters := range []string{
				"", "&latest=true&admin_level=1", "&latest=true", "&start_date=2024&end_date=2024",
			}[:testkit.Trials(4, 2)] {
				all = append(all, "?measure="+measure[1]+"&by="+by[1]+filters)
			}
		}
	}
	return all
}

// checkSearches compares what a server finds with a file, and opens each page that is found: it has
// records, and no sum that would be wrong. A figure is that of the interface.
func checkSearches(t *testing.T, s *server, file string) {
	t.Helper()
	opened, searches := map[string]bool{}, testkit.Cases(t, filepath.Join("testdata", "search", file), " = ", 2)
	for _, c := range searches {
		query, want := c[0], c[1]
		answer := ask(t, "GET", s.base+"/search/suggest?q="+url.QueryEscape(query))
		found := decode[find.Answer](t, answer.body)
		var got []string
		for _, r := range found.Results {
			kind := r.Kind[strings.LastIndexByte(r.Kind, ' ')+1:] // headline figure, data list
			got = append(got, kind+" "+r.Code)
			for _, l := range append(r.Lists, find.Link{Address: r.Address}) {
				openFound(t, s, query, l.Address, opened)
			}
		}
		if text := strings.Join(got, "; "); text != want && !strings.HasPrefix(text, want+";") {
			t.Errorf("%q: got %s; want %s", query, text, want)
		}
		isOfAll := func(h *contract.Headline) bool { return h.Title == found.Results[0].Name }
		if strings.HasPrefix(want, "figure ") && !slices.ContainsFunc(contract.Headlines, isOfAll) {
			checkFoundFigure(t, s, query, found.Results[0].Code)
		}
	}
	t.Logf("%d searches, %d pages", len(searches), len(opened))
}

func openFound(t *testing.T, s *server, query, address string, opened map[string]bool) {
	t.Helper()
	if address, _, _ = strings.Cut(address, "#"); opened[address] {
		return
	}
	opened[address] = true
	page := ask(t, "GET", s.base+address)
	for _, text := range []string{"No record passes", "No figure, since it would be wrong"} {
		bare := !strings.Contains(address, "by=") // the list's own first view, not one that we made
		if page.status != 200 || strings.Contains(string(page.body), text) && !(bare && text[3] == 'f') {
			t.Errorf("%q leads to %s: %d, %q", query, address, page.status, text)
		}
	}
}

// checkFoundFigure compares the figure on the page of a search with that of the interface.
func checkFoundFigure(t *testing.T, s *server, query, name string) {
	t.Helper()
	page := string(ask(t, "GET", s.base+"/search?q="+url.QueryEscape(query)).body)
	_, request, ok := strings.Cut(page, `<code class="path">`+contract.FiguresPath+"/"+name)
	request, _, _ = strings.Cut(request, "<")
	if !ok {
		t.Errorf("%q: no request on the page", query)
		return
	}
	record := decode[struct {
		Data []struct {
			Value  any
			Reason *string
		}
	}](t, ask(t, "GET", s.base+with(contract.FiguresPath+"/"+name+request)).body).Data[0]
	want := `<p class="sentence"><bdi>`
	if number, has := record.Value.(float64); has {
		_, shown, _ := strings.Cut(page, `<p class="headline"><strong><data value="`)
		shown, _, _ = strings.Cut(shown, `"`)
		if got, err := strconv.ParseFloat(shown, 64); err != nil || got != number {
			t.Errorf("%q: %q on the page, the interface has %v", query, shown, number)
		}
		want = `<p class="headline">`
	}
	if !strings.Contains(page, want) {
		t.Errorf("%q: the page is without %q", query, want)
	}
}

// TestSearchSample searches the embedded sample.
func TestSearchSample(t *testing.T) {
	parallel(t)
	checkSearches(t, serve(t), "sample.txt")
}

// TestSearchFixtures searches the real input.
func TestSearchFixtures(t *testing.T) {
	parallel(t)
	checkSearches(t, serve(t, "--store", fixtureStore(t)), "fixtures.txt")
}
