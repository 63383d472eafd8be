//go:build !race

package odata_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/odata"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

func odataServer(t *testing.T, rows int) *api.Server {
	return apitest.Sample(t, state.Options{BaseURL: apitest.ODataBase}, rows)
}

// odataPage is an answer with records.
type odataPage struct {
	Count *int             `json:"@odata.count"`
	Next  string           `json:"@odata.nextLink"`
	Value []map[string]any `json:"value"`
}

// askOData asks for records with query options, given as name, value, name, value.
func askOData(t *testing.T, s *api.Server, set string, pairs ...string) (api.Answer, odataPage) {
	t.Helper()
	target := odata.Root + set
	for i := 0; i < len(pairs); i += 2 {
		target += string("?&"[min(i, 1)]) + pairs[i] + "=" + url.QueryEscape(pairs[i+1])
	}
	a := s.Answer("GET", target, nil)
	var page odataPage
	if a.Status == 200 {
		page = readOData(t, a.Body)
	}
	return a, page
}

func readOData(t testing.TB, body []byte) (page odataPage) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&page); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return page
}

// TestODataForms compares pages with those of the slow way, and compressed with plain ones.
func TestODataForms(t *testing.T) {
	t.Parallel()
	s := odataServer(t, 300)
	endpoints := contract.EndpointsIn(contract.HAPINames)
	for i := range endpoints {
		e := &endpoints[i]
		last := e.Fields[len(e.Fields)-1].Name
		for _, selected := range []string{"*", "row_key", e.Fields[0].Name, last + ",row_key"} {
			for _, top := range []string{"0", "1", "290"} {
				target := odata.Root + e.SetName() + "?$select=" + selected + "&$skip=3&$count=true&$top=" + top
				plain := s.Answer("GET", target, nil)
				quoted := "&$format=" + url.QueryEscape("application/json;IEEE754Compatible=true")
				slow := s.Answer("GET", target+quoted, nil)
				unquoted := bytes.ReplaceAll(slow.Body, []byte(`"@odata.count":"300"`), []byte(`"@odata.count":300`))
				for _, f := range e.Fields {
					if f.Type == contract.Integer {
						of := regexp.MustCompile(`("` + f.Name + `":)"(-?[0-9]+)"`)
						unquoted = of.ReplaceAll(unquoted, []byte("$1$2"))
					}
				}
				if plain.Status != 200 || !bytes.Equal(plain.Body, unquoted) {
					t.Fatalf("%s: %d\n%.900s\nslow:\n%.900s", target, plain.Status, plain.Body, unquoted)
				}
				for _, coding := range []string{"gzip", "zstd"} {
					for range 2 {
						coded := s.Answer("GET", target, apitest.Fields("Accept-Encoding", coding))
						if got := apitest.Body(t, coded); !bytes.Equal(got, plain.Body) {
							t.Fatalf("%s, %s: another body:\n%.500s", target, coding, got)
						}
					}
				}
				head := s.Answer("HEAD", target, nil)
				if got := apitest.Header(head, "Content-Length"); got != strconv.Itoa(len(plain.Body)) {
					t.Fatalf("%s: HEAD says %s bytes of %d", target, got, len(plain.Body))
				}
			}
		}
	}
}

// TestODataShapes replays requests of clients, and of the standard's features that are not here.
func TestODataShapes(t *testing.T) {
	t.Parallel()
	apitest.Shapes(t, odataServer(t, 300), odata.Root, "testdata/odata.txt", func(request string, a api.Answer) {
		testkit.Equal(t, apitest.Header(a, "OData-Version"), "4.0", "%s: OData-Version", request)
	})
}

// TestODataPages follows links across a swap: all pages are of one state, or 410.
func TestODataPages(t *testing.T) {
	t.Parallel()
	for _, kept := range []time.Duration{testkit.Patience, -1} {
		first, second := apitest.TwoSnapshots(t, 30)
		s := apitest.Serve(t, state.Options{BaseURL: apitest.ODataBase, KeepPrevious: kept}, first)
		small := apitest.Fields("Prefer", "odata.maxpagesize=4")
		read := func(target string) (api.Answer, odataPage) {
			a := s.Answer("GET", strings.TrimPrefix(target, apitest.ODataBase), small)
			var page odataPage
			if a.Status == 200 {
				page = readOData(t, a.Body)
			}
			return a, page
		}
		whole := map[string][]map[string]any{}
		links := map[string]string{}
		for _, set := range []string{"sector", "org"} {
			_, page := askOData(t, s, set)
			whole[set] = page.Value
			a, begun := read(odata.Root + set + "?$filter=true%20and%20not%20false&$top=29&$count=true")
			if a.Status != 200 || len(begun.Value) != 4 || *begun.Count != 30 {
				t.Fatalf("%s: %d %s", set, a.Status, a.Body)
			}
			if a, _ := read(begun.Next + "&$skip=2"); a.Status != 400 || !strings.Contains(string(a.Body), "as it is") {
				t.Errorf("a link with a $skip, which it has already: %d %s, want 400", a.Status, a.Body)
			}
			links[set] = begun.Next
		}
		apitest.Swap(t, s, state.Release{Snapshot: second, PublishedAt: apitest.PublishedTime})
		for set, link := range links {
			got := whole[set][:4:4]
			for link != "" {
				a, page := read(link)
				if set == "sector" && kept < 0 {
					if a.Status != 410 || !strings.Contains(string(a.Body), "Begin again") {
						t.Errorf("%s: %d %s, want 410", link, a.Status, a.Body)
					}
					break
				}
				if a.Status != 200 {
					t.Fatalf("%s: %d %s", link, a.Status, a.Body)
				}
				got, link = append(got, page.Value...), page.Next
			}
			if want := whole[set][:29]; (set == "org" || kept > 0) && fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: pages across a swap are not those of before", set)
			}
		}
		if a, page := askOData(t, s, "sector", "$count", "true"); *page.Count != 7 {
			t.Errorf("the new list has %d records: %s", *page.Count, a.Body)
		}
	}
}

// TestODataFromPages: a page of another origin may send what OData clients in browsers send.
func TestODataFromPages(t *testing.T) {
	t.Parallel()
	a := odataServer(t,
		0).Answer("OPTIONS", odata.Root+"idps", apitest.Fields("Access-Control-Request-Method", "GET", "Origin", "https://page.example"))
	allowed := strings.Split(apitest.Header(a, "Access-Control-Allow-Headers"), ", ")
	for _, name := range []string{"OData-MaxVersion", "OData-Version", "Prefer", "Content-Type"} {
		if a.Status != 204 || !slices.Contains(allowed, name) {
			t.Errorf("%d: %s is not among %q", a.Status, name, allowed)
		}
	}
}

// odataSchema is what tests read of $metadata.
type odataSchema struct {
	Types []struct {
		Name       string `xml:"Name,attr"`
		Properties []struct {
			Name     string `xml:"Name,attr"`
			Type     string `xml:"Type,attr"`
			Nullable bool   `xml:"Nullable,attr"`
		} `xml:"Property"`
	} `xml:"DataServices>Schema>EntityType"`
	Sets []struct {
		Name        string `xml:"Name,attr"`
		Annotations []struct {
			Term       string `xml:"Term,attr"`
			Properties []struct {
				Name  string   `xml:"Property,attr"`
				Paths []string `xml:"Collection>PropertyPath"`
			} `xml:"Record>PropertyValue"`
		} `xml:"Annotation"`
	} `xml:"DataServices>Schema>EntityContainer>EntitySet"`
}

// TestODataSchema compares both schemas with one another and with what records have, and asks for
// every order that they allow and forbid.
func TestODataSchema(t *testing.T) {
	t.Parallel()
	s := odataServer(t, 300)
	var schema odataSchema
	testkit.Must(t, xml.Unmarshal(s.Answer("GET", odata.Root+"$metadata", nil).Body, &schema))
	var inJSON struct {
		Types map[string]map[string]json.RawMessage `json:"hdqs"`
	}
	testkit.Must(t, json.Unmarshal(s.Answer("GET", odata.Root+"$metadata?$format=json", nil).Body, &inJSON))
	if len(schema.Types) < 30 || len(schema.Types) != len(schema.Sets) || len(inJSON.Types) != len(schema.Types)+1 {
		t.Fatalf("%d types and %d sets, %d in JSON", len(schema.Types), len(schema.Sets), len(inJSON.Types))
	}
	forms := map[string]*regexp.Regexp{
		"Edm.Date": regexp.MustCompile(`^\d{4}-\d\d-\d\d$`), "Edm.Int64": regexp.MustCompile(`^-?\d+$`),
		"Edm.DateTimeOffset": regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$`),
		"Edm.Boolean":        regexp.MustCompile(`^(true|false)$`), "Edm.String": regexp.MustCompile(``),
		"Edm.Double": regexp.MustCompile(`^-?\d+(\.\d+)?(e[-+]\d+)?$`),
	}
	for i, of := range schema.Types {
		if _, known := inJSON.Types[of.Name]; !known {
			t.Errorf("%s is not in the schema in JSON", of.Name)
		}
		a, page := askOData(t, s, of.Name)
		if a.Status != 200 && !strings.Contains(string(a.Body), "counts") {
			t.Errorf("%s: %d %s", of.Name, a.Status, a.Body)
			continue
		}
		keys := map[any]bool{}
		for _, record := range page.Value {
			if len(record) != len(of.Properties) {
				t.Fatalf("%s: %d properties of %d: %v", of.Name, len(record), len(of.Properties), record)
			}
			for _, p := range of.Properties {
				v, has := record[p.Name]
				if !has || v == nil && !p.Nullable || v != nil && !forms[p.Type].MatchString(fmt.Sprint(v)) {
					t.Fatalf("%s: %s is %v, of type %s", of.Name, p.Name, v, p.Type)
				}
			}
			if key := record["row_key"]; keys[key] {
				t.Fatalf("%s: two records have the key %v", of.Name, key)
			} else {
				keys[key] = true
			}
		}
		if a.Status != 200 {
			continue
		}
		for _, note := range schema.Sets[i].Annotations {
			for _, p := range note.Properties {
				for _, path := range p.Paths {
					checkOrder(t, s, of.Name, p.Name, path)
				}
			}
		}
	}
}

// checkOrder asks for the order that an annotation is about. Properties that can be sorted by only
// after others are refused alone.
func checkOrder(t *testing.T, s *api.Server, set, about, property string) {
	t.Helper()
	got, _ := askOData(t, s, set, "$orderby", property, "$top", "1")
	isFirst := property == "row_key" || !strings.Contains(string(got.Body), "sorts "+set)
	switch {
	case about == "AscendingOnlyProperties" && isFirst && got.Status != 200:
		t.Errorf("%s: %s has %s, and $orderby by it is %d: %s", set, about, property, got.Status, got.Body)
	}
}

// TestODataCaches checks what caches may keep.
func TestODataCaches(t *testing.T) {
	t.Parallel()
	open, named := apitest.Sample(t, state.Options{}, 30), odataServer(t, 30)
	usual := apitest.Header(named.Answer("GET", "/api/v2/metadata/org?app_identifier="+apitest.Identifier, nil),
		"Cache-Control")
	for _, set := range []string{"org", "figures", "", "org/$count"} {
		target := odata.Root + set
		accept := apitest.Fields("Accept", "application/json;odata.metadata=none")
		for _, c := range []struct {
			answer api.Answer
			want   string
		}{
			{named.Answer("GET", target, nil), usual},
			{named.Answer("GET", target, accept), reply.NoStore},
			{named.Answer("GET", target+"?$format="+url.QueryEscape(accept[0].Value), nil), usual},
			{open.Answer("GET", target, nil), "private, max-age=60"},
			{named.Answer("GET", target+"?$nothing=1", nil), reply.NoStore},
		} {
			testkit.Equal(t, apitest.Header(c.answer, "Cache-Control"), c.want, "%q: Cache-Control", set)
		}
		tag := apitest.Header(named.Answer("GET", target, nil), "Etag")
		same := named.Answer("GET", target, apitest.Fields("If-None-Match", tag))
		if same.Status != 304 || apitest.Header(same, "OData-Version") != "4.0" || tag == "" {
			t.Errorf("%q with its tag %s: %d %v", set, tag, same.Status, same.Header)
		}
	}
}

// TestODataIdentifier checks that an identifier is needed only if it is asked for.
func TestODataIdentifier(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{ODataIdentifier: true}, 30)
	a := s.Answer("GET", odata.Root+"org", nil)
	if a.Status != 403 || !strings.Contains(string(a.Body), `{"error":{"code"`) {
		t.Errorf("without an identifier: %d %s", a.Status, a.Body)
	}
	if a := s.Answer("GET", odata.Root+"org?app_identifier="+apitest.Identifier, nil); a.Status != 200 {
		t.Errorf("with an identifier: %d %s", a.Status, a.Body)
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
