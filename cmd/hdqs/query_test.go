package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"hdqs/internal/testkit"
)

// batchRequest is a line of a batch.
type batchRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
}

// batchAnswer is the line that answers it.
type batchAnswer struct {
	Request json.RawMessage   `json:"request"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    *string           `json:"body"`
	BodyB64 []byte            `json:"body_b64"`
}

// TestQueryIsHTTP sends the same requests to a server and to `hdqs query --batch`: status, header
// and body must be equal, in the same order.
func TestQueryIsHTTP(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	s := serve(t, "--store", store)
	requests := variedRequests(t)
	var lines strings.Builder
	for _, r := range requests {
		r.Headers["Host"] = strings.TrimPrefix(s.base, "http://") // it is in the landing page
		text, err := json.Marshal(r)
		testkit.Must(t, err)
		fmt.Fprintf(&lines, "%s\n", text)
	}
	o := runWith(t, nil, lines.String(), "query", "--store", store, "--batch", "-")
	if o.code != 0 {
		t.Fatalf("exit code %d\n%s", o.code, o.stderr)
	}
	answers := json.NewDecoder(strings.NewReader(o.stdout))
	statuses, encoded := map[int]int{}, 0
	for _, r := range requests {
		var offline batchAnswer
		testkit.Must(t, answers.Decode(&offline))
		var fields []string
		for name, value := range r.Headers {
			if name != "Host" {
				fields = append(fields, name, value)
			}
		}
		online := ask(t, r.Method, s.base+r.Path, fields...)
		if difference := answerDifference(t, &online, &offline); difference != "" {
			t.Errorf("%s %s %v: %s", r.Method, r.Path, r.Headers, difference)
		}
		if got := decode[batchRequest](t, offline.Request); got.Path != r.Path || got.Method != r.Method {
			t.Errorf("the answer to %+v repeats %s", r, offline.Request)
		}
		statuses[online.status]++
		if offline.BodyB64 != nil {
			encoded++
		}
	}
	if answers.More() {
		t.Error("more answers than requests")
	}
	for _, status := range []int{200, 204, 307, 400, 403, 404, 405, 422} {
		if statuses[status] == 0 {
			t.Errorf("no request has status %d, so this compares none", status)
		}
	}
	if encoded == 0 {
		t.Error("no body came as body_b64")
	}
}

// answerDifference describes the first difference between an answer over HTTP and one of a batch.
func answerDifference(t *testing.T, online *answer, offline *batchAnswer) string {
	t.Helper()
	if online.status != offline.Status {
		return fmt.Sprintf("status %d over HTTP, %d in the batch", online.status, offline.Status)
	}
	header := http.Header{}
	for name, value := range offline.Headers {
		header.Set(name, value)
	}
	joined := http.Header{}
	for name, values := range online.header {
		joined.Set(name, strings.Join(values, ", "))
	}
	if difference := headerDifference(joined, header); difference != "" {
		return "over HTTP and in the batch: " + difference
	}
	body := offline.BodyB64
	if offline.Body != nil {
		if body != nil || !utf8.ValidString(*offline.Body) || online.header.Get("Content-Encoding") != "" {
			return "the body must be in body_b64 only"
		}
		body = []byte(*offline.Body)
	}
	if !bytes.Equal(online.body, body) {
		return fmt.Sprintf("bodies differ: %d bytes over HTTP, %d in the batch", len(online.body), len(body))
	}
	return ""
}

// variedRequests returns requests of every kind. The judge compares many more requests for lists
// over HTTP and in a batch.
func variedRequests(t *testing.T) (requests []batchRequest) {
	t.Helper()
	add := func(method, path string, headers map[string]string) {
		requests = append(requests, batchRequest{method, path, headers})
	}
	for i, e := range endpoints(t) {
		codings := []string{"", "identity", "gzip", "zstd", "gzip;q=0.5, zstd;q=0.9", "br", "*", "identity;q=0"}
		query := []string{"limit=7", "location_code=AFG&output_format=csv", "start_date=2024&offset=3", "limit=x"}[i%4]
		add("GET", with(e.Path+"?"+query), map[string]string{"Accept-Encoding": codings[i%len(codings)]})
	}
	const sector, field = "/api/v2/metadata/sector", "x-catalog-api-app-identifier"
	add("GET", sector, map[string]string{field: identifier})
	add("GET", sector, map[string]string{})
	add("GET", with(sector+"?end_date=2024-6"), map[string]string{})
	add("GET", with("/api/v2/coordination-context/conflict-events?start_date=2024-13"), map[string]string{})
	add("GET", with(sector+"/"), map[string]string{})
	add("OPTIONS", with(sector), map[string]string{})
	add("POST", with(sector), map[string]string{})
	for _, path := range []string{
		"/", "/docs", "/openapi.json", "/favicon.ico", "/api/v2/util/version",
		"/api/v2/encode_app_identifier?application=abcd&email=a@b.co", "/api/v2/encode_app_identifier?application=a",
		"/nothing", "/hapi", "/hapi/", "/hapi/docs", "/hapi/openapi.json", "/hapi/api/v1/util/version",
		"/hapi/api/v2/metadata/wfp-market", with("/hapi/api/v2/metadata/wfp-market?output_format=csv"),
		with("/hapi/api/v1/themes/3w?location_ref=1"), with("/hapi/api/v1/food/food-security?ipc_phase=3&limit=50"),
	} {
		add("GET", path, map[string]string{})
		add("HEAD", path, map[string]string{"Accept-Encoding": "gzip"})
	}
	return requests
}
