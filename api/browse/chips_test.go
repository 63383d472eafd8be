package browse_test

import (
	"html"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

var chipPattern = regexp.MustCompile(`<ul class="chips" aria-label="[^"]*">(?s:(.*?))</ul>`)

// TestBrowseChips: chips say what filters choose: what counts of a parameter that is sent twice, a
// part of a text, and names of the other set in those of the page.
func TestBrowseChips(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 120)
	const conflict = "/browse/conflict-events?"
	for path, want := range map[string][]string{
		conflict + "location_code=QQA&location_code=QQB":               {"Country: QQB"},
		conflict + "location_code__in=QQA&location_code__in=QQB":       {"Country: QQA, QQB"},
		conflict + "location_code=QQA%D8%8C+QQB%3B":                    {"Country: QQA, QQB"},
		conflict + "event_type=political_violence&event_type=":         {"Kind of event: political violence"},
		conflict + "start_date=2024&end_date=2024":                     {"Year: 2024"},
		conflict + "start_date=2024":                                   {"Since 2024"},
		conflict + "start_date=%E2%80%8F%D9%A2%D9%A0%D9%A2%D9%A4%2F05": {"Since 2024-05"},
		conflict + "admin_level=%D9%A1+":                               {"Provinces"},
		"/browse/humanitarian-needs?population_min=23%E2%80%AF700":     {"People, at least: 23700"},
		"/fr/browse/food-prices-market-monitor?price_min=0%2C5":        {"Prix, au moins : 0.5"},
		conflict + "has_hrp=0":                                         {"Has a humanitarian response plan: no"},
		conflict + "location_name=mali":                                {"Country: …mali…"},
		conflict + `admin1_code=A%5C_%25&location_code__in=A%5C%5C,B`:  {`Country: A\, B`, `Province: A\_%`},
		conflict + `admin1_code=A%5C_B`:                                {"Province: A_B"},
		"/browse/humanitarian-needs?everybody=false":                   {"Only records that count everybody: no"},
		"/browse/humanitarian-needs?population_min=1":                  {"People, at least: 1"},
		"/browse/food-security?ipc_phase__in=3&ipc_phase__in=4":        {"Phase: crisis, emergency"},
		"/hapi/browse/food-security?classification_phase=3":            {"Phase: crisis"},
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
		testkit.EqualLists(t, got, want, "%s: %d", path, page.Status)
	}
}

// TestBrowseUnclear: what can mean two things is refused, and what is ignored is named.
func TestBrowseUnclear(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 120)
	for path, want := range map[string]string{
		"/es/browse/humanitarian-needs?population_min=1.000": "1.000 puede significar dos cosas",
		"/browse/humanitarian-needs?population_min=1%2C000":  "Input should be a valid integer",
		"/browse/resource?update_date_min=2024":              "2024 can mean two things",
		"/browse/location?sort=Name&row=x":                   "<code>sort=Name, row=x</code>",
		"/browse/location?limit=all":                         "<code>limit=all</code>",
		"/browse/location?column=Nam":                        "near ones: name",
	} {
		page := apitest.Browse(s, path)
		if page.Status == 303 {
			page = apitest.Browse(s, apitest.Header(page, "Location"))
		}
		testkit.Contains(t, page.Body, want, "%s", path)
	}
}

// TestPagesTakeTurns checks that a page waits for those before it, and that a query does not.
func TestPagesTakeTurns(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, []*apitest.Table{apitest.Locations(3, nil)})
	turns := max(1, runtime.GOMAXPROCS(0)/2)
	for range turns {
		if !s.Lists.Admission.Pages.Enter(false) {
			t.Fatal("a turn is taken")
		}
	}
	done := make(chan int)
	go func() { done <- s.Answer("GET", "/browse/location", nil).Status }()
	testkit.WaitFor(t, "a page that waits", func() bool { return s.Lists.Admission.Pages.Waiting() == 1 })
	if got := s.Answer("GET", "/api/v2/metadata/location?app_identifier="+apitest.Identifier, nil); got.Status != 200 {
		t.Errorf("a query is %d", got.Status)
	}
	for range turns {
		s.Lists.Admission.Pages.Leave()
	}
	testkit.Equal(t, <-done, 200, "the page")
}

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

func TestMain(m *testing.M) { apitest.Main(m) }
