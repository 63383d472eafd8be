//go:build !race

package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// badValue is an invalid parameter value with the error items that it must get.
type badValue struct {
	value string
	items []any
}

// wireItem is an item of a 422 answer.
type wireItem struct {
	Type  string   `json:"type"`
	Loc   []string `json:"loc"`
	Msg   string   `json:"msg"`
	Input *string  `json:"input"`
	Ctx   any      `json:"ctx,omitempty"`
}

// item returns the error item of a query parameter.
func item(p, value, kind, msg string, ctx any) []any {
	return []any{wireItem{Type: kind, Loc: []string{"query", p}, Msg: msg, Input: &value, Ctx: ctx}}
}

// momentItems returns the two error items of an invalid date-time.
func momentItems(p, value, reason string) []any {
	ctx := map[string]string{"error": reason}
	return []any{
		wireItem{
			Type: "datetime_from_date_parsing", Loc: []string{"query", p, "datetime"},
			Msg: "Input should be a valid datetime or date, " + reason, Input: &value, Ctx: ctx,
		},
		wireItem{
			Type: "date_from_datetime_parsing", Loc: []string{"query", p, "date"},
			Msg: "Input should be a valid date or datetime, " + reason, Input: &value, Ctx: ctx,
		},
	}
}

// badValues returns values that violate each rule of a parameter in the contract.
func badValues(c *testkit.Contract, p testkit.ContractParam) []badValue {
	var bad []badValue
	add := func(value, kind, msg string, ctx any) {
		bad = append(bad, badValue{value, item(p.Name, value, kind, msg, ctx)})
	}
	switch {
	case p.Type == "string":
		if p.MaxLength > 0 {
			for _, letter := range []string{"x", "é", "%"} {
				add(strings.Repeat(letter, p.MaxLength+1), "string_too_long",
					fmt.Sprintf("String should have at most %d characters",
						p.MaxLength), map[string]int{"max_length": p.MaxLength})
			}
		}
	case p.Type == "enum":
		e := c.Enums[p.Enum]
		for _, value := range []string{"", "nonsense", strings.ToUpper(e.Values[0]) + " ", strings.Repeat("x", 200)} {
			add(value, "enum", e.Message, map[string]string{"expected": e.Expected})
		}
	case p.Type == "integer":
		for _, value := range []string{"", "x", "1.5", "1e2", "1__0", "_1", "１"} {
			add(value, "int_parsing", "Input should be a valid integer, unable to parse string as an integer", nil)
		}
		if p.Min != nil {
			for _, value := range []string{"-1", " -01 ", "-99999999999999999999"} {
				add(value, "greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", *p.Min),
					map[string]int{"ge": *p.Min})
			}
		}
		if p.Max != nil {
			for _, value := range []string{fmt.Sprint(*p.Max + 1), "99999999999999999999"} {
				add(value, "less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", *p.Max),
					map[string]int{"le": *p.Max})
			}
		}
	case p.Parse == "decimal":
		for _, value := range []string{"", "x", "1,5"} {
			add(value, "decimal_parsing", "Input should be a valid decimal", nil)
		}
		for _, value := range []string{"inf", "-Infinity", "NaN"} {
			add(value, "finite_number", "Input should be a finite number", nil)
		}
	case p.Type == "number":
		for _, value := range []string{"", "x", "1,5", "0x10"} {
			add(value, "float_parsing", "Input should be a valid number, unable to parse string as a number", nil)
		}
	case p.Type == "boolean":
		for _, value := range []string{"", "x", " true", "2"} {
			add(value, "bool_parsing", "Input should be a valid boolean, unable to interpret input", nil)
		}
	case p.Type == "date-time or date":
		for value, reason := range map[string]string{
			"": "input is too short", "x": "input is too short",
			"2023-13-01": "month value is outside expected range of 1-12",
			"2023-02-30": "day value is outside expected range",
		} {
			bad = append(bad, badValue{value, momentItems(p.Name, value, reason)})
		}
	}
	return bad
}

// itemsBody returns the body of a 422 answer.
func itemsBody(tb testing.TB, items []any) string {
	tb.Helper()
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"detail": items}); err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// TestContractErrors sends every bad value of every parameter of every endpoint: alone, before a
// good value of the same parameter (which hides it), after one, and all parameters at once. It
// compares whole bodies.
func TestContractErrors(t *testing.T) {
	t.Parallel()
	c := testkit.ReadContract(t, "../testdata/contract.json")
	s := sampleServer(t, state.Options{}, 3)
	sent := 0
	ask := func(path, query string) Answer {
		sent++
		return s.Answer("GET", path+"?"+query, nil)
	}
	for _, e := range c.Paths {
		params := append(slices.Clone(e.Params), c.Common...)
		for _, p := range params {
			id := "app_identifier=" + goodIdentifier + "&"
			if p.Name == "app_identifier" {
				continue // tested separately
			}
			values := badValues(c, p)
			if p.Type == "partial-date" {
				for _, value := range []string{
					"x", "2023-13", "0000", "9999", "2023-05-17 10:20:30",
					"2023-05-17T10:20:30Z",
				} {
					got := ask(e.Path, id+p.Name+"="+url.QueryEscape(value)+"&limit=x")
					want := `{"detail":"Invalid ` + p.Name + ` format. Use YYYY, YYYY-MM, YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS"}`
					if got.Status != 400 || string(got.Body) != want {
						t.Errorf("%s %s=%q: %d %s", e.Path, p.Name, value, got.Status, got.Body)
					}
				}
				continue
			}
			for _, bad := range values {
				query := p.Name + "=" + url.QueryEscape(bad.value)
				got := ask(e.Path, id+query)
				if want := itemsBody(t, bad.items); got.Status != 422 || string(got.Body) != want {
					t.Errorf("%s?%s: %d %s\nwant %s", e.Path, query, got.Status, got.Body, want)
				}
				if got := ask(e.Path, id+query+"&"+p.Name+"="+url.QueryEscape(goodValue(c, p))); got.Status != 200 {
					t.Errorf("%s?%s before %q: %d %s", e.Path, query, goodValue(c, p), got.Status, got.Body)
				}
				if got := ask(e.Path, id+p.Name+"="+url.QueryEscape(goodValue(c, p))+"&"+query); got.Status != 422 {
					t.Errorf("%s?%s after %q: %d", e.Path, query, goodValue(c, p), got.Status)
				}
			}
			if p.Ignored == "empty string" {
				if got := ask(e.Path, id+p.Name+"="); got.Status != 200 {
					t.Errorf("%s?%s= (no filter): status %d, want 200", e.Path, p.Name, got.Status)
				}
			}
		}
		checkAllErrors(t, c, e, ask)
	}
	t.Logf("%d requests", sent)
}

// goodValue returns the longest or most unusual value that a parameter accepts.
func goodValue(c *testkit.Contract, p testkit.ContractParam) string {
	switch p.Type {
	case "string":
		return strings.Repeat("é", p.MaxLength)
	case "enum":
		values := c.Enums[p.Enum].Values
		return values[len(values)-1]
	case "integer":
		return " +1_0.00 "
	case "number":
		return "\t-1.5e+10 "
	case "boolean":
		return "oFF"
	}
	return "2023-02-28"
}

// checkAllErrors sends a bad value for every parameter at once, in reverse order, and expects the
// items in the order of section 8 of the contract.
func checkAllErrors(t *testing.T, c *testkit.Contract, e testkit.ContractEndpoint,
	ask func(path, query string) Answer,
) {
	t.Helper()
	place := map[string]int{
		"location_code": 1, "location_name": 2, "admin1_code": 3, "admin1_name": 4,
		"admin2_code": 5, "admin2_name": 6, "admin_level": 7,
	}
	page := map[string]int{"limit": 10, "offset": 11, "app_identifier": 12, "output_format": 13}
	hasLevel := slices.ContainsFunc(e.Params, func(p testkit.ContractParam) bool { return p.Name == "admin_level" })
	rank := func(i int, p testkit.ContractParam) int {
		if n := place[p.Name]; n > 0 && hasLevel && !strings.HasSuffix(e.Path, "data-availability") {
			return n
		}
		if n := page[p.Name]; n > 0 {
			return n
		}
		return 100 + i
	}
	type ranked struct {
		rank  int
		query string
		items []any
	}
	var all []ranked
	for i, p := range append(slices.Clone(e.Params), c.Common...) {
		var bad badValue
		if values := badValues(c, p); p.Name == "app_identifier" {
			value := longIdentifier()
			bad = badValue{value, item(p.Name, value, "string_too_long", "String should have at most 512 characters",
				map[string]int{"max_length": 512})}
		} else if len(values) > 0 {
			bad = values[len(values)-1]
		} else {
			continue
		}
		all = append(all, ranked{rank(i, p), p.Name + "=" + url.QueryEscape(bad.value), bad.items})
	}
	var query []string
	for i := len(all) - 1; i >= 0; i-- {
		query = append(query, all[i].query)
	}
	slices.SortFunc(all, func(a, b ranked) int { return a.rank - b.rank })
	var items []any
	for _, r := range all {
		items = append(items, r.items...)
	}
	got := ask(e.Path, strings.Join(query, "&"))
	if want := itemsBody(t, items); got.Status != 422 || string(got.Body) != want {
		t.Errorf("%s, all at once: %d\n%s\nwant\n%s", e.Path, got.Status, got.Body, want)
	}
}

// longIdentifier returns an identifier that is valid except for its length. The length is limited
// only in the query.
func longIdentifier() string {
	identifier, issues := contract.EncodeIdentifier(strings.Repeat("a", 480), "me@example.org")
	if issues != nil || len(identifier) <= 512 {
		panic("not a long identifier")
	}
	return identifier
}

// TestLongIdentifierInHeader checks that an identifier in the header may be longer than one in the
// query.
func TestLongIdentifierInHeader(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{}, 3)
	header := []reply.HeaderField{{Name: "X-CATALOG-API-APP-IDENTIFIER", Value: longIdentifier()}}
	if got := s.Answer("GET", "/api/v2/metadata/sector", header); got.Status != 200 {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
}

// TestOtherRoutes checks that every other route of the contract exists.
func TestOtherRoutes(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{}, 3)
	for _, route := range testkit.ReadContract(t, "../testdata/contract.json").Other {
		if got := s.Answer("OPTIONS", route.Path, nil); got.Status != 204 {
			t.Errorf("%s: status %d, want 204", route.Path, got.Status)
		}
	}
}
