package main_test

import (
	"html"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

var (
	walkLink     = regexp.MustCompile(`<a [^>]*href="(/[^"]*)"`)
	walkLanguage = regexp.MustCompile(`^/(ar|es|fr)(/|$)`)
)

// TestWalkOfPages follows random links of the pages' own, from the start page on. Each answers, a
// page of records has some, and no page repeats the identifier of the visitor. TestRefusalsLeadOn
// has pages that refuse a figure.
func TestWalkOfPages(t *testing.T) {
	parallel(t)
	walk := func(name string, store func(t *testing.T) string) {
		t.Run(name, func(t *testing.T) {
			parallel(t)
			s := serve(t, "--store", store(t))
			w := &walker{server: s, random: rand.New(rand.NewPCG(30, 2))}
			for i := range testkit.Trials(1000, 120) {
				if i%40 == 0 || w.links == nil {
					w.at = "/"
				} else {
					w.from, w.at = w.at, w.choose()
				}
				w.open(t)
			}
			t.Log(w.kinds)
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
}
