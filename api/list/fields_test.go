//go:build !race

package list_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

const eventsPath = "/api/v2/coordination-context/conflict-events"

// TestAllFields checks that naming all fields, in any order, is the same request as naming none,
// and that neither the order nor the set of the names changes the tag.
func TestAllFields(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	for _, m := range s.Lists.Routes.Mounts {
		for _, e := range contract.EndpointsIn(m.Names) {
			for _, format := range []string{"json", "csv"} {
				names := contract.FieldNames(e.Fields)
				if format == "csv" {
					names = contract.FieldNames(e.CSVFields())
				}
				target := m.Prefix + e.Path + "?app_identifier=" + apitest.Identifier + "&output_format=" + format
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
				testkit.EqualLists(t, two.Header, swapped.Header, "%s: the header for the same fields", target)
			}
		}
	}
}

// TestFieldsOfMissingTable checks what is answered about a table that the snapshot has not.
func TestFieldsOfMissingTable(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{}, "/api/v2/metadata/sector", 3)
	for target, want := range map[string]string{
		"/api/v2/metadata/org?fields=org_type_code,acronym&output_format=csv":   "acronym,org_type_code\r\n",
		"/api/v2/metadata/org?fields=org_type_code,acronym":                     `{"data":[]}`,
		"/api/v2/metadata/sector?fields=name&output_format=csv&code=none":       "name\r\n",
		"/hapi/api/v2/metadata/dataset?fields=dataset_hdx_id&output_format=csv": "",
		"/api/v2/metadata/agency-market?fields=name&output_format=geojson":      state.EmptyPoints,
		"/api/v2/climate/rainfall?output_format=ndjson":                         "",
		"/api/v2/climate/rainfall/facets?of=version":                            state.EmptyJSON,
		"/api/v2/climate/rainfall/facets?of=version&output_format=csv":          "field,value,count\r\n",
	} {
		got := s.Answer("GET", target+"&app_identifier="+apitest.Identifier, nil)
		if got.Status != 200 || string(got.Body) != want {
			t.Errorf("%s: %d %s", target, got.Status, got.Body)
		}
	}
}

// TestAloneNulls checks that a record whose only field is null or empty is no empty line of CSV,
// for fields of texts and of numbers, plain and coded, in pages, exports and aggregates.
func TestAloneNulls(t *testing.T) {
	t.Parallel()
	table := apitest.SampleTable(apitest.Plan(eventsPath).Endpoint, 3000, rand.New(rand.NewPCG(5, 6)))
	for i, row := range table.Rows {
		if i%3 > 0 {
			row["admin1_code"], row["fatalities"] = nil, nil
		}
		row["admin1_name"] = ""
	}
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, []*apitest.Table{table})
	for _, field := range []string{"admin1_code", "admin1_name", "fatalities"} {
		for _, path := range []string{
			"?limit=10000&output_format=csv", "/export?output_format=csv", "/export?output_format=csv-excel",
		} {
			for _, coding := range []string{"identity", "gzip", "gzip", "zstd"} {
				got := s.Answer("GET", eventsPath+path+"&fields="+field,
					apitest.Fields("Accept-Encoding", coding))
				body := apitest.Body(t, got)
				if lines := bytes.Count(body, []byte("\r\n")); lines != 3001 || bytes.Contains(body, []byte("\n\r\n")) {
					t.Errorf("%s%s in %s: %d %d lines, or an empty one", field, path, coding, got.Status, lines)
				}
			}
		}
	}
	const null = "/aggregate?measures=min:fatalities&location_code=nowhere&output_format=csv"
	got := s.Answer("GET", eventsPath+null, nil)
	testkit.Equal(t, string(got.Body), "min_fatalities\r\n\"\"\r\n", "a figure that is null: %q", got.Body)
}

// TestComputedAnswers compares the headers of computed answers with those of the endpoint's list,
// and their bodies in each coding, rendered and from the cache, with the uncompressed ones. The
// judge proves what is in them.
func TestComputedAnswers(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{SurrogateKey: true, CacheTag: true}, 300)
	for _, m := range s.Lists.Routes.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := 0; i < len(endpoints); i += 4 {
			path, field := m.Prefix+endpoints[i].Path, endpoints[i].Fields[0].Name
			for _, format := range []string{"json", "csv"} {
				query := "?app_identifier=" + apitest.Identifier + "&output_format=" + format
				list := s.Answer("GET", path+query, nil)
				checkComputed(t, s, path+"/facets"+query+"&of="+field, list)
				checkComputed(t, s, path+"/aggregate"+query+"&measures=count&limit=7&group_by="+field, list)
			}
		}
	}
}

func checkComputed(t *testing.T, s *api.Server, target string, list api.Answer) {
	t.Helper()
	plain := s.Answer("GET", target, nil)
	if list.Status != 200 || plain.Status != 200 {
		t.Fatalf("%s: %d %s", target, plain.Status, plain.Body)
	}
	for _, same := range []string{
		"X-Snapshot-Id", "Surrogate-Key", "Cache-Tag", "Cache-Control", "Vary", "Last-Modified", "Content-Type",
	} {
		testkit.Equal(t, apitest.Header(plain, same), apitest.Header(list, same), "%s: %s, of the list", target, same)
	}
	tag := apitest.Header(plain, "ETag")
	if tag == apitest.Header(list, "ETag") || tag == "" {
		t.Errorf("%s: ETag %q is that of the list, or empty", target, tag)
	}
	for _, accept := range []string{"identity", "gzip", "zstd", "gzip, identity;q=0"} {
		header := apitest.Fields("Accept-Encoding", accept)
		for range 3 { // the third is from the cache
			got := s.Answer("GET", target, header)
			again, weak := strings.CutPrefix(apitest.Header(got, "ETag"), "W/")
			if !bytes.Equal(apitest.Body(t, got), plain.Body) || again != tag || weak == (accept == "identity") {
				t.Fatalf("%s, %s: ETag %q, or another body", target, accept, apitest.Header(got, "ETag"))
			}
			head := s.Answer("HEAD", target, header)
			if !slices.Equal(head.Header, got.Header) || len(head.Body) > 0 {
				t.Fatalf("%s, %s: HEAD has %v, GET %v", target, accept, head.Header, got.Header)
			}
		}
		header = append(header, reply.HeaderField{Name: "If-None-Match", Value: tag})
		if got := s.Answer("GET", target, header); got.Status != 304 || len(got.Body) > 0 {
			t.Errorf("%s: %d with its tag", target, got.Status)
		}
	}
}
