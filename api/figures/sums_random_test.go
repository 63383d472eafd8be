//go:build !race

package figures_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// sumValues are the values of random rows and filters, by column.
var sumValues = map[string][]any{
	"location_code": {"AFG", "MLI"}, "origin_location_code": {"AFG", "MLI"}, "asylum_location_code": {"PAK", "TCD"},
	"provider_admin1_name": {"", "", "X"}, "provider_admin2_name": {"", "", "", "Y"},
	"gender": {"f", "m", "all"}, "age_range": {"0-4", "0-17", "5-17", "18+", "all", "unknown"},
	"population_group": {"REF", "ASY", "all"}, "sector_code": {"WSH", "EDU", "Intersectoral"},
	"category": {"", "total", "Children"}, "population_status": {"INN", "TGT"},
	"reporting_round": {1, 2}, "assessment_type": {"BA", "SA"}, "operation": {"One", "Two"},
	"event_type":           {"civilian_targeting", "demonstration", "political_violence"},
	"classification_phase": {"1", "2", "3", "3+", "all"}, "classification_type": {"current", "first projection"},
	"appeal_code": {"H1", "H2"},
}

var sumPlaces = []apitest.Row{
	apitest.InPlace("AFG"), apitest.InPlace("AFG", "AF01"), apitest.InPlace("AFG", "AF02"),
	apitest.InPlace("AFG", "AF01", "AF0101"), apitest.InPlace("MLI"), apitest.InPlace("MLI", "MLI-XXX"),
	apitest.InPlace("MLI", "MLI-XXX", "MLI-XXX-XXX"), apitest.InPlace("MLI", "ML01", "ML01-XXX"),
}

var sumPeriods = []apitest.Row{
	apitest.InYear(2023), apitest.InYear(2024), apitest.InMonth(2024, 1), apitest.InMonth(2024, 2),
	apitest.During("2024-01-15", "2024-02-10"),
}

// sumTable has random rows, of which no two have one key. Few values of each column occur.
func sumTable(t *testing.T, e *contract.Endpoint, r *rand.Rand) *apitest.Table {
	t.Helper()
	table := &apitest.Table{Endpoint: e, Columns: apitest.ColumnsOf(e)}
	some := map[string][]any{}
	for _, c := range table.Columns {
		for _, v := range sumValues[c.Name] {
			if r.IntN(3) > 0 {
				some[c.Name] = append(some[c.Name], v)
			}
		}
	}
	periods := sumPeriods[r.IntN(3):]
	periods = periods[:1+r.IntN(len(periods))]
	keys := map[string]bool{}
	for range 1 + r.IntN(40) {
		row := apitest.With(periods[r.IntN(len(periods))])
		if e.Dimension("admin_level") != nil {
			row = apitest.With(row, sumPlaces[r.IntN(len(sumPlaces))])
		}
		for _, c := range table.Columns {
			if values := some[c.Name]; len(values) > 0 && row[c.Name] == nil {
				row[c.Name] = values[r.IntN(len(values))]
			}
		}
		for _, f := range e.Figures {
			if f.Use == contract.Added && strings.HasSuffix(f.Field, "_usd") {
				row[f.Field] = apitest.Decimal(fmt.Sprint(r.IntN(1000)) + ".25")
			} else if f.Use == contract.Added {
				row[f.Field] = r.IntN(1000)
			}
		}
		full := apitest.FullRow(t, table, row)
		setLevel(full)
		key := ""
		for _, column := range e.Key {
			key += fmt.Sprint(full[column], "|")
		}
		if !keys[key] {
			keys[key] = true
			table.Rows = append(table.Rows, full)
		}
	}
	return table
}

// setLevel sets the level of a row's place as a load does: by what is known of it.
func setLevel(row map[string]any) {
	if row["stored_admin2_code"] == nil {
		return
	}
	level := int64(0)
	for i, unit := range []string{"admin1", "admin2"} {
		if row["provider_"+unit+"_name"] != "" || !isPlaceholder(row["stored_"+unit+"_code"]) {
			level = int64(i + 1)
		}
	}
	row["admin_level"] = level
	for i, unit := range []string{"admin1", "admin2"} {
		row[unit+"_code"], row[unit+"_name"] = row["stored_"+unit+"_code"], row["stored_"+unit+"_name"]
		if i >= int(level) {
			row[unit+"_code"], row[unit+"_name"] = nil, nil
		}
	}
}

// sumRequest is a random request for a sum, with filters that leave some rows.
func sumRequest(e *contract.Endpoint, table *apitest.Table, r *rand.Rand) url.Values {
	q := url.Values{}
	for _, f := range e.Figures {
		if f.Use == contract.Added {
			q.Set("measures", []string{"sum:", "mean:"}[r.IntN(2)]+f.Field)
		}
	}
	plan := contract.NewPlan(e, contract.Rows)
	for _, p := range plan.Params {
		row := table.Rows[r.IntN(len(table.Rows))]
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
	if r.IntN(2) == 0 {
		q.Set("latest", []string{"true", "edition"}[r.IntN(2)])
		if _, has := editionFields[e.Table]; !has {
			q.Set("latest", "true")
		}
	}
	if e.Dimension("admin_level") != nil && r.IntN(2) == 0 {
		q.Set("admin_level", "coarsest")
	}
	if e.Dimension("gender") != nil && r.IntN(3) == 0 || e.Dimension("category") != nil && r.IntN(2) == 0 {
		q.Set("everybody", "true")
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
	rounds := 20
	switch {
	case testkit.Long():
		rounds = 100
	case testing.Short():
		rounds = 5
	}
	for range rounds {
		var tables, filled []*apitest.Table
		for i := range contract.Endpoints {
			e := &contract.Endpoints[i]
			table := &apitest.Table{Endpoint: e, Columns: apitest.ColumnsOf(e)}
			if slices.ContainsFunc(e.Figures, func(f contract.Figure) bool { return f.Use == contract.Added }) {
				table = sumTable(t, e, r)
				filled = append(filled, table)
			}
			tables = append(tables, table)
		}
		s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
		for range 100 {
			table := filled[r.IntN(len(filled))]
			q := sumRequest(table.Endpoint, table, r)
			a := s.Answer("GET", table.Endpoint.Path+"/aggregate?"+q.Encode(), nil)
			if a.Status == 422 {
				refusals++
				q = instead(t, a.Body)
				a = s.Answer("GET", table.Endpoint.Path+"/aggregate?"+q.Encode(), nil)
			} else {
				answered++
			}
			if a.Status != 200 {
				t.Fatalf("%s?%s: %d: %s", table.Endpoint.Path, q.Encode(), a.Status, a.Body)
			}
			lawOfSums{table}.checkSum(t, q)
			kept := len(lawOfSums{table}.kept(t, q))
			q.Del("group_by")
			q.Del("measures")
			q.Set("limit", "0")
			a = s.Answer("GET", table.Endpoint.Path+"?"+q.Encode(), nil)
			if got, _ := apitest.Field(a, "X-Total-Count"); a.Status != 200 || got != fmt.Sprint(kept) {
				t.Fatalf("%s?%s: %d, %s rows, want %d", table.Endpoint.Path, q.Encode(), a.Status, got, kept)
			}
		}
	}
	t.Logf("%d answered, %d refused", answered, refusals)
	if answered < 10*rounds || refusals < 10*rounds {
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

// lawOfSums decides which rows of a table may be added.
type lawOfSums struct{ *apitest.Table }

// passing are the rows that pass the filters of a query, of which all are equalities and dates.
func (t lawOfSums) passing(tb testing.TB, q url.Values) []map[string]any {
	tb.Helper()
	var rows []map[string]any
	for _, row := range t.Rows {
		passes := true
		for name, values := range q {
			switch name {
			case "measures", "group_by", "latest":
			case "everybody":
				for _, dimension := range []string{"gender", "age_range", "category"} {
					passes = passes && (row[dimension] == nil || isEverybody(row[dimension]))
				}
			case "start_date":
				passes = passes && !row[contract.PeriodEnd].(time.Time).Before(sumDay(tb, values[0], false))
			case "end_date":
				passes = passes && row[contract.PeriodStart].(time.Time).Before(sumDay(tb, values[0], true))
			case "sector_code", "category": // contain it
				passes = passes && strings.Contains(row[name].(string), values[0])
			case "admin_level__in":
				passes = passes && strings.Contains(values[0], fmt.Sprint(row["admin_level"]))
			case "admin_level":
				passes = passes && (values[0] == "coarsest" || fmt.Sprint(row[name]) == values[0])
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
	return rows
}

// kept are the rows that a query keeps of those that pass its filters.
func (t lawOfSums) kept(tb testing.TB, q url.Values) []map[string]any {
	tb.Helper()
	rows := t.passing(tb, q)
	if q.Get("admin_level") == "coarsest" {
		rows = without(rows, func(row, other map[string]any) bool {
			return contains(other, row) && t.sameFields(row, other) && samePeriod(row, other)
		})
	}
	fields := editionFields[t.Endpoint.Table]
	switch {
	case q.Get("latest") == "true":
		return without(rows, func(row, other map[string]any) bool {
			return t.sameSeries(row, other) && newer(other, row)
		})
	case q.Get("latest") != "edition":
		return rows
	case t.Endpoint.Table == "funding":
		return without(rows, func(row, other map[string]any) bool {
			isAppeal := func(third map[string]any) bool {
				return third["location_code"] == row["location_code"] && third["appeal_type"] != nil
			}
			return isAppeal(other) && yearOf(other) > yearOf(row) ||
				!slices.ContainsFunc(rows, func(third map[string]any) bool {
					return isAppeal(third) && yearOf(third) == yearOf(row)
				})
		})
	case t.Endpoint.Table == "refugees" || t.Endpoint.Table == "returnees":
		dates := url.Values{}
		for _, name := range []string{"start_date", "end_date"} {
			if q.Has(name) {
				dates.Set(name, q.Get(name))
			}
		}
		whole := t.passing(tb, dates)
		return slices.DeleteFunc(rows, func(row map[string]any) bool {
			return slices.ContainsFunc(whole, func(other map[string]any) bool {
				return row["population_group"] == other["population_group"] && newer(other, row)
			})
		})
	}
	return without(rows, func(row, other map[string]any) bool {
		for _, name := range append([]string{"location_code", "admin_level"}, fields...) {
			same := row[name] == other[name] ||
				name == "category" && isEverybody(row[name]) && isEverybody(other[name]) ||
				name == "admin_level" && q.Get(name) == "coarsest"
			if !same {
				return false
			}
		}
		return newer(other, row)
	})
}

// editionFields are those of each table that has editions.
var editionFields = map[string][]string{
	"idps": nil, "operational_presence": nil, "population": nil, "national_risk": nil, "poverty_rate": nil,
	"humanitarian_needs": {"population_status", "category"}, "returnees": nil, "refugees": nil,
	"food_security": {"classification_type"}, "rainfall": {"aggregation_period", "version"}, "funding": nil,
}

// without leaves out the rows that any row of all says to leave out.
func without(rows []map[string]any, drops func(row, other map[string]any) bool) []map[string]any {
	return slices.DeleteFunc(slices.Clone(rows), func(row map[string]any) bool {
		return slices.ContainsFunc(rows, func(other map[string]any) bool { return drops(row, other) })
	})
}

func isEverybody(value any) bool { return value == "" || value == "total" || value == "all" }

func yearOf(row map[string]any) int { return row[contract.PeriodStart].(time.Time).Year() }

func samePeriod(a, b map[string]any) bool {
	return a[contract.PeriodStart] == b[contract.PeriodStart] && a[contract.PeriodEnd] == b[contract.PeriodEnd]
}

// newer reports whether a row is of a later period than another.
func newer(row, other map[string]any) bool {
	end := row[contract.PeriodEnd].(time.Time).Compare(other[contract.PeriodEnd].(time.Time))
	return end > 0 || end == 0 && row[contract.PeriodStart].(time.Time).After(other[contract.PeriodStart].(time.Time))
}

// contains reports whether the place of a row contains that of another.
func contains(row, other map[string]any) bool {
	level, _ := row["admin_level"].(int64)
	lower, _ := other["admin_level"].(int64)
	isPart := level < 1 && row["provider_admin1_name"] != "" || level < 2 && row["provider_admin2_name"] != ""
	if level >= lower || isPart || row["location_code"] != other["location_code"] {
		return false
	}
	sameName := row["provider_admin1_name"] == other["provider_admin1_name"]
	return level == 0 || row["stored_admin1_code"] == other["stored_admin1_code"] &&
		(!isPlaceholder(row["stored_admin1_code"]) || sameName) || sameName && row["provider_admin1_name"] != ""
}

func isPlaceholder(code any) bool { return strings.HasSuffix(fmt.Sprint(code), "-XXX") }

// sameFields reports whether two rows differ in their places and periods only.
func (t lawOfSums) sameFields(a, b map[string]any) bool {
	return !slices.ContainsFunc(t.Endpoint.Key, func(column string) bool {
		isPlace := strings.Contains(column, "admin1") || strings.Contains(column, "admin2")
		isDate := column == contract.PeriodStart || column == "reporting_round"
		return !isPlace && !isDate && a[column] != b[column] && !(isEverybody(a[column]) && isEverybody(b[column]))
	})
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

func (t lawOfSums) sameSeries(a, b map[string]any) bool {
	return !slices.ContainsFunc(t.Endpoint.Series(), func(column string) bool {
		unit, isName := strings.CutSuffix(column, "_name")
		if code := "stored_" + strings.TrimPrefix(unit, "provider_") + "_code"; isName && a[code] != nil &&
			!isPlaceholder(a[code]) && a[code] == b[code] {
			return false // a place that has a code is that code
		}
		return a[column] != b[column]
	})
}

// checkSum compares all pairs of passing rows that are in one group.
func (t lawOfSums) checkSum(tb testing.TB, q url.Values) {
	tb.Helper()
	rows := t.kept(tb, q)
	for i, a := range rows {
		for _, b := range rows[:i] {
			if reason := t.countsTwice(a, b, q, rows); reason != "" && sameGroup(a, b, q.Get("group_by")) {
				tb.Fatalf("%s?%s adds two rows: %s\n%v\n%v", t.Endpoint.Path, q.Encode(), reason, a, b)
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
func (t lawOfSums) countsTwice(a, b map[string]any, q url.Values, rows []map[string]any) string {
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
	switch t.Endpoint.Table {
	case "humanitarian_needs":
		if name := differ("sector_code", "population_status"); name != "" {
			return name
		}
		if isOne := q.Get("everybody") == "true" && !t.samePlace(a, b); !isOne && differ("category") != "" {
			return "category"
		}
	case "idps":
		if name := differ("reporting_round", "assessment_type", "operation"); name != "" {
			return name
		}
	case "food_security":
		if name := differ("classification_type"); name != "" {
			return name
		}
	case "population", "refugees", "returnees":
	default:
		stock = false
	}
	start, end := a[contract.PeriodStart].(time.Time), a[contract.PeriodEnd].(time.Time)
	meets := !start.After(b[contract.PeriodEnd].(time.Time)) && !b[contract.PeriodStart].(time.Time).After(end)
	groups := strings.Split(q.Get("group_by"), ",")
	switch {
	case (contains(a, b) || contains(b, a)) && t.sameFields(a, b) && (stock || meets):
		return "levels"
	case t.sameSeries(a, b) && !samePeriod(a, b) && (stock || meets): // of one period they are parts of one unit
		return "periods"
	case !stock || samePeriod(a, b) || q.Get("latest") == "edition" || slices.Contains(groups, contract.PeriodStart):
		return ""
	case q.Get("latest") == "true" && a["location_code"] != nil &&
		!slices.ContainsFunc(rows, func(a map[string]any) bool {
			return slices.ContainsFunc(rows, func(b map[string]any) bool {
				same := a["location_code"] == b["location_code"] && a["admin_level"] == b["admin_level"]
				return same && !samePeriod(a, b)
			})
		}):
		return ""
	}
	return "figures of different periods"
}

func (t lawOfSums) samePlace(a, b map[string]any) bool {
	return a["location_code"] == b["location_code"] && a["stored_admin2_code"] == b["stored_admin2_code"] &&
		a["provider_admin1_name"] == b["provider_admin1_name"] && a["provider_admin2_name"] == b["provider_admin2_name"]
}
