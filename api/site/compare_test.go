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
	"hdqs/internal/testkit"
)

// TestCompare: countries are named in any language, their figures are those of the interface, and
// each is named that is left out.
func TestCompare(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.FigureTables(t))
	value := regexp.MustCompile(`<bdi>[^<]*</bdi></a></td><td class="number"><data value="([^"]*)"`)
	page := apitest.Browse(s, "/compare?figure=people_in_need&country=afg%D8%8CName+of+SDN%3B+MLI%2CAtlantis")
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
	if alone := apitest.Browse(s, "/compare?figure=people_in_need&country=AFG"); !value.Match(alone.Body) {
		t.Error("a country alone has no figure")
	}
	source := regexp.MustCompile(`<p class="second"><bdi>people; [^<]`)
	if !source.Match(page.Body) {
		t.Error("the page does not say whose figures it has")
	}
	if known == 0 || known != len(shown) || !strings.Contains(string(page.Body), "called <bdi>Atlantis</bdi>") {
		t.Errorf("%d figures, %d shown: %.3000s", known, len(shown), page.Body)
	}
	for _, path := range []string{
		"/compare", "/fr/compare?figure=x&country=AFG", "/ar/compare?country=AFG%2CSDN&per=1000",
	} {
		testkit.Equal(t, apitest.Browse(s, path).Status, 200, "%s", path)
	}
}

// TestCompareNames: of a name that another country has too it is said.
func TestCompareNames(t *testing.T) {
	t.Parallel()
	tables := []*apitest.Table{apitest.Locations(0, nil)}
	for code, name := range map[string]string{
		"COD": "Democratic Republic of the Congo", "COG": "Congo", "SDN": "Sudan",
	} {
		tables[0].Rows = append(tables[0].Rows, apitest.FullRow(t, tables[0], apitest.Row{"code": code, "name": name}))
	}
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	page := string(apitest.Browse(s, "/compare?country=Congo,Sudan").Body)
	want := `<bdi>Congo</bdi> is also a name of <a href="/compare?country=COG%2CSDN%2CCOD&amp;figure=people_in_need">`
	if strings.Count(page, "is also a name of") != 1 || !strings.Contains(page, want) {
		t.Errorf("no %s", want)
	}
	page = string(apitest.Browse(s, "/compare?country=Sudan+and+Congo").Body)
	testkit.Contains(t, page, "called <bdi>Sudan and Congo</bdi>", "two names")
	testkit.Equal(t, strings.Count(page, "Did you mean:"), 3, "countries")
}

// TestCompareAlike: a country and a group of one name can both be compared, and the field of the
// form means the same ones again.
func TestCompareAlike(t *testing.T) {
	t.Parallel()
	tables := []*apitest.Table{apitest.Locations(0, nil)}
	for code, name := range map[string]string{"FSM": "Micronesia (Federated States of)", "FJI": "Fiji"} {
		tables[0].Rows = append(tables[0].Rows, apitest.FullRow(t, tables[0], apitest.Row{"code": code, "name": name}))
	}
	group := contract.CountryGroup{
		Kind: contract.OwnGroup, Slug: "micronesia", Name: "Micronesia", Members: []string{"FJI", "FSM"},
	}
	options := state.Options{Identifier: state.IgnoreIdentifier, Groups: []contract.CountryGroup{group}}
	s := apitest.Server(t, options, tables)
	const country, both = `"/country/FSM"><bdi>`, `<a href="/compare?country=FSM%2CFJI%2Cmicronesia&amp;figure=people_in_need">`
	for names, wants := range map[string][]string{
		"Micronesia,Fiji": {country, "<bdi>Micronesia</bdi> is also a name of " + both + "<bdi>Micronesia</bdi>"},
		"micronesia,Fiji": {
			"is also a name of", `<bdi>Micronesia (Federated States of)</bdi>`, `group=micronesia"><bdi>`,
			`value="micronesia, Fiji"`,
		},
		"FSM,micronesia": {country, `group=micronesia"><bdi>`, `value="Micronesia (Federated States of), micronesia"`},
	} {
		page := string(apitest.Browse(s, "/compare?country="+names).Body)
		for _, want := range wants {
			testkit.Contains(t, page, want, "%s", names)
		}
	}
}

// TestCompareGroups: the figure of a group is the sum of those of its countries, and says of how
// many of them it is, and of which months.
func TestCompareGroups(t *testing.T) {
	t.Parallel()
	ours := contract.CountryGroup{
		Kind: contract.OwnGroup, Slug: "our-crises", Name: "Our crises", Members: []string{"AFG", "CAF", "SDN"},
	}
	begun := contract.CountryGroup{Kind: contract.OwnGroup, Slug: "begun", Name: "Afghan", Members: []string{"SDN"}}
	options := state.Options{Identifier: state.IgnoreIdentifier, Groups: []contract.CountryGroup{ours, begun}}
	s := apitest.Server(t, options, apitest.FigureTables(t))
	sum := func(figure string) (total float64, known int) {
		figures, _ := apitest.Records(t, s, "/api/v2/figures/"+figure+"?location_code__in=AFG,CAF,SDN")
		for _, r := range figures {
			if n, ok := r["value"].(interface{ Float64() (float64, error) }); ok {
				f := testkit.Value(n.Float64())(t)
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
	page := string(apitest.Browse(s, "/compare?figure=political_violence_events&country=MLI%2Cour-crises").Body)
	const part = "from 1 of 3 countries; January to February 2024 only: 10 of 12 months are missing</small>"
	testkit.Contains(t, page, part, "for the group")
	page = string(apitest.Browse(s, "/compare?country=MLI%2CAfghan").Body)
	if !strings.Contains(page, "Afghan</bdi></a></td>") || strings.Contains(page, "/country/AFG") {
		t.Error("the beginning of a country's name goes before a group")
	}
	page = string(apitest.Browse(s, "/compare?figure=overall_risk&country=AFG%2COur+crises").Body)
	testkit.Contains(t, page, "are not added up", "ratings of countries are added up")
}

// TestComparePerHead: figures are divided by the population of the nearest year that is known,
// which is named: the newest ones, and those over time.
func TestComparePerHead(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
only humanitarian_needs
AFG 2019; population_status=INN; sector_code=Intersectoral; category=total; population=10
AFG 2023; population_status=INN; sector_code=Intersectoral; category=total; population=30
MLI 2019; population_status=INN; sector_code=Intersectoral; category=total; population=5
MLI 2023; population_status=INN; sector_code=Intersectoral; category=total; population=6
only population
AFG 2018; gender=all; age_range=all; population=1000
AFG 2024; gender=all; age_range=all; population=2000
MLI 2020; gender=all; age_range=all; population=1000
CAF 2020; gender=all; age_range=all; population=62657890
only conflict_event
CAF 2023-06; event_type=demonstration; events=167; fatalities=0
only food_price
AFG 2022-06; market_code=A; commodity_code=rice; currency_code=USD; unit=KG; price=40
AFG 2023-06; market_code=A; commodity_code=rice; currency_code=USD; unit=KG; price=30`)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	page := string(apitest.Browse(s, "/compare?country=AFG,MLI&per=1000").Body)
	text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " ")
	for _, want := range []string{
		"30 15 population of 2024 2023", "6 6 population of 2020 2023", "2018 to 2024;", "2019 10 5 2023 15 6",
	} {
		testkit.Contains(t, text, want, "the page")
	}
	page = string(apitest.Browse(s, "/compare?figure=demonstration_events&country=CAF&per=1000").Body)
	if !strings.Contains(page, `<td class="number">0.00267 `) { // 0.0026653
		t.Errorf("a figure is rounded twice: %s", page)
	}
	page = string(apitest.Browse(s, "/compare?figure=price_change_in_a_year&country=MLI,AFG").Body)
	first, rest, _ := strings.Cut(page, "/country/AFG")
	if !strings.Contains(rest, "/country/MLI") || strings.Contains(first, "/country/MLI") {
		t.Error("a country without a figure goes before one whose figure is below zero")
	}
}
