//go:build !race

package odata_test

import (
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
	if some < 250 {
		t.Errorf("only %d filters kept some records and not all", some)
	}
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
		conn, err := net.Dial("tcp", address)
		testkit.Must(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", odata.Root+monthlyEvents)
		testkit.Must(t, err)
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
