//go:build !race

package site_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/site"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

var linkedPattern = regexp.MustCompile(`(?s)<script type="application/ld\+json">(.*?)</script>`)

// TestLinkedData reads the description on each page of records: it has what search engines require,
// and its addresses answer.
func TestLinkedData(t *testing.T) {
	t.Parallel()
	const base = "https://data.example.org"
	s := apitest.Sample(t, state.Options{BaseURL: base}, 30)
	for _, m := range s.Lists.Routes.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			e := &endpoints[i]
			path := m.Prefix + "/browse/" + e.Name()
			var d site.LinkedDataset
			found := linkedPattern.FindStringSubmatch(pageOf(t, s, path))
			if found == nil {
				t.Fatalf("%s has no description", path)
			}
			if err := json.Unmarshal([]byte(found[1]), &d); err != nil {
				t.Fatalf("%s: %v\n%s", path, err, found[1])
			}
			if d.Context != "https://schema.org" || d.Type != "Dataset" || d.Name != e.Summary || d.URL != base+path ||
				len(d.Description) < 50 || len(d.Description) > 5000 || d.Version != apitest.SampleID ||
				d.DateModified != "2026-11-17" || len(d.License) != 1 ||
				d.License[0] != apitest.SampleDataset.LicenseURL ||
				len(d.Provider) != 1 || d.Provider[0].Name != apitest.SampleDataset.Publisher ||
				len(d.Sources) != 1 || d.Sources[0].Name != apitest.SampleDataset.Title {
				t.Errorf("%s: %+v", path, d)
			}
			if from, to, ok := strings.Cut(d.Period, "/"); e.Group() != "metadata" && (!ok || from == "" || to == "") {
				t.Errorf("%s: period %q", path, d.Period)
			}
			if e.Figure("population") != nil && len(d.Variables) == 0 {
				t.Errorf("%s: no variables", path)
			}
			checkDownloads(t, s, path, &d)
		}
	}
}

func checkDownloads(t *testing.T, s *api.Server, path string, d *site.LinkedDataset) {
	t.Helper()
	if len(d.Distributions) != 2 {
		t.Errorf("%s: %d ways to read the records", path, len(d.Distributions))
	}
	for _, x := range d.Distributions {
		u, err := url.Parse(x.URL)
		testkit.Must(t, err)
		query := u.Query()
		query.Set("limit", "1")
		got := s.Answer("GET", u.Path+"?"+query.Encode(), nil)
		if kind := apitest.Header(got, "Content-Type"); got.Status != 200 || !strings.HasPrefix(kind, x.Format) {
			t.Errorf("%s: %s is %d %s, not %s", path, x.URL, got.Status, kind, x.Format)
		}
	}
}

// TestLLMs: the text names each list with what may be added up, before any link, and its links lead
// to pages.
func TestLLMs(t *testing.T) {
	t.Parallel()
	const base = "https://data.example.org"
	s := apitest.Sample(t, state.Options{BaseURL: base}, 30)
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	for _, m := range s.Lists.Routes.Mounts {
		got := s.Answer("GET", m.Prefix+"/llms.txt", nil)
		text := string(got.Body)
		if got.Status != 200 || !strings.HasPrefix(text, "# Humanitarian") || !strings.Contains(text, "\n\n> ") {
			t.Errorf("%s%s: %d %.200s", m.Prefix, "/llms.txt", got.Status, text)
		}
		head, _, _ := strings.Cut(text, "\n## ")
		if strings.Contains(head, "](") {
			t.Errorf("%s%s has links before what must be known", m.Prefix, "/llms.txt")
		}
		for _, e := range contract.EndpointsIn(m.Names) {
			for _, rule := range append(e.Texts().SumRules(), e.Texts().AddingUp()) {
				if !strings.Contains(head, rule) {
					t.Errorf("%s%s does not say of %s: %s", m.Prefix, "/llms.txt", e.Name(), rule)
				}
			}
			if !strings.Contains(text, ": GET "+base+m.Prefix+e.Path+"\n") {
				t.Errorf("%s%s lacks %s", m.Prefix, "/llms.txt", e.Path)
			}
		}
		links := link.FindAllStringSubmatch(text, -1)
		if len(links) < 30 {
			t.Errorf("%s%s has %d links", m.Prefix, "/llms.txt", len(links))
		}
		for _, l := range links {
			path, ours := strings.CutPrefix(l[1], base)
			if got := s.Answer("GET", path, nil); !ours || got.Status != 200 {
				t.Errorf("%s%s leads to %s: %d", m.Prefix, "/llms.txt", l[1], got.Status)
			}
		}
	}
}

// TestSitemap: every address of the site map answers, and robots.txt names it.
func TestSitemap(t *testing.T) {
	t.Parallel()
	const base = "https://data.example.org"
	s := apitest.Sample(t, state.Options{BaseURL: base}, 30)
	robots := string(s.Answer("GET", "/robots.txt", nil).Body)
	if !strings.Contains(robots, "\nSitemap: "+base+"/sitemap.xml"+"\n") {
		t.Errorf("robots.txt: %s", robots)
	}
	listed := string(s.Answer("GET", "/sitemap.xml", nil).Body)
	places := regexp.MustCompile(`<loc>([^<]+)</loc>`).FindAllStringSubmatch(listed, -1)
	if len(places) != 6+2*len(contract.Endpoints) {
		t.Errorf("%d addresses", len(places))
	}
	for _, p := range places {
		path, ours := strings.CutPrefix(p[1], base)
		if got := s.Answer("GET", path, nil); !ours || got.Status != 200 {
			t.Errorf("the site map has %s: %d", p[1], got.Status)
		}
	}
}
