package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/internal/testkit"
	"hdqs/schema"
)

// TestEndpointTable checks that the endpoint table is consistent: unique names, and settings that
// go together.
func TestEndpointTable(t *testing.T) {
	paths, tables := map[string]bool{}, map[string]bool{}
	for i := range Endpoints {
		e := &Endpoints[i]
		if paths[e.Path] || tables[e.Table] {
			t.Errorf("%s: the path or the table %q is a duplicate", e.Path, e.Table)
		}
		paths[e.Path], tables[e.Table] = true, true
		if len(e.Key) == 0 || len(e.Order) == 0 {
			t.Errorf("%s: key %q, order %q; changes need both", e.Path, e.Key, e.Order)
		}
		if !strings.HasPrefix(e.Path, "/api/v2/") || groupTitles[e.Group()] == "" || e.Summary == "" {
			t.Errorf("%s: no title in [groups] of meanings.txt, no summary, or the path is wrong", e.Path)
		}
		fields, params := map[string]bool{}, map[string]bool{}
		for _, f := range e.Fields {
			if fields[f.Name] || (f.Type == Choice) != (f.Enum != nil) || f.Type == Exact || f.Type == Day {
				t.Errorf("%s: field %+v is a duplicate or has a type that fields cannot have", e.Path, f)
			}
			fields[f.Name] = true
		}
		for _, p := range NewPlan(e, Rows).Params {
			if params[p.Name] || (p.Type == Choice) != (p.Enum != nil) || p.Type == URI ||
				(p.Columns == nil) != (p.Op == 0) {
				t.Errorf("%s: parameter %+v is a duplicate or inconsistent", e.Path, p)
			}
			params[p.Name] = true
			if p.Op == index.AtLeastOrNull && p.Type != Day {
				t.Errorf("%s: %s: only period dates may match nulls", e.Path, p.Name)
			}
		}
	}
}

// TestExampleValues checks that every parameter has an example and that the example is valid.
func TestExampleValues(t *testing.T) {
	used := map[string]bool{"application": true, "email": true}
	for _, e := range slices.Concat(Endpoints, hapiEndpoints) {
		for _, p := range NewPlan(&e, Rows).Params {
			used[ContractNames.Name(p.Name)] = true
			value := p.Example()
			if value == "" || p.Describe() == "" {
				t.Errorf("%s: %s has no example or description", e.Path, p.Name)
			}
			var r Request
			r.Scanned.Scan(NewPlan(&e, Rows), []byte(p.Name+"="+url.QueryEscape(value)))
			testkit.Is(t, r.Parse(), nil, "%s: %s=%s", e.Path, p.Name, value)
		}
	}
	for name := range examples {
		if !used[name] {
			t.Errorf("an example for %s, which is not a parameter", name)
		}
	}
}

// TestDescription checks that the OpenAPI description is valid JSON, that each of its references
// has a target, and that it has one operation for each route.
func TestDescription(t *testing.T) {
	for _, set := range []NameSet{ContractNames, HAPINames} {
		for _, kinds := range [][]Kind{nil, {Facets}, {Aggregate, Facets, Changes}} {
			checkDescription(t, set, kinds)
		}
	}
}

func checkDescription(t *testing.T, set NameSet, kinds []Kind) {
	t.Helper()
	text := testkit.Value(Description(set, "", "", kinds...))(t)
	var d map[string]any
	testkit.Must(t, json.Unmarshal(text, &d))
	for _, match := range regexp.MustCompile(`"\$ref":"#/([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		var at any = d
		for part := range strings.SplitSeq(match[1], "/") {
			at, _ = at.(map[string]any)[part]
			if at == nil {
				t.Fatalf("the reference %s has no target", match[0])
			}
		}
	}
	operations := map[string]bool{}
	paths := d["paths"].(map[string]any)
	want := len(Endpoints)*(1+len(kinds)) + 2
	if len(kinds) > 0 {
		want += 4 // of headline figures and their history, and of groups of countries
		for i := range Headlines {
			want += len(Headlines[i].takes())
		}
	}
	testkit.Equal(t, len(paths), want, "paths in the description of %v", kinds)
	for path, methods := range paths {
		get := methods.(map[string]any)["get"].(map[string]any)
		id := get["operationId"].(string)
		if operations[id] {
			t.Errorf("%s: duplicate operation ID %s", path, id)
		}
		operations[id] = true
	}
	for _, k := range kinds {
		if id := k.name() + "ConflictEvents"; !operations[id] {
			t.Errorf("there is no operation %s", id)
		}
	}
	if set == ContractNames && !operations["listConflictEvents"] {
		t.Errorf("the expected operation ID is missing among %v", slices.Sorted(maps.Keys(operations)))
	}
	again := testkit.Value(Description(set, "", "", kinds...))(t)
	testkit.Equal(t, string(again), string(text), "the second call")
}

// TestDayPattern compares the documented patterns of dates and times with the parsers. More forms
// of times are accepted than the pattern has.
func TestDayPattern(t *testing.T) {
	pattern, times := regexp.MustCompile(dayPattern), regexp.MustCompile(timePattern)
	for _, year := range []string{
		"0000", "0001", "0099", "0400", "1900", "2000", "2023", "2024", "2100", "9996",
		"9998", "9999",
	} {
		texts := []string{year}
		for _, month := range []string{"00", "01", "02", "04", "06", "09", "11", "12", "13"} {
			texts = append(texts, year+"-"+month)
			for _, day := range []string{"00", "01", "28", "29", "30", "31", "32"} {
				date := year + "-" + month + "-" + day
				texts = append(texts, date, date+"T00:00:00", date+"T23:59:59", date+"T24:00:00", date+"T10:60:00",
					date+" 10:00:00")
			}
		}
		for _, text := range texts {
			if _, ok := parseDay(text, false); ok != pattern.MatchString(text) {
				t.Errorf("%q: parseDay accepts it: %v; the pattern matches: %v", text, ok, !ok)
			}
			for _, text := range []string{
				text, text + "Z", text + ".5", text + ".123456+02:00", text + "-23:59", text + "+24:00", text + " ",
			} {
				if _, fault := parseDateTime(text); fault.isFault() && times.MatchString(text) {
					t.Errorf("%q: the pattern matches, but it is refused: %v", text, fault)
				}
			}
		}
	}
}

// TestWebLink: pages link to addresses of the web only.
func TestWebLink(t *testing.T) {
	t.Parallel()
	for address, is := range map[string]bool{
		"https://data.example/a?b=c#d": true, "http://data.example": true, "HTTPS://data.example": true, "": false,
		"javascript:alert(1)": false, " javascript:alert(1)": false, "javascript://data.example/%0aalert(1)": false,
		"mailto:me@data.example": false, "data:text/html,a": false, "//data.example": false, "/path": false,
		"https:": false, "https:data.example": false, "ftp://data.example": false, "http://a b": false,
	} {
		if got := WebLink(address); got != address && is || got != "" && !is {
			t.Errorf("%q: %q", address, got)
		}
	}
}

// TestNamePairs checks the table of names: every name occurs once, every pair is that of a field or
// a parameter, and no neutral name of the contract is left without its HAPI name.
func TestNamePairs(t *testing.T) {
	used, seen := map[string]bool{}, map[string]bool{}
	for i := range Endpoints {
		for _, f := range Endpoints[i].Fields {
			used[f.Name] = true
		}
		for _, p := range NewPlan(&Endpoints[i], Rows).Params {
			used[p.Name] = true
		}
	}
	for _, pair := range schema.HAPINames {
		for _, name := range pair {
			if seen[name] {
				t.Errorf("%s occurs twice", name)
			}
			seen[name] = true
		}
		if !used[pair[ContractNames]] {
			t.Errorf("no endpoint has %s", pair[ContractNames])
		}
		if used[pair[HAPINames]] {
			t.Errorf("an endpoint declares the HAPI name %s", pair[HAPINames])
		}
	}
	for name := range used {
		neutral := strings.Contains(name, "catalog") || strings.HasPrefix(name, "api_") ||
			strings.HasPrefix(name, "classification_")
		if hapi := HAPINames.Name(name); neutral == (hapi == name) {
			t.Errorf("the HAPI name of %s is %s", name, hapi)
		} else if back := ContractNames.Name(hapi); back != name {
			t.Errorf("%s is %s in HAPI names, and that is %s in the contract's", name, hapi, back)
		}
	}
}

// TestPublicEndpoints checks that no path of HAPI names occurs twice.
func TestPublicEndpoints(t *testing.T) {
	seen := map[string]bool{}
	for i := range hapiEndpoints {
		for _, path := range hapiEndpoints[i].Paths() {
			if seen[path] {
				t.Errorf("%s occurs twice", path)
			}
			seen[path] = true
		}
	}
}

// twinPairs calls do for every endpoint and every parameter that has two names.
func twinPairs(t *testing.T, do func(plan *Plan, p *Param, twin string)) {
	t.Helper()
	n := 0
	for i := range Endpoints {
		plan := NewPlan(&Endpoints[i], Rows)
		for k := range plan.Params {
			if twin := plan.Params[k].Twin(); twin != "" {
				do(plan, &plan.Params[k], twin)
				n++
			}
		}
	}
	testkit.AtLeast(t, n, 15, "parameters have two names")
}

// TestTwinFilters checks that a parameter filters the same under both of its names, and that
// requests with either, or with both and one value, have one canonical form.
func TestTwinFilters(t *testing.T) {
	twinPairs(t, func(plan *Plan, p *Param, twin string) {
		value := url.QueryEscape(p.Example())
		want := readFilters(t, plan, p.Name+"="+value)
		for _, query := range []string{
			twin + "=" + value,
			strings.ReplaceAll(twin, "_", "%5F") + "=" + value,
			twin + "=" + value + "&" + p.Name + "=" + value,
			p.Name + "=" + value + "&limit=10000&" + twin + "=" + value,
			twin + "=other&" + twin + "=" + value,
		} {
			if p.List && strings.Contains(query, "other") { // lists are united
				continue
			}
			testkit.Equal(t, readFilters(t, plan, query), want, "%s?%s", plan.Endpoint.Path, query)
		}
	})
}

// readFilters returns the filters, the unknown parameters and the canonical form of a query.
func readFilters(t *testing.T, plan *Plan, query string) string {
	t.Helper()
	var r Request
	r.Scanned.Scan(plan, []byte(query))
	if err := r.Parse(); err != nil {
		return err.Error()
	}
	return fmt.Sprint(r.Question.Filters, r.Scanned.UnknownNames(), string(r.AppendCanonical(nil)))
}

// TestTwoValues checks that different values under both names of a parameter are refused, with both
// names in the text, and without the fault of either value.
func TestTwoValues(t *testing.T) {
	var r Request
	twinPairs(t, func(plan *Plan, p *Param, twin string) {
		if p.List { // several values under both names are united
			return
		}
		value := url.QueryEscape(p.Example())
		for _, query := range []string{
			p.Name + "=" + value + "&" + twin + "=", twin + "=x" + value + "&" + p.Name + "=" + value,
			p.Name + "=" + value + "&" + twin + "=" + value + "&" + twin + "=%20",
		} {
			r.Scanned.Scan(plan, []byte(query))
			fault, ok := errors.AsType[*Invalid](r.Parse())
			if !ok || len(fault.Issues) != 1 || fault.Issues[0].Param != p.Name ||
				!strings.Contains(fault.Issues[0].Text.String(), p.Name+" and "+twin+" ") {
				t.Errorf("%s?%s: %+v", plan.Endpoint.Path, query, fault)
			}
		}
	})
	// The state of one request must not reach the next.
	r.Scanned.Scan(planOf("/api/v2/metadata/dataset"), []byte("dataset_catalog_id=a"))
	if err := r.Parse(); err != nil || len(r.Question.Filters) != 1 {
		t.Errorf("%v, %+v", err, r.Question.Filters)
	}
}

// TestHAPIDescription checks that names of the contract occur in the description in HAPI names only
// where they are described as the other ones.
func TestHAPIDescription(t *testing.T) {
	text := testkit.Value(Description(HAPINames, "", HAPIPrefix))(t)
	rest := string(text)
	for _, p := range schema.HAPINames {
		rest = strings.ReplaceAll(rest, "The name "+p[ContractNames], "")
	}
	names := []string{identifierHeaders[ContractNames], "agency-[a-z]+"}
	for _, p := range schema.HAPINames {
		names = append(names, p[ContractNames]+"(_min|_max)?")
	}
	for _, found := range regexp.MustCompile(`.{40}\b(`+strings.Join(names, "|")+`)\b.{20}`).FindAllString(rest, 5) {
		t.Errorf("a name of the contract in %s", found)
	}
}
