//go:build !race

package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/state"
)

// sumValues are the values of random rows and filters, by column.
var sumValues = map[string][]any{
	"location_code": {"AFG", "MLI"}, "origin_location_code": {"AFG", "MLI"}, "asylum_location_code": {"PAK", "TCD"},
	"provider_admin1_name": {"", "", "X"}, "provider_admin2_name": {""},
	"gender": {"f", "m", "all"}, "age_range": {"0-4", "0-17", "5-17", "18+", "all", "unknown"},
	"population_group": {"REF", "ASY", "all"}, "sector_code": {"WSH", "EDU", "Intersectoral"},
	"category": {"", "total", "Children"}, "population_status": {"INN", "TGT"},
	"reporting_round": {1, 2}, "assessment_type": {"BA", "SA"}, "operation": {"One", "Two"},
	"event_type":           {"civilian_targeting", "demonstration", "political_violence"},
	"classification_phase": {"1", "2", "3", "3+", "all"}, "classification_type": {"current", "first projection"},
	"appeal_code": {"H1", "H2"},
}

var sumPlaces = []spec{
	inPlace("AFG"), inPlace("AFG", "AF01"), inPlace("AFG", "AF02"), inPlace("AFG", "AF01", "AF0101"), inPlace("MLI"),
}

var sumPeriods = []spec{
	inYear(2023), inYear(2024), inMonth(2024, 1), inMonth(2024, 2), during("2024-01-15", "2024-02-10"),
}

// sumTable has random rows, of which no two have one key. Few values of each column occur.
func sumTable(t *testing.T, e *contract.Endpoint, r *rand.Rand) *testTable {
	t.Helper()
	table := &testTable{endpoint: e, columns: columnsOf(e)}
	some := map[string][]any{}
	for _, c := range table.columns {
		for _, v := range sumValues[c.name] {
			if r.IntN(3) > 0 {
				some[c.name] = append(some[c.name], v)
			}
		}
	}
	periods := sumPeriods[r.IntN(3):]
	periods = periods[:1+r.IntN(len(periods))]
	keys := map[string]bool{}
	for range 1 + r.IntN(40) {
		row := with(periods[r.IntN(len(periods))])
		if e.Dimension("admin_level") != nil {
			row = with(row, sumPlaces[r.IntN(len(sumPlaces))])
		}
		for _, c := range table.columns {
			if values := some[c.name]; len(values) > 0 && row[c.name] == nil {
				row[c.name] = values[r.IntN(len(values))]
			}
		}
		for _, f := range e.Figures {
			if f.Use == contract.Added && strings.HasSuffix(f.Field, "_usd") {
				row[f.Field] = decimal(fmt.Sprint(r.IntN(1000)) + ".25")
			} else if f.Use == contract.Added {
				row[f.Field] = r.IntN(1000)
			}
		}
		full := fullRow(t, table, row)
		key := ""
		for _, column := range e.Key {
			key += fmt.Sprint(full[column], "|")
		}
		if !keys[key] {
			keys[key] = true
			table.rows = append(table.rows, full)
		}
	}
	return table
}

// sumRequest is a random request for a sum, with filters that leave some rows.
func sumRequest(e *contract.Endpoint, table *testTable, r *rand.Rand) url.Values {
	q := url.Values{}
	for _, f := range e.Figures {
		if f.Use == contract.Added {
			q.Set("measures", []string{"sum:", "mean:"}[r.IntN(2)]+f.Field)
		}
	}
	plan := contract.NewPlan(e, contract.Rows)
	for _, p := range plan.Params {
		row := table.rows[r.IntN(len(table.rows))]
		if v, has := row[p.Name]; has && v != nil && v != "" && len(p.Columns) == 1 && r.IntN(3) == 0 {
			q.Set(p.Name, fmt.Sprint(v))
		}
	}
	if r.IntN(4) == 0 {
		q.Set("start_date", "2024")
	}
	if r.IntN(4) == 0 {
		q.Set("end_date", "2023")
	}
	if r.IntN(3) == 0 {
		q.Set("latest", "true")
	}
	var groups []string
	for _, name := range e.GroupNames() {
		if r.IntN(5) == 0 {
			groups = append(groups, name)
		}
	}
	if len(groups) > 0 {
		q.Set("group_by", strings.Join(groups, ","))
	}
	return q
}

// TestRandomSums sends random requests for sums of random rows. No two rows of a group in an answer
// may count the same, whatever the check made of the request: every pair of rows is compared. A
// request that a refusal names must answer.
func TestRandomSums(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 15))
	answered, refusals := 0, 0
	for range 20 {
		var tables, filled []*testTable
		for i := range contract.Endpoints {
			e := &contract.Endpoints[i]
			table := &testTable{endpoint: e, columns: columnsOf(e)}
			if slices.ContainsFunc(e.Figures, func(f contract.Figure) bool { return f.Use == contract.Added }) {
				table = sumTable(t, e, r)
				filled = append(filled, table)
			}
			tables = append(tables, table)
		}
		s := testServer(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
		for range 100 {
			table := filled[r.IntN(len(filled))]
			q := sumRequest(table.endpoint, table, r)
			a := s.Answer("GET", table.endpoint.Path+"/aggregate?"+q.Encode(), nil)
			if a.Status == 422 {
				refusals++
				q = instead(t, a.Body)
				a = s.Answer("GET", table.endpoint.Path+"/aggregate?"+q.Encode(), nil)
			} else {
				answered++
			}
			if a.Status != 200 {
				t.Fatalf("%s?%s: %d: %s", table.endpoint.Path, q.Encode(), a.Status, a.Body)
			}
			table.checkSum(t, q)
		}
	}
	t.Logf("%d answered, %d refused", answered, refusals)
	if answered < 100 || refusals < 100 {
		t.Errorf("%d answered, %d refused: the test says little", answered, refusals)
	}
}

func instead(t *testing.T, body []byte) url.Values {
	t.Helper()
	var refusal struct {
		Detail []struct{ Ctx struct{ Instead string } }
	}
	if err := json.Unmarshal(body, &refusal); err != nil || len(refusal.Detail) == 0 {
		t.Fatalf("%v: %s", err, body)
	}
	_, query, _ := strings.Cut(refusal.Detail[0].Ctx.Instead, "?")
	q, err := url.ParseQuery(query)
	if err != nil || query == "" {
		t.Fatalf("%v: %s", err, body)
	}
	return q
}

// passing are the rows that pass the filters of a query, of which all are equalities and dates.
func (t *testTable) passing(tb testing.TB, q url.Values) []map[string]any {
	tb.Helper()
	var rows []map[string]any
	for _, row := range t.rows {
		passes := true
		for name, values := range q {
			switch name {
			case "measures", "group_by", "latest":
			case "start_date":
				passes = passes && !row[contract.PeriodEnd].(time.Time).Before(sumDay(tb, values[0], false))
			case "end_date":
				passes = passes && row[contract.PeriodStart].(time.Time).Before(sumDay(tb, values[0], true))
			case "sector_code", "category": // contain it
				passes = passes && strings.Contains(row[name].(string), values[0])
			default:
				column := name
				if stored := "stored_" + name; row[stored] != nil {
					column = stored
				}
				passes = passes && fmt.Sprint(row[column]) == values[0]
			}
		}
		if passes {
			rows = append(rows, row)
		}
	}
	if q.Get("latest") == "true" {
		rows = t.newest(rows)
	}
	return rows
}

// sumDay is a start_date or end_date: a year, or an instant.
func sumDay(tb testing.TB, text string, end bool) time.Time {
	tb.Helper()
	if day, err := time.Parse("2006-01-02T15:04:05", text); err == nil {
		return day
	}
	day, err := time.Parse("2006", text)
	if err != nil {
		tb.Fatal(err)
	}
	if end {
		day = day.AddDate(1, 0, 0)
	}
	return day
}

func (t *testTable) sameSeries(a, b map[string]any) bool {
	return !slices.ContainsFunc(t.endpoint.Series(), func(column string) bool { return a[column] != b[column] })
}

// newest are the rows for which no other of their series is newer.
func (t *testTable) newest(rows []map[string]any) []map[string]any {
	return slices.DeleteFunc(slices.Clone(rows), func(row map[string]any) bool {
		return slices.ContainsFunc(rows, func(other map[string]any) bool {
			end := other[contract.PeriodEnd].(time.Time).Compare(row[contract.PeriodEnd].(time.Time))
			start := other[contract.PeriodStart].(time.Time).Compare(row[contract.PeriodStart].(time.Time))
			return t.sameSeries(row, other) && (end > 0 || end == 0 && start > 0)
		})
	})
}

// checkSum compares all pairs of passing rows that are in one group.
func (t *testTable) checkSum(tb testing.TB, q url.Values) {
	tb.Helper()
	rows := t.passing(tb, q)
	for i, a := range rows {
		for _, b := range rows[:i] {
			if reason := t.countsTwice(a, b); reason != "" && sameGroup(a, b, q.Get("group_by")) {
				tb.Fatalf("%s?%s adds two rows: %s\n%v\n%v", t.endpoint.Path, q.Encode(), reason, a, b)
			}
		}
	}
}

func sameGroup(a, b map[string]any, groups string) bool {
	for name := range strings.SplitSeq(groups, ",") {
		start, other := a[contract.PeriodStart].(time.Time), b[contract.PeriodStart].(time.Time)
		switch {
		case name == "":
		case name == "year" && start.Year() != other.Year():
			return false
		case name == "month" && (start.Month() != other.Month() || start.Year() != other.Year()):
			return false
		case name == "quarter" && ((start.Month()-1)/3 != (other.Month()-1)/3 || start.Year() != other.Year()):
			return false
		case a[name] != b[name]:
			return false
		}
	}
	return true
}

// countsTwice says why two rows must not be added, empty if they may. It is written from the rules
// in words, not from the check.
func (t *testTable) countsTwice(a, b map[string]any) string {
	differ := func(names ...string) string {
		for _, name := range names {
			if a[name] != b[name] {
				return name
			}
		}
		return ""
	}
	either := func(name, whole string, parts ...any) bool {
		in := func(v any) bool { return v != whole && (parts == nil || slices.Contains(parts, v)) }
		return a[name] == whole && in(b[name]) || b[name] == whole && in(a[name])
	}
	if differ("admin_level") != "" {
		return "levels"
	}
	for _, name := range []string{"gender", "age_range", "population_group"} {
		if either(name, "all") {
			return "all and a part of " + name
		}
	}
	if either("classification_phase", "all") || either("classification_phase", "3+", "3", "4", "5") {
		return "phases"
	}
	if either("event_type", "political_violence", "civilian_targeting") {
		return "event types"
	}
	if ages := [2]any{a["age_range"], b["age_range"]}; ages == [2]any{"0-4", "0-17"} || ages == [2]any{"0-17", "0-4"} ||
		ages == [2]any{"5-17", "0-17"} || ages == [2]any{"0-17", "5-17"} {
		return "ages"
	}
	stock := true
	switch t.endpoint.Table {
	case "humanitarian_needs":
		if name := differ("sector_code", "category", "population_status"); name != "" {
			return name
		}
	case "idps":
		if name := differ("reporting_round", "assessment_type", "operation"); name != "" {
			return name
		}
	case "food_security":
		if name := differ("classification_type"); name != "" {
			return name
		}
	case "population", "refugees":
	default:
		stock = false
	}
	if !t.sameSeries(a, b) {
		return ""
	}
	start, end := a[contract.PeriodStart].(time.Time), a[contract.PeriodEnd].(time.Time)
	meets := !start.After(b[contract.PeriodEnd].(time.Time)) && !b[contract.PeriodStart].(time.Time).After(end)
	if stock || meets {
		return "periods"
	}
	return ""
}
