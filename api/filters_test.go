//go:build !race

package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestContractFilters queries every filter of every endpoint with values from its rows and values
// near them, alone and combined. It compares whole bodies in both formats with a straightforward
// evaluation of the contract's match kinds.
func TestContractFilters(t *testing.T) {
	t.Parallel()
	rows, pages := 60, 25
	if testing.Short() {
		rows, pages = 24, 5
	}
	seed := uint64(20261120)
	random := rand.New(rand.NewPCG(seed, 0))
	tables := sampleTables(t, rows)
	s := testServer(t, state.Options{}, tables)
	c := testkit.ReadContract(t, "../testdata/contract.json")
	asked, found := 0, 0
	for i, e := range c.Paths {
		table := tables[i]
		var pool []paramValue
		for _, p := range e.Params {
			matched, missed := false, false
			for n, value := range filterValues(c, p, table, random) {
				if testing.Short() && n%5 != 0 && p.Type != "boolean" {
					continue
				}
				one := paramValue{p, value}
				total := checkAnswer(t, s, e, table, []paramValue{one}, random)
				pool = append(pool, one)
				asked++
				matched = matched || total > 0
				missed = missed || total < rows
				found += total
			}
			if !missed {
				t.Errorf("%s: no value of %s excludes a row", e.Path, p.Name)
			}
			if !matched && !(e.Path == "/api/v2/food-security-nutrition-poverty/poverty-rate" && p.Name == "admin_level") {
				t.Errorf("%s: no value of %s matches a row", e.Path, p.Name)
			}
		}
		for range pages {
			n := 2 + random.IntN(3)
			var some []paramValue
			for range n {
				if len(pool) > 0 {
					some = append(some, pool[random.IntN(len(pool))])
				}
			}
			checkAnswer(t, s, e, table, some, random)
			asked++
		}
	}
	t.Logf("seed %d: %d requests, %d rows matched", seed, asked, found)
}

// paramValue is a parameter with a value.
type paramValue struct {
	param testkit.ContractParam
	value string
}

// filterValues returns values of the columns, values derived from them by the matching rules, and a
// few that match no row.
func filterValues(c *testkit.Contract, p testkit.ContractParam, table *testTable, random *rand.Rand) []string {
	if p.Type == "enum" {
		return c.Enums[p.Enum].Values
	}
	if p.Type == "boolean" {
		return []string{"true", "F"}
	}
	var values []string
	for range 6 {
		row := table.rows[random.IntN(len(table.rows))]
		column := columnsOfParam(table.endpoint.Path, p)[random.IntN(len(p.Columns))]
		switch v := row[column].(type) {
		case string:
			if v == "" {
				continue
			}
			values = append(values, v, strings.ToUpper(v), v[:1]+"%", "%"+v, v+"_", v+`\`, "_"+string([]rune(v)[1:]),
				string([]rune(v)[:1]))
			values = append(values, strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(v))
		case int64:
			values = append(values, fmt.Sprint(v), fmt.Sprintf(" +%d.0", v), "99999999999999999999",
				"-99999999999999999999")
		case decimal:
			values = append(values, string(v), string(v)+"e0", "9.99", "1e400", "-0.0")
			if p.Parse != "decimal" {
				values = append(values, "nan", "-inf")
			}
		case time.Time:
			if p.Type == "partial-date" {
				values = append(values, v.Format("2006"), v.Format("2006-01"), v.Format("2006-01-02"),
					v.Format("2006-01-02T15:04:05"), "2023-12", "2024-10")
			} else {
				values = append(values, v.Format("2006-01-02"), v.Format("2006-01-02 15:04:05.999999"),
					v.Add(time.Hour).Format("2006-01-02T15:04:05.999999")+"+01:00",
					fmt.Sprint(v.Unix()))
			}
		}
	}
	if p.Type == "string" {
		values = append(values, "%", "no such value", "\x00")
	}
	return values
}

// checkAnswer queries with some filters and sometimes a random page, checks the answers, and
// returns how many rows pass the filters.
func checkAnswer(t *testing.T, s *Server, e testkit.ContractEndpoint, table *testTable, some []paramValue,
	random *rand.Rand,
) int {
	t.Helper()
	last := map[string]paramValue{}
	query := "app_identifier=" + goodIdentifier
	for _, one := range some {
		query += "&" + one.param.Name + "=" + url.QueryEscape(one.value)
		last[one.param.Name] = one
	}
	var rows []map[string]any
	for _, row := range table.rows {
		passes := true
		for _, one := range last {
			passes = passes && plainMatch(e.Path, one, row)
		}
		if passes {
			rows = append(rows, row)
		}
	}
	total := len(rows)
	if random.IntN(3) == 0 {
		offset, limit := random.IntN(8), random.IntN(8)
		query += fmt.Sprintf("&offset=%d&limit=%d", offset, limit)
		rows = rows[min(offset, len(rows)):]
		rows = rows[:min(limit, len(rows))]
	}
	got := s.Answer("GET", e.Path+"?"+query, nil)
	if want := plainJSON(t, e, rows); got.Status != 200 || string(got.Body) != want {
		t.Fatalf("%s?%s: %d\n%s\nwant\n%s", e.Path, query, got.Status, got.Body, want)
	}
	if count, _ := got.field("X-Total-Count"); count != strconv.Itoa(total) {
		t.Fatalf("%s?%s: X-Total-Count %s, want %d", e.Path, query, count, total)
	}
	head := s.Answer("HEAD", e.Path+"?"+query, nil)
	if count, _ := head.field("X-Total-Count"); count != strconv.Itoa(total) || len(head.Body) > 0 {
		t.Fatalf("HEAD %s?%s: X-Total-Count %s, want %d", e.Path, query, count, total)
	}
	got = s.Answer("GET", e.Path+"?"+query+"&output_format=csv", nil)
	if want := plainCSV(t, e, rows); got.Status != 200 || string(got.Body) != want {
		t.Fatalf("%s?%s as CSV: %d\n%q\nwant\n%q", e.Path, query, got.Status, got.Body, want)
	}
	return total
}

// plainMatch evaluates a match kind as the contract defines it.
func plainMatch(path string, one paramValue, row map[string]any) bool {
	for _, column := range columnsOfParam(path, one.param) {
		if plainColumn(one, row[column]) {
			return true
		}
	}
	return false
}

func plainColumn(one paramValue, stored any) bool {
	match, value := one.param.Match, one.value
	switch v := stored.(type) {
	case nil:
		return match == "overlap_start"
	case string:
		switch match {
		case "ilike":
			return plainPattern(value, "", "").MatchString(strings.ToLower(v))
		case "icontains", "icontains_or_provider":
			return plainPattern(value, ".*", ".*").MatchString(strings.ToLower(v))
		}
		return v == value
	case bool:
		return v == (value == "true")
	case time.Time:
		return plainTime(match, value, v)
	case int64:
		f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return false
		}
		return plainOrder(match, float64(v), f)
	case decimal:
		f, _ := strconv.ParseFloat(string(v), 64)
		g, _ := strconv.ParseFloat(value, 64)
		if g != g {
			return match == "lt"
		}
		return plainOrder(match, f, g)
	}
	panic("unexpected type of value")
}

func plainOrder(match string, stored, value float64) bool {
	switch match {
	case "ge":
		return stored >= value
	case "lt":
		return stored < value
	}
	return stored == value
}

func plainTime(match, value string, stored time.Time) bool {
	if match == "ge" || match == "lt" {
		var at time.Time
		if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
			at = time.Unix(seconds, 0).UTC()
		}
		for _, layout := range []string{
			"2006-01-02", "2006-01-02 15:04:05.999999",
			"2006-01-02T15:04:05.999999Z07:00",
		} {
			if parsed, err := time.Parse(layout, value); err == nil {
				at = parsed.UTC()
			}
		}
		return (match == "ge") == !stored.Before(at)
	}
	layouts := map[int]string{4: "2006", 7: "2006-01", 10: "2006-01-02", 19: "2006-01-02T15:04:05"}
	at, err := time.Parse(layouts[len(value)], value)
	if err != nil {
		panic(err)
	}
	if match == "overlap_start" {
		return !stored.Before(at)
	}
	switch len(value) {
	case 4:
		at = at.AddDate(1, 0, 0)
	case 7:
		at = at.AddDate(0, 1, 0)
	case 10:
		at = at.AddDate(0, 0, 1)
	}
	return stored.Before(at)
}

// plainPattern translates a pattern with wildcards into a regular expression for lower-cased text.
func plainPattern(value, before, after string) *regexp.Regexp {
	var b strings.Builder
	runes := []rune(strings.ToLower(value))
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteString(".")
		case r == '\\' && i+1 < len(runes):
			i++
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile(`(?s)\A` + before + b.String() + after + `\z`)
}

// plainJSON renders records with the standard library, one field after another.
func plainJSON(tb testing.TB, e testkit.ContractEndpoint, rows []map[string]any) string {
	var b bytes.Buffer
	b.WriteString(`{"data":[`)
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for j, f := range e.Fields {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q:%s", f.Name, plainValue(tb, row[f.Name], "T"))
		}
		b.WriteByte('}')
	}
	b.WriteString("]}")
	return b.String()
}

func plainValue(tb testing.TB, v any, between string) string {
	switch v := v.(type) {
	case time.Time:
		layout := "2006-01-02" + between + "15:04:05"
		if v.Nanosecond() != 0 {
			layout += ".000000"
		}
		return `"` + v.Format(layout) + `"`
	case decimal:
		f, _ := strconv.ParseFloat(string(v), 64)
		text := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func plainCSV(tb testing.TB, e testkit.ContractEndpoint, rows []map[string]any) string {
	var b bytes.Buffer
	quote := regexp.MustCompile(`[,"\r\n]`)
	var names []string
	for _, f := range e.Fields {
		names = append(names, f.Name)
	}
	b.WriteString(strings.Join(names, ",") + "\r\n")
	for _, row := range rows {
		var cells []string
		for _, f := range e.Fields {
			cell := ""
			switch v := row[f.Name].(type) {
			case nil:
			case string:
				cell = v
			case bool:
				cell = map[bool]string{true: "True", false: "False"}[v]
			default:
				cell = strings.Trim(plainValue(tb, v, " "), `"`)
			}
			if quote.MatchString(cell) {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			cells = append(cells, cell)
		}
		b.WriteString(strings.Join(cells, ",") + "\r\n")
	}
	if _, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// TestEveryEnumValueIsFound queries each value of each enum.
func TestEveryEnumValueIsFound(t *testing.T) {
	t.Parallel()
	tables := sampleTables(t, 60)
	s := testServer(t, state.Options{}, tables)
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		for _, p := range e.Filters() {
			if p.Type != contract.Choice || p.IsLevel() {
				continue
			}
			for _, value := range p.Enum.Values {
				got := s.Answer("GET",
					e.Path+"?app_identifier="+goodIdentifier+"&limit=0&"+p.Name+"="+url.QueryEscape(value), nil)
				want := 0
				for _, row := range tables[i].rows {
					if row[p.Columns[0]] == value {
						want++
					}
				}
				if count, _ := got.field("X-Total-Count"); count != strconv.Itoa(want) || want == 0 &&
					!slices.Contains([]string{"version"}, p.Name) {
					t.Errorf("%s?%s=%s: %s rows, want %d", e.Path, p.Name, value, count, want)
				}
			}
		}
	}
}

// columnsOfParam returns the columns that a filter reads. The tests of package contract compare
// them with the contract.
func columnsOfParam(path string, p testkit.ContractParam) []string {
	for i := range contract.Endpoints {
		for _, own := range contract.Endpoints[i].Filters() {
			if contract.Endpoints[i].Path == path && own.Name == p.Name {
				return own.Columns
			}
		}
	}
	return nil
}
