package browse_test

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

var chipPattern = regexp.MustCompile(`<ul class="chips" aria-label="[^"]*">(?s:(.*?))</ul>`)

// TestBrowseChips: chips say what filters choose: what counts of a parameter that is sent twice, a
// part of a text, and names of the other set in those of the page.
func TestBrowseChips(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 120)
	const conflict = "/browse/conflict-events?"
	for path, want := range map[string][]string{
		conflict + "location_code=QQA&location_code=QQB":              {"Country: QQB"},
		conflict + "location_code__in=QQA&location_code__in=QQB":      {"Country: QQA, QQB"},
		conflict + "event_type=political_violence&event_type=":        {"Kind of event: political violence"},
		conflict + "start_date=2024&end_date=2024":                    {"Year: 2024"},
		conflict + "start_date=2024":                                  {"Since 2024"},
		conflict + "has_hrp=0":                                        {"Has a humanitarian response plan: no"},
		conflict + "location_name=mali":                               {"Country: …mali…"},
		conflict + `admin1_code=A%5C_%25&location_code__in=A%5C%5C,B`: {`Country: A\, B`, `Province: A\_%`},
		conflict + `admin1_code=A%5C_B`:                               {"Province: A_B"},
		"/browse/humanitarian-needs?everybody=false":                  {"Only records that count everybody: no"},
		"/browse/humanitarian-needs?population_min=1":                 {"People, at least: 1"},
		"/browse/food-security?ipc_phase__in=3&ipc_phase__in=4":       {"Phase: crisis, emergency"},
		"/hapi/browse/food-security?classification_phase=3":           {"Phase: crisis"},
	} {
		page := apitest.Browse(s, path)
		for page.Status == 303 {
			page = apitest.Browse(s, apitest.Header(page, "Location"))
		}
		var got []string
		if chips := chipPattern.FindSubmatch(page.Body); chips != nil {
			for _, m := range regexp.MustCompile(`<bdi>(.*?)</bdi>`).FindAllSubmatch(chips[1], -1) {
				got = append(got, html.UnescapeString(string(m[1])))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d, %q, want %q", path, page.Status, got, want)
		}
	}
}

// TestBrowseCapitals: our words for values begin with a capital letter in bars, tables and counts,
// and not in files.
func TestBrowseCapitals(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 60)
	const query = "?by=gender&measure=records"
	page := string(apitest.Browse(s, "/browse/baseline-population"+query).Body)
	for _, want := range []string{">Female</text>", "<bdi>Female</bdi>", ">Female</option>"} {
		if !strings.Contains(page, want) || strings.Contains(page, strings.ToLower(want)) {
			t.Errorf("the page is without %q", want)
		}
	}
	file := string(apitest.Browse(s, "/figure/baseline-population.csv"+query).Body)
	if !strings.Contains(file, "female") || strings.Contains(file, "Female") {
		t.Errorf("the file has %q", file)
	}
}

// TestBrowseOData: pages in both names lead to the files of spreadsheets, which are at the root.
func TestBrowseOData(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	for _, prefix := range []string{"", "/hapi"} {
		files := regexp.MustCompile(`href="([^"]*/odata/[^"]*)"`).
			FindAllSubmatch(apitest.Browse(s, prefix+"/browse/idps").Body, -1)
		for _, m := range files {
			if a := apitest.Browse(s, string(m[1])); a.Status != 200 {
				t.Errorf("%s/browse/idps leads to %s, which is %d", prefix, m[1], a.Status)
			}
		}
		if len(files) != 2 {
			t.Errorf("%s/browse/idps leads to %d files", prefix, len(files))
		}
	}
}
