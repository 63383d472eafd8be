package mcp_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// numbersIn adds up the numbers that a pattern finds in the body of an answer, and counts them.
func numbersIn(t *testing.T, a api.Answer, pattern *regexp.Regexp) (sum *big.Rat, n int) {
	t.Helper()
	if a.Status != 200 {
		t.Fatalf("%d %.300s", a.Status, a.Body)
	}
	sum = new(big.Rat)
	for _, found := range pattern.FindAllStringSubmatch(string(a.Body), -1) {
		one, ok := new(big.Rat).SetString(found[1])
		if !ok {
			t.Fatal(found[1])
		}
		sum.Add(sum, one)
		n++
	}
	return sum, n
}

// TestGroupsAlike: the interface, OData, OGC, agents and the search have the same figures of groups
// of countries. The search has a number only where all countries of the group do; pages have as
// many records as the interface.
func TestGroupsAlike(t *testing.T) {
	t.Parallel()
	codes := []string{"AFG", "MLI", "SDN", "SOM", "HTI", "PAK"}
	var own []contract.CountryGroup
	var shapes []string
	for i, one := range codes {
		shapes = append(shapes, fmt.Sprintf(`{"type":"Feature","properties":{"iso3":%q,"adm0_name":%q},"geometry":{"type":`+
			`"Polygon","coordinates":[[[%d,0],[%d,0],[%d,5],[%d,0]]]}}`, one, one, i*9, i*9+5, i*9+5, i*9))
		for _, other := range codes[i+1:] {
			slug := "team-" + strings.ToLower(one+"-"+other)
			own = append(own, contract.CountryGroup{
				Kind: contract.OwnGroup, Slug: slug, Name: "Team " + one + " " + other, Members: []string{one, other},
			})
		}
	}
	text := `{"type":"FeatureCollection","features":[` + strings.Join(shapes, ",") + `]}`
	set := testkit.Value(boundary.Read(strings.NewReader(text), "a test"))(t)
	s := apitest.Server(t, state.Options{
		Groups: own, Agents: true, Identifier: state.IgnoreIdentifier, Boundaries: set, BaseURL: apitest.ODataBase,
	}, apitest.FigureTables(t))
	session := agent(t, apitest.Listen(t, s), "2025-06-18")
	value, shown := regexp.MustCompile(`"value":(-?[0-9.]+)`), regexp.MustCompile(`<data value="(-?[0-9.]+)"`)
	whole := 0
	for name, words := range map[string]string{
		"people_in_need": "people in need", "refugees_by_origin": "refugees from", "funding_asked": "funding asked",
		"political_violence_fatalities": "fatalities", "internally_displaced": "displaced people in",
		"people_in_phase_3_or_worse": "hunger", "population": "population of",
	} {
		for i := range own {
			slug := own[i].Slug
			want, n := numbersIn(t, s.Answer("GET", contract.FiguresPath+"/"+name+"?group="+slug, nil), value)
			for surface, target := range map[string]string{
				"OData": "/odata/v4/figures?$select=value&$filter=" +
					url.QueryEscape("figure eq '"+name+"' and group eq '"+slug+"'"),
				"OGC": "/ogc/collections/admin0_" + name + "/items?group=" + slug + "&f=json",
			} {
				if got, k := numbersIn(t, s.Answer("GET", target, nil), value); got.Cmp(want) != 0 || k != n {
					t.Errorf("%s of %s: %s has %s of %d, want %s of %d", name, slug, surface, got, k, want, n)
				}
			}
			sum, asked := new(big.Rat), map[string]any{"figure": name, "countries": []string{slug}}
			for _, row := range toldAnswer(t, session, "figure", asked).Rows {
				var of struct{ Value *json.Number }
				if testkit.Must(t, json.Unmarshal(row, &of)); of.Value != nil {
					one, _ := new(big.Rat).SetString(of.Value.String())
					sum.Add(sum, one)
				}
			}
			testkit.Equal(t, sum.Cmp(want), 0, "%s of %s: agents have %s, want %s", name, slug, sum, want)
			page := s.Answer("GET", "/search?q="+url.QueryEscape(words+" "+own[i].Name), nil)
			isWhole := n == len(own[i].Members) && !strings.Contains(string(page.Body), "several times")
			if got, k := numbersIn(t, page, shown); k > 1 || k == 1 && got.Cmp(want) != 0 || (k == 1) != isWhole {
				t.Errorf("%s of %s: the search has %s of %d, want %s of %d", name, slug, got, k, want, n)
			} else {
				whole += k
			}
		}
	}
	testkit.AtLeast(t, whole, 5, "numbers in searches")
	for i := range own {
		a := s.Answer("GET", "/browse/conflict-events/download?group="+own[i].Slug, nil)
		rows := testkit.Value(csv.NewReader(strings.NewReader(string(a.Body))).ReadAll())(t)
		listed := s.Answer("GET", "/api/v2/coordination-context/conflict-events?group="+own[i].Slug, nil)
		if want := apitest.Header(listed, contract.HeaderTotal); want != strconv.Itoa(len(rows)-1) {
			t.Errorf("%s: %d rows of the page, want %s", own[i].Slug, len(rows)-1, want)
		}
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
