//go:build !race

package api

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// renaming maps the HAPI names of an endpoint's fields and parameters to the contract's.
func renaming(i int) map[string]string {
	names := map[string]string{}
	e, h := &contract.Endpoints[i], hapiEndpoint(i)
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
func csvBack(t *testing.T, i int, names map[string]string, body string) string {
	t.Helper()
	var b strings.Builder
	h := hapiEndpoint(i)
	for n, line := range cells(body) {
		if len(line) != len(h.CSVFields()) {
			t.Fatalf("%s: line %d has %d cells, want %d", h.Path, n, len(line), len(h.CSVFields()))
		}
		var kept []string
		for k, f := range h.CSVFields() {
			if !slices.Contains(h.Fields, f) {
				continue
			}
			cell := line[k]
			if n == 0 {
				bare := strings.TrimSpace(cell)
				cell = strings.Replace(cell, bare, names[bare], 1)
			}
			kept = append(kept, cell)
		}
		b.WriteString(strings.Join(kept, ","))
	}
	return b.String()
}

// randomQuery returns a query in the names of both plans. The HAPI one may also use the contract's
// names.
func randomQuery(i int, random *rand.Rand, rows []map[string]any) (query, hapiQuery string) {
	params := contract.NewPlan(&contract.Endpoints[i], contract.Rows).Params
	hapi := contract.NewPlan(hapiEndpoint(i), contract.Rows).Params
	var pairs, hapiPairs []string
	add := func(name, hapiName, value string) {
		pairs = append(pairs, name+"="+url.QueryEscape(value))
		if random.IntN(4) == 0 {
			hapiName = name
		}
		hapiPairs = append(hapiPairs, hapiName+"="+url.QueryEscape(value))
	}
	for k, p := range params {
		if p.Name == contract.IdentifierParam || p.Own != nil { // TestFieldsAgainstTwin has fields in both names
			continue
		}
		if random.IntN(8) > 0 && p.Twin() == "" || random.IntN(3) == 0 {
			continue
		}
		value := p.Example()
		if row := rows[random.IntN(len(rows))]; len(p.Columns) > 0 && random.IntN(2) == 0 {
			value = fmt.Sprint(row[p.Columns[0]])
		}
		add(p.Name, hapi[k].Name, value)
	}
	if random.IntN(2) == 0 {
		add("limit", "limit", fmt.Sprint(random.IntN(400)))
	}
	if random.IntN(6) == 0 {
		add("nothing", "nothing", "x")
	}
	identifier := "&app_identifier=" + goodIdentifier
	return strings.Join(pairs, "&") + identifier, strings.Join(hapiPairs, "&") + identifier
}

// TestHAPINames compares answers below /hapi, with the names mapped back, with those below /api:
// random queries for every endpoint, JSON and CSV, in each coding.
func TestHAPINames(t *testing.T) {
	t.Parallel()
	tables := sampleTables(t, 900)
	s := testServer(t, state.Options{CacheBytes: -1}, tables)
	random := rand.New(rand.NewPCG(14, 1))
	full := 0
	for i := range contract.Endpoints {
		names := renaming(i)
		h := hapiEndpoint(i)
		for n := range trials(40, 4) {
			query, hapiQuery := randomQuery(i, random, tables[i].rows)
			path := contract.HAPIPrefix + h.Paths()[n%len(h.Paths())]
			for _, format := range []string{"&output_format=json", "&output_format=csv"} {
				for _, coding := range []string{"", "gzip", "zstd"} {
					header := []reply.HeaderField{{Name: "Accept-Encoding", Value: coding}}
					want := s.Answer("GET", contract.Endpoints[i].Path+"?"+query+format, header)
					got := s.Answer("GET", path+"?"+hapiQuery+format, header)
					compareNames(t, i, names, path+"?"+hapiQuery+format, got, want)
					if want.Status == 200 && len(want.Body) > 1000 {
						full++
					}
				}
			}
		}
	}
	if full < trials(500, 100) {
		t.Errorf("only %d answers had more than a few rows", full)
	}
}

func compareNames(t *testing.T, i int, names map[string]string, target string, got, want Answer) {
	t.Helper()
	var bodies [2]string
	var lengths [2]int
	for k, a := range []Answer{got, want} {
		coding, _ := a.field("Content-Encoding")
		body, err := decodeBody(coding, a.Body)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		bodies[k], lengths[k] = string(body), len(body)
	}
	if kind, _ := got.field("Content-Type"); strings.HasPrefix(kind, "text/csv") {
		if count, _ := want.field("X-Result-Count"); count == "0" { // no header line either
			bodies[1], lengths[1] = "", 0
		}
		bodies[0] = csvBack(t, i, names, bodies[0])
	} else {
		bodies[0] = quotedBack(names, bodies[0])
	}
	if got.Status != want.Status || bodies[0] != bodies[1] {
		t.Errorf("%s: %d\n%.500s\nwant %d\n%.500s", target, got.Status, bodies[0], want.Status, bodies[1])
	}
	fields := []string{"X-Total-Count", "X-Result-Count", "X-Unknown-Params", "Content-Encoding"}
	// more columns can make one body worth encoding
	if lengths[0] > reply.MinEncoded != (lengths[1] > reply.MinEncoded) {
		fields = fields[:3]
	}
	for _, name := range fields {
		a, _ := got.field(name)
		if b, _ := want.field(name); a != b {
			t.Errorf("%s: %s is %q, want %q", target, name, a, b)
		}
	}
	tag, _ := got.field("ETag")
	if other, _ := want.field("ETag"); tag == other && want.Status == 200 {
		t.Errorf("%s: the tag %s is that of the other form", target, tag)
	}
}

// TestNoRecordsAsCSV checks the length of files without records: HAPI names have no header line,
// but for csv-excel, which the public service does not have.
func TestNoRecordsAsCSV(t *testing.T) {
	t.Parallel()
	address := listen(t, testServer(t, state.Options{}, sampleTables(t, 300)))
	header := len("code,name\r\n")
	for _, c := range []struct {
		path         string
		length, hapi int
	}{
		{"?output_format=csv", header, 0},
		{"/export?output_format=csv", header, 0},
		{"/export?output_format=csv-excel", len("\ufeff") + header, len("\ufeff") + header},
	} {
		for prefix, want := range map[string]int{"": c.length, contract.HAPIPrefix: c.hapi} {
			target := prefix + "/api/v2/metadata/location" + c.path + "&fields=code,name&code=none&app_identifier=" + goodIdentifier
			if got := ask(t, address, "GET", target, nil); got.Status != 200 || len(got.Body) != want {
				t.Errorf("%s: %d %q, want %d bytes", target, got.Status, got.Body, want)
			}
			head := ask(t, address, "HEAD", target, nil)
			if length, has := head.field("Content-Length"); has && length != strconv.Itoa(want) || head.Status != 200 {
				t.Errorf("HEAD %s: %d, length %s, want %d", target, head.Status, length, want)
			}
		}
	}
}

// TestHAPIColumns checks the columns that only the CSV of HAPI names has.
func TestHAPIColumns(t *testing.T) {
	t.Parallel()
	tables := sampleTables(t, 300)
	s := testServer(t, state.Options{}, tables)
	found := map[string]int{}
	for i := range contract.Endpoints {
		h := hapiEndpoint(i)
		got := s.Answer("GET", contract.HAPIPrefix+h.Path+"?output_format=csv&app_identifier="+goodIdentifier, nil)
		lines := cells(string(got.Body))
		for k, f := range h.CSVFields() {
			if slices.Contains(h.Fields, f) {
				continue
			}
			found[f.Name]++
			if after := lines[0][k+1]; lines[0][k] != f.Name ||
				after != "admin_level" && f.Name+","+after != "provider_admin1_name,provider_admin2_name" {
				t.Errorf("%s: column %d is %s, want %s, and %s follows", h.Path, k, lines[0][k], f.Name, after)
			}
			for n, row := range tables[i].rows {
				if lines[1+n][k] != row[f.Name] {
					t.Errorf("%s: row %d: %s is %q, want %q", h.Path, n, f.Name, lines[1+n][k], row[f.Name])
				}
			}
		}
	}
	if want := map[string]int{"provider_admin1_name": 10, "provider_admin2_name": 9}; !maps.Equal(found, want) {
		t.Errorf("%v, want %v", found, want)
	}
}

// TestHAPIRoot checks a server that has HAPI names at the root.
func TestHAPIRoot(t *testing.T) {
	t.Parallel()
	usual, swapped := sampleServer(t, state.Options{}, 40), sampleServer(t, state.Options{Names: contract.HAPINames},
		40)
	for i := range contract.Endpoints {
		h := hapiEndpoint(i)
		rest := "?limit=17&app_identifier=" + goodIdentifier
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
func sameAnswer(a, b Answer) bool {
	for _, name := range []string{"ETag", "Link", "Content-Disposition"} {
		x, _ := a.field(name)
		if y, _ := b.field(name); x != y {
			return false
		}
	}
	return a.Status == b.Status && bytes.Equal(a.Body, b.Body)
}

// TestHAPIMetrics checks that requests in HAPI names are counted under the endpoint's name in the
// contract, and add no series.
func TestHAPIMetrics(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{}, 40)
	admin, address := listenAdmin(t, s), listen(t, s)
	before := readMetrics(t, admin)
	for _, path := range []string{
		"/hapi/api/v2/metadata/wfp-market", "/hapi/api/v1/metadata/wfp-market", "/api/v2/metadata/agency-market",
		"/hapi/api/v2/nothing", "/hapi/docs", "/hapi/", "/hapi/api/v1/util/version", "/contract/api/v2/metadata/sector",
	} {
		ask(t, address, "GET", path+"?app_identifier="+goodIdentifier, nil)
	}
	after := readMetrics(t, admin)
	for series := range after {
		if _, known := before[series]; !known && strings.Contains(series, "hapi") {
			t.Errorf("a new series %s", series)
		}
	}
	if n := requestsWith(after, `endpoint="agency-market"`); n != 3 {
		t.Errorf("%v requests for agency-market, want 3", n)
	}
	if n := requestsWith(after, `endpoint="/docs"`); n != 1 {
		t.Errorf("%v requests for /docs, want 1", n)
	}
	for _, name := range s.Endpoints {
		if strings.Contains(name, "hapi") || strings.Contains(name, "wfp") {
			t.Errorf("metrics have the endpoint %s", name)
		}
	}
}

// TestHAPINamesOfFigures compares lists that are computed, and rows with chosen fields, by each
// field that has two names.
func TestHAPINamesOfFigures(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{}, 200)
	renamed := 0
	for i := range contract.Endpoints {
		names := renaming(i)
		for k, f := range contract.Endpoints[i].Fields {
			h := hapiEndpoint(i).Fields[k].Name
			if h == f.Name {
				continue
			}
			renamed++
			names["distinct_"+h], names["min_"+h] = "distinct_"+f.Name, "min_"+f.Name
			for _, form := range []string{
				"/facets?of=%s,%[1]s", "/aggregate?group_by=%s&measures=count",
				"/aggregate?measures=distinct:%s,min:%[1]s", "?fields=%s",
			} {
				query := form + "&app_identifier=" + goodIdentifier
				target := contract.HAPIPrefix + hapiEndpoint(i).Path + fmt.Sprintf(query, h)
				got := s.Answer("GET", target, nil)
				want := s.Answer("GET", contract.Endpoints[i].Path+fmt.Sprintf(query, f.Name), nil)
				compareNames(t, i, names, target, got, want)
			}
		}
	}
	if renamed < 20 {
		t.Errorf("only %d fields have two names", renamed)
	}
}
