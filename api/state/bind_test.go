//go:build !race

package state_test

import (
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

// TestBindReportsEveryMismatch checks that one error lists every table and column that does not
// match its endpoint.
func TestBindReportsEveryMismatch(t *testing.T) {
	t.Parallel()
	tables := apitest.SampleTables(t, 6)
	remove := func(table, column string) {
		for _, x := range tables {
			if x.Endpoint.Table == table {
				x.Columns = slices.DeleteFunc(x.Columns, func(c apitest.Column) bool { return c.Name == column })
			}
		}
	}
	change := func(table, column string, by func(*apitest.Column), value any) {
		for _, x := range tables {
			if x.Endpoint.Table != table {
				continue
			}
			for i := range x.Columns {
				if x.Columns[i].Name == column {
					by(&x.Columns[i])
				}
			}
			for _, row := range x.Rows {
				row[column] = value
			}
		}
	}
	remove("location", "has_hrp")
	remove("rainfall", "stored_admin1_code")
	remove("idps", "provider_admin2_name")
	change("funding", "funding_usd", func(c *apitest.Column) { c.Kind = snapshot.Int }, int64(7))
	change("conflict_event", "event_type", func(c *apitest.Column) {
		c.Enum = &contract.Enum{Name: "event_type", Values: []string{"riot", "demonstration"}}
	}, "riot")
	_, err := state.Bind(apitest.StoreSnapshot(t, "bad", apitest.SampleTime, tables))
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		`/metadata/location: `, `"has_hrp"`, `/climate/rainfall: parameter "admin1_code"`, `"stored_admin1_code"`,
		`/affected-people/idps: parameter "admin2_name"`, `"provider_admin2_name"`,
		`column "funding_usd" of table "funding" is of kind`,
		`column "event_type" of table "conflict_event" has the values`,
	} {
		testkit.Contains(t, err.Error(), part, "the error does not contain:\n%v", err)
	}
	s := apitest.Sample(t, state.Options{}, 3)
	bad := apitest.StoreSnapshot(t, "bad", apitest.SampleTime, tables)
	if err := s.State.Swap(state.Release{Snapshot: bad}); err == nil {
		t.Error("Swap accepted a snapshot that does not match the endpoints")
	}
	if got := s.Answer("GET", "/api/v2/metadata/sector?app_identifier="+apitest.Identifier, nil); got.Status != 200 {
		t.Errorf("the previous snapshot is not served any more: status %d", got.Status)
	}
}

// TestMissingColumns: fields that may be null and that a snapshot does not have are null in answers
// of every kind, and for filters.
func TestMissingColumns(t *testing.T) {
	t.Parallel()
	lacks := map[string]string{
		"conflict_event": "fatalities", "rainfall": "version", "national_risk": "meta_missing_indicators_pct",
		"org": "org_type_code",
	}
	tables := apitest.SampleTables(t, 6)
	for _, x := range tables {
		lacking := func(c apitest.Column) bool { return c.Name == lacks[x.Endpoint.Table] }
		x.Columns = slices.DeleteFunc(x.Columns, lacking)
	}
	s := apitest.Server(t, state.Options{}, tables)
	for _, c := range []struct{ target, want string }{
		{"coordination-context/conflict-events?limit=1", `"fatalities":null`},
		{"coordination-context/conflict-events?limit=1&output_format=csv", ",,"},
		{"coordination-context/conflict-events/aggregate?measures=max:fatalities", `"max_fatalities":null`},
		{"coordination-context/conflict-events/export?output_format=ndjson", `"fatalities":null`},
		{"climate/rainfall?limit=1", `"version":null`},
		{"climate/rainfall?version=final", `{"data":[]}`},
		{"climate/rainfall/facets?of=version", `"value":null`},
		{"coordination-context/national-risk?limit=1", `"meta_missing_indicators_pct":null`},
		{"metadata/org?limit=1", `"org_type_code":null`},
		{"metadata/org?org_type_code=433", `{"data":[]}`},
	} {
		got := s.Answer("GET", "/api/v2/"+c.target+"&app_identifier="+apitest.Identifier, nil)
		if got.Status != 200 || !strings.Contains(string(got.Body), c.want) {
			t.Errorf("%s: %d %.300s lacks %s", c.target, got.Status, got.Body, c.want)
		}
	}
}

// TestUnexpectedNull checks that a null is rendered as null even in a field that the contract
// calls not nullable: rows of view dumps are served as they are.
func TestUnexpectedNull(t *testing.T) {
	t.Parallel()
	tables := apitest.SampleTables(t, 3)
	for _, x := range tables {
		if x.Endpoint.Table != "idps" {
			continue
		}
		for _, row := range x.Rows {
			row["operation"], row["population"], row["reference_period_start"] = nil, nil, nil
		}
	}
	s := apitest.Server(t, state.Options{}, tables)
	got := s.Answer("GET", "/api/v2/affected-people/idps?limit=1&app_identifier="+apitest.Identifier, nil)
	for _, part := range []string{`"operation":null`, `"population":null`, `"reference_period_start":null`} {
		if got.Status != 200 || !strings.Contains(string(got.Body), part) {
			t.Errorf("%d %s lacks %s", got.Status, got.Body, part)
		}
	}
}

// TestEmptyTables checks that tables without rows answer every filter with an empty list.
func TestEmptyTables(t *testing.T) {
	t.Parallel()
	tables := apitest.SampleTables(t, 3)
	for _, x := range tables {
		x.Rows = nil
	}
	s := apitest.Server(t, state.Options{}, tables)
	for i := range contract.Endpoints {
		for _, p := range contract.Endpoints[i].Filters() {
			if p.Grouped { // no country, no group
				continue
			}
			query := "?app_identifier=" + apitest.Identifier + "&" + p.Name + "=" + url.QueryEscape(p.Example())
			target := contract.Endpoints[i].Path + query
			got := s.Answer("GET", target, nil)
			if total, _ := apitest.Field(got, "X-Total-Count"); got.Status != 200 ||
				string(got.Body) != `{"data":[]}` ||
				total != "0" {
				t.Errorf("%s: %d %q, total %s", target, got.Status, got.Body, total)
			}
		}
	}
	if missing := s.State.Snapshots.Current.Load().Bound.Missing(); len(missing) != len(contract.Endpoints) {
		t.Errorf("missing tables %v", missing)
	}
}
