package ckantest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hdqs/internal/ckantest"
	"hdqs/internal/testkit"
)

const catalog = `{"resources": [
	{"role": "market", "path": "market.csv", "last_modified": "2026-01-02T03:04:05", "size": 4},
	{"role": "conflict-events", "path": "events_2024.csv", "size": 8},
	{"role": "idps", "path": "idps.csv", "dataset": "counts", "id": "r-idps", "size": 5},
	{"role": "org", "path": "org.csv", "size": 3},
	{"role": "nobody", "path": "unlisted.csv", "size": 1}
]}`

const organisations = `{"success": true, "result": {"id": "p-org", "name": "hdx-hapi-organisations",
	"organization": {"name": "somebody"}, "resources": [{"id": "elsewhere", "url": "https://other.example/org.csv"}]}}`

// newSite serves a catalog of five files, one of which is in no dataset.
func newSite(t *testing.T) (*ckantest.Site, string) {
	t.Helper()
	site := &ckantest.Site{Files: fstest.MapFS{
		"catalog.json": {Data: []byte(catalog)}, "packages/org.json": {Data: []byte(organisations)},
		"market.csv": {Data: []byte("a,b\n")}, "events_2024.csv": {Data: []byte("a,b\n1,2\n")},
		"idps.csv": {Data: []byte("a\n1\n2")}, "org.csv": {Data: []byte("id\n")},
	}}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	return site, server.URL
}

type answer struct {
	Success bool
	Error   struct{ Message string }
	Result  struct {
		dataset
		Count   int
		Results []dataset
	}
}

type dataset struct {
	ID, Name  string
	Resources []struct {
		ID, Name, URL string
		LastModified  string `json:"last_modified"`
		Size          int
	}
}

// get returns the status, the header and the body of an answer, without following redirects.
func get(t *testing.T, address string, fields ...string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	testkit.Must(t, err)
	for i := 0; i < len(fields); i += 2 {
		request.Header.Set(fields[i], fields[i+1])
	}
	got, err := http.DefaultTransport.RoundTrip(request)
	testkit.Must(t, err)
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	testkit.Must(t, err)
	return got.StatusCode, got.Header, string(body)
}

func action(t *testing.T, base, query string) (a answer) {
	t.Helper()
	_, _, body := get(t, base+"/api/3/action/"+query)
	testkit.Must(t, json.Unmarshal([]byte(body), &a))
	return a
}

func names(all []dataset) (names []string) {
	for _, d := range all {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

// TestSearch: each form of query finds its datasets, page by page, and none has the file without
// one.
func TestSearch(t *testing.T) {
	t.Parallel()
	_, base := newSite(t)
	const prices, events, orgs = "hdx-hapi-food-price", "hdx-hapi-conflict-event", "hdx-hapi-organisations"
	for query, want := range map[string][]string{
		"fq=organization:hdx-hapi&rows=9":             {events, prices, orgs, "counts"},
		"fq=organization:somebody&rows=9":             {events, prices, orgs},
		"fq=name:hdx-hapi-c*&rows=9":                  {events},
		"fq=id:(p-org%20OR%20made-up-counts)&rows=9":  {orgs, "counts"},
		"fq=name:nothing*&rows=9":                     nil,
		"fq=name:hdx-hapi-*&rows=0":                   nil,
		"fq=organization:hdx-hapi&rows=2000&start=99": nil,
	} {
		slices.Sort(want)
		if got := action(t, base, "package_search?"+query); !slices.Equal(names(got.Result.Results), want) {
			t.Errorf("%s: %q, want %q", query, names(got.Result.Results), want)
		}
	}
	var all []dataset
	for _, start := range []string{"0", "1", "2"} {
		page := action(t, base, "package_search?fq=name:hdx-hapi-*&rows=1&start="+start).Result
		if page.Count != 3 || len(page.Results) != 1 {
			t.Errorf("page at %s: %d of %d", start, len(page.Results), page.Count)
		}
		all = append(all, page.Results...)
	}
	if got := names(all); !slices.Equal(got, []string{events, prices, orgs}) {
		t.Errorf("the pages have %q", got)
	}
}

// TestShow: a dataset is found by name and id, with the resource names of the real site. What a
// package of the catalog links to elsewhere is replaced.
func TestShow(t *testing.T) {
	t.Parallel()
	site, base := newSite(t)
	orgs := action(t, base, "package_show?id=p-org").Result
	if len(orgs.Resources) != 1 || !strings.HasPrefix(orgs.Resources[0].URL, base+"/dataset/") {
		t.Errorf("organisations: %+v", orgs)
	}
	events := action(t, base, "package_show?id=hdx-hapi-conflict-event").Result.Resources
	if len(events) != 1 || events[0].Name != "Global Coordination & Context: Conflict Events (2024)" {
		t.Errorf("events: %+v", events)
	}
	counts := func() dataset { return action(t, base, "package_show?id=made-up-counts").Result.dataset }
	if r := counts().Resources[0]; r.ID != "r-idps" || r.Size != 5 || r.LastModified != "2026-11-20T09:31:02" {
		t.Errorf("counts: %+v", r)
	}
	if got := action(t, base, "package_show?id=nothing"); got.Success || got.Error.Message != "Not found" {
		t.Errorf("an unknown dataset: %+v", got)
	}
	site.Lock()
	site.Override = map[string][]byte{"idps.csv": []byte("changed")}
	site.Modified = map[string]string{"idps.csv": "2027-01-01T00:00:00"}
	site.Edit = func(pkg map[string]any) { pkg["name"] = strings.ToUpper(pkg["name"].(string)) }
	site.Unlock()
	if d := counts(); d.Name != "COUNTS" || d.Resources[0].Size != 7 ||
		d.Resources[0].LastModified != "2027-01-01T00:00:00" {
		t.Errorf("changed: %+v", d)
	}
}

// TestDownload: a link works once, parts are counted, and what was changed has another ETag.
func TestDownload(t *testing.T) {
	t.Parallel()
	site, base := newSite(t)
	link := action(t, base, "package_show?id=counts").Result.Resources[0].URL
	download := func(fields ...string) (int, http.Header, string, string) {
		t.Helper()
		status, header, _ := get(t, link)
		if status != http.StatusFound {
			t.Fatalf("%s: %d", link, status)
		}
		signed := base + header.Get("Location")
		status, header, body := get(t, signed, fields...)
		return status, header, body, signed
	}
	status, header, body, signed := download()
	if tag := header.Get("ETag"); status != 200 || body != "a\n1\n2" || tag == "" {
		t.Errorf("%d %q %q", status, tag, body)
	}
	if status, _, body := get(t, signed); status != 403 || !strings.Contains(body, "AccessDenied") {
		t.Errorf("a link that was used: %d %q", status, body)
	}
	if status, _, body, _ := download("Range", "bytes=2-2"); status != 206 || body != "1" {
		t.Errorf("a part: %d %q", status, body)
	}
	if status, _, _, _ := download("If-None-Match", header.Get("ETag")); status != 304 {
		t.Errorf("what the client has: %d", status)
	}
	site.Lock()
	if site.Sent["idps.csv"] != 6 || site.Requests["download"] != 3 || site.Requests["file"] != 4 {
		t.Errorf("sent %v, requests %v", site.Sent, site.Requests)
	}
	site.Override = map[string][]byte{"idps.csv": []byte("b")}
	site.Unlock()
	if _, changed, body, _ := download(); body != "b" || changed.Get("ETag") == header.Get("ETag") {
		t.Errorf("changed: %q %q", body, changed.Get("ETag"))
	}
	site.Lock()
	site.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusBadGateway)
		return r.URL.Path != "/api/3/action/package_show"
	}
	site.Unlock()
	if status, _, _ := get(t, link); status != http.StatusBadGateway {
		t.Errorf("a fault: %d", status)
	}
	if status, _, _ := get(t, base+"/nowhere"); status != http.StatusBadGateway {
		t.Errorf("a fault of another path: %d", status)
	}
}
