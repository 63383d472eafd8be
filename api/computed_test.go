//go:build !race

package api

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// TestComputedAnswers compares the headers of computed answers with those of the endpoint's list,
// and their bodies in each coding, rendered and from the cache, with the uncompressed ones. The
// judge proves what is in them.
func TestComputedAnswers(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{SurrogateKey: true, CacheTag: true}, 300)
	for _, m := range s.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := 0; i < len(endpoints); i += 4 {
			path, field := m.Prefix+endpoints[i].Path, endpoints[i].Fields[0].Name
			for _, format := range []string{"json", "csv"} {
				query := "?app_identifier=" + goodIdentifier + "&output_format=" + format
				list := s.Answer("GET", path+query, nil)
				checkComputed(t, s, path+"/facets"+query+"&of="+field, list)
				checkComputed(t, s, path+"/aggregate"+query+"&measures=count&limit=7&group_by="+field, list)
			}
		}
	}
}

func checkComputed(t *testing.T, s *Server, target string, list Answer) {
	t.Helper()
	plain := s.Answer("GET", target, nil)
	if list.Status != 200 || plain.Status != 200 {
		t.Fatalf("%s: %d %s", target, plain.Status, plain.Body)
	}
	for _, same := range []string{
		"X-Snapshot-Id", "Surrogate-Key", "Cache-Tag", "Cache-Control", "Vary", "Last-Modified", "Content-Type",
	} {
		if got, want := headerOf(plain, same), headerOf(list, same); got != want {
			t.Errorf("%s: %s is %q, of the list %q", target, same, got, want)
		}
	}
	tag := headerOf(plain, "ETag")
	if tag == headerOf(list, "ETag") || tag == "" {
		t.Errorf("%s: ETag %q is that of the list, or empty", target, tag)
	}
	for _, accept := range []string{"identity", "gzip", "zstd", "gzip, identity;q=0"} {
		header := []reply.HeaderField{{Name: "Accept-Encoding", Value: accept}}
		for range 3 { // the third is from the cache
			got := s.Answer("GET", target, header)
			again, weak := strings.CutPrefix(headerOf(got, "ETag"), "W/")
			if !bytes.Equal(plainBody(t, got), plain.Body) || again != tag || weak == (accept == "identity") {
				t.Fatalf("%s, %s: ETag %q, or another body", target, accept, headerOf(got, "ETag"))
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
	s := sampleServer(t, state.Options{}, 50)
	const path = "/api/v2/metadata/location/aggregate"
	const target = path + "?app_identifier=" + goodIdentifier
	const twice = exportedPath + "/aggregate?measures=sum:fatalities&hello=1&app_identifier=" + goodIdentifier
	for _, x := range []struct {
		method, target string
		status         int
		body           string
	}{
		{"GET", path, 403, "app_identifier"},
		{"POST", target, 405, reply.BodyMethodNotAllowed},
		{"GET", "/api/v2/metadata/agency-market/aggregate?output_format=geojson&app_identifier=" + goodIdentifier, 422, "csv"},
		{"GET", target + "&limit=x", 422, `"loc":["query","limit"]`},
		{"GET", twice, 422, "sum:fatalities"},
		{"GET", twice + "&output_format=csv", 422, "sum:fatalities"},
		{"HEAD", twice, 422, ""},
		{"GET", target + "&snapshot=no-such", 410, "snapshot"},
		{"GET", target + "&code__in=", 422, "code__in"},
		{"GET", path + "/?app_identifier=" + goodIdentifier, 307, ""},
	} {
		got := s.Answer(x.method, x.target, nil)
		if got.Status != x.status || !strings.Contains(string(got.Body), x.body) {
			t.Errorf("%s %s: %d %s", x.method, x.target, got.Status, got.Body)
		}
		if unknown := headerOf(got, "X-Unknown-Params"); (unknown == "hello") != strings.Contains(x.target, "hello") {
			t.Errorf("%s: unknown parameters %q", x.target, unknown)
		}
	}
	for path, near := range map[string]string{
		"/api/v2/metadata/location/agregate":                  path,
		"/api/v2/metadata/locations/aggregate":                path,
		"/hapi/api/v2/metadata/wfp-markets/aggregate":         "/hapi/api/v2/metadata/wfp-market/aggregate",
		"/api/v2/coordination-context/conflict-events/fcaets": exportedPath + "/facets",
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
	s := sampleServer(t, state.Options{}, 50)
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
	s := sampleServer(t, state.Options{}, 50)
	address := listen(t, s)
	ask(t, address, "GET", "/api/v2/metadata/location/aggregate?app_identifier="+goodIdentifier, nil)
	ask(t, address, "GET", "/hapi/api/v1/metadata/location/aggregate?app_identifier="+goodIdentifier, nil)
	series := readMetrics(t, listenAdmin(t, s))
	if n := requestsWith(series, `endpoint="location/aggregate"`); n != 2 {
		t.Errorf("%v requests were counted", n)
	}
}
