//go:build !race

package site_test

import (
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/site"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// pageOf asks for a page and fails unless it is one.
func pageOf(t *testing.T, s *api.Server, target string) string {
	t.Helper()
	got := s.Answer("GET", target, apitest.Fields("Host", "data.example.org"))
	if kind, _ := apitest.Field(got, "Content-Type"); got.Status != 200 || kind != reply.HtmlType {
		t.Fatalf("%s: status %d, %s", target, got.Status, kind)
	}
	return string(got.Body)
}

// TestDocsPages checks the page of every endpoint under both sets of names: all parameters and
// fields with their meanings, and an example whose answer is what the example call returns.
func TestDocsPages(t *testing.T) {
	t.Parallel()
	for _, names := range []contract.NameSet{contract.ContractNames, contract.HAPINames} {
		s := apitest.Sample(t, state.Options{Names: names, BaseURL: "https://data.example.org"}, 30)
		for _, m := range s.Lists.Routes.Mounts {
			endpoints := contract.EndpointsIn(m.Names)
			for i := range endpoints {
				checkDocsPage(t, s, m, &endpoints[i])
			}
		}
	}
}

var (
	callText   = regexp.MustCompile(`<pre class="call"><code>curl '([^']+)'</code></pre>`)
	answerText = regexp.MustCompile(`(?s)aria-label="Example answer"><code>(.*?)</code></pre>`)
)

func checkDocsPage(t *testing.T, s *api.Server, m *list.Mount, e *contract.Endpoint) {
	t.Helper()
	target := m.Prefix + "/docs/" + e.Name()
	page := pageOf(t, s, target)
	text := html.UnescapeString(page)
	for _, p := range contract.NewPlan(e, contract.Rows).Params {
		if p.List {
			continue
		}
		if !strings.Contains(page, `id="parameter-`+p.Name+`"`) || !strings.Contains(text, e.Texts().About(&p)) {
			t.Errorf("%s lacks the parameter %s", target, p.Name)
		}
	}
	for _, f := range e.Fields {
		if !strings.Contains(page, `id="field-`+f.Name+`"`) || !strings.Contains(text, e.Texts().Meaning(f.Name)) {
			t.Errorf("%s lacks the field %s", target, f.Name)
		}
	}
	call, answer := callText.FindStringSubmatch(page), answerText.FindStringSubmatch(page)
	if call == nil || answer == nil {
		t.Errorf("%s has no example", target)
		return
	}
	path, ours := strings.CutPrefix(html.UnescapeString(call[1]), "https://data.example.org"+m.Prefix+e.Path+"?")
	if !ours {
		t.Errorf("%s: the example call is %s", target, call[1])
		return
	}
	got := s.Answer("GET", m.Prefix+e.Path+"?"+path, nil)
	var want, shown struct{ Data []map[string]any }
	err := errors.Join(json.Unmarshal(got.Body, &want), json.Unmarshal([]byte(html.UnescapeString(answer[1])), &shown))
	one, _ := json.Marshal(want)
	other, _ := json.Marshal(shown)
	if err != nil || len(shown.Data) == 0 || string(one) != string(other) {
		t.Errorf("%s: %v: the example shows %s, the call answers %d %s", target, err, other, got.Status, one)
	}
}

// TestDocsWithoutData checks the pages before a snapshot is served.
func TestDocsWithoutData(t *testing.T) {
	t.Parallel()
	empty := api.New(state.Options{})
	if page := pageOf(t, empty, "/docs/sector"); !strings.Contains(page, "No data is loaded yet.") {
		t.Error("the page without a snapshot does not say that no data is loaded")
	}
	testkit.Equal(t, empty.Answer("GET", "/browse/x", apitest.BrowserAccept).Status, 404, "an unknown page")
}

// TestDocsExampleIsMadeOnce requests a page twice: its example is made once for each snapshot.
func TestDocsExampleIsMadeOnce(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: "https://data.example.org"}, 30)
	made := func() (n int) {
		s.State.Snapshots.Current.Load().Kept.Range(func(_, _ any) bool { n++; return true })
		return n
	}
	first := pageOf(t, s, "/docs/conflict-events")
	if again := pageOf(t, s, "/docs/conflict-events"); again != first || made() != 1 {
		t.Errorf("the page differs, or %d examples were made", made())
	}
	apitest.Swap(t, s, state.Release{Snapshot: apitest.SampleSnapshot(t, 1)})
	if after := pageOf(t, s, "/docs/conflict-events"); after == first || made() != 1 {
		t.Errorf("the page of another snapshot is the same, or %d examples were made", made())
	}
}

// TestDocsSearch checks what a search finds, and in which order.
func TestDocsSearch(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	for _, c := range []struct {
		target, first string // the first link of the results
		parts         []string
	}{
		{
			"/docs?q=classification_phase", "/docs/food-security",
			[]string{"#parameter-classification_phase", "1 endpoint."},
		},
		{"/docs?q=IPC_Phase", "/docs/food-security", []string{"#parameter-classification_phase"}},
		{"/hapi/docs?q=ipc_phase", "/hapi/docs/food-security", []string{"#parameter-ipc_phase"}},
		{"/docs?q=wfp-market", "/docs/agency-market", nil},
		{"/docs?q=idps", "/docs/idps", nil},
		{"/docs?q=fatalities", "/docs/conflict-events", []string{"#field-fatalities"}},
		{"/docs?q=dollars+plan", "/docs/funding", []string{"#field-requirements_usd"}},
		{"/docs?q=nothing-has-this", "", []string{"Nothing has all the words “nothing-has-this”."}},
		{"/docs?q=%3Cb%3E%22", "", []string{"“&lt;b&gt;&#34;”", `value="&lt;b&gt;&#34;"`}},
		{"/docs?q=%ff", "", []string{"“\ufffd”"}},
		{"/docs?q=" + strings.Repeat("x+", 60), "", []string{"longer than 100 bytes"}},
	} {
		page := pageOf(t, s, c.target)
		first := ""
		if found := regexp.MustCompile(`<h2><a href="([^"]+)">`).FindStringSubmatch(page); found != nil {
			first = found[1]
		}
		testkit.Equal(t, first, c.first, "%s: the first result", c.target)
		for _, part := range c.parts {
			testkit.Contains(t, page, part, "%s", c.target)
		}
	}
	index := pageOf(t, s, "/docs")
	for _, target := range []string{"/docs?q=", "/docs?q=+", "/docs?x=1", "/docs?q=%zz", "/redoc"} {
		testkit.Equal(t, pageOf(t, s, target), index, "%s is not the index", target)
	}
}

// TestDocsIndex checks that links to the anchors that the reference had as one page still work.
func TestDocsIndex(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	for _, m := range s.Lists.Routes.Mounts {
		page := pageOf(t, s, m.Prefix+"/docs")
		for _, id := range []string{"rules", "links", "browsers", "contents"} {
			testkit.Contains(t, page, `id="`+id+`"`, "%s/docs has no %s", m.Prefix, id)
		}
		for _, e := range contract.EndpointsIn(m.Names) {
			link := `<div id="` + e.Name() + "\">\n<dt><a href=\"" + m.Prefix + "/docs/" + e.Name() + `"`
			testkit.Contains(t, page, link, "%s/docs has no entry for %s", m.Prefix, e.Name())
		}
	}
}

// TestLinksOfPages checks that every link to a page or to a part of one has a target, and that ids
// differ. The checker of the W3C reads the pages themselves (TestBrowserHTML).
func TestLinksOfPages(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{Identifier: state.IgnoreIdentifier}, 30)
	targets := []string{"/docs?q=location", "/docs?q=nowhere"}
	for _, m := range s.Lists.Routes.Mounts {
		targets = append(targets, m.Prefix+"/", m.Prefix+"/docs", m.Prefix+"/status", m.Prefix+"/changelog",
			m.Prefix+"/country", m.Prefix+"/country/AFG")
		for _, e := range contract.EndpointsIn(m.Names) {
			targets = append(targets, m.Prefix+"/docs/"+e.Name())
		}
	}
	ids, links := map[string]bool{}, map[string]string{}
	for _, target := range targets {
		page := pageOf(t, s, target)
		for _, m := range regexp.MustCompile(` (id|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			switch value := html.UnescapeString(m[2]); {
			case m[1] == "id":
				if ids[target+"#"+value] {
					t.Errorf("%s has the id %s twice", target, value)
				}
				ids[target+"#"+value] = true
			case strings.HasPrefix(value, "#"):
				links[target+value] = target
			case strings.HasPrefix(value, "/"):
				links[value] = target
			}
		}
	}
	for link, from := range links {
		path, fragment, has := strings.Cut(link, "#")
		got := s.Answer("GET", path, nil)
		if got.Status == 303 { // made-up codes with a comma are written as lists
			got = s.Answer("GET", apitest.Header(got, "Location"), nil)
		}
		if got.Status != 200 || has && !ids[path+"#"+fragment] {
			t.Errorf("%s links to %s, which does not exist", from, link)
		}
	}
}

// TestDescribedServer: descriptions name the server by its whole address where it is known.
func TestDescribedServer(t *testing.T) {
	t.Parallel()
	for base, want := range map[string][2]string{
		"":                     {"/", "/hapi"},
		"https://data.example": {"https://data.example", "https://data.example/hapi"},
	} {
		s := apitest.Sample(t, state.Options{BaseURL: base}, 3)
		for path, server := range map[string]string{
			"/openapi.json": want[0], "/hapi/openapi.json": want[1], "/hapi/openapi-all.json": want[1],
		} {
			body := string(s.Answer("GET", path, nil).Body)
			if !strings.Contains(body, `"servers":[{"url":"`+server+`"}]`) {
				t.Errorf("%s of a service at %q does not name the server %s", path, base, server)
			}
			others := strings.HasPrefix(body, "{") && strings.Contains(body, `"externalDocs"`)
			if wanted := base != "" && path == "/hapi/openapi.json"; others != wanted {
				t.Errorf("%s of a service at %q refers to other descriptions: %v", path, base, others)
			}
		}
	}
}

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
	testkit.Equal(t, len(d.Distributions), 2, "%s ways to read the records", path)
	for _, x := range d.Distributions {
		u := testkit.Value(url.Parse(x.URL))(t)
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
		testkit.Lacks(t, head, "](", "%s%s has links before what must be known", m.Prefix, "/llms.txt")
		for _, e := range contract.EndpointsIn(m.Names) {
			for _, rule := range append(e.Texts().SumRules(), e.Texts().AddingUp()) {
				testkit.Contains(t, head, rule, "%s%s does not say of %s", m.Prefix, "/llms.txt", e.Name())
			}
			if !strings.Contains(text, ": GET "+base+m.Prefix+e.Path+"\n") {
				t.Errorf("%s%s lacks %s", m.Prefix, "/llms.txt", e.Path)
			}
		}
		links := link.FindAllStringSubmatch(text, -1)
		testkit.AtLeast(t, len(links), 30, "%s%s links", m.Prefix, "/llms.txt")
		for _, l := range links {
			path, ours := strings.CutPrefix(l[1], base)
			if got := s.Answer("GET", path, nil); !ours || got.Status != 200 {
				t.Errorf("%s%s leads to %s: %d", m.Prefix, "/llms.txt", l[1], got.Status)
			}
		}
	}
}

// TestChosenByAccept: no cache keeps a page that Accept has chosen; it would give it to programs.
func TestChosenByAccept(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: "https://data.example.org"}, 3)
	for path, kept := range map[string]bool{"/sources": false, "/ogc": false, "/fr/sources": true} {
		page := s.Answer("GET", path, apitest.Fields("Accept", "text/html"))
		isKept := strings.HasPrefix(apitest.Header(page, "Cache-Control"), "public")
		if page.Status != 200 || isKept != kept || apitest.Header(page, "Vary") != "Accept-Encoding" {
			t.Errorf("%s as a page: %d\n%s", path, page.Status, page.Header)
		}
	}
}

// TestSitemap: every address of the site map answers, and robots.txt names it.
func TestSitemap(t *testing.T) {
	t.Parallel()
	const base = "https://data.example.org"
	s := apitest.Sample(t, state.Options{BaseURL: base}, 30)
	robots := string(s.Answer("GET", "/robots.txt", nil).Body)
	testkit.Contains(t, robots, "\nSitemap: "+base+"/sitemap.xml"+"\n", "robots.txt")
	listed := string(s.Answer("GET", "/sitemap.xml", nil).Body)
	places := regexp.MustCompile(`<loc>([^<]+)</loc>`).FindAllStringSubmatch(listed, -1)
	testkit.Equal(t, len(places), 6+2*len(contract.Endpoints), "addresses")
	for _, p := range places {
		path, ours := strings.CutPrefix(p[1], base)
		if got := s.Answer("GET", path, nil); !ours || got.Status != 200 {
			t.Errorf("the site map has %s: %d", p[1], got.Status)
		}
	}
}
