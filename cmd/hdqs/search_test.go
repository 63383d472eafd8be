package main_test

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/find"
	"hdqs/internal/testkit"
)

// checkSearches compares what a server finds with a file, and opens each page that is found: it has
// records, and no sum that would be wrong. A figure is that of the interface.
func checkSearches(t *testing.T, s *server, file string) {
	t.Helper()
	opened, searches := map[string]bool{}, testkit.Cases(t, filepath.Join("testdata", "search", file), " = ", 2)
	for _, c := range searches {
		query, want := c[0], c[1]
		answer := ask(t, "GET", s.base+"/search/suggest?q="+url.QueryEscape(query))
		found := decode[find.Answer](t, answer.body)
		var got []string
		for _, r := range found.Results {
			kind := r.Kind[strings.LastIndexByte(r.Kind, ' ')+1:] // headline figure, data list
			got = append(got, kind+" "+r.Code)
			for _, l := range append(r.Lists, find.Link{Address: r.Address}) {
				openFound(t, s, query, l.Address, opened)
			}
		}
		if text := strings.Join(got, "; "); text != want && !strings.HasPrefix(text, want+";") {
			t.Errorf("%q: got %s; want %s", query, text, want)
		}
		isOfAll := func(h contract.Headline) bool { return h.Title == found.Results[0].Name }
		if strings.HasPrefix(want, "figure ") && !slices.ContainsFunc(contract.Headlines, isOfAll) {
			checkFoundFigure(t, s, query, found.Results[0].Code)
		}
	}
	t.Logf("%d searches, %d pages", len(searches), len(opened))
}

func openFound(t *testing.T, s *server, query, address string, opened map[string]bool) {
	t.Helper()
	if address, _, _ = strings.Cut(address, "#"); opened[address] {
		return
	}
	opened[address] = true
	page := ask(t, "GET", s.base+address)
	for _, text := range []string{"No record passes", "No figure, since it would be wrong"} {
		bare := !strings.Contains(address, "by=") // the list's own first view, not one that we made
		if page.status != 200 || strings.Contains(string(page.body), text) && !(bare && text[3] == 'f') {
			t.Errorf("%q leads to %s: %d, %q", query, address, page.status, text)
		}
	}
}

// checkFoundFigure compares the figure on the page of a search with that of the interface.
func checkFoundFigure(t *testing.T, s *server, query, name string) {
	t.Helper()
	page := string(ask(t, "GET", s.base+"/search?q="+url.QueryEscape(query)).body)
	_, request, ok := strings.Cut(page, `<code class="path">`+contract.FiguresPath+"/"+name)
	request, _, _ = strings.Cut(request, "<")
	if !ok {
		t.Errorf("%q: no request on the page", query)
		return
	}
	record := decode[struct {
		Data []struct {
			Value  any
			Reason *string
		}
	}](t, ask(t, "GET", s.base+with(contract.FiguresPath+"/"+name+request)).body).Data[0]
	want := "There is no figure:"
	if number, has := record.Value.(float64); has {
		_, shown, _ := strings.Cut(page, `<p class="headline"><strong><data value="`)
		shown, _, _ = strings.Cut(shown, `"`)
		if got, err := strconv.ParseFloat(shown, 64); err != nil || got != number {
			t.Errorf("%q: %q on the page, the interface has %v", query, shown, number)
		}
		want = `<p class="headline">`
	}
	if !strings.Contains(page, want) {
		t.Errorf("%q: the page is without %q", query, want)
	}
}

// TestSearchSample searches the embedded sample.
func TestSearchSample(t *testing.T) {
	parallel(t)
	checkSearches(t, serve(t), "sample.txt")
}

// TestSearchFixtures searches the real input.
func TestSearchFixtures(t *testing.T) {
	parallel(t)
	checkSearches(t, serve(t, "--store", fixtureStore(t)), "fixtures.txt")
}
