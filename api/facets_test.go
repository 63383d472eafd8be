//go:build !race

package api

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// facetLine is a record of facets; its value is JSON.
type facetLine struct {
	Field string          `json:"field"`
	Value json.RawMessage `json:"value"`
	Count int             `json:"count"`
}

func (l facetLine) String() string { return fmt.Sprintf("%s %s %d", l.Field, l.Value, l.Count) }

// readFacets reads the records of an answer.
func readFacets(t *testing.T, target string, body []byte) []facetLine {
	t.Helper()
	var answer struct {
		Data []facetLine `json:"data"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil || answer.Data == nil {
		t.Fatalf("%s: %v: %.300s", target, err, body)
	}
	return answer.Data
}

// listOf returns all records of a list request, by field as JSON.
func listOf(t *testing.T, s *Server, path, query string) (all []map[string]json.RawMessage) {
	t.Helper()
	target := path + "?app_identifier=" + goodIdentifier + query
	got := s.Answer("GET", target, nil)
	var answer struct {
		Data []map[string]json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(got.Body, &answer); err != nil || got.Status != 200 {
		t.Fatalf("%s: %d %.300s", target, got.Status, got.Body)
	}
	return answer.Data
}

// spanOf is the year, quarter or month of a time in JSON.
func spanOf(value json.RawMessage, span string) json.RawMessage {
	text := string(value)
	if text == "null" {
		return value
	}
	month, _ := strconv.Atoi(text[6:8])
	switch span {
	case "year":
		return json.RawMessage(strings.TrimLeft(text[1:5], "0"))
	case "quarter":
		return json.RawMessage(fmt.Sprintf(`%s-Q%d"`, text[:5], (month+2)/3))
	}
	return json.RawMessage(text[:8] + `"`)
}

var spans = slices.Clip([]string{"year", "quarter", "month"})

// plainFacet counts the values of a field in all records of a list request, the plain way.
func plainFacet(t *testing.T, s *Server, path, query string, e *contract.Endpoint, name string) []facetLine {
	t.Helper()
	field, span := name, slices.Contains(spans, name)
	if span {
		field = contract.PeriodStart
	}
	at := slices.IndexFunc(e.Fields, func(f contract.Field) bool { return f.Name == field })
	counts := map[string]int{}
	for _, record := range listOf(t, s, path, query) {
		value := record[field]
		if span {
			value = spanOf(value, name)
		}
		counts[string(value)]++
	}
	var all []facetLine
	for value, n := range counts {
		all = append(all, facetLine{name, json.RawMessage(value), n})
	}
	slices.SortFunc(all, func(a, b facetLine) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), compareJSON(&e.Fields[at], a.Value, b.Value))
	})
	return all
}

// compareJSON orders two values of a field, null last.
func compareJSON(f *contract.Field, a, b json.RawMessage) int {
	x, y := string(a), string(b)
	if x == "null" || y == "null" {
		return map[bool]int{true: 1}[x == "null"] - map[bool]int{true: 1}[y == "null"]
	}
	switch f.Type {
	case contract.Integer, contract.Number:
		n, _ := strconv.ParseFloat(x, 64)
		m, _ := strconv.ParseFloat(y, 64)
		return cmp.Compare(n, m)
	case contract.Choice:
		return cmp.Compare(slices.Index(f.Enum.Values, unquoted(a)), slices.Index(f.Enum.Values, unquoted(b)))
	case contract.Boolean:
		return cmp.Compare(x, y)
	}
	return cmp.Compare(unquoted(a), unquoted(b))
}

func unquoted(value json.RawMessage) (text string) {
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}

// sentFilter is a filter of a request, and the field whose own it is.
type sentFilter struct{ text, field string }

const periodFilter = "period"

// randomFilters draws filters that find something: values of a record.
func randomFilters(r *rand.Rand, e *contract.Endpoint, record map[string]json.RawMessage) (all []sentFilter) {
	if e.Contract().Series() != nil && r.IntN(3) == 0 {
		all = append(all, sentFilter{"latest=true", ""})
	}
	for _, p := range e.Filters() {
		if r.IntN(3) > 0 {
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(p.Name, "_min"), "_max")
		value := unquoted(record[name])
		switch {
		case p.Type == contract.Day:
			month := []string{"2023-10", "2024", "2024-02", "2024-03-02"}[r.IntN(4)]
			all = append(all, sentFilter{p.Name + "=" + month, periodFilter})
			continue
		case p.Type == contract.Boolean:
			all = append(all, sentFilter{p.Name + "=" + strconv.FormatBool(r.IntN(4) > 0), p.Name})
			continue
		case record[name] == nil || value == "null" || value == "" || strings.ContainsAny(value, `\%_`):
			continue
		case p.Several && r.IntN(2) == 0 && !strings.Contains(value, ","):
			all = append(all, sentFilter{p.Name + "__in=" + url.QueryEscape(value), name})
		}
		if len(all) == 0 || r.IntN(2) == 0 {
			all = append(all, sentFilter{p.Name + "=" + url.QueryEscape(value), name})
		}
	}
	return all
}

// TestFacetsAgainstRecords compares random requests on all endpoints with counts of the records of
// the list without the field's own filters.
func TestFacetsAgainstRecords(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	s := sampleServer(t, state.Options{Logger: slog.New(slog.DiscardHandler), SkipWarmUp: true}, 400)
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	some := 0
	for _, m := range s.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			e := &endpoints[i]
			path := m.Prefix + e.Path
			records := listOf(t, s, path, "")
			for range rounds {
				filters := randomFilters(r, e, records[r.IntN(len(records))])
				of := e.GroupNames()
				r.Shuffle(len(of), func(i, k int) { of[i], of[k] = of[k], of[i] })
				of = of[:1+r.IntN(min(5, len(of)))]
				target := path + "/facets?app_identifier=" + goodIdentifier + "&of=" + strings.Join(of, ",")
				for _, f := range filters {
					target += "&" + f.text
				}
				var want []facetLine
				for _, name := range of {
					query := ""
					for _, f := range filters {
						period := slices.Contains(append(spans, contract.PeriodStart, contract.PeriodEnd), name)
						partOf := slices.Contains(spans, name) && f.field == contract.PeriodStart
						if f.field != name && !partOf && (f.field != periodFilter || !period) {
							query += "&" + f.text
						}
					}
					want = append(want, plainFacet(t, s, path, query, e, name)...)
				}
				got := s.Answer("GET", target, nil)
				if got.Status != 200 {
					t.Fatalf("seed %d: %s: %d %s", seed, target, got.Status, got.Body)
				}
				if have := readFacets(t, target, got.Body); fmt.Sprint(have) != fmt.Sprint(want) {
					t.Fatalf("seed %d: %s:\n%v\nwant\n%v", seed, target, have, want)
				}
				if len(want) > 0 && len(filters) > 0 {
					some++
				}
				checkFacetPages(t, s, target, got, want, r)
			}
		}
	}
	if some < 100 {
		t.Errorf("only %d answers with filters had records", some)
	}
}

// checkFacetPages compares a page, and the answer as CSV, with the whole answer.
func checkFacetPages(t *testing.T, s *Server, target string, whole Answer, want []facetLine, r *rand.Rand) {
	t.Helper()
	for name, n := range map[string]int{"X-Total-Count": len(want), "X-Result-Count": len(want)} {
		if text, _ := whole.field(name); text != strconv.Itoa(n) {
			t.Errorf("%s: %s is %s, want %d", target, name, text, n)
		}
	}
	if more, has := whole.field(contract.HeaderMore); has {
		t.Errorf("%s: %s", target, more)
	}
	limit, offset := r.IntN(20), r.IntN(len(want)+3)
	page := fmt.Sprintf("%s&limit=%d&offset=%d", target, limit, offset)
	got := s.Answer("GET", page, nil)
	from := min(offset, len(want))
	part := want[from:min(from+limit, len(want))]
	if total, _ := got.field("X-Total-Count"); total != strconv.Itoa(len(want)) ||
		fmt.Sprint(readFacets(t, page, got.Body)) != fmt.Sprint(part) {
		t.Errorf("%s: %s of %s, want %v", page, got.Body, total, part)
	}
	link, _ := got.field("Link")
	if hasNext := strings.Contains(link, `rel="next"`); hasNext != (offset+limit < len(want) && limit > 0) {
		t.Errorf("%s: Link %s", page, link)
	}
	lines, err := csv.NewReader(bytes.NewReader(s.Answer("GET", target+"&output_format=csv", nil).Body)).ReadAll()
	if len(want) == 0 && strings.HasPrefix(target, contract.HAPIPrefix) {
		if err != nil || len(lines) > 0 {
			t.Errorf("%s: %v: %d lines of CSV, want none", target, err, len(lines))
		}
		return
	}
	if err != nil || len(lines) != len(want)+1 || !slices.Equal(lines[0], []string{"field", "value", "count"}) {
		t.Fatalf("%s: %v: %d lines of CSV: %v", target, err, len(lines), lines)
	}
	for i, line := range lines[1:] {
		w := want[i]
		value := strings.ReplaceAll(unquoted(w.Value), "null", "")
		if line[0] != w.Field || line[2] != strconv.Itoa(w.Count) || !sameCell(line[1], value) {
			t.Errorf("%s: line %q, want %v", target, line, w)
		}
	}
}

// sameCell compares a cell of CSV with a text. Times have a blank, truth values a capital.
func sameCell(cell, text string) bool {
	return cell == text || strings.EqualFold(cell, text) || strings.Replace(cell, " ", "T", 1) == text
}

// TestFacetsLeftOut checks that a field with many values has the most frequent ones, and that the
// answer says how many it leaves out.
func TestFacetsLeftOut(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/metadata/location"
	table := sampleTable(planOf(path).Endpoint, 0, rand.New(rand.NewPCG(1, 2)))
	for i := range 250 {
		for range 1 + i%7 {
			table.rows = append(table.rows, map[string]any{
				"id": int64(len(table.rows) * 1_000_003), "code": fmt.Sprintf("C%03d", i), "name": "one",
				"has_hrp": true, "in_gho": i%2 == 0, "from_cods": true,
				"reference_period_start": publishedTime, "reference_period_end": nil,
			})
		}
	}
	s := testServer(t, state.Options{SkipWarmUp: true}, []*testTable{table})
	e := planOf(path).Endpoint
	for _, format := range []string{"", "&output_format=csv", "&limit=3"} {
		target := path + "/facets?app_identifier=" + goodIdentifier + "&of=code,name,id" + format
		for range 3 { // also from the cache
			got := s.Answer("GET", target, nil)
			more, _ := got.field(contract.HeaderMore)
			exposed, _ := got.field("Access-Control-Expose-Headers")
			want := fmt.Sprintf("code=50, id=%d", len(table.rows)-contract.MaxFacet)
			if got.Status != 200 || more != want || exposed != reply.ExposedHeaders+", "+contract.HeaderMore {
				t.Fatalf("%s: %d, %q, want %q, %q", target, got.Status, more, want, exposed)
			}
			if total, _ := got.field("X-Total-Count"); total != strconv.Itoa(2*contract.MaxFacet+1) {
				t.Errorf("%s: %s records", target, total)
			}
		}
	}
	target := path + "/facets?app_identifier=" + goodIdentifier + "&of=code"
	want := plainFacet(t, s, path, "", e, "code")[:contract.MaxFacet]
	if got := readFacets(t, target, s.Answer("GET", target, nil).Body); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant\n%v", got, want)
	}
	list := s.Answer("GET", path+"?app_identifier="+goodIdentifier, nil)
	if got, has := list.field("Access-Control-Expose-Headers"); !has || strings.Contains(got, contract.HeaderMore) {
		t.Errorf("a list exposes %s", got)
	}
}

// TestFacetsOfManyNumbers checks that a number with too many values is refused with the reason.
func TestFacetsOfManyNumbers(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/metadata/location"
	table := sampleTable(planOf(path).Endpoint, 10_001, rand.New(rand.NewPCG(1, 2)))
	for i, row := range table.rows {
		row["id"] = int64(i)
	}
	s := testServer(t, state.Options{SkipWarmUp: true}, []*testTable{table})
	target := path + "/facets?app_identifier=" + goodIdentifier + "&of=code,id"
	got := s.Answer("GET", target, nil)
	const reason = `"loc":["query","of"],"msg":"Value error, id has more than 10000`
	if got.Status != 422 || !strings.Contains(string(got.Body), reason) {
		t.Errorf("%d %.300s", got.Status, got.Body)
	}
	if got := s.Answer("GET", target+"&id=7", nil); got.Status != 422 { // the filter of id itself is set aside
		t.Errorf("%d %.300s", got.Status, got.Body)
	}
	got = s.Answer("GET", target+"&has_hrp=true", nil)
	if more, _ := got.field(contract.HeaderMore); got.Status != 200 || !strings.HasPrefix(more, "id=") {
		t.Errorf("%d, more %s, %.300s", got.Status, more, got.Body)
	}
}

// TestFacetsWithoutTable checks that an endpoint without a table has no values.
func TestFacetsWithoutTable(t *testing.T) {
	t.Parallel()
	s := tableServer(t, state.Options{SkipWarmUp: true}, "/api/v2/metadata/location", 5)
	for format, want := range map[string]string{"json": state.EmptyJSON, "csv": "field,value,count\r\n"} {
		target := "/api/v2/climate/rainfall/facets?app_identifier=" + goodIdentifier + "&of=version&output_format=" + format
		if got := s.Answer("GET", target, nil); got.Status != 200 || string(got.Body) != want {
			t.Errorf("%s: %d %q", target, got.Status, got.Body)
		}
	}
}
