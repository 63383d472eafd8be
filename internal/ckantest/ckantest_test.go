package ckantest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"hdqs/internal/ckantest"
	"hdqs/internal/testkit"
)

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

// TestDownload: a link works once, parts are counted, and what was changed has another ETag.
func TestDownload(t *testing.T) {
	t.Parallel()
	site := &ckantest.Site{Files: fstest.MapFS{
		"catalog.json": {Data: []byte(`{"resources": [{"role": "idps", "path": "idps.csv", "dataset": "counts"}]}`)},
		"idps.csv":     {Data: []byte("a\n1\n2")},
	}}
	server := httptest.NewServer(site)
	defer server.Close()
	base := server.URL
	var shown struct {
		Result struct{ Resources []struct{ URL string } }
	}
	_, _, text := get(t, base+"/api/3/action/package_show?id=counts")
	testkit.Must(t, json.Unmarshal([]byte(text), &shown))
	link := shown.Result.Resources[0].URL
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
