package browse_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
)

var (
	headings = regexp.MustCompile(`(?s)<h2 id="figure[a-z-]*-heading">([^<]*)</h2>\s*<p class="second"><bdi>([^<]*)</bdi>`)
	inYear   = regexp.MustCompile(`, .*\b\d{4}\b`)
	overTime = regexp.MustCompile(` by (year|month),`)
	coded    = regexp.MustCompile(`\b[A-Z]{3}\b|: \d|%`)
)

// TestTitles: each drawing of a first view says what, where and when in one sentence without codes,
// and below it the unit and the source. The page, its preview, its picture and its frame say the
// same.
func TestTitles(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 60)
	for _, view := range contract.Views {
		name := view.Path[strings.LastIndexByte(view.Path, '/')+1:]
		page := string(apitest.Browse(s, name).Body)
		for i, found := range headings.FindAllStringSubmatch(page, -1) {
			title, second := html.UnescapeString(found[1]), html.UnescapeString(found[2])
			where := strings.Contains(title, ": ") || strings.Contains(title, " country, ")
			if !where || !inYear.MatchString(title) || coded.MatchString(title) || strings.Count(second, "; ") < 1 {
				t.Errorf("%s: %q, %q", name, title, second)
			}
			if overTime.MatchString(title) && strings.Contains(title, "report of") {
				t.Errorf("%s: %q has one time for all of its years", name, title)
			}
			if i > 0 {
				continue
			}
			frame := string(s.Answer("GET", "/embed/"+name, nil).Body)
			picture := string(s.Answer("GET", "/figure/"+name+".svg", nil).Body)
			for where, text := range map[string]string{
				"page": page, "frame": frame, "picture": picture,
			} {
				if n := strings.Count(text, html.EscapeString(title)); n < 2 && where != "picture" || n < 1 {
					t.Errorf("%s: the %s says %q %d times", name, where, title, n)
				}
			}
			if !strings.Contains(page, `<meta property="og:title" content="(made up) `+found[1]+`">`) &&
				!strings.Contains(page, `<meta property="og:title" content="`+found[1]+`">`) {
				t.Errorf("%s: the preview does not say %q", name, title)
			}
		}
	}
}
