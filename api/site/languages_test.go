//go:build !race

package site_test

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// languagePaths are pages of every kind, below a prefix and the path of a language.
func languagePaths(m contract.NameSet) []string {
	paths := []string{
		"/", "/identifier", "/nothing", "/search", "/search?q=refugees+AFG", "/search?q=organisations",
		"/search?q=xyzzyqwx",
		"/status", "/changelog", "/changelog?since=2001-01-01", "/changelog?since=x", "/country",
		"/country/AFG", "/country/MLI", "/country/AFX", "/browse/location?name=nowhere", "/browse/idps?nofilter=AFG",
		"/browse/conflict-events?admin_level=7&start_date=soon&event_type=x", "/browse/org?limit=5&offset=100000",
		"/browse/humanitarian-needs?measure=population&by=location_code", "/browse/operational-presence?limit=x",
		"/browse/conflict-events?measure=fatalities&by=month&admin_level=0",
	}
	endpoints := contract.EndpointsIn(m)
	for i := range endpoints {
		page := "/browse/" + endpoints[i].Name()
		paths = append(paths, page, page+"?row=0&latest=true&by=location_code&measure=records&limit=5&admin_level=1",
			"/embed/"+endpoints[i].Name())
	}
	return paths
}

// htmlTexts are what a page says by itself, in texts and attributes. Names and values of the data
// are left out: they are isolated, or code.
type htmlTexts struct {
	texts  []string
	links  []string // that are not of another language
	head   map[string]string
	lang   string
	dir    string
	others map[string]string // addresses of the page in other languages, by code
}

// silent are elements whose texts are of the data or of programs.
var silent = []string{"script", "style", "code", "pre", "textarea", "bdi", "small", "datalist"}

// described are the descriptions of a page for other sites.
var described = []string{"description", "og:title", "og:description"}

func readHTML(t *testing.T, page []byte) (h htmlTexts) {
	t.Helper()
	h.head, h.others = map[string]string{}, map[string]string{}
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(string(page), "<!DOCTYPE html>")))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	skipped := 0
	for {
		token, err := d.RawToken()
		if err != nil {
			return h
		}
		switch token := token.(type) {
		case xml.StartElement:
			name, attributes := token.Name.Local, map[string]string{}
			for _, a := range token.Attr {
				attributes[a.Name.Local] = a.Value
			}
			isVoid := slices.Contains(xml.HTMLAutoClose, name)
			own := (attributes["lang"] == "" || name == "html") && attributes["class"] != "path"
			if (skipped > 0 || slices.Contains(silent, name) || !own) && !isVoid {
				skipped++
			}
			if name == "html" {
				h.lang, h.dir = attributes["lang"], attributes["dir"]
			}
			if name == "link" && attributes["hreflang"] != "" {
				h.head[attributes["hreflang"]] = attributes["href"]
			}
			if name == "link" && attributes["rel"] == "canonical" {
				h.head["canonical"] = attributes["href"]
			}
			if name == "a" && attributes["lang"] != "" {
				h.others[attributes["hreflang"]] = attributes["href"]
			} else if name == "a" || name == "form" {
				h.links = append(h.links, attributes["href"]+attributes["action"])
			}
			if skipped == 0 || name == "svg" {
				for _, a := range []string{"aria-label", "alt", "data-hint", "data-keys"} {
					h.texts = append(h.texts, attributes[a])
				}
			}
			if of := attributes["property"] + attributes["name"]; name == "meta" && slices.Contains(described, of) {
				h.texts = append(h.texts, attributes["content"])
			}
		case xml.EndElement:
			if skipped > 0 {
				skipped--
			}
		case xml.CharData:
			if text := strings.Trim(string(token), " \n:.,"); skipped == 0 && text != "" {
				h.texts = append(h.texts, text)
			}
		}
	}
}

// sameWords are texts that are the same in English and another language.
var sameWords = regexp.MustCompile(
	`^(?:CSV|JSON|NDJSON|XLSX|Parquet|Arrow|GeoJSON|OpenAPI|llms\.txt|API|APA|BibTeX|Python|curl|R|JavaScript|` +
		`DuckDB|Power Query|Google Sheets|OData|PNG|SVG|changelog\.atom|US\$|Natural Earth)$`,
)

// englishTexts are the texts in English, and parts of them with two words or more: what stands
// between arguments, actions and tags.
func englishTexts(t *testing.T) (keys map[string]bool, parts []string) {
	t.Helper()
	keys = map[string]bool{}
	templateKeys(t, keys)
	dataKeys(keys)
	spoken, _ := goKeys(t)
	maps.Copy(keys, spoken)
	between := regexp.MustCompile(`\{\{[^}]*\}\}|<[^>]*>|%(?:\[\d\])?[sd]`)
	for key := range keys {
		for _, part := range between.Split(key, -1) {
			part = strings.Trim(part, " .,:;()")
			if len(strings.Fields(part)) > 1 && len(part) > 8 {
				parts = append(parts, part)
			}
		}
	}
	return keys, parts
}

// dataTexts are all texts that the records of a server have, and the names of lists and fields.
func dataTexts(t *testing.T, s *api.Server) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for set := range contract.NameSet(state.NameSets) {
		m := s.Lists.Routes.MountIn(set)
		for _, e := range contract.EndpointsIn(set) {
			all[e.Name()] = true
			records, _ := apitest.Records(t, s, m.Prefix+e.Path+"?limit=10000&app_identifier="+apitest.Identifier)
			for _, record := range records {
				for field, value := range record {
					if text, ok := value.(string); ok {
						all[strings.TrimSpace(text)] = true
						if field == "category" && text != "" { // which pages begin with a capital letter
							all[strings.ToUpper(text[:1])+text[1:]] = true
						}
					}
				}
			}
		}
	}
	return all
}

// isData reports whether a text is a value of the data, with a number behind it in a drawing.
// Drawings begin it with a capital letter.
func isData(data map[string]bool, text string) bool {
	text, _, _ = strings.Cut(text, ": ")
	is := func(value string) bool {
		return data[value] || value != "" && data[strings.ToLower(value[:1])+value[1:]]
	}
	for at := range text { // a province and its country
		if country, ok := strings.CutPrefix(text[at:], ", "); ok && is(text[:at]) && data[country] {
			return true
		}
	}
	return is(text)
}

// behind is what stands behind a value in a drawing or a list of choices.
var behind = regexp.MustCompile(`: [\d\x{202f}.,\x{2212}]+$| \([\w+]+\)$`)

// isSame reports whether a text is a word that is the same in the language, as its file says.
func isSame(l *lang.Language, messages, data map[string]bool, text string) bool {
	text = behind.ReplaceAllString(text, "")
	capital, small := strings.ToUpper(text[:1])+text[1:], strings.ToLower(text[:1])+text[1:]
	return messages[text] && l.T(text) == text || messages[capital] && l.T(capital) == capital ||
		messages[small] && l.T(small) == small ||
		text[0] == '(' && data[strings.Trim(text, "()")]
}

// TestLanguages: pages in each language say nothing in English, lead to pages in it, and name the
// page in the others.
func TestLanguages(t *testing.T) {
	t.Parallel()
	s := changedServer(t)
	english := map[string]bool{}
	words := regexp.MustCompile(`[A-Za-z]{3}`)
	messages, phrases := englishTexts(t)
	lacking := map[string]map[string]bool{}
	for _, l := range lang.All()[1:] {
		lacking[l.Code] = untranslated(t, l.Code)
	}
	lacks := func(l *lang.Language, text string) bool { // pages leave out the period of some texts
		return lacking[l.Code][text] || lacking[l.Code][text+"."]
	}
	data := dataTexts(t, s)
	ask := func(path string) api.Answer {
		return s.Answer("GET", path, apitest.Fields("Host", "data.example.org", "Accept", "text/html"))
	}
	mounts := s.Lists.Routes.Mounts[:1]
	if testkit.Long() {
		mounts = s.Lists.Routes.Mounts
	}
	for _, m := range mounts {
		for _, path := range languagePaths(m.Names) {
			first := ask(m.Prefix + path)
			plain := readHTML(t, first.Body)
			for _, text := range plain.texts {
				if words.MatchString(text) && !sameWords.MatchString(text) {
					english[text] = messages[text] || !isData(data, text)
				}
			}
			for _, l := range lang.All()[1:] {
				at := m.Prefix + l.Path + path
				answer := ask(at)
				if !sameHead(answer, first) {
					t.Errorf("%s: %d, %q", at, answer.Status, answer.Header)
				}
				page := readHTML(t, answer.Body)
				if page.lang != l.Code || (page.dir == "rtl") != l.IsRTL() {
					t.Errorf("%s: lang %q, dir %q", at, page.lang, page.dir)
				}
				for _, text := range page.texts {
					if english[text] && !lacks(l, text) && !isSame(l, messages, data, text) {
						t.Errorf("%s says %q", at, text)
					}
					for _, phrase := range phrases {
						if strings.Contains(text, phrase) && !lacks(l, phrase) {
							t.Errorf("%s says %q in %.200q", at, phrase, text)
						}
					}
				}
				for _, link := range page.links {
					if !staysIn(link, m.Prefix, l) {
						t.Errorf("%s leads to %s", at, link)
					}
				}
			}
		}
	}
}

// noLanguage is what has no language.
var noLanguage = regexp.MustCompile(
	`^/(?:hapi/|contract/)?(?:docs|openapi\.json|llms\.txt|api/|changelog\.atom|figure/|bulk/|odata/|country/\w+\.xlsx|browse/[\w-]+/download)`,
)

// staysIn reports whether a link leads to a page in the language, to what has no language, or to
// another server.
func staysIn(link, prefix string, l *lang.Language) bool {
	u, err := url.Parse(link)
	if err != nil || u.Host != "" && u.Host != "data.example.org" || u.Path == "" {
		return true
	}
	return strings.HasPrefix(u.Path, prefix+l.Path+"/") || noLanguage.MatchString(u.Path)
}

// sameHead reports whether caches keep two answers in the same way.
func sameHead(a, b api.Answer) bool {
	return a.Status == b.Status && apitest.Header(a, "Cache-Control") == apitest.Header(b, "Cache-Control") &&
		apitest.Header(a,
			"Vary") == apitest.Header(b, "Vary") && apitest.Header(a, "Location") == apitest.Header(b, "Location")
}

// TestAlternates: each page names itself and the same page in all languages, with what its address
// says and without the identifier, and Accept-Language changes nothing.
func TestAlternates(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: "https://data.example.org"}, 30)
	for _, m := range s.Lists.Routes.Mounts {
		for _, path := range []string{
			"/", "/country/AFG", "/country", "/status", "/changelog", "/identifier", "/search?q=refugees",
			"/browse/idps", "/browse/idps?location_code=AFG",
		} {
			for _, l := range lang.All() {
				sent := m.Prefix + l.Path + path
				between := map[bool]string{true: "&", false: "?"}[strings.Contains(sent, "?")]
				with := sent + between + "app_identifier=c2VjcmV0OmE="
				answer := s.Answer("GET", with, nil)
				page := readHTML(t, answer.Body)
				testkit.Lacks(t, answer.Body, "c2VjcmV0", "%s repeats the identifier", with)
				testkit.Equal(t, page.head["canonical"], "https://data.example.org"+sent, "%s: canonical", sent)
				for _, other := range lang.All() {
					want := m.Prefix + other.Path + path
					alternate, link := page.head[other.Code], page.others[other.Code]
					if alternate != "https://data.example.org"+want || other != l && link != want {
						t.Errorf("%s: in %s at %q and %q", sent, other.Code, alternate, link)
					}
				}
				french := s.Answer("GET", with, apitest.Fields("Accept-Language", "fr,de;q=0.9"))
				if !sameHead(french, answer) || strings.Contains(apitest.Header(french, "Vary"), "Language") {
					t.Errorf("%s depends on Accept-Language: %q", sent, french.Header)
				}
			}
		}
	}
	for path, want := range map[string]int{
		"/de/": 404, "/frx/country": 404, "/fr/docs": 404, "/fr/api/v2/metadata/location": 404, "/fr": 307,
	} {
		answer := s.Answer("GET", path, apitest.Fields("Accept", "text/html"))
		testkit.Equal(t, answer.Status, want, "%s", path)
		if want == 307 && apitest.Header(answer, "Location") != path+"/" {
			t.Error(fmt.Sprint(answer.Header))
		}
	}
}
