//go:build !race

package api

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
)

// browsed requests a page of records.
func browsed(s *Server, path string) Answer {
	return s.Answer("GET", path, []HeaderField{{"Host", "data.example.org"}})
}

// headerOf is a header field of an answer, empty without it.
func headerOf(a Answer, name string) string {
	value, _ := a.field(name)
	return value
}

var totalPattern = regexp.MustCompile(`<p class="total"[^>]*><strong>([^<]+)</strong>`)

// TestBrowse requests the page of every endpoint in both sets of names. Each has the total of the
// list, a row for each record, and links that answer.
func TestBrowse(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, Options{}, 30)
	for _, m := range s.mounts {
		endpoints := contract.EndpointsIn(m.names)
		for i := range endpoints {
			e := &endpoints[i]
			path := m.prefix + browsePath + e.Name()
			page := browsed(s, path)
			if page.Status != 200 {
				t.Fatalf("%s: %d %.300s", path, page.Status, page.Body)
			}
			list := s.Answer("GET", m.prefix+e.Path+"?limit=50&app_identifier="+goodIdentifier, nil)
			total := totalPattern.FindSubmatch(page.Body)
			if total == nil || strings.ReplaceAll(string(total[1]), "\u202f", "") != headerOf(list, "X-Total-Count") {
				t.Errorf("%s: total %q, the list has %s", path, total, headerOf(list, "X-Total-Count"))
			}
			if n, want := bytes.Count(page.Body, []byte(`#record">`)), headerOf(list, "X-Result-Count"); want != strconv.Itoa(n) {
				t.Errorf("%s: %d rows, want %s", path, n, want)
			}
			for _, link := range linksOn(page.Body, path) {
				if other := browsed(s, link); other.Status != 200 {
					t.Errorf("%s leads to %s: %d", path, link, other.Status)
				}
			}
		}
	}
}

var hrefPattern = regexp.MustCompile(`href="([^"]+)`)

// linksOn are the links of a page that begin with a path, at most ten.
func linksOn(body []byte, path string) (links []string) {
	for _, m := range hrefPattern.FindAllSubmatch(body, -1) {
		link, _, _ := strings.Cut(html.UnescapeString(string(m[1])), "#")
		if strings.HasPrefix(link, path) && len(links) < 10 {
			links = append(links, link)
		}
	}
	return links
}

// TestBrowseForms: what forms send leads to the address that says the same.
func TestBrowseForms(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, Options{}, 30)
	const path = browsePath + "funding"
	for query, want := range map[string]string{
		"location_code=AFG&appeal_code=&start_date=": path + "?location_code=AFG",
		"appeal_code=+&has_hrp=":                     path,
		"column=funding_usd&column=location_code":    path + "?fields=funding_usd%2Clocation_code",
		"column=funding_usd&location_code=":          path + "?fields=funding_usd",
		"output_format=csv&has_hrp=true":             path + "?has_hrp=true",
	} {
		answer := browsed(s, path+"?"+query)
		if answer.Status != 303 || headerOf(answer, "Location") != want {
			t.Errorf("%s: %d to %s, want %s", query, answer.Status, headerOf(answer, "Location"), want)
		}
	}
}

// TestBrowseMistakes: a page with a mistake in its address says what it is, and has no records that
// somebody could take for the answer.
func TestBrowseMistakes(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, Options{}, 30)
	for _, c := range []struct {
		query, says string
		status      int
	}{
		{"admin_level=7", "should be &#39;0&#39;, &#39;1&#39; or &#39;2&#39;", 422},
		{"start_date=yesterday", "Invalid start_date format", 422},
		{"fields=nothing", "nothing", 422},
		{"country=AFG", "did you mean location_code?", 200},
		{"location_code=" + url.QueryEscape(`"><script>alert(1)</script>`), "No record passes these filters", 200},
		{"location_code=%", "", 400},
		{"row=99999999", "", 200},
		{"snapshot=gone", "", 410},
		{"offset=99999999", "", 200},
	} {
		page := browsed(s, browsePath+"conflict-events?"+c.query)
		if page.Status != c.status || !bytes.Contains(page.Body, []byte(c.says)) {
			t.Errorf("%s: %d, without %q", c.query, page.Status, c.says)
		}
		if bytes.Contains(page.Body, []byte("<script>alert")) {
			t.Errorf("%s: a script", c.query)
		}
		if c.status == 422 && bytes.Contains(page.Body, []byte("<tbody>")) {
			t.Errorf("%s: the page has records", c.query)
		}
	}
}
