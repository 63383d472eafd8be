package site_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/site"
	"hdqs/api/state"
	"hdqs/internal/browser"
	"hdqs/internal/testkit"
)

// hostilePaths are the addresses of pages: every kind of page, and hostile texts in parameters.
func hostilePaths(s *api.Server) []string {
	text := func(i int) string { return url.QueryEscape(apitest.HostileTexts[i%len(apitest.HostileTexts)]) }
	paths := []string{"/status", "/changelog", "/identifier"}
	for n, m := range s.Lists.Routes.Mounts {
		paths = append(paths, m.Prefix+"/", m.Prefix+"/docs", m.Prefix+"/docs?q="+text(n), m.Prefix+"/status",
			m.Prefix+"/country", m.Prefix+"/country/AFG",
			m.Prefix+"/country/"+url.PathEscape(apitest.HostileTexts[n]),
			m.Prefix+"/search?q="+text(n), m.Prefix+"/search?q=top", m.Prefix+"/search?q=a",
			m.Prefix+"/browse/"+text(n+9))
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			e := &endpoints[i]
			page := m.Prefix + "/browse/" + e.Name()
			if m.Prefix != "" {
				paths = append(paths, page+"?row=1&by="+text(i))
				continue
			}
			filter := "name"
			for _, p := range m.Lists[contract.PlanKey{Endpoint: e, Kind: contract.Rows}].List().Params {
				if p.Type == contract.String && len(p.Columns) > 0 {
					filter = p.Name
				}
			}
			paths = append(paths, "/docs/"+e.Name(), page+"?row=1&by=location_code&measure=records",
				page+"?"+filter+"="+text(i)+"&by=sector_name&"+text(i+5)+"="+text(i+6),
				page+"?admin_level="+text(i+1)+"&fields="+text(i+2)+"&limit="+text(i+3))
		}
	}
	return paths
}

// TestBrowserHostileTexts opens every kind of page in Chromium, with hostile texts in all data and
// in parameters: first under the policies of the pages, which must have nothing to report, then
// without them, when nothing but care keeps texts from running. Nothing runs, no element or
// attribute is made of a text, and every link is one of the web.
func TestBrowserHostileTexts(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	s := apitest.Hostile(t)
	paths := hostilePaths(s)
	for _, protected := range []bool{true, false} {
		t.Run(fmt.Sprintf("protected %v", protected), func(t *testing.T) { checkHostile(t, s, paths, protected) })
	}
}

func checkHostile(t *testing.T, s *api.Server, paths []string, protected bool) {
	t.Helper()
	results, reports := openHostile(t, s, append(slices.Clone(paths), "/control"), protected)
	for _, r := range results[:len(results)-1] {
		for _, text := range r.Found {
			t.Errorf("protected %v, %s: %s", protected, r.Path, text)
		}
	}
	// The last page has a script that must run without a policy, and must be reported with one.
	control := strings.Join(results[len(results)-1].Found, "\n")
	if ran := strings.Contains(control, "ran: control"); ran == protected {
		t.Errorf("protected %v: the page that is hostile on purpose: %s", protected, control)
	}
	others := slices.DeleteFunc(reports, func(text string) bool { return strings.Contains(text, "/control") })
	if len(others) > 0 {
		t.Errorf("%d reports of violated policies, such as %s", len(others), others[0])
	}
}

type hostileResult struct {
	Path  string   `json:"path"`
	Found []string `json:"found"`
}

// openHostile opens pages in Chromium, one after the other, and returns what it found there and
// what was reported.
func openHostile(
	t *testing.T, s *api.Server, paths []string, protected bool,
) (results []hostileResult, reports []string) {
	t.Helper()
	plan := testkit.Value(json.Marshal(paths))(t)
	harness := bytes.Replace(testkit.ReadFile(t, filepath.Join("testdata", "browser", "hostile.html")),
		[]byte("PLAN"), bytes.ReplaceAll(plan, []byte(`\`), []byte(`\\`)), 1)
	reported := make(chan struct{})
	var lock sync.Mutex
	result := browser.Posted(t, "/harness", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/harness":
			w.Header().Set("Content-Type", reply.HtmlType)
			_, _ = w.Write(harness)
		case "/report":
			text, _ := io.ReadAll(r.Body)
			lock.Lock()
			defer lock.Unlock()
			if reports = append(reports, string(text)); bytes.Contains(text, []byte("/control")) {
				close(reported)
			}
		case "/control":
			w.Header().Set("Content-Type", reply.HtmlType)
			setPolicy(w, site.PagePolicy, protected)
			_, _ = io.WriteString(w, "<!DOCTYPE html><title>Control</title><script>top.ran='control'</script>")
		default:
			answer := s.Answer("GET", r.URL.RequestURI(), []reply.HeaderField{
				{Name: "Host", Value: "127.0.0.1"}, apitest.BrowserAccept[0],
			})
			if answer.Status >= 500 {
				t.Errorf("%s: %d", r.URL.RequestURI(), answer.Status)
			}
			w.Header().Set("Content-Type", apitest.Header(answer, "Content-Type"))
			setPolicy(w, apitest.Header(answer, "Content-Security-Policy"), protected)
			w.WriteHeader(answer.Status)
			_, _ = w.Write(answer.Body)
		}
	})
	if err := json.Unmarshal([]byte(result), &results); err != nil || len(results) != len(paths) {
		t.Fatalf("%d results of %d: %v in %.300s", len(results), len(paths), err, result)
	}
	if protected {
		select {
		case <-reported: // and with it those before it
		case <-time.After(testkit.Patience):
			t.Error("the script of the page that is hostile on purpose was not reported")
		}
	}
	lock.Lock()
	defer lock.Unlock()
	return results, reports
}

// setPolicy sends the policy of a page with an address for reports, and lets the test have the page
// in a frame.
func setPolicy(w http.ResponseWriter, policy string, protected bool) {
	if protected {
		policy = strings.Replace(policy, "ancestors 'none'", "ancestors 'self'", 1)
		w.Header().Set("Content-Security-Policy", policy+"; report-uri /report")
	}
}

// TestHostileHost checks that the landing page escapes the caller's Host.
func TestHostileHost(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	got := s.Answer("GET", "/", apitest.Fields("Host", `"><script>alert(1)</script>`))
	testkit.Lacks(t, got.Body, "<script", "the host is not escaped in the page")
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

// TestPagesOfSnapshot: a page says of which snapshot it is, also when another one is served since.
func TestPagesOfSnapshot(t *testing.T) {
	t.Parallel()
	first, second := apitest.TwoSnapshots(t, 30)
	s := apitest.Serve(t, state.Options{KeepPrevious: testkit.Patience, SurrogateKey: true}, first)
	apitest.Swap(t, s, state.Release{Snapshot: second, PublishedAt: apitest.PublishedTime})
	for _, path := range []string{
		"/browse/national-risk", "/country/AFG", "/compare", "/topics", "/embed/national-risk",
		"/figure/national-risk.csv", "/fr/country/AFG",
	} {
		for query, id := range map[string]string{"": "second", "?snapshot=first": "first"} {
			a := apitest.Browse(s, path+query)
			got, keys := apitest.Header(a, "X-Snapshot-Id"), apitest.Header(a, "Surrogate-Key")
			if a.Status != 200 || got != id || !strings.HasSuffix(keys, " snap-"+id) {
				t.Errorf("%s%s: %d of %s, keys %q; want %s", path, query, a.Status, got, keys, id)
			}
		}
	}
}
