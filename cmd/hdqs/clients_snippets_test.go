package main_test

import (
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// snippetPattern finds the programs on a page of records.
var snippetPattern = regexp.MustCompile(`(?s)<textarea [^>]*aria-label="Program in ([^"]+)">(.*?)</textarea>`)

// TestClientsSnippets runs the programs that pages of records show, as a reader would copy them.
// Each must read as many records as X-Total-Count says. Power Query and Google Sheets do not run
// here: Node runs the Apps Script with stand-ins for Google's objects, and the addresses that the
// query's text names are fetched by a program that reads no more of it.
func TestClientsSnippets(t *testing.T) {
	parallel(t)
	dir := clientsDir(t)
	s := serve(t, "--store", storeOfScale(t, 0.01))
	id, issues := contract.EncodeIdentifier("snippets", "me@example.org")
	if issues != nil {
		t.Fatal(issues)
	}
	pages := []string{
		"conflict-events?location_name=d%27Ivoire&event_type__in=demonstration,political_violence" +
			"&fields=location_name,events",
		"food-prices-market-monitor?price_min=0.5&price_flag__in=actual%5C%2Caggregate&admin_level=2",
		"food-security?classification_phase=3%2B", "org?name=%22%24%7B%60%5C", "location?code=ZZZ",
	}
	for i := range contract.Endpoints {
		pages = append(pages, contract.Endpoints[i].Name())
	}
	folder := t.TempDir()
	plans := map[string]*strings.Builder{}
	wants := map[string]string{}
	for i, page := range pages {
		name, query, _ := strings.Cut(page, "?")
		list := listPathOf(t, name) + "?" + query + "&limit=0"
		wants[fmt.Sprint(i)] = ask(t, "GET", s.base+with(list)).header.Get("X-Total-Count")
		body := ask(t, "GET", s.base+"/browse/"+page).body
		programs := snippetPattern.FindAllStringSubmatch(string(body), -1)
		want := 7
		if query == "" {
			want++ // the feed of OData, which needs no identifier
		}
		if len(programs) != want {
			t.Fatalf("%s has %d programs, want %d", page, len(programs), want)
		}
		for _, program := range programs {
			if program[1] == "OData" {
				set := odataSet.FindStringSubmatch(html.UnescapeString(program[2]))
				if set == nil {
					t.Fatalf("%s: the program in OData names no set: %s", page, program[2])
				}
				n := string(ask(t, "GET", s.base+"/odata/v4/"+set[1]+"/$count").body)
				if n != wants[fmt.Sprint(i)] {
					t.Errorf("%s: the set %s has %s records, want %s", page, set[1], n, wants[fmt.Sprint(i)])
				}
				continue
			}
			language, code := program[1], html.UnescapeString(program[2])
			if strings.Count(code, "YOUR_APP_IDENTIFIER") == 0 {
				t.Fatalf("%s: the program in %s has no place for an identifier", page, language)
			}
			code = strings.ReplaceAll(code, "YOUR_APP_IDENTIFIER", id)
			file := filepath.Join(folder, fmt.Sprintf("%d.%s", i, strings.ReplaceAll(language, " ", "")))
			testkit.Must(t, os.WriteFile(file, []byte(code), 0o600))
			if plans[language] == nil {
				plans[language] = new(strings.Builder)
			}
			fmt.Fprintf(plans[language], "%d\t%s\n", i, file)
		}
	}
	python := filepath.Join(dir, "clients", "bin", "python")
	pandas := filepath.Join(dir, "engines", "bin", "python") // has pyarrow too
	script := func(name string) string { return filepath.Join("testdata", "clients", name) }
	programs := map[string][]string{
		"curl":          {python, script("snippets.py"), "curl"},
		"Python":        {pandas, script("snippets.py"), "python"},
		"DuckDB":        {python, script("snippets.py"), "duckdb"},
		"Power Query":   {python, script("snippets.py"), "m"},
		"R":             {"Rscript", script("snippets.R")},
		"JavaScript":    {"node", script("snippets.mjs"), "javascript"},
		"Google Sheets": {"node", script("snippets.mjs"), "sheets"},
	}
	for _, language := range slices.Sorted(maps.Keys(programs)) {
		program := programs[language]
		t.Run(language, func(t *testing.T) {
			out := fetchProgram(program[0], program[1:]...)(t, plans[language].String())
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if len(lines) != len(pages) {
				t.Fatalf("%d programs ran, want %d:\n%s", len(lines), len(pages), out)
			}
			for _, line := range lines {
				number, rows, _ := strings.Cut(line, "\t")
				if rows != wants[number] {
					t.Errorf("page %s: %s records, want %s", number, rows, wants[number])
				}
			}
		})
	}
}

// odataSet matches the set that a program reads.
var odataSet = regexp.MustCompile(`OData\.Feed\("[^"]+/odata/v4/", null, .*\n.*\[Name = "([a-z_0-9]+)"`)

// listPathOf is the path of the list of that name.
func listPathOf(t *testing.T, name string) string {
	t.Helper()
	for i := range contract.Endpoints {
		if contract.Endpoints[i].Name() == name {
			return contract.Endpoints[i].Path
		}
	}
	t.Fatalf("there is no endpoint %s", name)
	return ""
}
