//go:build !race

package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// numbered are records of a source for tests: the numbers of the rows that pass, and texts
// that need care.
type numbered struct{ from, n, total int }

var numberedTexts = []string{"", "plain", `"quoted", \ and`, "line\r\nend", "\x01\u2028<é>", "null"}

func (n numbered) Fields() []contract.Field {
	return []contract.Field{
		{Name: "number", Type: contract.Integer}, {Name: "text", Type: contract.String, Nullable: true},
	}
}
func (n numbered) Len() int   { return n.n }
func (n numbered) Total() int { return n.total }
func (n numbered) Header() []reply.HeaderField {
	return []reply.HeaderField{{Name: "X-Own", Value: strconv.Itoa(n.from)}}
}

func (n numbered) AppendCell(dst []byte, record, field int, csv bool) []byte {
	number := n.from + record
	switch {
	case field == 0:
		return strconv.AppendInt(dst, int64(number), 10)
	case number%7 == 6:
		return render.AppendNull(dst, csv)
	}
	return render.AppendText(dst, numberedTexts[number%len(numberedTexts)], csv)
}

// lines are the records as texts; null is "<null>".
func (n numbered) lines() (lines [][]string) {
	for number := n.from; number < n.from+n.n; number++ {
		text := numberedTexts[number%len(numberedTexts)]
		if number%7 == 6 {
			text = "<null>"
		}
		lines = append(lines, []string{strconv.Itoa(number), text})
	}
	return lines
}

// readNumbered reads an answer with the standard library.
func readNumbered(t *testing.T, body []byte, format string) (lines [][]string) {
	t.Helper()
	if format == "csv" && len(body) == 0 { // of HAPI names; TestNoRecordsAsCSV
		return nil
	}
	if format == "csv" {
		read, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
		if err != nil || len(read) == 0 || !slices.Equal(read[0], []string{"number", "text"}) {
			t.Fatalf("%v: %.200s", err, body)
		}
		for _, line := range read[1:] {
			if number, _ := strconv.Atoi(line[0]); number%7 == 6 && line[1] == "" {
				line[1] = "<null>"
			}
			line[1] = strings.ReplaceAll(line[1], "\n", "\r\n") // the reader drops the CR
		}
		return read[1:]
	}
	var answer struct {
		Data []struct {
			Number int     `json:"number"`
			Text   *string `json:"text"`
		} `json:"data"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil || answer.Data == nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	for _, d := range answer.Data {
		text := "<null>"
		if d.Text != nil {
			text = *d.Text
		}
		lines = append(lines, []string{strconv.Itoa(d.Number), text})
	}
	return lines
}

// computingServer has a record source that numbers the rows that pass. It refuses a limit of 13.
func computingServer(t *testing.T, o state.Options, rows int) (s *Server, computed *atomic.Int64) {
	t.Helper()
	computed = new(atomic.Int64)
	o.Logger, o.SkipWarmUp = slog.New(slog.DiscardHandler), true
	s = newServer(o, []*list.RecordSource{{
		Kind: contract.Aggregate, Version: '1',
		Compute: func(_ *list.Lists, a *list.Reply) (list.Records, error) {
			computed.Add(1)
			if err := a.Find(a.List); err != nil {
				return nil, err
			}
			if a.Request.Limit == 13 {
				issue := contract.Issue{Type: "value_error", Param: "limit", Text: "not 13"}
				return nil, &contract.Invalid{Issues: []contract.Issue{issue}}
			}
			return numbered{int(a.Request.Offset), a.Page.Rows, a.Page.Total}, nil
		},
	}})
	if err := s.Swap(state.Release{Snapshot: sampleSnapshot(t, rows), PublishedAt: publishedTime}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if old := s.Current.Swap(nil); old != nil {
			old.Release(s.Log)
		}
	})
	return s, computed
}

// TestComputedRecords compares computed answers with the standard library's reading, and their
// headers with those of the endpoint's list, for every endpoint, path, format and coding.
func TestComputedRecords(t *testing.T) {
	t.Parallel()
	s, _ := computingServer(t, state.Options{SurrogateKey: true, CacheTag: true}, 300)
	asked := 0
	for _, m := range s.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			for _, path := range contract.NewPlan(&endpoints[i], contract.Aggregate).Paths() {
				target := m.Prefix + path + "?app_identifier=" + goodIdentifier
				for _, page := range []string{
					"", "&limit=0", "&limit=20&offset=5", "&offset=100000", someFilter(&endpoints[i]),
				} {
					for _, format := range []string{"json", "csv"} {
						target := target + "&output_format=" + format + page
						checkComputed(t, s, target, format)
						asked++
					}
				}
			}
		}
	}
	if asked < 500 {
		t.Fatalf("only %d requests", asked)
	}
}

func checkComputed(t *testing.T, s *Server, target, format string) {
	t.Helper()
	list := s.Answer("GET", strings.Replace(target, "/aggregate?", "?", 1), nil)
	plain := s.Answer("GET", target, nil)
	if list.Status != 200 || plain.Status != 200 {
		t.Fatalf("%s: %d %s", target, plain.Status, plain.Body)
	}
	for _, same := range []string{
		"X-Total-Count", "X-Result-Count", "X-Snapshot-Id", "Link", "Surrogate-Key", "Cache-Tag", "Cache-Control",
		"Vary", "Last-Modified", "Content-Type", "X-Unknown-Params",
	} {
		got, _ := plain.field(same)
		if want, _ := list.field(same); got != want {
			t.Errorf("%s: %s is %q, of the list %q", target, same, got, want)
		}
	}
	tag, _ := plain.field("ETag")
	if listTag, _ := list.field("ETag"); tag == listTag || tag == "" {
		t.Errorf("%s: ETag %q, of the list %q", target, tag, listTag)
	}
	name, _ := plain.field("Content-Disposition")
	if format == "csv" != strings.Contains(name, "-aggregate_") {
		t.Errorf("%s: %q", target, name)
	}
	own, _ := plain.field("X-Own")
	n := numbered{}
	for _, f := range []struct {
		name string
		to   *int
	}{{"X-Own", &n.from}, {"X-Result-Count", &n.n}} {
		text, _ := plain.field(f.name)
		var err error
		if *f.to, err = strconv.Atoi(text); err != nil {
			t.Fatal(target, err)
		}
	}
	if got := readNumbered(t, plain.Body, format); !slices.EqualFunc(got, n.lines(), slices.Equal) {
		t.Errorf("%s: %.300s", target, plain.Body)
	}
	for _, accept := range []string{"identity", "gzip", "zstd", "gzip, identity;q=0"} {
		header := []reply.HeaderField{{Name: "Accept-Encoding", Value: accept}}
		for range 3 { // the third is from the cache
			got := s.Answer("GET", target, header)
			coding, _ := got.field("Content-Encoding")
			body, err := decodeBody(coding, got.Body)
			again, weak := strings.CutPrefix(headerOf(got, "ETag"), "W/")
			if weak == (accept == "identity") {
				t.Errorf("%s, %s: a weak tag: %v", target, accept, weak)
			}
			againOwn, _ := got.field("X-Own")
			if err != nil || !bytes.Equal(body, plain.Body) || again != tag || againOwn != own {
				t.Fatalf("%s, %s: %v, ETag %q, X-Own %q, %.100s", target, accept, err, again, againOwn, body)
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

// TestComputedFaults checks that computed answers have the errors of lists, and that an error that
// is found while they are computed is the caller's.
func TestComputedFaults(t *testing.T) {
	t.Parallel()
	s, computed := computingServer(t, state.Options{}, 50)
	const path = "/api/v2/metadata/location/aggregate"
	const target = path + "?app_identifier=" + goodIdentifier
	for _, x := range []struct {
		method, target string
		status         int
		body           string
	}{
		{"GET", path, 403, "app_identifier"},
		{"POST", target, 405, reply.BodyMethodNotAllowed},
		{"GET", "/api/v2/metadata/agency-market/aggregate?output_format=geojson&app_identifier=" + goodIdentifier, 422, "csv"},
		{"GET", target + "&limit=x", 422, `"loc":["query","limit"]`},
		{"GET", target + "&limit=13&hello=1", 422, "not 13"},
		{"GET", target + "&limit=13&output_format=csv", 422, "not 13"},
		{"GET", target + "&snapshot=no-such", 410, "snapshot"},
		{"GET", target + "&code__in=", 422, "code__in"},
		{"GET", path + "/?app_identifier=" + goodIdentifier, 307, ""},
	} {
		got := s.Answer(x.method, x.target, nil)
		if got.Status != x.status || !strings.Contains(string(got.Body), x.body) {
			t.Errorf("%s %s: %d %s", x.method, x.target, got.Status, got.Body)
		}
		unknown, _ := got.field("X-Unknown-Params")
		if want := map[bool]string{true: "hello"}[strings.Contains(x.target, "hello")]; unknown != want {
			t.Errorf("%s: unknown parameters %q", x.target, unknown)
		}
	}
	before := computed.Load()
	if got := s.Answer("HEAD", target+"&limit=13", nil); got.Status != 422 || computed.Load() != before+1 {
		t.Errorf("HEAD: %d", got.Status)
	}
	for path, near := range map[string]string{
		"/api/v2/metadata/location/agregate":                  path,
		"/api/v2/metadata/locations/aggregate":                path,
		"/api/v2/metadata/location/facets":                    "/api/v2/metadata/location",
		"/hapi/api/v2/metadata/wfp-markets/aggregate":         "/hapi/api/v2/metadata/wfp-market/aggregate",
		"/api/v2/coordination-context/conflict-events/fcaets": "/api/v2/coordination-context/conflict-events",
	} {
		got := s.Answer("GET", path+"?app_identifier="+goodIdentifier, nil)
		link, _ := got.field("Link")
		if want := "<" + near + `>; rel="related"`; got.Status != 404 || link != want {
			t.Errorf("%s: %d %q, want %q", path, got.Status, link, want)
		}
	}
}

// TestComputedRefused checks that a damaged table's computed answers are refused, the cached ones
// too.
func TestComputedRefused(t *testing.T) {
	t.Parallel()
	s, _ := computingServer(t, state.Options{}, 50)
	const target = "/api/v2/metadata/location/aggregate?app_identifier=" + goodIdentifier
	for range 3 {
		if got := s.Answer("GET", target, nil); got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	list := s.Current.Load().Bound.Lists["/api/v2/metadata/location"]
	s.Inspector.Quarantine(list.Version, list.Segment, state.ByWrite, fmt.Errorf("a test"))
	if got := s.Answer("GET", target, nil); got.Status != 503 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestComputedMetrics checks that computed answers are counted under a name of their own.
func TestComputedMetrics(t *testing.T) {
	t.Parallel()
	s, _ := computingServer(t, state.Options{}, 50)
	address := listen(t, s)
	ask(t, address, "GET", "/api/v2/metadata/location/aggregate?app_identifier="+goodIdentifier, nil)
	ask(t, address, "GET", "/hapi/api/v1/metadata/location/aggregate?app_identifier="+goodIdentifier, nil)
	series := readMetrics(t, listenAdmin(t, s))
	if n := requestsWith(series, `endpoint="location/aggregate"`); n != 2 {
		t.Errorf("%v requests were counted", n)
	}
}
