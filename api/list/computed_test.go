//go:build !race

package list_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

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
		if got, want := apitest.Header(plain, same), apitest.Header(list, same); got != want {
			t.Errorf("%s: %s is %q, of the list %q", target, same, got, want)
		}
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
