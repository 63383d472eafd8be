package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// batchRequest is a line of a batch.
type batchRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
}

// batchAnswer is what a batch says to it.
type batchAnswer struct {
	Request json.RawMessage   `json:"request"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    *string           `json:"body"`
	BodyB64 []byte            `json:"body_b64"`
}

// TestQueryIsHTTP asks the same of a server and of a batch: status, header and bytes must be the same, in the same order.
func TestQueryIsHTTP(t *testing.T) {
	store := newStore(t, newCatalog(t, 1))
	s := serve(t, "--store", store)
	requests := variedRequests(t)
	var lines strings.Builder
	for _, r := range requests {
		r.Headers["Host"] = strings.TrimPrefix(s.base, "http://") // the landing page names the host that was asked
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", text)
	}
	o := runWith(t, nil, lines.String(), "query", "--store", store, "--batch", "-")
	if o.code != 0 {
		t.Fatalf("exit code %d\n%s", o.code, o.errors)
	}
	answers := json.NewDecoder(strings.NewReader(o.out))
	statuses, encoded := map[int]int{}, 0
	for _, r := range requests {
		var offline batchAnswer
		if err := answers.Decode(&offline); err != nil {
			t.Fatal(err)
		}
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
			t.Errorf("no request had status %d, so it was not compared", status)
		}
	}
	if encoded == 0 {
		t.Error("no body came as body_b64")
	}
}

// answerDifference tells the first difference of an answer over HTTP and one without.
func answerDifference(t *testing.T, online *answer, offline *batchAnswer) string {
	t.Helper()
	if online.status != offline.Status {
		return fmt.Sprintf("status %d over HTTP, %d without", online.status, offline.Status)
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
		return "over HTTP and without, " + difference
	}
	body := offline.BodyB64
	if offline.Body != nil {
		if body != nil || !utf8.ValidString(*offline.Body) || online.header.Get("Content-Encoding") != "" {
			return "a body that should have come as body_b64 alone"
		}
		body = []byte(*offline.Body)
	}
	if !bytes.Equal(online.body, body) {
		return fmt.Sprintf("%d bytes over HTTP, %d without, or other ones", len(online.body), len(body))
	}
	return ""
}

// variedRequests are requests of every kind, the same ones in each run.
func variedRequests(t *testing.T) []batchRequest {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	parameters := []string{
		"location_code=AFG", "location_code=a%25", "location_name=an", "location_name=%C3%B4", "admin1_name=unspecified", "admin2_code=%25XXX",
		"admin_level=1", "admin_level=2", "admin_level=9", "has_hrp=true", "in_gho=f", "start_date=2024", "end_date=2024-06-30", "end_date=2024-6",
		"limit=7", "limit=0", "limit=x", "offset=3", "offset=99999999", "output_format=csv", "output_format=xml", "event_type=demonstration", "gender=f",
		"population_min=100", "price_max=2.5", "price_max=nan", "sector_code=%5C", "name=%00", "code=" + strings.Repeat("x", 129), "=&&&",
	}
	codings := []string{"", "identity", "gzip", "zstd", "gzip;q=0.5, zstd;q=0.9", "br", "*", "identity;q=0"}
	methods := []string{"GET", "GET", "GET", "GET", "GET", "HEAD", "OPTIONS", "POST"}
	count := 600
	if testing.Short() {
		count = 200
	}
	var requests []batchRequest
	all := endpoints(t)
	for range count {
		path := all[random.IntN(len(all))].Path
		switch random.IntN(20) {
		case 0:
			path += "/"
		case 1:
			path += "x"
		}
		var query []string
		for range random.IntN(4) {
			query = append(query, parameters[random.IntN(len(parameters))])
		}
		headers := map[string]string{}
		switch random.IntN(8) {
		case 0:
		case 1:
			headers["x-catalog-api-app-identifier"] = identifier
		default:
			query = append(query, "app_identifier="+identifier)
		}
		if coding := codings[random.IntN(len(codings))]; coding != "" {
			headers["Accept-Encoding"] = coding
		}
		requests = append(requests, batchRequest{methods[random.IntN(len(methods))], path + "?" + strings.Join(query, "&"), headers})
	}
	for _, path := range []string{
		"/", "/docs", "/openapi.json", "/favicon.ico", "/api/v2/util/version", "/api/v2/encode_app_identifier?application=abcd&email=a@b.co",
		"/api/v2/encode_app_identifier?application=a", "/nothing",
	} {
		requests = append(requests, batchRequest{"GET", path, map[string]string{}}, batchRequest{"HEAD", path, map[string]string{"Accept-Encoding": "gzip"}})
	}
	return requests
}

// TestQueryOne asks single questions as a person does.
func TestQueryOne(t *testing.T) {
	const sectors = "/api/v2/metadata/sector?code=shl"
	store := newStore(t, newCatalog(t, 1))
	o := wants(t, 0, "query", "--store", store, with(sectors))
	const want = `{"data":[{"code":"SHL","name":"`
	if !strings.HasPrefix(o.out, want) || o.errors != "200 OK\n" {
		t.Errorf("stdout %q, stderr %q; want %q..., 200 OK", o.out, o.errors, want)
	}
	if embedded := wants(t, 0, "query", with(sectors)); !strings.HasPrefix(embedded.out, want) {
		t.Errorf("the embedded sample answers %q", embedded.out)
	}
	whole := wants(t, 0, "query", "-i", "-H", "X-CATALOG-API-APP-IDENTIFIER: "+identifier, "--store", store, sectors)
	head, body, _ := strings.Cut(whole.out, "\r\n\r\n")
	if body != o.out || !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") || !strings.Contains(head, "\r\nX-Total-Count: 1\r\n") {
		t.Errorf("with -i: %q", whole.out)
	}
	for _, args := range [][]string{{sectors}, {"/nothing"}, {with("/api/v2/metadata/sector?limit=x")}} {
		if refused := wants(t, 1, append([]string{"query", "--store", store}, args...)...); !strings.HasPrefix(refused.errors, "4") {
			t.Errorf("query %q: stderr %q, want a status", args, refused.errors)
		}
	}
	// A batch may be a file of plain lines, too.
	file := filepath.Join(t.TempDir(), "requests")
	writeFile(t, file, []byte(with(sectors)+"\r\n\n/nothing\n"))
	lines := strings.Split(strings.TrimSpace(wants(t, 0, "query", "--store", store, "--batch", file).out), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"status":200`) || !strings.Contains(lines[1], `"status":404`) {
		t.Errorf("batch of plain lines: %q", lines)
	}
	wants(t, 2, "query", "--store", store)
	wants(t, 2, "query", "--store", store, "--batch", file, "/too")
	wants(t, 1, "query", "--store", filepath.Join(store, "nothing"), "/")
}
