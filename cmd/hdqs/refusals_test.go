package main_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

var (
	refusals = regexp.MustCompile(`(?s)<strong>This cannot be answered\..*?</div>|<strong>No figure, since.*?</details>|` +
		`<p>(?:This page is after the last|No record passes these filters)[^\n]*</p>\n</section>\n|` +
		`<p>(?:This page is after the last|No record passes these filters)[^\n]*</p>\n<details`)
	linkPattern = regexp.MustCompile(`href="([^"]+)"`)
	options     = regexp.MustCompile(`<option value="([^"]+)"`)
	someRecords = regexp.MustCompile(`class="total" role="status"><strong>[1-9]`)
)

// TestRefusalsLeadOn asks for the page of each list in many ways. Whatever a page refuses, it has a
// link beside the refusal, and each such link leads to records, those to a figure to the figure.
func TestRefusalsLeadOn(t *testing.T) {
	parallel(t)
	t.Run("generated", func(t *testing.T) {
		testRefusals(t, newStoreOf(t, generator.Options{Seed: 1, Small: true, Edited: 9}))
	})
	if testkit.Long() { // the same questions, on tables that take six times as long
		t.Run("real", func(t *testing.T) { testRefusals(t, fixtureStore(t)) })
	}
}

func testRefusals(t *testing.T, store string) {
	s := serve(t, "--store", store)
	seen, found := map[string]string{}, map[string]int{}
	read := func(path string) string {
		if _, known := seen[path]; !known {
			a := ask(t, "GET", s.base+path)
			seen[path] = string(a.body)
			if a.status != 200 && a.status != 422 {
				t.Errorf("%s: %d", path, a.status)
			}
		}
		return seen[path]
	}
	for _, e := range contract.Endpoints {
		path := "/browse" + e.Path[strings.LastIndexByte(e.Path, '/'):]
		first := read(path)
		for _, query := range queriesOf(first) {
			for _, refused := range refusals.FindAllString(read(path+query), -1) {
				found[strings.Trim(refused[:20], "<>strongp")]++
				links := linkPattern.FindAllStringSubmatch(refused, -1)
				if len(links) == 0 && someRecords.MatchString(first) {
					t.Errorf("%s%s refuses without a link: %.200s", path, query, refused)
				}
				for _, l := range links {
					to := read(html.UnescapeString(l[1]))
					figure := strings.HasPrefix(refused, "<strong>No") && strings.Contains(refused, `"button" href="`+l[1])
					if !someRecords.MatchString(to) || figure && strings.Contains(to, "No figure, since") {
						t.Errorf("%s%s leads to %s, without records or a figure", path, query, l[1])
					}
				}
			}
		}
	}
	if len(found) < 2 {
		t.Errorf("refusals that were seen: %v", found)
	}
}

// queriesOf are questions to the page of a list: each measure by each field with some filters, and
// mistakes.
func queriesOf(page string) []string {
	all := []string{
		"", "?location_code=ZZZ", "?location_code=ZZZ&admin_level=1&latest=true", "?offset=9999999", "?limit=x",
		"?fields=nothing", "?start_date=never&admin_level=7", "?location_code=ZZZ&admin_level=7", "?name=ZZZ&code=ZZZ",
	}
	of := func(id string) [][]string {
		_, rest, _ := strings.Cut(page, `<select id="`+id+`"`)
		choices, _, _ := strings.Cut(rest, "</select>")
		return options.FindAllStringSubmatch(choices, -1)
	}
	for _, measure := range of("measure") {
		for _, by := range of("by") {
			for _, filters := range []string{
				"", "&latest=true&admin_level=1", "&latest=true", "&start_date=2024&end_date=2024",
			}[:testkit.Trials(4, 2)] {
				all = append(all, "?measure="+measure[1]+"&by="+by[1]+filters)
			}
		}
	}
	return all
}
