//go:build !race

package list_test

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/schema"
)

// renaming maps the HAPI names of an endpoint's fields and parameters to the contract's.
func renaming(i int) map[string]string {
	names := map[string]string{}
	e, h := &contract.Endpoints[i], apitest.HAPIEndpoint(i)
	for k := range e.Fields {
		names[h.Fields[k].Name] = e.Fields[k].Name
	}
	for k, p := range contract.NewPlan(h, contract.Rows).Params {
		if p.Earlier {
			break // those of the contract end here
		}
		names[p.Name] = contract.NewPlan(e, contract.Rows).Params[k].Name
	}
	return names
}

// quotedBack replaces quoted HAPI names: keys of records, and locations of errors. A quote within a
// value of JSON has a backslash before it.
func quotedBack(names map[string]string, text string) string {
	var pairs []string
	for hapi, name := range names {
		pairs = append(pairs, `"`+hapi+`"`, `"`+name+`"`)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// csvBack removes the columns that only the CSV of HAPI names has, and replaces the names in the
// header line.
func csvBack(t *testing.T, i int, names map[string]string, lines [][]string) [][]string {
	t.Helper()
	h := apitest.HAPIEndpoint(i)
	for n, line := range lines {
		if len(line) != len(h.CSVFields()) {
			t.Fatalf("%s: line %d has %d cells, want %d", h.Path, n, len(line), len(h.CSVFields()))
		}
		var kept []string
		for k, f := range h.CSVFields() {
			if !slices.Contains(h.Fields, f) {
				continue
			}
			if n == 0 {
				line[k] = names[line[k]]
			}
			kept = append(kept, line[k])
		}
		lines[n] = kept
	}
	return lines
}

// TestHAPINames compares answers below /hapi, with the names mapped back, with those below /api:
// records, errors, and each kind of request that names fields, by each field that has two names.
// Package contract compares the filters.
func TestHAPINames(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 300)
	renamed := 0
	for i := range contract.Endpoints {
		names, h := renaming(i), apitest.HAPIEndpoint(i)
		compare := func(path, form, hapiField, field string) {
			t.Helper()
			target := contract.HAPIPrefix + path + strings.ReplaceAll(form, "$F", hapiField)
			own := contract.Endpoints[i].Path + strings.ReplaceAll(form, "$F", field)
			const identifier = "&app_identifier=" + apitest.Identifier
			compareNames(t, i, names, target, s.Answer("GET", target+identifier, codedPage),
				s.Answer("GET", own+identifier, codedPage))
		}
		for _, path := range h.Paths() {
			for _, form := range []string{"?offset=7", "?offset=7&output_format=csv", "?limit=x&nothing=x"} {
				compare(path, form, "", "")
			}
		}
		for k, f := range contract.Endpoints[i].Fields {
			name := h.Fields[k].Name
			if name == f.Name {
				continue
			}
			renamed++
			names["distinct_"+name], names["min_"+name] = "distinct_"+f.Name, "min_"+f.Name
			for _, form := range []string{
				"/facets?of=$F,$F", "/aggregate?group_by=$F&measures=count", "/aggregate?measures=distinct:$F,min:$F",
				"?fields=$F",
			} {
				compare(h.Path, form, name, f.Name)
			}
		}
	}
	testkit.AtLeast(t, renamed, 20, "fields have two names")
}

// compareNames compares an answer in HAPI names with the same in the contract's.
func compareNames(t *testing.T, i int, names map[string]string, target string, got, want api.Answer) {
	t.Helper()
	have, plain := string(apitest.Body(t, got)), string(apitest.Body(t, want))
	same := false
	if strings.HasPrefix(apitest.Header(got, "Content-Type"), "text/csv") {
		same = reflect.DeepEqual(csvBack(t, i, names, apitest.Cells(t, []byte(have))), apitest.Cells(t, []byte(plain)))
	} else {
		have = quotedBack(names, have)
		same = have == plain
	}
	if got.Status != want.Status || !same {
		t.Errorf("%s: %d\n%.500s\nwant %d\n%.500s", target, got.Status, have, want.Status, plain)
	}
	for _, name := range []string{"X-Total-Count", "X-Result-Count", "X-Unknown-Params"} {
		testkit.Equal(t, apitest.Header(got, name), apitest.Header(want, name), "%s: %s", target, name)
	}
	if tag := apitest.Header(got, "ETag"); tag == apitest.Header(want, "ETag") && want.Status == 200 {
		t.Errorf("%s: the tag %s is that of the other form", target, tag)
	}
}

// TestHAPIColumns checks the columns that only the CSV of HAPI names has.
func TestHAPIColumns(t *testing.T) {
	t.Parallel()
	tables := apitest.SampleTables(t, 300)
	s := apitest.Server(t, state.Options{}, tables)
	found := map[string]int{}
	for i := range contract.Endpoints {
		h := apitest.HAPIEndpoint(i)
		got := s.Answer("GET", contract.HAPIPrefix+h.Path+"?output_format=csv&app_identifier="+apitest.Identifier, nil)
		lines := apitest.Cells(t, got.Body)
		for k, f := range h.CSVFields() {
			if slices.Contains(h.Fields, f) {
				continue
			}
			found[f.Name]++
			if after := lines[0][k+1]; lines[0][k] != f.Name ||
				after != "admin_level" && f.Name+","+after != "provider_admin1_name,provider_admin2_name" {
				t.Errorf("%s: column %d is %s, want %s, and %s follows", h.Path, k, lines[0][k], f.Name, after)
			}
			for n, row := range tables[i].Rows {
				testkit.Equal[any](t, lines[1+n][k], row[f.Name], "%s: row %d: %s", h.Path, n, f.Name)
			}
		}
	}
	want := map[string]int{} // by column, of how many lists below a country
	for _, l := range schema.Lists {
		for _, name := range []string{"provider_admin1_name", "provider_admin2_name"} {
			if l.Column(name) != nil {
				want[name]++
			}
		}
	}
	if len(want) != 2 || !maps.Equal(found, want) {
		t.Errorf("%v, want %v", found, want)
	}
}

// TestHAPIRoot checks a server that has HAPI names at the root.
func TestHAPIRoot(t *testing.T) {
	t.Parallel()
	usual, swapped := apitest.Sample(t, state.Options{},
		40), apitest.Sample(t, state.Options{Names: contract.HAPINames}, 40)
	for i := range contract.Endpoints {
		h := apitest.HAPIEndpoint(i)
		rest := "?limit=17&app_identifier=" + apitest.Identifier
		for _, path := range h.Paths() {
			want := usual.Answer("GET", contract.HAPIPrefix+path+rest, nil)
			for _, prefix := range []string{"", contract.HAPIPrefix} {
				if got := swapped.Answer("GET", prefix+path+rest, nil); !sameAnswer(got, want) {
					t.Errorf("%s%s: %d %.200s", prefix, path, got.Status, got.Body)
				}
			}
		}
		want := usual.Answer("GET", contract.Endpoints[i].Path+rest, nil)
		got := swapped.Answer("GET", contract.ContractPrefix+contract.Endpoints[i].Path+rest, nil)
		if !sameAnswer(got, want) {
			t.Errorf("%s: %d %.200s", contract.Endpoints[i].Path, got.Status, got.Body)
		}
		if got := usual.Answer("GET", contract.ContractPrefix+contract.Endpoints[i].Path+rest, nil); got.Status != 404 {
			t.Errorf("%s: %d below %s", contract.Endpoints[i].Path, got.Status, contract.ContractPrefix)
		}
	}
}

// sameAnswer compares status, body and the fields that depend on the names.
func sameAnswer(a, b api.Answer) bool {
	for _, name := range []string{"ETag", "Link", "Content-Disposition"} {
		if y, _ := apitest.Field(b, name); apitest.Header(a, name) != y {
			return false
		}
	}
	return a.Status == b.Status && bytes.Equal(a.Body, b.Body)
}

// TestHAPIMetrics checks that requests in HAPI names are counted under the endpoint's name in the
// contract, and add no series. Computed answers have names of their own.
func TestHAPIMetrics(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 40)
	admin, address := apitest.ListenAdmin(t, s), apitest.Listen(t, s)
	before := apitest.Metrics(t, admin)
	for _, path := range []string{
		"/hapi/api/v2/metadata/wfp-market", "/hapi/api/v1/metadata/wfp-market", "/api/v2/metadata/agency-market",
		"/api/v2/metadata/agency-market/aggregate", "/hapi/api/v1/metadata/wfp-market/aggregate",
		"/hapi/api/v2/nothing", "/hapi/docs", "/hapi/", "/hapi/api/v1/util/version", "/contract/api/v2/metadata/sector",
	} {
		apitest.Ask(t, address, "GET", path+"?app_identifier="+apitest.Identifier, nil)
	}
	after := apitest.Metrics(t, admin)
	for series := range after {
		if _, known := before[series]; !known && strings.Contains(series, "hapi") {
			t.Errorf("a new series %s", series)
		}
	}
	testkit.Equal(t, apitest.RequestsWith(after, `endpoint="agency-market"`), 3, "requests for agency-market")
	if n := apitest.RequestsWith(after, `endpoint="agency-market/aggregate"`); n != 2 {
		t.Errorf("%v requests for its aggregates, want 2", n)
	}
	testkit.Equal(t, apitest.RequestsWith(after, `endpoint="/docs"`), 1, "requests for /docs")
	for _, name := range s.Lists.Routes.Endpoints {
		if strings.Contains(name, "hapi") || strings.Contains(name, "wfp") {
			t.Errorf("metrics have the endpoint %s", name)
		}
	}
}
