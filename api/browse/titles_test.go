package browse_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

var (
	headings = regexp.MustCompile(`(?s)<h2 id="figure[a-z-]*-heading">([^<]*)</h2>\s*<p class="second"><bdi>([^<]*)</bdi>`)
	inYear   = regexp.MustCompile(`, .*\b\d{4}\b`)
	overTime = regexp.MustCompile(` by (year|month),`)
	placed   = regexp.MustCompile(`: | country, | each country`)
	coded    = regexp.MustCompile(`\b[A-Z]{3}\b|: \d|%`)
)

// TestTitles: each drawing of a first view says what, where and when in one sentence without codes,
// and below it the unit and the source. The page, its preview, its picture and its frame say the
// same.
func TestTitles(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 60)
	drawn := 0
	for _, view := range contract.Views {
		name := view.Path[strings.LastIndexByte(view.Path, '/')+1:]
		page := string(apitest.Browse(s, "/browse/"+name).Body)
		for i, found := range headings.FindAllStringSubmatch(page, -1) {
			drawn++
			title, second := html.UnescapeString(found[1]), html.UnescapeString(found[2])
			if !placed.MatchString(title) || !inYear.MatchString(title) || coded.MatchString(title) ||
				!strings.Contains(second, "; ") {
				t.Errorf("%s: %q, %q", name, title, second)
			}
			if overTime.MatchString(title) && strings.Contains(title, "report of") {
				t.Errorf("%s: %q has one time for all of its years", name, title)
			}
			if i > 0 {
				continue
			}
			linked := func(pattern string) string {
				to := regexp.MustCompile(pattern + `[^"]*`).FindString(html.UnescapeString(page))
				return string(s.Answer("GET", html.UnescapeString(to), nil).Body)
			}
			frame, picture := linked(`/embed/`+name), linked(`/figure/`+name+`\.svg`)
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
	if drawn < len(contract.Views) {
		t.Errorf("%d drawings of %d lists", drawn, len(contract.Views))
	}
}

// TestTitlesOfOne: where an address has one value of a field, the title does not say that it
// compares by that field.
func TestTitlesOfOne(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 120)
	for path, isBy := range map[string]bool{
		"humanitarian-needs?by=population_status&measure=records":                               true,
		"humanitarian-needs?by=population_status&measure=records&population_status=INN":         false,
		"humanitarian-needs?by=population_status&measure=records&population_status__in=INN":     false,
		"humanitarian-needs?by=population_status&measure=records&population_status__in=INN,TGT": true,
	} {
		page := string(apitest.Browse(s, "/browse/"+path).Body)
		found := headings.FindStringSubmatch(page)
		if found == nil || strings.Contains(found[1], " by ") != isBy {
			t.Errorf("%s: title %q", path, found)
		}
	}
	const from4 = "refugees-persons-of-concern?by=year&measure=records&origin_location_code__in=AFG,SDN,COD,SYR"
	for path, part := range map[string]string{ // what is left out, or is no fact yet
		"food-security?by=classification_phase&classification_type=first+projection": "(first projection)",
		"rainfall?by=location_code&version=forecast":                                 "(forecast)",
		"national-risk?by=location_code&overall_risk_min=1":                          "(overall risk, at least: 1)",
		"funding?by=year&measure=funding_usd":                                        "all humanitarian funding",
		from4:                                                                        ", … by year",
	} {
		testkit.Contains(t, headings.FindString(string(apitest.Browse(s, "/browse/"+path).Body)), part, "%s", path)
	}
}
