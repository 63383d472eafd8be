package main_test

import (
	"cmp"
	"encoding/json"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	viewTile = regexp.MustCompile(
		`(?s)<div class="tile(?: part)?"><h2>([^<]*)</h2>\s*<p class="value[^"]*">(?:<strong(?: title="([^"]*)")?>([^<]*)</strong>)?`)
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
			"refugees-persons-of-concern":           `Refugees in a few countries of asylum only.</p><div class="chosen">`,
		} {
			if !strings.Contains(s.view(t, "/browse/"+path), want) {
				t.Errorf("%s is without %q", path, want)
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
