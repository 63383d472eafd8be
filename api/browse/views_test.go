//go:build !race

package browse_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestBrowseSummed: where a country has no records of the newest year, or of the one before, the
// chart of a sum over countries and the change on the page of a country name it with its figure.
func TestBrowseSummed(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, "only returnees")
	for _, of := range []string{"2022 AFG 10", "2022 MLI 7", "2023 AFG 10", "2023 MLI 7", "2024 AFG 12"} {
		f := strings.Fields(of)
		for _, way := range [][2]string{{"SDN", f[1]}, {f[1], "SDN"}} {
			apitest.AddRows(t, tables, fmt.Sprintf("table returnees\n- %s; origin_location_code=%s; "+
				"asylum_location_code=%s; population_group=RET; gender=all; age_range=all; population=%s",
				f[0], way[0], way[1], f[2]))
		}
	}
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const all = "population_group=RET&age_range=all&gender=all&measure=population&by=year"
	for path, wants := range map[string][]string{
		"/browse/returnees?origin_location_code=SDN&" + all: {
			"Countries added up: 2 for 2023, 1 for 2024. Without records for 2024: Mali (7).",
			`<th scope="col" class="number">Countries</th>`,
		},
		"/browse/returnees?" + all + "&end_date=2023": {"3 countries: returned refugees by year, 2022 to 2023"},
		"/country/SDN": {"<small>2023: 17. Without records for 2024: Mali (7).</small>"},
	} {
		page := string(apitest.Browse(s, path).Body)
		for _, want := range wants {
			testkit.Contains(t, page, want, "%s", path)
		}
		if strings.Contains(page, "added up") != strings.Contains(wants[0], "added up") {
			t.Errorf("%s says which countries are added up", path)
		}
	}
}

// TestBrowseTiles: a share is that of all countries together, people analysed are added up as the
// people in food crisis are, and a country goes before the figure that is only its own.
func TestBrowseTiles(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
only funding
- 2024; location_code=AFG; appeal_code=A; appeal_type=HRP; requirements_usd=100; funding_usd=10
- 2024; location_code=MLI; appeal_code=M; appeal_type=HRP; requirements_usd=300; funding_usd=210
only food_security
AFG 2024-05; classification_type=current; classification_phase=3+; population_in_phase=40
AFG 2024-05; classification_type=current; classification_phase=all; population_in_phase=100
MLI 2024-05; classification_type=current; classification_phase=3+; population_in_phase=10
MLI 2024-05; classification_type=current; classification_phase=all; population_in_phase=50`)
	ours := contract.CountryGroup{Kind: contract.OwnGroup, Slug: "ours", Name: "Ours", Members: []string{"AFG", "MLI"}}
	options := state.Options{Identifier: state.IgnoreIdentifier, Groups: []contract.CountryGroup{ours}}
	s := apitest.Server(t, options, tables)
	const share, percent = "Share of the appeal that is funded", "</strong> <span>per cent</span></p>"
	for path, wants := range map[string][]string{
		"/browse/funding": {
			share + "</h2>\n<p class=\"value\"><strong>55" + percent + "\n<p>2 countries, 2024",
			"Narrow down</h2>\n<p class=\"soft\">Number of records</p>",
		},
		"/browse/funding?location_code=MLI": {
			share + "</h2>\n<p class=\"value\"><strong>70" + percent + "\n<p>",
		},
		"/browse/food-security": {
			"<strong>50</strong> <span>people</span>", "of 150 people analysed",
		},
		"/browse/national-risk":                                   {"countries</p>\n<p class=\"value\">"},
		"/compare?figure=people_in_phase_3_or_worse&country=ours": {"of 150 people analysed"},
	} {
		page := string(apitest.Browse(s, path).Body)
		for _, want := range wants {
			testkit.Contains(t, page, want, "%s", path)
		}
	}
	page := string(apitest.Browse(s, "/browse/conflict-events?by=month&measure=fatalities").Body)
	if strings.Contains(page, `<select id="by" name="by"></select>`) || strings.Contains(page, "This figure as </p>") {
		t.Error("a figure has choices and files that are empty")
	}
}

// TestBrowseCoverage: how many units have records is said of the months that are drawn.
func TestBrowseCoverage(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
only conflict_event
CAF/CF01 2014-01; event_type=demonstration; events=1; fatalities=0
CAF/CF01 2024-01; event_type=demonstration; events=1; fatalities=0
CAF/CF02 2024-01; event_type=demonstration; events=1; fatalities=0`)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const path = "/browse/conflict-events?by=month&event_type=demonstration&location_code=CAF&measure=events"
	for more, want := range map[string]string{"": "2 of 3", "&span=all": "1 of 3"} {
		const text = "In the time with the fewest reports, "
		if page := string(apitest.Browse(s, path+more).Body); !strings.Contains(page, text+want+" provinces") {
			_, said, _ := strings.Cut(page, text)
			t.Errorf("%q: want %s units: %.100s", more, want, said)
		}
	}
}

// TestBrowsePrices: prices of several countries are a line for each, also where they are of the
// same currency, unit and type.
func TestBrowsePrices(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
only food_price
AFG 2024-06; market_code=AFG; commodity_code=rice; currency_code=USD; unit=KG; price=10
SDN 2024-06; market_code=SDN; commodity_code=rice; currency_code=USD; unit=KG; price=30`)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const view = "/figure/food-prices-market-monitor.csv?commodity_code=rice&location_code__in=SDN,AFG"
	answer := s.Answer("GET", view, nil)
	if _, rows, _ := strings.Cut(string(answer.Body), "\n"); !strings.HasPrefix(rows, "2024-06,10,30") {
		t.Errorf("%s: %d, %s", view, answer.Status, answer.Body)
	}
}

// TestBrowseProvisional: months whose figures can still change are dashed, and said to be so, in
// the chart that an address asks for and in the first view.
func TestBrowseProvisional(t *testing.T) {
	t.Parallel()
	within := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.ProvisionalTables(t, within))
	for query, changing := range map[string]bool{
		"?measure=records&by=month":                   true,
		"?event_type=demonstration":                   true,
		"?measure=records&by=month&location_code=MLI": false,
		"?measure=records&by=month&end_date=2026-07":  false,
	} {
		page := string(apitest.Browse(s, "/browse/conflict-events"+query).Body)
		for _, part := range []string{
			`mark s1 changing"`, "can still change the figures of 2026-08.", `2026-08 <small>can change</small>`,
		} {
			if strings.Contains(page, part) != changing {
				t.Errorf("%s: %q is on the page: %v", query, part, !changing)
			}
		}
		testkit.Lacks(t, page, "2026-07 <small>", "%s: July can change", query)
	}
}

// TestBrowseSource: the source of a record has the texts of the catalog as they are, whatever
// letters they have. Only its times are shortened.
func TestBrowseSource(t *testing.T) {
	t.Parallel()
	const title, file = "UNITED Nations: Total 2024T00:00:00", "2024T23:59:59 Table.csv"
	tables := apitest.SampleTables(t, 3)
	for _, table := range tables {
		for _, row := range table.Rows {
			if _, has := row["resource_catalog_id"]; has {
				row["resource_catalog_id"] = "one"
			}
			if table.Endpoint.Table == "resource" {
				row["dataset_catalog_title"], row["name"] = title, file
				row["update_date"] = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
			}
		}
	}
	s := apitest.Serve(t, state.Options{}, apitest.StoreSnapshot(t, "sources", apitest.SampleTime, tables))
	page := string(apitest.Browse(s, "/browse/conflict-events?row=0").Body)
	for _, want := range []string{title, file, "2024-05-06 07:08:09"} {
		testkit.Contains(t, page, "<bdi>"+want+"</bdi>", "the record's source has no %q", want)
	}
}

var rowNumber = regexp.MustCompile(`[?;]row=(\d+)[^"]*#record"`)

// TestBrowseSorted: pages of records that a column sorts have the positions that a plain sort of
// the whole list gives, without a value last, and what each leads to is that record.
func TestBrowseSorted(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 120)
	random := rand.New(rand.NewPCG(17, 18))
	tried := 0
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		records := answeredBy(t, s, e.Path+"?"+filtersOf(nil))
		for range 4 {
			f := &e.Fields[random.IntN(len(e.Fields))]
			down, offset, limit := random.IntN(2) == 0, random.IntN(len(records)), 1+random.IntN(60)
			want := make([]int, len(records))
			for n := range want {
				want[n] = n
			}
			sort.SliceStable(want, func(a, b int) bool {
				x, y := records[want[a]][f.Name], records[want[b]][f.Name]
				if x == nil || y == nil {
					return x != nil
				}
				if down {
					x, y = y, x
				}
				if f.Type == contract.Integer || f.Type == contract.Number || f.Type == contract.Exact {
					m, _ := strconv.ParseFloat(fmt.Sprint(x), 64)
					n, _ := strconv.ParseFloat(fmt.Sprint(y), 64)
					return m < n
				}
				return fmt.Sprint(x) < fmt.Sprint(y)
			})
			want = want[offset:min(offset+limit, len(want))]
			name := map[bool]string{true: "-", false: ""}[down] + f.Name
			path := fmt.Sprintf("%s%s?sort=%s&offset=%d&limit=%d", "/browse/", e.Name(), name, offset, limit)
			page := string(apitest.Browse(s, path).Body)
			var got []int
			for _, m := range rowNumber.FindAllStringSubmatch(page, -1) {
				n, _ := strconv.Atoi(m[1])
				got = append(got, n)
			}
			testkit.EqualLists(t, got, want, "%s: rows", path)
			order := map[bool]string{true: "descending", false: "ascending"}[down]
			if strings.Count(page, `aria-sort="`) > 1 ||
				strings.Contains(page, `aria-sort="`) && !strings.Contains(page, order) {
				t.Errorf("%s: the header says another order", path)
			}
			tried++
		}
	}
	t.Logf("%d pages", tried)
}
