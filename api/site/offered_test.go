//go:build !race

package site_test

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

var (
	anchorPattern = regexp.MustCompile(`<a [^>]*href="([^"]*)`)
	figureForm    = regexp.MustCompile(`(?s)<form method="get" action="([^"]*)" class="inline">(.*?)</form>`)
	hiddenPattern = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
	selectPattern = regexp.MustCompile(`(?s)<select id="(measure|by)"[^>]*>(.*?)</select>`)
	choicePattern = regexp.MustCompile(`<option value="([^"]*)"( selected)?`)
	valuesPattern = regexp.MustCompile(`=[^&]*`)
)

// offers are the addresses of pages that a page leads to: of its links, and of each choice of the
// form that draws something else.
func offers(page []byte) (all []string) {
	for _, m := range anchorPattern.FindAllSubmatch(page, -1) {
		to, _, _ := strings.Cut(html.UnescapeString(string(m[1])), "#")
		all = append(all, to)
	}
	form := figureForm.FindSubmatch(page)
	if form == nil {
		return all
	}
	kept, options := url.Values{}, map[string][]string{}
	for _, m := range hiddenPattern.FindAllSubmatch(form[2], -1) {
		kept.Add(html.UnescapeString(string(m[1])), html.UnescapeString(string(m[2])))
	}
	for _, m := range selectPattern.FindAllSubmatch(form[2], -1) {
		for _, o := range choicePattern.FindAllSubmatch(m[2], -1) {
			if options[string(m[1])] = append(options[string(m[1])], string(o[1])); len(o[2]) > 0 {
				kept.Set(string(m[1]), string(o[1]))
			}
		}
	}
	for name, values := range options {
		for _, v := range values {
			chosen := url.Values{}
			for other, all := range kept {
				chosen[other] = all
			}
			chosen.Set(name, v)
			all = append(all, string(form[1])+"?"+chosen.Encode())
		}
	}
	return all
}

// TestOffered follows links and choices from the start page, a few of each kind: each leads to a
// page, no list that is offered is empty, and nothing that is offered to be drawn is refused.
func TestOffered(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, apitest.FigureTables(t))
	queue, from, kinds, drawn := []string{"/"}, map[string]string{}, map[string]int{}, 0
	pages := apitest.Trials(4000, 250)
	for i := 0; i < len(queue) && i < pages; i++ {
		page := follow(s, queue[i])
		switch text := page.Body; {
		case page.Status != 200:
			t.Errorf("%s: %d, from %s", queue[i], page.Status, from[queue[i]])
		case bytes.Contains(text, []byte("so that their sum would be wrong")):
			t.Errorf("%s is refused, from %s", queue[i], from[queue[i]])
		case bytes.Contains(text, []byte("<strong>Ignored:</strong>")):
			t.Errorf("%s has what is ignored, from %s", queue[i], from[queue[i]])
		case bytes.Contains(text, []byte("No record passes these filters")) && strings.Contains(queue[i], "?") &&
			!strings.Contains(queue[i], "admin1_name=") && !strings.Contains(queue[i], "data-availability"):
			// The filter does not find the made-up names, and that list has no records.
			t.Errorf("%s is empty, from %s", queue[i], from[queue[i]])
		case bytes.Contains(text, []byte(`class="chart`)):
			drawn++
		}
		for _, to := range offers(page.Body) {
			path, _, _ := strings.Cut(to, "?")
			kind := path + valuesPattern.ReplaceAllString(to[len(path):], "=")
			isPage := strings.HasPrefix(to, "/") && !strings.Contains(to, "/api/") && !strings.Contains(path, ".") &&
				!strings.Contains(path, "/odata") && !strings.Contains(path, "/download")
			if kinds[kind]++; isPage && kinds[kind] <= 2 {
				queue, from[to] = append(queue, to), queue[i]
			}
		}
	}
	if drawn < pages/20 {
		t.Errorf("only %d of %d pages have a drawing", drawn, pages)
	}
}

// TestIgnored checks that what a page does not know is named, and that a file is refused with it.
func TestIgnored(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, apitest.FigureTables(t))
	const said = `<strong>Ignored:</strong> this page does not know <code>%s</code>.`
	for path, ignored := range map[string]string{
		"/?year=2020": "year", "/topics?year=2020": "year", "/country?name=a&yer=2020": "yer",
		"/country/AFG?year=2020&snapshot=": "year", "/search?q=a&kind=figure&offset=0&year=2020&sex=f": "sex, year",
		"/changelog?since=2020-01-01&lists=idps":                        "lists",
		"/changelog?since=2020-01-01&kind=Added":                        "kind=Added",
		"/search?q=a&kind=pays&offset=x":                                "kind=pays, offset=x",
		"/compare?country=AFG&figure=people_in_need&per=1000&year=2020": "year", "/compare?country=AFG&per=5": "per=5",
		"/compare?country=AFG&figure=people": "figure=people", "/compare?country=AFG&figure=people_in_need&per=": "",
		"/country/AFG?" + apitest.Identifier + "=1": "(withheld)",
		"/country/AFG?app_identifier=a":             "", "/search?q=a": "",
	} {
		page := apitest.Browse(s, path)
		named := bytes.Contains(page.Body, fmt.Appendf(nil, said, ignored))
		if named != (ignored != "") || !named && bytes.Contains(page.Body, []byte("Ignored")) || page.Status != 200 {
			t.Errorf("%s: %d, does not say that %q is ignored, or says more", path, page.Status, ignored)
		}
	}
	if page := apitest.Browse(s, "/compare?country=AFG&figure=people"); bytes.Contains(page.Body, []byte("<table")) {
		t.Error("another figure than the one that was asked for")
	}
	page := apitest.Browse(s, "/changelog?location_code=Atlantis")
	testkit.Contains(t, page.Body, "called <bdi>Atlantis</bdi>", "no such country")
	if feed := apitest.Browse(s, "/changelog.atom?location_code=AFG&location_code=SOM"); feed.Status != 422 {
		t.Errorf("a feed of two countries: %d %s", feed.Status, feed.Body)
	}
	for _, path := range []string{"/country/AFG.xlsx", "/country/AFG.png", "/changelog.atom"} {
		if refused, got := apitest.Browse(s, path+"?year=2020"), apitest.Browse(s, path); refused.Status != 422 ||
			got.Status != 200 || !bytes.Contains(refused.Body, []byte(`["query","year"]`)) {
			t.Errorf("%s: %d, with a year %d %s", path, got.Status, refused.Status, refused.Body)
		}
	}
}

// follow answers a page, after redirects.
func follow(s *api.Server, path string) api.Answer {
	page := apitest.Browse(s, path)
	for range 3 {
		if page.Status != 303 && page.Status != 307 && page.Status != 301 && page.Status != 302 {
			break
		}
		page = apitest.Browse(s, apitest.Header(page, "Location"))
	}
	return page
}

// TestMadeUp: every page of a server whose figures are made up says so once, before its content. No
// page of another server does, and the other answers of both are the same.
func TestMadeUp(t *testing.T) {
	t.Parallel()
	const note = `role="note"><strong>` // in any language
	const says = note + `These figures are made up.</strong> They are a sample to try the program with.</p>`
	honest, sample := apitest.Sample(t, state.Options{}, 30), apitest.Sample(t, state.Options{MadeUp: true}, 30)
	empty := api.New(state.Options{MadeUp: true})
	paths := append(htmlPaths(honest), "/hapi/docs/interactive", "/hapi/identifier", "/hapi/docs?q=location",
		"/browse/conflict-events?start_date=never", "/docs?q="+strings.Repeat("x", 1000))
	for _, path := range paths {
		page, other := apitest.Browse(sample, path), apitest.Browse(honest, path)
		if !strings.HasPrefix(apitest.Header(page, "Content-Type"), "text/html") {
			t.Errorf("%s: %q", path, apitest.Header(page, "Content-Type"))
		}
		inEnglish := !slices.ContainsFunc([]string{"/fr/", "/es/", "/ar/"}, func(part string) bool {
			return strings.Contains(path, part)
		})
		if n, at := bytes.Count(page.Body, []byte(note)), bytes.Index(page.Body, []byte(note)); n != 1 ||
			at > bytes.Index(page.Body, []byte("<main")) || inEnglish && !bytes.Contains(page.Body, []byte(says)) {
			t.Errorf("%s says %d times that the figures are made up", path, n)
		}
		if bytes.Contains(other.Body, []byte(note)) || other.Status != page.Status {
			t.Errorf("%s says of real figures that they are made up, or is %d in place of %d",
				path, other.Status, page.Status)
		}
	}
	for _, path := range []string{"/figure/conflict-events.svg", "/embed/conflict-events"} {
		page, other := apitest.Browse(sample, path), apitest.Browse(honest, path)
		if !bytes.Contains(page.Body, []byte("These figures are made up")) ||
			bytes.Contains(other.Body, []byte("These figures")) || other.Status != 200 {
			t.Errorf("%s does not say that figures are made up, or says it of others", path)
		}
	}
	for _, path := range []string{"/", "/docs", "/status"} {
		testkit.Contains(t, apitest.Browse(empty, path).Body, says, "%s without a snapshot does not say it", path)
	}
	for _, path := range []string{
		"/api/v2", "/openapi.json", "/api/v2/metadata/location?app_identifier=" + apitest.Identifier,
		"/api/v2/coordination-context/conflict-events?limit=3&app_identifier=" + apitest.Identifier,
		"/browse/idps/download?output_format=json",
	} {
		if a, b := apitest.Browse(sample, path), apitest.Browse(honest, path); a.Status != 200 ||
			!bytes.Equal(a.Body, b.Body) {
			t.Errorf("%s: %d, another answer where figures are made up", path, a.Status)
		}
	}
}
