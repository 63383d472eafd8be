package site_test

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// TestHostileHost checks that the landing page escapes the caller's Host.
func TestHostileHost(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	got := s.Answer("GET", "/", apitest.Fields("Host", `"><script>alert(1)</script>`))
	if strings.Contains(string(got.Body), "<script") {
		t.Errorf("the host is not escaped in the page: %s", got.Body)
	}
	if policy, _ := apitest.Field(got, "Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	if len(got.Body) > 60<<10 {
		t.Errorf("the landing page has %d bytes", len(got.Body))
	}
}

// TestLandingAndHosts checks that a landing page that may be cached does not depend on the Host of
// the request.
func TestLandingAndHosts(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "https://data.example.org/hdqs"} {
		s := apitest.Sample(t, state.Options{BaseURL: base}, 3)
		ours := s.Answer("GET", "/", apitest.Fields("Host", "data.example.org"))
		other := s.Answer("GET", "/", apitest.Fields("Host", "evil.example"))
		control, _ := apitest.Field(ours, "Cache-Control")
		kept := control != reply.NoStore
		if kept != (base != "") || kept && (control != (&reply.Freshness{}).Field() || !bytes.Equal(ours.Body,
			other.Body)) {
			t.Errorf("base URL %q: Cache-Control %q, the same for another host: %t", base, control,
				bytes.Equal(ours.Body, other.Body))
		}
		if want := cmp.Or(base, "http://data.example.org") + "/api/v2/"; !bytes.Contains(ours.Body, []byte(want)) {
			t.Errorf("base URL %q: the page has no link to %s", base, want)
		}
		held := apitest.Fields("Host", "data.example.org", "If-None-Match", apitest.Header(ours, "ETag"))
		if got := s.Answer("GET", "/", held); got.Status != 304 {
			t.Errorf("base URL %q, revalidated: %d", base, got.Status)
		} else if again, _ := apitest.Field(got, "Cache-Control"); again != control {
			t.Errorf("base URL %q, revalidated: Cache-Control %q", base, again)
		}
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
