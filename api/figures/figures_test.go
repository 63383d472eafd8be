//go:build !race

package figures_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestFigures lists figures of the trap tables: each has a value, or a reason in words.
func TestFigures(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.FigureTables(t))
	for _, c := range []struct{ query, want string }{
		{"people_in_need?location_code=AFG", "AFG 50 <nil>"},
		{"people_in_need?location_code=afg", "AFG 50 <nil>"},
		{"people_targeted?location_code=AFG", "AFG 40 <nil>"},
		{"people_in_need?location_code=SDN", "SDN <nil> no record of SDN in the list humanitarian-needs is of " +
			"this kind; there is, of other kinds or times: 2 records, of 2024-01"},
		{"people_in_need?location_code=TCD", "TCD <nil> no record of TCD at any level; the list humanitarian-needs " +
			"has such records of 2 countries, the newest of 2024-01"},
		{"internally_displaced?location_code=AFG", "AFG 120 <nil>"},
		{"internally_displaced?location_code=AFG&end_date=2023", "AFG 100 <nil>"},
		{"internally_displaced?location_code=SDN", "SDN <nil> the newest records count the same people several " +
			"times, by reporting_round, assessment_type, operation: (3, BA, One) and (3, SA, One)"},
		{"internally_displaced?location_code=AFG&end_date=2022", "AFG <nil> no record of AFG in the list idps is of " +
			"this kind; there is, of other kinds or times: 2 records, of 2023-06 to 2024-06"},
		{"refugees_by_asylum?location_code__in=PAK,TCD", "PAK 80 <nil>; TCD 60 <nil>"},
		{"refugees_by_origin", "AFG 80 <nil>; SDN 60 <nil>; SOM 30 <nil>"},
		{"returned_refugees?location_code=TCD", "TCD <nil> no record of TCD is of the newest period; there is, of " +
			"this kind: 1 record, of 2023-01"},
		{"overall_risk", "AFG 8.1 <nil>; MLI 7.1 <nil>"},
		{"overall_risk?location_code=ZZZ", ""},
		{"population?location_code=CAF", "CAF 14 <nil>"},
		{"population?location_code=CAF&end_date=2023", "CAF 70 <nil>"},
		{"poverty_headcount", "AFG 40.0 <nil>"},
		{"demonstration_events?location_code=SOM", "SOM 1 <nil>"},
		{"civilian_targeting_events?location_code=AFG", "AFG 4 <nil>"},
		{"people_in_phase_3_or_worse?location_code__in=AFG,MLI", "AFG 20 <nil>; MLI 4 <nil>"},
	} {
		records, _ := apitest.Records(t, s, "/api/v2/figures/"+c.query)
		var got []string
		for _, r := range records {
			got = append(got, fmt.Sprint(r["location_code"], " ", r["value"], " ", r["reason"]))
		}
		testkit.Equal(t, strings.Join(got, "; "), c.want, "%s", c.query)
	}
}

// TestFigureRequests sends the request of each figure with a value, in each set of names: it gives
// the same number. Grouped by what the figure may be grouped by, it answers too.
func TestFigureRequests(t *testing.T) {
	t.Parallel()
	for _, names := range []contract.NameSet{contract.ContractNames, contract.HAPINames} {
		s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier, Names: names}, apitest.FigureTables(t))
		for _, prefix := range []string{"", "/hapi"} {
			records, _ := apitest.Records(t, s, prefix+"/api/v2/figures?location_code=%25")
			sent := 0
			for _, r := range records {
				request, is := r["request"].(string)
				if r["value"] == nil || !is {
					continue
				}
				sent++
				again, _ := apitest.Records(t, s, request)
				if len(again) != 1 || len(again[0]) != 1 {
					t.Fatalf("%s: %v", request, again)
				}
				for _, value := range again[0] {
					testkit.Equal(t, value, r["value"], "%s, the figure", request)
				}
				isFigure := func(h *contract.Headline) bool { return h.Name == r["figure"] }
				for _, group := range contract.Headlines[slices.IndexFunc(contract.Headlines, isFigure)].Groups {
					apitest.Records(t, s, request+"&group_by="+group)
				}
				hapi := prefix == "/hapi" || names == contract.HAPINames
				below := hapi && names == contract.ContractNames
				other := hapi && strings.Contains(request, "classification_")
				if strings.HasPrefix(request, "/hapi") != below || other {
					t.Errorf("%s of %s where the root has %s names: %s", r["figure"], prefix, names, request)
				}
			}
			testkit.AtLeast(t, sent, 20, "requests")
		}
	}
}

// TestFigureAnswers: figures have tags of their own, and all are declared.
func TestFigureAnswers(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.FigureTables(t))
	tags := map[string]string{}
	for _, figure := range []string{"overall_risk", "funding_asked", "funding_received"} {
		tag := apitest.Header(s.Answer("GET", "/api/v2/figures/"+figure, nil), "ETag")
		if other, has := tags[tag]; has || tag == "" {
			t.Errorf("%s and %s have the tag %q", figure, other, tag)
		}
		tags[tag] = figure
	}
	declared, _ := apitest.Records(t, s, "/api/v2/figures")
	testkit.Equal(t, len(declared), len(contract.Headlines), "declarations")
}

// TestFiguresWithoutTables asks a server whose snapshot has no table of a figure.
func TestFiguresWithoutTables(t *testing.T) {
	t.Parallel()
	var tables []*apitest.Table
	for _, table := range apitest.FigureTables(t) {
		if table.Endpoint.Table == "location" {
			tables = append(tables, table)
		}
	}
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	records, _ := apitest.Records(t, s, "/api/v2/figures?location_code=AFG")
	testkit.Equal(t, len(records), len(contract.Headlines), "records")
	for _, r := range records {
		if r["value"] != nil || r["reason"] == nil {
			t.Errorf("%v", r)
		}
	}
}

// TestCoverage checks what sums say of the units that have rows.
func TestCoverage(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	for _, table := range tables {
		if table.Endpoint.Table == "location" { // the countries are of one region
			table.Columns = append(table.Columns, apitest.Column{Name: "region", Kind: snapshot.Text, Nullable: true})
			for _, row := range table.Rows {
				row["region"] = "Here"
			}
		}
	}
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const list = "/api/v2/geography-infrastructure/baseline-population/aggregate?gender=all&age_range=all&latest=true"
	const sum = list + "&admin_level=1&measures=sum:population"
	for query, want := range map[string]string{
		sum + "&location_code=CAF":                                         "units=2/3",
		sum + "&location_code=CAF&group_by=admin1_code":                    "units=2/3",
		list + "&admin_level=0&measures=sum:population&location_code=AFG":  "", // a country, no units
		list + "&admin_level=1&measures=count&location_code=CAF":           "", // no sum
		sum + "&location_code=CAF&group_by=region":                         "units=2/3, countries=1/9",
		sum + "&location_code=AFG":                                         "", // no list of its units
		sum + "&location_code__in=AFG,CAF&group_by=location_code":          "units=2/3",
		sum + "&location_code=CAF&group_by=location_code&limit=0":          "units=2/3",
		sum + "&location_code=CAF&group_by=year,admin1_code,location_code": "units=2/3",
	} {
		_, a := apitest.Records(t, s, query)
		testkit.Equal(t, apitest.Header(a, contract.HeaderCoverage), want, "%s", query)
		exposed := strings.Contains(apitest.Header(a, "Access-Control-Expose-Headers"), contract.HeaderCoverage)
		testkit.Equal(t, exposed, (want != ""), "%s: exposed", query)
	}
	target := list + "&admin_level=1&group_by=location_code&measures=coverage,sum:population"
	records, a := apitest.Records(t, s, target)
	got := map[string]string{}
	for _, r := range records {
		got[r["location_code"].(string)] = fmt.Sprint(r["units"], " ", r["units_known"], " ", r["sum_population"])
	}
	testkit.Equal(t, fmt.Sprint(got), "map[AFG:<nil> <nil> 100 CAF:2 3 14]", "the figures")
	for _, table := range tables {
		if table.Endpoint.Table == "admin1" {
			table.Rows = table.Rows[1:]
		}
	}
	fewer := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	records, b := apitest.Records(t, fewer, target)
	if apitest.Header(a, "ETag") == apitest.Header(b, "ETag") || fmt.Sprint(records[1]["units_known"]) != "2" {
		t.Errorf("another list of units: tags %s and %s, %v", apitest.Header(a, "ETag"), apitest.Header(b, "ETag"),
			records)
	}
}

// TestChangesOfPrices makes rows of prices of two years: of three things in both months, one
// doubled, one is the same, one is half as dear again. What is in one month only does not count,
// nor in another currency.
func TestChangesOfPrices(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
only food_price
SDN 2024-06; market_code=1; commodity_code=rice; currency_code=SDG; unit=KG; price=200
SDN 2023-06; market_code=1; commodity_code=rice; currency_code=SDG; unit=KG; price=100
SDN 2024-06; market_code=1; commodity_code=salt; currency_code=SDG; unit=KG; price=10
SDN 2023-06; market_code=1; commodity_code=salt; currency_code=SDG; unit=KG; price=10
SDN 2024-06; market_code=2; commodity_code=rice; currency_code=SDG; unit=KG; price=150
SDN 2023-06; market_code=2; commodity_code=rice; currency_code=SDG; unit=KG; price=100
SDN 2024-06; market_code=3; commodity_code=tea; currency_code=SDG; unit=KG; price=9000
SDN 2023-06; market_code=4; commodity_code=tea; currency_code=USD; unit=KG; price=1
SDN 2024-06; market_code=4; commodity_code=tea; currency_code=SDG; unit=KG; price=900
SDN 2024-05; market_code=3; commodity_code=tea; currency_code=SDG; unit=KG; price=1
TCD 2024-06; market_code=1; commodity_code=rice; currency_code=XAF; unit=KG; price=99999.9999
TCD 2023-06; market_code=1; commodity_code=rice; currency_code=XAF; unit=KG; price=100000`)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	for query, want := range map[string]string{
		"location_code=SDN":                        "50.0 3",
		"location_code=SDN&commodity_code=rice":    "75.0 2",
		"location_code=SDN&commodity_code=salt":    "0.0 1",
		"location_code=SDN&commodity_code=tea":     "<nil> 2",
		"location_code=SDN&end_date=2024-05":       "<nil> 1",
		"commodity_code__in=rice,salt&limit=1":     "50.0 3",
		"location_code=SDN&commodity_code=nothing": "<nil> 0",
		"location_code=TCD":                        "0.0 1", // and not -0.0
	} {
		records, _ := apitest.Records(t, s, "/api/v2/figures/price_change_in_a_year?"+query)
		testkit.Equal(t, fmt.Sprint(records[0]["value"], " ", records[0]["rows"]), want, "%s", query)
		for _, request := range records[0]["request"].([]any) {
			if u, err := url.Parse(request.(string)); err != nil || s.Answer("GET", u.String(), nil).Status != 200 {
				t.Errorf("%s: %v", request, err)
			}
		}
	}
}
