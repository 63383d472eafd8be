package api

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/snapshot"
)

// TestEndpointTable checks the table against itself.
func TestEndpointTable(t *testing.T) {
	paths, tables := map[string]bool{}, map[string]bool{}
	for i := range endpoints {
		e := &endpoints[i]
		if paths[e.Path] || tables[e.Table] {
			t.Errorf("%s: path or table %q named twice", e.Path, e.Table)
		}
		paths[e.Path], tables[e.Table] = true, true
		if !strings.HasPrefix(e.Path, "/api/v2/") || groupTitles[e.Group()] == "" || e.Summary == "" {
			t.Errorf("%s: group or summary is missing", e.Path)
		}
		fields, params := map[string]bool{}, map[string]bool{}
		for _, f := range e.Fields {
			if fields[f.Name] || (f.Type == Choice) != (f.Enum != nil) || f.Type == Exact || f.Type == Day {
				t.Errorf("%s: field %+v is named twice or has no type of a field", e.Path, f)
			}
			fields[f.Name] = true
		}
		for _, p := range newPlan(e).params {
			if params[p.Name] || (p.Type == Choice) != (p.Enum != nil) || p.Type == URI || (p.Columns == nil) != (p.Op == 0) {
				t.Errorf("%s: parameter %+v is named twice or does not fit together", e.Path, p)
			}
			params[p.Name] = true
			if p.Op == index.AtLeastOrNull && p.Type != Day {
				t.Errorf("%s: %s: only dates of a period pass nulls", e.Path, p.Name)
			}
		}
	}
}

// TestExamples: every parameter has an example, and the example keeps its rules.
func TestExamples(t *testing.T) {
	used := map[string]bool{"application": true, "email": true}
	s := testServer(t, Options{}, sampleTables(t, 3))
	for i := range endpoints {
		for _, p := range newPlan(&endpoints[i]).params {
			used[p.Name] = true
			value := p.example()
			if value == "" || p.describe() == "" {
				t.Errorf("%s: %s has no example or description", endpoints[i].Path, p.Name)
			}
			target := endpoints[i].Path + "?app_identifier=" + goodIdentifier + "&" + p.Name + "=" + url.QueryEscape(value)
			if got := s.Answer("GET", target, nil); got.Status != 200 {
				t.Errorf("%s: %d %s", target, got.Status, got.Body)
			}
		}
	}
	for name := range examples {
		if !used[name] {
			t.Errorf("an example for %s, which is no parameter", name)
		}
	}
}

// TestDescription: the interface description is JSON whose references lead somewhere, with one operation a route.
func TestDescription(t *testing.T) {
	text, err := Description()
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`"\$ref":"#/([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		var at any = d
		for part := range strings.SplitSeq(match[1], "/") {
			at, _ = at.(map[string]any)[part]
			if at == nil {
				t.Fatalf("%s leads nowhere", match[0])
			}
		}
	}
	operations := map[string]bool{}
	paths := d["paths"].(map[string]any)
	if len(paths) != len(endpoints)+2 {
		t.Errorf("%d paths", len(paths))
	}
	for path, methods := range paths {
		get := methods.(map[string]any)["get"].(map[string]any)
		id := get["operationId"].(string)
		if operations[id] {
			t.Errorf("%s: operation %s twice", path, id)
		}
		operations[id] = true
	}
	if !operations["get_conflict_events_api_v2_coordination_context_conflict_events_get"] {
		t.Errorf("no operation of the expected form among %v", slices.Sorted(maps.Keys(operations)))
	}
	again, err := Description()
	if err != nil || string(again) != string(text) {
		t.Errorf("two descriptions differ: %v", err)
	}
}

// TestDayPattern holds the described rule of dates against the reader.
func TestDayPattern(t *testing.T) {
	pattern := regexp.MustCompile(dayPattern)
	for _, year := range []string{"0000", "0001", "0099", "0400", "1900", "2000", "2023", "2024", "2100", "9996", "9998", "9999"} {
		texts := []string{year}
		for _, month := range []string{"00", "01", "02", "04", "06", "09", "11", "12", "13"} {
			texts = append(texts, year+"-"+month)
			for _, day := range []string{"00", "01", "28", "29", "30", "31", "32"} {
				date := year + "-" + month + "-" + day
				texts = append(texts, date, date+"T00:00:00", date+"T23:59:59", date+"T24:00:00", date+"T10:60:00", date+" 10:00:00")
			}
		}
		for _, text := range texts {
			if _, ok := parseDay(text, false); ok != pattern.MatchString(text) {
				t.Errorf("%q: read %v, described %v", text, ok, !ok)
			}
		}
	}
}

// TestBindTellsEverything: one error names each table and column that does not fit.
func TestBindTellsEverything(t *testing.T) {
	tables := sampleTables(t, 6)
	remove := func(table, column string) {
		for _, x := range tables {
			if x.endpoint.Table == table {
				x.columns = slices.DeleteFunc(x.columns, func(c testColumn) bool { return c.name == column })
			}
		}
	}
	change := func(table, column string, by func(*testColumn), value any) {
		for _, x := range tables {
			if x.endpoint.Table != table {
				continue
			}
			for i := range x.columns {
				if x.columns[i].name == column {
					by(&x.columns[i])
				}
			}
			for _, row := range x.rows {
				row[column] = value
			}
		}
	}
	remove("location", "has_hrp")
	remove("rainfall", "stored_admin1_code")
	change("funding", "funding_usd", func(c *testColumn) { c.kind = snapshot.Int }, int64(7))
	change("conflict_event", "event_type", func(c *testColumn) { c.enum = newEnum("event_type", "riot", "demonstration") }, "riot")
	_, err := Bind(storeSnapshot(t, "bad", sampleTime, tables))
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		`/metadata/location: `, `"has_hrp"`, `/climate/rainfall: parameter "admin1_code"`, `"stored_admin1_code"`,
		`column "funding_usd" of table "funding" is of kind`,
		`column "event_type" of table "conflict_event" has the values`,
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q:\n%v", part, err)
		}
	}
	s := testServer(t, Options{}, sampleTables(t, 3))
	if err := s.Swap(Release{Snapshot: storeSnapshot(t, "bad", sampleTime, tables)}); err == nil {
		t.Error("a snapshot that does not fit is served")
	}
	if got := s.Answer("GET", "/api/v2/metadata/sector?app_identifier="+goodIdentifier, nil); got.Status != 200 {
		t.Errorf("the old snapshot is gone: %d", got.Status)
	}
}

// TestNullWhereNoneMayBe: rows of view dumps are served as they are, so a null that the record does not allow is printed.
func TestNullWhereNoneMayBe(t *testing.T) {
	tables := sampleTables(t, 3)
	for _, x := range tables {
		if x.endpoint.Table != "idps" {
			continue
		}
		for _, row := range x.rows {
			row["operation"], row["population"], row["reference_period_start"] = nil, nil, nil
		}
	}
	s := testServer(t, Options{}, tables)
	got := s.Answer("GET", "/api/v2/affected-people/idps?limit=1&app_identifier="+goodIdentifier, nil)
	for _, part := range []string{`"operation":null`, `"population":null`, `"reference_period_start":null`} {
		if got.Status != 200 || !strings.Contains(string(got.Body), part) {
			t.Errorf("%d %s lacks %s", got.Status, got.Body, part)
		}
	}
}

// TestEmptyTables: tables without a row answer like others.
func TestEmptyTables(t *testing.T) {
	tables := sampleTables(t, 3)
	for _, x := range tables {
		x.rows = nil
	}
	s := testServer(t, Options{}, tables)
	for i := range endpoints {
		for _, p := range filters(endpoints[i].Place, endpoints[i].Params) {
			target := endpoints[i].Path + "?app_identifier=" + goodIdentifier + "&" + p.Name + "=" + url.QueryEscape(p.example())
			got := s.Answer("GET", target, nil)
			if total, _ := got.field("X-Total-Count"); got.Status != 200 || string(got.Body) != `{"data":[]}` || total != "0" {
				t.Errorf("%s: %d %q, total %s", target, got.Status, got.Body, total)
			}
		}
	}
	if missing := s.current.Load().bound.Missing(); len(missing) != len(endpoints) {
		t.Errorf("missing %v", missing)
	}
}

// TestMissingTable: a table that the snapshot does not have is an empty list.
func TestMissingTable(t *testing.T) {
	tables := slices.DeleteFunc(sampleTables(t, 3), func(x *testTable) bool { return x.endpoint.Table == "org_type" })
	s := testServer(t, Options{}, tables)
	target := "/api/v2/metadata/org-type?app_identifier=" + goodIdentifier
	for target, want := range map[string]string{target: `{"data":[]}`, target + "&output_format=csv&code=x": "code,description\r\n"} {
		got := s.Answer("GET", target, nil)
		if total, _ := got.field("X-Total-Count"); got.Status != 200 || string(got.Body) != want || total != "0" {
			t.Errorf("%s: %d %q, total %s", target, got.Status, got.Body, total)
		}
	}
	if got := s.Answer("GET", target+"&code="+strings.Repeat("x", 33), nil); got.Status != 422 {
		t.Errorf("parameters are not checked: %d", got.Status)
	}
	if missing := s.current.Load().bound.Missing(); !slices.Equal(missing, []string{"org_type"}) {
		t.Errorf("missing %v", missing)
	}
}
