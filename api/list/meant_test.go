package list_test

import (
	"net/url"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestNameHints: a name without its accents, with another apostrophe or in other letters is hinted
// at, in the interface, in sums and on pages; one that matches, or means nothing, is not.
func TestNameHints(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	const path, hint = "/api/v2/metadata/location", "name: did you mean C%C3%94TE D'IVOIRE?"
	for name, want := range map[string]string{
		"Côte d’Ivoire": hint, "cote d'ivoire": hint, "Co\u0302te d'Ivoire": hint, "COTE D`IVOIRE": hint,
		"Côte d'Ivoyre": hint, "Kote d'Ivoir": hint,
		"Côte d'Ivoire": "", "te d": "", "xyzzy": "", "’": "", "": "", "C_te d'ivoire": "",
	} {
		query := "?app_identifier=" + apitest.Identifier + "&name=" + url.QueryEscape(name)
		for _, path := range []string{path, path + "/aggregate"} {
			a := s.Answer("GET", path+query, nil)
			got := ""
			for _, f := range a.Header {
				if f.Name == "X-Hint" {
					got = f.Value
				}
			}
			if a.Status != 200 || got != want {
				t.Errorf("%s %q: %d, hint %q, want %q", path, name, a.Status, got, want)
			}
		}
		page := s.Answer("GET", "/browse/location"+query, nil)
		if has := strings.Contains(string(page.Body), "did you mean CÔTE D&#39;IVOIRE?"); has != (want != "") {
			t.Errorf("%q: the page has a hint: %v", name, has)
		}
	}
}

// TestCodeHints: an unknown code of a country is hinted at where other codes of the list have
// records, too, which would look as if they were all.
func TestCodeHints(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, apitest.FigureTables(t))
	for codes, want := range map[string]string{
		"AFG,SDX":     "location_code__in: did you mean SDN?",
		"SDX":         "location_code__in: did you mean SDN?",
		"AFG,SDN,FRA": "", // France has no records
		"AFG,%":       "",
	} {
		query := "?app_identifier=" + apitest.Identifier + "&location_code__in=" + url.QueryEscape(codes)
		for _, path := range []string{"", "/aggregate", "/aggregate?group_by=location_code"} {
			path, more, _ := strings.Cut("/api/v2/affected-people/humanitarian-needs"+path, "?")
			a := s.Answer("GET", path+query+"&"+more, nil)
			if got := apitest.Header(a, "X-Hint"); a.Status != 200 || got != want {
				t.Errorf("%s %q: %d, hint %q, want %q", path, codes, a.Status, got, want)
			}
		}
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
