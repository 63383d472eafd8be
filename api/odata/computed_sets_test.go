//go:build !race

package odata_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/odata"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// eventTables are conflict events of countries by kind and month, a record each.
func eventTables(tb testing.TB, countries, months int) []*apitest.Table {
	tb.Helper()
	e := apitest.Plan("/api/v2/coordination-context/conflict-events").Endpoint
	table := &apitest.Table{Endpoint: e, Columns: apitest.ColumnsOf(e)}
	at := slices.IndexFunc(table.Columns, func(c apitest.Column) bool { return c.Name == "event_type" })
	for country := range countries {
		code := fmt.Sprintf("%c%c%c", 'A'+country/26, 'A'+country%26, 'A'+country%7)
		for _, kind := range table.Columns[at].Enum.Values[:3] {
			for month := range months {
				place := apitest.InPlace(code)
				if country%5 == 0 {
					place["location_name"] = []string{"Côte d'Ivoire", "A B/C", "50% | <x>"}[country/5%3] + " " + code
				}
				row := apitest.With(place, apitest.InMonth(2018, 1+month), apitest.Row{
					"event_type": kind, "events": (country*month + len(kind)) % 50, "fatalities": country * month % 90,
				})
				table.Rows = append(table.Rows, apitest.FullRow(tb, table, row))
			}
		}
	}
	return []*apitest.Table{table}
}

const monthlyEvents = "conflict_events_by_country_month"

// TestODataComputedFilters compares random filters of a computed set with what they mean, record by
// record.
func TestODataComputedFilters(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{BaseURL: apitest.ODataBase}, eventTables(t, 12, 6))
	_, whole := askOData(t, s, monthlyEvents)
	if len(whole.Value) != 12*3*6 {
		t.Fatalf("there are %d records", len(whole.Value))
	}
	r := &odataTrees{rand.New(rand.NewPCG(21, 22)), []contract.Field{
		{Name: "location_code", Type: contract.String},
		{Name: "location_name", Type: contract.String},
		{Name: "event_type", Type: contract.Choice},
		{Name: "admin_level", Type: contract.Integer},
		{Name: contract.PeriodStart, Type: contract.DateTime},
		{Name: "sum_events", Type: contract.Integer},
		{Name: "count", Type: contract.Integer},
	}, whole.Value}
	some := 0
	for range 1000 {
		tree := r.tree(r.IntN(6), nil)
		var want, got []any
		for _, record := range whole.Value {
			if tree.holds(record) == 1 {
				want = append(want, record["row_key"])
			}
		}
		a, page := askOData(t, s, monthlyEvents, "$filter", tree.text, "$count", "true", "$select", "row_key")
		for _, record := range page.Value {
			got = append(got, record["row_key"])
		}
		if a.Status != 200 || !slices.Equal(got, want) || *page.Count != len(want) {
			t.Fatalf("%s: %d, %d records, want %d: %.300s", tree.text, a.Status, len(got), len(want), a.Body)
		}
		some += min(1, len(want)) * min(1, len(whole.Value)-len(want))
	}
	testkit.AtLeast(t, some, 250, "filters kept some records and not all")
}

// TestODataComputedCost bounds what a long filter of many records costs: each comparison is made
// with each distinct value, once.
func TestODataComputedCost(t *testing.T) {
	s := apitest.Server(t, state.Options{BaseURL: apitest.ODataBase}, eventTables(t, 250, 96))
	_, page := askOData(t, s, monthlyEvents, "$count", "true", "$top", "0")
	if *page.Count != 72_000 {
		t.Fatalf("there are %d records", *page.Count)
	}
	repeated := func(some ...string) string {
		var all []string
		for i := range 95 {
			all = append(all, fmt.Sprintf(some[i%len(some)], i))
		}
		return strings.Join(all, " or ")
	}
	for name, filter := range map[string]string{
		"one property":   repeated("reference_period_start gt 25%02d-01-01"),
		"two properties": repeated("reference_period_start gt 25%02d-01-01", "location_code eq '%d'"),
		"functions":      repeated("year(reference_period_start) eq 25%02d", "contains(tolower(location_name),'%dx')"),
		"conditions":     repeated("contains(location_name,'%dx') eq true", "(sum_events gt 50%d) eq true"),
	} {
		least := time.Hour
		for range 5 {
			before := apitest.CPUTime(t)
			a, page := askOData(t, s, monthlyEvents, "$filter", filter, "$top", "1")
			least = min(least, time.Duration(apitest.CPUTime(t)-before))
			if a.Status != 200 || len(page.Value) != 0 {
				t.Fatalf("%s: %d %.300s", name, a.Status, a.Body)
			}
		}
		t.Logf("%s: %s", name, least)
		if least > 100*time.Millisecond {
			t.Errorf("%s: %s of CPU time, want at most 100 ms", name, least)
		}
	}
}

// TestODataComputedBound refuses a filter that needs more comparisons than are made.
func TestODataComputedBound(t *testing.T) {
	e := apitest.Plan("/api/v2/coordination-context/funding").Endpoint
	table := &apitest.Table{Endpoint: e, Columns: apitest.ColumnsOf(e)}
	for i := range 12_000 {
		table.Rows = append(table.Rows, apitest.FullRow(t, table, apitest.With(apitest.InYear(2020), apitest.Row{
			"location_code": fmt.Sprintf("A%05d", i), "location_name": "Land",
			"appeal_code": fmt.Sprint("A",
				i), "requirements_usd": apitest.Decimal(fmt.Sprint(i)), "funding_usd": apitest.Decimal("1"),
		})))
	}
	s := apitest.Server(t, state.Options{BaseURL: apitest.ODataBase}, []*apitest.Table{table})
	ask := func(values int) (api.Answer, odataPage) {
		list := strings.Repeat(",1", values)[1:]
		return askOData(t, s, "funding_by_country_year", "$filter", "sum_requirements_usd in ("+list+")", "$top", "1")
	}
	if a, page := ask(800); a.Status != 200 || len(page.Value) != 1 {
		t.Errorf("800 values: %d %.300s", a.Status, a.Body)
	}
	a, _ := ask(900)
	for _, want := range []string{"more than 10000000 comparisons", "funding_by_country_year", "fewer"} {
		if a.Status != 400 || !strings.Contains(string(a.Body), want) {
			t.Errorf("900 values: %d without %q: %.300s", a.Status, want, a.Body)
		}
	}
}

// TestODataKeys asks for each record by its key and by its id: with blanks, quotes, signs of
// addresses and letters beyond ASCII.
func TestODataKeys(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{BaseURL: apitest.ODataBase}, eventTables(t, 16, 1))
	for _, full := range []string{"?$format=" + url.QueryEscape("application/json;odata.metadata=full"), ""} {
		var page struct{ Value []map[string]any }
		apitest.ReadJSON(t, s, odata.Root+monthlyEvents+full, &page)
		blanks := 0
		for _, record := range page.Value {
			key := record["row_key"].(string)
			if strings.Contains(key, "Côte d'Ivoire ") {
				blanks++
			}
			quoted := "'" + strings.ReplaceAll(key, "'", "''") + "'"
			targets := []string{
				odata.Root + monthlyEvents + "(" + url.PathEscape(quoted) + ")",
				odata.Root + monthlyEvents + "(%20row_key%20=%20" + url.PathEscape(quoted) + "%20)",
			}
			if id, has := record["@odata.id"].(string); has {
				if _, err := url.Parse(id); err != nil || !strings.HasPrefix(id, apitest.ODataBase+odata.Root) {
					t.Fatalf("the id %s is no absolute address: %v", id, err)
				}
				targets = append(targets, id)
			}
			for _, target := range targets {
				var one map[string]any
				apitest.ReadJSON(t, s, target, &one)
				if one["row_key"] != key || one["sum_events"] != record["sum_events"] && full == "" {
					t.Fatalf("%s: %v, want %v", target, one, record)
				}
			}
		}
		if blanks == 0 {
			t.Error("no key has blanks")
		}
	}
}

// TestODataLongPages: long pages of computed records are streamed, in each coding, and the same as
// page by page.
func TestODataLongPages(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{BaseURL: apitest.ODataBase}, eventTables(t, 100, 34))
	var all []map[string]any
	for next := apitest.ODataBase + odata.Root + monthlyEvents + "?$top=10000"; next != ""; {
		a := s.Answer("GET", strings.TrimPrefix(next, apitest.ODataBase), apitest.Fields("Prefer", "maxpagesize=1000"))
		page := readOData(t, a.Body)
		all, next = append(all, page.Value...), page.Next
	}
	apitest.CheckLongPage(t, s, odata.Root+monthlyEvents, func(body []byte) {
		if page := readOData(t, body); len(all) != 10_000 || fmt.Sprint(page.Value) != fmt.Sprint(all) {
			t.Errorf("%d records, want %d", len(page.Value), len(all))
		}
	})
}

// TestODataLeft ends the request of a client that closes its connection while it waits.
func TestODataLeft(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{BaseURL: apitest.ODataBase}, eventTables(t, 12, 6))
	askOData(t, s, monthlyEvents) // computes it
	address, admin := apitest.Listen(t, s), apitest.ListenAdmin(t, s)
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	for range slots {
		s.Lists.Admission.Computed.Enter(false)
	}
	for _, leaves := range []bool{true, false} {
		conn := testkit.Value(net.Dial("tcp", address))(t)
		defer conn.Close()
		testkit.Value(fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", odata.Root+monthlyEvents))(t)
		if leaves {
			testkit.WaitFor(t, "the request waits", func() bool { return s.Lists.Admission.Computed.Waiting() == 1 })
			testkit.Must(t, conn.Close())
		}
	}
	testkit.WaitFor(t, "the other request waits", func() bool { return s.Lists.Admission.Computed.Waiting() == 2 })
	for range slots {
		s.Lists.Admission.Computed.Leave()
	}
	testkit.WaitFor(t, "one is answered and one ends", func() bool {
		m := apitest.Metrics(t, admin)
		return m[`hdqs_http_requests_total{code="408",endpoint="/odata/v4/",format="other"}`] == 1 &&
			m[`hdqs_http_requests_total{code="200",endpoint="/odata/v4/",format="other"}`] == 1
	})
}

// odataTree is a random condition on a record.
type odataTree struct {
	text  string
	holds func(record map[string]any) int // as of odataTest
}

// odataTrees makes conditions of the records of a list.
type odataTrees struct {
	*rand.Rand
	fields  []contract.Field
	records []map[string]any
}

// of is a maker of conditions on a random field that has values.
func (r *odataTrees) of() *odataTests {
	for {
		of := &odataTests{Rand: r.Rand, field: r.fields[r.IntN(len(r.fields))]}
		for _, record := range r.records {
			if v := record[of.field.Name]; v != nil {
				of.values = append(of.values, v)
			}
		}
		if of.values != nil {
			return of
		}
	}
}

// tree makes a condition on a field, or on several if of is nil.
func (r *odataTrees) tree(depth int, of *odataTests) odataTree {
	if of == nil && (depth == 0 || r.IntN(3) == 0) {
		of = r.of()
	}
	if depth == 0 {
		leaf := of.test()
		return odataTree{"(" + leaf.text + ")", func(x map[string]any) int { return leaf.holds(x[of.field.Name]) }}
	}
	a := r.tree(depth-1, of)
	if r.IntN(5) == 0 {
		if r.IntN(2) == 0 {
			isFalse := func(x map[string]any) int { return odataTruth(a.holds(x) == 0) }
			return odataTree{"(" + a.text + " eq false)", isFalse}
		}
		return odataTree{"(not " + a.text + ")", func(x map[string]any) int {
			if v := a.holds(x); v >= 0 {
				return 1 - v
			}
			return -1
		}}
	}
	b, stop, word := r.tree(r.IntN(depth), of), 1, " or "
	if r.IntN(2) == 0 {
		stop, word = 0, " and "
	}
	return odataTree{"(" + a.text + word + b.text + ")", func(x map[string]any) int {
		switch v, w := a.holds(x), b.holds(x); {
		case v == stop || w == stop:
			return stop
		case v < 0 || w < 0:
			return -1
		}
		return 1 - stop
	}}
}

// order sorts the numbers of records by random fields, and returns what asks for that.
func (r *odataTrees) order(first string, rows []int) (asked string) {
	var parts []string
	var fields []*odataTests
	var down []bool
	for range r.IntN(4) {
		of := r.of()
		at := r.IntN(3)
		fields, down = append(fields, of), append(down, at == 0)
		parts = append(parts, of.field.Name+[]string{" desc", " asc", ""}[at])
	}
	// The rows of the test are not sorted. An order that begins as theirs must go on otherwise.
	byKey := len(fields) > 0 && (fields[0].field.Column() == first || r.IntN(2) == 0)
	if byKey {
		parts = append(parts, "row_key desc")
		slices.Reverse(rows)
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		for k, of := range fields {
			sign := 0
			switch x, y := r.records[a][of.field.Name], r.records[b][of.field.Name]; {
			case x == nil || y == nil:
				sign = odataTruth(x != nil) - odataTruth(y != nil)
			default:
				sign = of.order(x, y)
			}
			if down[k] {
				sign = -sign
			}
			if sign != 0 {
				return sign
			}
		}
		return 0
	})
	return strings.Join(parts, ",")
}

// odataFilters is how many filters are compared.
const odataFilters = 6000

// TestODataJoined compares filters and orders with what they mean, record by record of the plain
// list: conditions on one property, on several by and, which the index answers, and joined by or,
// which it does not.
func TestODataJoined(t *testing.T) {
	t.Parallel()
	s := odataServer(t, 150)
	endpoints := contract.EndpointsIn(contract.HAPINames)
	makers, found := make([]*odataTrees, len(endpoints)), 0
	random := rand.New(rand.NewPCG(46, 5))
	for n := range odataFilters {
		at := n % len(endpoints)
		if makers[at] == nil {
			target := contract.HAPIPrefix + endpoints[at].Path + "?app_identifier=" + apitest.Identifier
			body := bytes.Replace(s.Answer("GET", target, nil).Body, []byte(`"data"`), []byte(`"value"`), 1)
			makers[at] = &odataTrees{random, endpoints[at].Fields, readOData(t, body).Value}
		}
		r := makers[at]
		tree := r.tree(random.IntN(6), nil)
		var want []int
		for i, record := range r.records {
			if tree.holds(record) == 1 {
				want = append(want, i)
			}
		}
		pairs := []string{"$filter", tree.text, "$count", "true", "$select", "row_key"}
		if order := r.order(endpoints[at].Order[0], want); order != "" {
			pairs = append(pairs, "$orderby", order)
		}
		skip := random.IntN(3) * random.IntN(20)
		pairs = append(pairs, "$skip", fmt.Sprint(skip))
		a, page := askOData(t, s, endpoints[at].SetName(), pairs...)
		if a.Status != 200 {
			t.Fatalf("%s, %q: %d %s", endpoints[at].SetName(), pairs, a.Status, a.Body)
		}
		got := []int{}
		for _, record := range page.Value {
			key, row := record["row_key"].(string), 0
			fmt.Sscanf(strings.TrimLeft(key[strings.LastIndexByte(key, '-')+1:], "0"), "%d", &row)
			got = append(got, row)
		}
		if *page.Count != len(want) || !slices.Equal(got, want[min(skip, len(want)):]) {
			t.Fatalf("%s, %q: rows %v, count %d, want %v", endpoints[at].SetName(), pairs, got, *page.Count, want)
		}
		found += min(1, len(want)) * min(1, len(r.records)-len(want))
	}
	if found < odataFilters/2 {
		t.Errorf("only %d filters kept some rows and not all", found)
	}
}

// TestODataGroups asks each set for groups of countries, and for the codes of their members.
func TestODataGroups(t *testing.T) {
	t.Parallel()
	own := []contract.CountryGroup{
		{Kind: contract.OwnGroup, Slug: "one", Name: "One", Members: []string{"AFG", "MLI"}},
		{Kind: contract.OwnGroup, Slug: "two", Name: "Two", Members: []string{"SOM"}},
	}
	s := apitest.Sample(t, state.Options{BaseURL: apitest.ODataBase, Groups: own}, 60)
	page := func(set, filter string) string {
		a, _ := askOData(t, s, set, "$filter", filter, "$count", "true")
		_, records, _ := strings.Cut(string(a.Body), `"@odata.count"`)
		if records, _, _ = strings.Cut(records, `"@odata.nextLink"`); a.Status != 200 {
			t.Errorf("%s: %s: %d %s", set, filter, a.Status, a.Body)
		}
		return records
	}
	compared := 0
	compare := func(set, group, codes string) {
		for filter, want := range map[string]string{
			group + " eq 'one'": codes + " in ('AFG','MLI')",
			group + " in ('two','one') and " + codes + " ne 'x'": codes + " in ('AFG','MLI','SOM')",
		} {
			testkit.Equal(t, page(set, filter), page(set, want), "%s: %s", set, filter)
			compared++
		}
	}
	endpoints := contract.EndpointsIn(contract.HAPINames)
	for i := range endpoints {
		for _, p := range endpoints[i].Filters() {
			if p.Grouped {
				compare(endpoints[i].SetName(), p.Name, p.Columns[0])
			}
		}
	}
	compare("figures", "group", "location_code")
	compare("refugees_by_asylum_country", "asylum_group", "asylum_location_code")
	testkit.AtLeast(t, compared, 40, "compared")
	a, _ := askOData(t, s, "groups", "$filter", "group eq 'one' or group eq 'two'", "$select", "group")
	if n := strings.Count(string(a.Body), `"row_key":"one|`); a.Status != 200 || n != 2 ||
		!strings.Contains(string(a.Body), `"row_key":"two|SOM"`) {
		t.Errorf("groups: %d %s", a.Status, a.Body)
	}
	for filter, want := range map[string]string{
		"group eq 'three'":                    "400 is no group of countries",
		"group eq 'one' or admin_level eq 0":  "501 by and only",
		"not (group eq 'one')":                "501 by and only",
		"group ne 'one'":                      "501 eq and in only",
		"group eq null":                       "400 such as",
		"group eq 'one' and group in ('two')": "501 asked for once",
		"startswith(group,'one')":             "400 no property",
	} {
		a, _ := askOData(t, s, "idps", "$filter", filter)
		status, words, _ := strings.Cut(want, " ")
		if fmt.Sprint(a.Status) != status || !strings.Contains(string(a.Body), words) {
			t.Errorf("%s: %d %s, want %s", filter, a.Status, a.Body, want)
		}
	}
}
