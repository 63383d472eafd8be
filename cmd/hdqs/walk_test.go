package main_test

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

var (
	walkLink     = regexp.MustCompile(`<a [^>]*href="(/[^"]*)"`)
	walkFigure   = regexp.MustCompile(`(?s)<section class="figure".*?</section>`)
	walkButton   = regexp.MustCompile(`<a class="button" href="([^"]*)"`)
	walkSource   = regexp.MustCompile(`<pre class="call"><code>([^<]*)</code>`)
	walkLanguage = regexp.MustCompile(`^/(ar|es|fr)(/|$)`)
)

// TestWalkOfPages follows random links of the pages' own, from the start page on. Each answers; a
// page of records has some; one that refuses a figure has a button to a page that shows one; a sum
// of provinces or districts stands beside the figure of the country where that is another one; and
// no link repeats the identifier of the visitor.
func TestWalkOfPages(t *testing.T) {
	parallel(t)
	walk := func(name string, store func(t *testing.T) string) {
		t.Run(name, func(t *testing.T) {
			parallel(t)
			s := serve(t, "--store", store(t))
			w := &walker{server: s, random: rand.New(rand.NewPCG(30, 2)), refused: map[string]bool{}}
			for i := range testkit.Trials(1000, 120) {
				if i%40 == 0 || w.links == nil {
					w.at = "/"
				} else {
					w.from, w.at = w.at, w.choose()
				}
				w.open(t)
			}
			t.Logf("%v, %d refused, %d sums beside those of countries", w.kinds, len(w.refused), w.compared)
			if len(w.kinds) < 4 || w.kinds["browse"] < 50 {
				t.Errorf("only these pages: %v", w.kinds)
			}
		})
	}
	walk("made up", sampleStore)
	walk("real", fixtureStore)
	if testkit.Long() {
		walk("edited", func(t *testing.T) string {
			return newStoreOf(t, generator.Options{Seed: 7, Scale: 0.05, Edited: 9})
		})
	}
}

// walker walks from page to page.
type walker struct {
	*server
	random   *rand.Rand
	at, from string
	links    map[string][]string // of the page, by kind
	kinds    map[string]int
	refused  map[string]bool
	compared int
}

// subjectOf is what a page is about, whatever its language.
func subjectOf(link string) string {
	path, _, _ := strings.Cut(walkLanguage.ReplaceAllString(link, "/"), "?")
	return strings.SplitN(path, "/", 3)[1]
}

// choose is a link of a random kind, so that pages with many of one kind do not rule the walk.
func (w *walker) choose() string {
	kinds := slices.Sorted(maps.Keys(w.links))
	for _, kind := range kinds { // rather to figures than to the reference
		weight := map[string]int{"browse": 60, "country": 9, "figure": 9, "search": 9}[kind]
		kinds = append(kinds, slices.Repeat([]string{kind}, weight)...)
	}
	links := w.links[kinds[w.random.IntN(len(kinds))]]
	return links[w.random.IntN(len(links))]
}

// open opens a page and reads its links. What is no page has none.
func (w *walker) open(t *testing.T) {
	t.Helper()
	a := ask(t, "GET", w.base+w.at, "X-CATALOG-API-APP-IDENTIFIER", identifier)
	for range 3 { // a visitor's identifier is only in the address
		if a.status == 303 || a.status == 307 {
			a = ask(t, "GET", w.base+a.header.Get("Location"), "X-CATALOG-API-APP-IDENTIFIER", identifier)
		}
	}
	if w.kinds == nil {
		w.kinds = map[string]int{}
	}
	w.kinds[subjectOf(w.at)]++
	if a.status != 200 || len(a.body) == 0 {
		t.Errorf("%s, to which %s leads: %d %.300s", w.at, w.from, a.status, a.body)
	}
	page := string(a.body)
	if w.links = nil; !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		return
	}
	if strings.Contains(string(ask(t, "GET", w.base+with(w.at)).body), identifier) {
		t.Errorf("%s repeats the identifier of the visitor", w.at)
	}
	w.links = map[string][]string{}
	for _, m := range walkLink.FindAllStringSubmatch(page, -1) {
		link, fragment, _ := strings.Cut(html.UnescapeString(m[1]), "#")
		if link != "" && !strings.HasPrefix(link, "//") {
			w.links[subjectOf(link)] = append(w.links[subjectOf(link)], link)
		}
		if link == w.at && fragment != "" && !strings.Contains(page, ` id="`+html.EscapeString(fragment)+`"`) {
			t.Errorf("%s: nothing is at #%s", w.at, fragment)
		}
	}
	if total := viewTotal.FindStringSubmatch(page); subjectOf(w.at) == "browse" && (total == nil || total[1] == "0") {
		t.Errorf("%s, to which %s leads: %q records", w.at, w.from, total)
	}
	for _, figure := range walkFigure.FindAllString(page, -1) {
		w.check(t, figure)
	}
}

// check checks a drawing of a page.
func (w *walker) check(t *testing.T, figure string) {
	t.Helper()
	button := walkButton.FindStringSubmatch(figure)
	source := walkSource.FindStringSubmatch(figure)
	if (source == nil) != (button != nil) {
		t.Errorf("%s: a figure without its source or a button: %.300s", w.at, figure)
	}
	if button != nil && !w.refused[button[1]] {
		w.refused[button[1]] = true
		right := string(ask(t, "GET", w.base+html.UnescapeString(button[1])).body)
		total := viewTotal.FindStringSubmatch(right)
		if total == nil || total[1] == "0" || walkButton.MatchString(right) || !strings.Contains(right, `class="tile"`) &&
			!strings.Contains(right, `class="chart`) && !strings.Contains(right, `id="choose-`) {
			t.Errorf("%s: the right figure at %s has %q records", w.at, button[1], total)
		}
	}
	if source == nil {
		return
	}
	address, query, _ := strings.Cut(html.UnescapeString(source[1]), "?")
	values, err := url.ParseQuery(query)
	level := values.Get("admin_level")
	if err != nil || level != "1" && level != "2" || values.Get("group_by") != "location_code" ||
		!strings.HasPrefix(values.Get("measures"), "sum:") {
		return
	}
	values.Del("snapshot")
	units := w.sums(t, address+"?"+values.Encode())
	values.Set("admin_level", "coarsest")
	for code, whole := range w.sums(t, address+"?"+values.Encode()) {
		if sum, has := units[code]; has {
			w.compared++
			if sum != whole && !strings.Contains(figure, `<p class="warning">`) {
				t.Errorf("%s: %s has %s, and the country %s", w.at, code, sum, whole)
			}
		}
	}
}

// sums are the sums of an aggregate by country, none if it is refused.
func (w *walker) sums(t *testing.T, address string) map[string]json.Number {
	t.Helper()
	a := ask(t, "GET", address, "X-CATALOG-API-APP-IDENTIFIER", identifier)
	var body struct{ Data []map[string]any }
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil || a.status != 200 {
		return nil
	}
	sums := map[string]json.Number{}
	for _, r := range body.Data {
		for name, value := range r {
			if number, ok := value.(json.Number); ok && strings.HasPrefix(name, "sum_") {
				sums[r["location_code"].(string)] = number
			}
		}
	}
	return sums
}
