//go:build !race

package site_test

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/state"
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
