//go:build !race

package site_test

import (
	"cmp"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// TestSearchPages: what the pages of searches say, also for texts that would be markup.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	for _, m := range s.Lists.Routes.Mounts {
		for query, want := range map[string]string{
			"":             "<h2>Data lists</h2>",
			"q=":           "<h2>Data lists</h2>",
			"q=refugees":   `<a href="` + m.Prefix + `/browse/refugees-persons-of-concern">`,
			"q=xyzzyqwx":   "Try fewer or other words",
			"q=%3Cb%3E%22": "&lt;b&gt;&#34;",
			"q=afg&kind=field&offset=99999999999999999999": "Search",
			"q=" + strings.Repeat("refugees+", 150):        "Search",
			"q=%ff%00afg":                                  "Search",
		} {
			a := s.Answer("GET", m.Prefix+"/search?"+query, nil)
			isPage := a.Status == 200 && apitest.Header(a, "Content-Type") == reply.HtmlType
			if !isPage || !strings.Contains(string(a.Body), want) {
				t.Errorf("%s %s: %d, without %q", m.Prefix, query, a.Status, want)
			}
			if strings.Contains(string(a.Body), "<b>") {
				t.Errorf("%s: markup of the search is on the page", query)
			}
		}
	}
	if a := s.Answer("GET", "/search?q=%zz", nil); a.Status != 400 {
		t.Errorf("a malformed query: %d, want 400", a.Status)
	}
	if a := s.Answer("GET", "/browse?x=1", nil); a.Status != 307 || apitest.Header(a, "Location") != "/#lists" {
		t.Errorf("/browse: %d to %q", a.Status, apitest.Header(a, "Location"))
	}
}

// TestMissingPages: a browser gets a page for an unknown path, with the nearest one and what a
// search for its words finds; programs get JSON, and everybody does below the interface's path.
func TestMissingPages(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{Identifier: state.IgnoreIdentifier}, 30)
	for path, wants := range map[string][]string{
		"/browse/conflict-event":   {`<a class="path" href="/browse/conflict-events">`, `value="conflict event"`},
		"/browse/refugees":         {`<a href="/browse/refugees-persons-of-concern">`},
		"/hapi/browse/idp":         {`href="/hapi/browse/idps"`},
		"/changelogs":              {`href="/changelog"`},
		"/wp-login.php":            {"There is no page here"},
		"/%3Cscript%3Ealert(1)%3C": {"There is no page here"},
	} {
		a := s.Answer("GET", path, apitest.BrowserAccept)
		kept := apitest.Header(a, "Cache-Control")
		if a.Status != 404 || apitest.Header(a, "Content-Type") != reply.HtmlType || kept != reply.NoStore {
			t.Errorf("%s: %d %s", path, a.Status, apitest.Header(a, "Content-Type"))
		}
		for _, want := range wants {
			if !strings.Contains(string(a.Body), want) {
				t.Errorf("%s: without %q", path, want)
			}
		}
		if strings.Contains(string(a.Body), "<script>") {
			t.Errorf("%s: markup of the path is on the page", path)
		}
		if a := s.Answer("GET", path, nil); a.Status != 404 || string(a.Body) != apitest.ErrorBody(reply.ErrNotFound) {
			t.Errorf("%s for a program: %d %.100s", path, a.Status, a.Body)
		}
	}
	for _, path := range []string{"/api/v2/nothing", "/hapi/api/v2/nothing", "/bulk/nothing"} {
		if a := s.Answer("GET", path, apitest.BrowserAccept); a.Status != 404 ||
			apitest.Header(a, "Content-Type") == reply.HtmlType {
			t.Errorf("%s: %d %s", path, a.Status, apitest.Header(a, "Content-Type"))
		}
	}
	if a := apitest.Empty(t, state.Options{}).Answer("GET", "/browse/x", apitest.BrowserAccept); a.Status != 404 {
		t.Errorf("without a snapshot: %d", a.Status)
	}
}

// TestSearchFigures: the number of each figure, also of a year and of a sector, is
// at the top of the page that its link opens.
func TestSearchFigures(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, apitest.FigureTables(t))
	shown := regexp.MustCompile(`(?s)<data value="([^"]*)">.*?<a href="([^"]*)">The records it is made of`)
	top := regexp.MustCompile(`<p class="value[^"]*"><strong(?: title="([^"]*)")?>([^<]*)</strong>`)
	seen := map[string]int{}
	for _, m := range s.Lists.Routes.Mounts {
		for _, h := range contract.Headlines {
			for _, more := range []string{
				"Afghanistan", "Afghanistan in 2024", "Mali", "Mali health", "Sudan", "Central African Republic",
			} {
				query := h.Title + " " + more
				found := apitest.Browse(s, m.Prefix+"/search?q="+url.QueryEscape(query)).Body
				of := shown.FindSubmatch(found)
				if of == nil {
					continue
				}
				seen[more]++
				view := html.UnescapeString(string(of[2]))
				got := top.FindSubmatch(apitest.Browse(s, view).Body)
				if got == nil || apitest.PlainNumber(cmp.Or(string(got[1]), string(got[2]))) !=
					apitest.PlainNumber(string(of[1])) {
					t.Errorf("%s: %s is %s, but %s begins with %q", m.Prefix, query, of[1], view, got)
				}
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("so few numbers were found: %v", seen)
	}
}

// TestSearchUnits: where a unit has no number and its country has one, that is a link, without it.
func TestSearchUnits(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	for _, to := range tables {
		if to.Endpoint.Table == "humanitarian_needs" {
			need := apitest.Row{
				"population_status": "INN", "sector_code": "Intersectoral", "category": "total", "population": 70,
			}
			row := apitest.With(apitest.InPlace("CAF"), apitest.InYear(2024), need)
			to.Rows = append(to.Rows, apitest.FullRow(t, to, row))
		}
	}
	page := string(apitest.Browse(apitest.Server(t, state.Options{}, tables), "/search?q=people+in+need+CF01").Body)
	const link = `location_code=CAF[^"]*">People in need, Name of CAF`
	if !strings.Contains(page, "no record is of all that") || !regexp.MustCompile(link).MatchString(page) ||
		strings.Contains(page, ">70<") {
		t.Errorf("want %s: %.3000s", link, page[strings.Index(page, "<main"):])
	}
}
