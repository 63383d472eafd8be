package main_test

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
)

var dataPattern = regexp.MustCompile(`<data value="([^"]*)"`)

// TestCountryPages compares the pages of all countries of the sample with the answers of the
// interface: the values, in their order, and the reasons where there are none.
func TestCountryPages(t *testing.T) {
	parallel(t)
	s := serve(t, "--identifier", "off")
	records := func(path string) (all []map[string]any) {
		t.Helper()
		var body struct{ Data []map[string]any }
		decoder := json.NewDecoder(strings.NewReader(string(ask(t, "GET", s.base+path).body)))
		decoder.UseNumber()
		if err := decoder.Decode(&body); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return body.Data
	}
	values, sources := 0, 0
	for _, country := range records("/api/v2/metadata/location") {
		code := country["code"].(string)
		answer := ask(t, "GET", s.base+"/country/"+code)
		page := html.UnescapeString(string(answer.body))
		if len(answer.body) > 25_000 || !strings.Contains(page, "<bdi>"+country["name"].(string)+"</bdi>") ||
			!strings.Contains(page, "made up") {
			t.Errorf("%s: %d bytes", code, len(answer.body))
		}
		var want, got []string
		for _, r := range records("/api/v2/figures?location_code=" + code) {
			if r["value"] != nil {
				want = append(want, r["value"].(json.Number).String())
			} else if !strings.Contains(page, r["reason"].(string)) {
				t.Errorf("%s: the page does not say: %s", code, r["reason"])
			}
		}
		for _, m := range dataPattern.FindAllStringSubmatch(page, -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: the page has %v, the interface %v", code, got, want)
		}
		values += len(got)
		sources += strings.Count(page, `rel="noreferrer"`)
	}
	if values < 100 || sources < 50 {
		t.Errorf("only %d values and %d links to sources", values, sources)
	}
}
