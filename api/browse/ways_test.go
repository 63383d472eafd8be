package browse_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestElsewhere: a page without records leads to values that have some, and says how many, which is
// what the page of each has; it has no files of no records.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, apitest.FigureTables(t))
	section := regexp.MustCompile(`(?s)<section class="elsewhere".*?</section>`)
	way := regexp.MustCompile(`<a href="([^"]*)"><bdi>[^<]*</bdi></a> <span class="soft">\(([^)]*)\)`)
	for path, want := range map[string]string{
		"/browse/conflict-events?location_name=Nowhere":                           "<dt>Country</dt>",
		"/browse/conflict-events?location_code=ZZZ":                               "<dt>Country</dt>",
		"/browse/conflict-events?location_code=ZZZ&start_date=1900":               "<dt>Country</dt>",
		"/browse/conflict-events?location_code=AFG&start_date=1900&end_date=1900": "<dt>Year</dt>",
		"/browse/conflict-events?location_code=ZZZ&start_date=1900&end_date=1900": "without the other filters",
	} {
		page := string(apitest.Browse(s, path).Body)
		found := section.FindString(page)
		ways := way.FindAllStringSubmatch(found, -1)
		if !strings.Contains(found, want) || len(ways) == 0 || strings.Contains(page, `id="use"`) {
			t.Errorf("%s: %d ways, want %q: %s", path, len(ways), want, found)
		}
		for _, w := range ways {
			to := html.UnescapeString(w[1])
			total := "<strong>" + w[2] + "</strong> record"
			if !strings.Contains(string(apitest.Browse(s, to).Body), total) {
				t.Errorf("%s leads to %s, which has not %s records", path, to, w[2])
			}
		}
	}
}
