//go:build !race

package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// member is a key of a record with its value as it was sent.
type member struct {
	key   string
	value json.RawMessage
}

// membersOf reads an object without changing the order of its keys.
func membersOf(t *testing.T, object []byte) (members []member) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		m := member{key: key.(string)}
		if err := d.Decode(&m.value); err != nil {
			t.Fatal(err)
		}
		members = append(members, m)
	}
	return members
}

// someMembers writes an object with the keys that are asked for.
func someMembers(t *testing.T, object []byte, keys []string) string {
	t.Helper()
	var parts []string
	for _, m := range membersOf(t, object) {
		if slices.Contains(keys, m.key) {
			key, _ := json.Marshal(m.key)
			parts = append(parts, string(key)+":"+string(m.value))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// fewerFields is the slow twin of the parameter fields: it removes keys from a whole answer.
func fewerFields(t *testing.T, body []byte, format string, keys []string) string {
	t.Helper()
	switch format {
	case "csv":
		if len(body) == 0 { // no records, in HAPI names
			return ""
		}
		lines := cells(string(body))
		var b strings.Builder
		for _, line := range lines {
			var kept []string
			for i, cell := range line {
				if slices.Contains(keys, strings.TrimSpace(lines[0][i])) {
					kept = append(kept, strings.TrimSuffix(cell, "\r\n"))
				}
			}
			if len(kept) == 1 && kept[0] == "" { // readers skip empty lines
				kept[0] = `""`
			}
			b.WriteString(strings.Join(kept, ",") + "\r\n")
		}
		return b.String()
	case "geojson":
		var whole struct {
			Features []struct {
				Geometry   json.RawMessage `json:"geometry"`
				Properties json.RawMessage `json:"properties"`
			} `json:"features"`
		}
		if err := json.Unmarshal(body, &whole); err != nil {
			t.Fatal(err)
		}
		var features []string
		for _, f := range whole.Features {
			features = append(features, `{"type":"Feature","geometry":`+string(f.Geometry)+`,"properties":`+
				someMembers(t, f.Properties, keys)+"}")
		}
		return `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + "]}"
	}
	var whole struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &whole); err != nil {
		t.Fatal(err)
	}
	var records []string
	for _, record := range whole.Data {
		records = append(records, someMembers(t, record, keys))
	}
	return `{"data":[` + strings.Join(records, ",") + "]}"
}

// fieldsCase is a request for some fields, and the same request for all.
type fieldsCase struct{ some, all, format, names string }

// randomFieldsCase asks an endpoint for some of its fields, in any order and by names of either
// set.
func randomFieldsCase(r *rand.Rand, m *list.Mount, e *contract.Endpoint) (x fieldsCase, keys []string) {
	formats := []string{"json", "csv"}
	if e.HasPoints() {
		formats = append(formats, "geojson")
	}
	x.format = formats[r.IntN(len(formats))]
	all := e.Fields
	if x.format == "csv" {
		all = e.CSVFields()
	}
	var names []string
	for _, i := range r.Perm(len(all))[:1+r.IntN(min(5, len(all)-1))] { // all are another test's
		keys = append(keys, all[i].Name)
		name := all[i].Name
		if r.IntN(3) == 0 {
			name = [...]contract.NameSet{contract.ContractNames, contract.HAPINames}[r.IntN(2)].Name(name)
		}
		names = append(names, name)
	}
	if r.IntN(4) == 0 {
		names = append(names, names[0])
	}
	x.names = strings.Join(names, [...]string{",", "%2C", "&fields="}[r.IntN(3)])
	page := [...]string{"", "&limit=0", "&limit=1", "&limit=700&offset=317", someFilter(e), "&limit=40"}[r.IntN(6)]
	x.all = m.Prefix + e.Path + "?app_identifier=" + goodIdentifier + "&output_format=" + x.format + page
	x.some = x.all + "&fields=" + x.names
	return x, keys
}

// TestFieldsAgainstTwin compares answers with some fields with whole ones from which the other keys
// are removed: for all endpoints, names and formats, by GET and HEAD, plain and compressed.
func TestFieldsAgainstTwin(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	s := sampleServer(t, state.Options{}, trials(4000, 900))
	for _, m := range s.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			for range trials(40, 6) {
				x, keys := randomFieldsCase(r, m, &endpoints[i])
				checkFields(t, s, x, keys)
			}
		}
	}
}

func checkFields(t *testing.T, s *Server, x fieldsCase, keys []string) {
	t.Helper()
	whole, got := s.Answer("GET", x.all, nil), s.Answer("GET", x.some, nil)
	if whole.Status != 200 || got.Status != 200 {
		t.Fatalf("%s: %d, %d %s", x.some, whole.Status, got.Status, got.Body)
	}
	want := fewerFields(t, whole.Body, x.format, keys)
	if string(got.Body) != want {
		t.Fatalf("%s:\n%.300s\nwant %.300s", x.some, got.Body, want)
	}
	for _, name := range []string{"X-Total-Count", "X-Result-Count", "Content-Type", "Content-Disposition"} {
		a, _ := whole.field(name)
		if b, _ := got.field(name); a != b {
			t.Errorf("%s: %s is %q, of all fields %q", x.some, name, b, a)
		}
	}
	if length, _ := got.field("Content-Length"); length != fmt.Sprint(len(want)) {
		t.Errorf("%s: length %s, want %d", x.some, length, len(want))
	}
	if unknown, is := got.field("X-Unknown-Params"); is {
		t.Errorf("%s: unknown %s", x.some, unknown)
	}
	link, _ := got.field("Link")
	wholeLink, _ := whole.field("Link")
	if strings.Count(link, "fields=") != strings.Count(wholeLink, "rel=") {
		t.Errorf("%s: links %q, of all fields %q", x.some, link, wholeLink)
	}
	a, _ := whole.field("ETag")
	if b, _ := got.field("ETag"); a == b {
		t.Errorf("%s: the tag is that of all fields", x.some)
	}
	for _, accept := range []string{"identity", "gzip", "zstd"} {
		header := []reply.HeaderField{{Name: "Accept-Encoding", Value: accept}}
		get, head := s.Answer("GET", x.some, header), s.Answer("HEAD", x.some, header)
		coding, _ := get.field("Content-Encoding")
		body, err := decodeBody(coding, get.Body)
		if accept != "identity" {
			dropUnknownLength(&get, &head)
		}
		if err != nil || string(body) != want || want != "" && !slices.Equal(head.Header, get.Header) {
			t.Fatalf("%s, %s: %v\n%.300s\nwant %.300s\nHEAD has %v, GET %v",
				x.some, accept, err, body, want, head.Header, get.Header)
		}
	}
}

// TestAllFields checks that naming all fields, in any order, is the same request as naming none,
// and that neither the order nor the set of the names changes the tag.
func TestAllFields(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{}, 30)
	for _, m := range s.Mounts {
		for _, e := range contract.EndpointsIn(m.Names) {
			for _, format := range []string{"json", "csv"} {
				names := contract.FieldNames(e.Fields)
				if format == "csv" {
					names = contract.FieldNames(e.CSVFields())
				}
				target := m.Prefix + e.Path + "?app_identifier=" + goodIdentifier + "&output_format=" + format
				slices.Reverse(names)
				whole := s.Answer("GET", target, nil)
				all := s.Answer("GET", target+"&fields="+strings.Join(names, ","), nil)
				if !slices.Equal(whole.Header, all.Header) || !bytes.Equal(whole.Body, all.Body) {
					t.Errorf("%s: all fields are different from none: %v, %v", target, all.Header, whole.Header)
				}
				if len(names) < 3 {
					continue
				}
				two := s.Answer("GET", target+"&fields="+names[0]+","+names[1], nil)
				swapped := s.Answer("GET", target+"&fields="+contract.HAPINames.Name(names[1])+
					"&fields="+contract.ContractNames.Name(names[0]), nil)
				if !slices.Equal(two.Header, swapped.Header) {
					t.Errorf("%s: the same fields have %v and %v", target, two.Header, swapped.Header)
				}
			}
		}
	}
}

// TestFieldsOfMissingTable checks the header line of an endpoint whose table the snapshot has not.
func TestFieldsOfMissingTable(t *testing.T) {
	t.Parallel()
	s := tableServer(t, state.Options{}, "/api/v2/metadata/sector", 3)
	for target, want := range map[string]string{
		"/api/v2/metadata/org?fields=org_type_code,acronym&output_format=csv":   "acronym,org_type_code\r\n",
		"/api/v2/metadata/org?fields=org_type_code,acronym":                     `{"data":[]}`,
		"/api/v2/metadata/sector?fields=name&output_format=csv&code=none":       "name\r\n",
		"/hapi/api/v2/metadata/dataset?fields=dataset_hdx_id&output_format=csv": "",
		"/api/v2/metadata/agency-market?fields=name&output_format=geojson":      state.EmptyPoints,
	} {
		got := s.Answer("GET", target+"&app_identifier="+goodIdentifier, nil)
		if got.Status != 200 || string(got.Body) != want {
			t.Errorf("%s: %d %s", target, got.Status, got.Body)
		}
	}
}

// TestAloneNulls checks that a record whose only field is null or empty is no empty line of CSV,
// for fields of texts and of numbers, plain and coded, in pages, exports and aggregates.
func TestAloneNulls(t *testing.T) {
	t.Parallel()
	table := sampleTable(planOf(exportedPath).Endpoint, 3000, rand.New(rand.NewPCG(5, 6)))
	for i, row := range table.rows {
		if i%3 > 0 {
			row["admin1_code"], row["fatalities"] = nil, nil
		}
		row["admin1_name"] = ""
	}
	s := testServer(t, state.Options{Identifier: state.IgnoreIdentifier}, []*testTable{table})
	for _, field := range []string{"admin1_code", "admin1_name", "fatalities"} {
		for _, path := range []string{
			"?limit=10000&output_format=csv", "/export?output_format=csv", "/export?output_format=csv-excel",
		} {
			for _, coding := range []string{"identity", "gzip", "gzip", "zstd"} {
				got := s.Answer("GET", exportedPath+path+"&fields="+field,
					[]reply.HeaderField{{Name: "Accept-Encoding", Value: coding}})
				body := plainBody(t, got)
				if lines := bytes.Count(body, []byte("\r\n")); lines != 3001 || bytes.Contains(body, []byte("\n\r\n")) {
					t.Errorf("%s%s in %s: %d %d lines, or an empty one", field, path, coding, got.Status, lines)
				}
			}
		}
	}
	const null = "/aggregate?measures=min:fatalities&location_code=nowhere&output_format=csv"
	got := s.Answer("GET", exportedPath+null, nil)
	if string(got.Body) != "min_fatalities\r\n\"\"\r\n" {
		t.Errorf("a figure that is null: %q", got.Body)
	}
}
