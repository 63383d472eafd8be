//go:build !race

package country_test

import (
	"bytes"
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

var hrefPattern = regexp.MustCompile(`href="([^"]+)`)

// maxCountryPage is the most bytes of the page of a country.
const maxCountryPage = 25_000

var (
	tilePattern = regexp.MustCompile(
		`(?s)<th scope="row"><a href="[^"]*">([^<]*)</a></th>\s*<td[^>]*>` +
			`<data value="([^"]*)" title="[^"]*">([^<]*)</data>(.*?)</tr>`)
	topPattern   = regexp.MustCompile(`<p class="value[^"]*"><strong(?: title="([^"]*)")?>([^<]*)</strong>`)
	sparkPattern = regexp.MustCompile(`class="spark"[^>]*aria-label="[^"]*, ([^",]*) in \d{4}(?:-\d\d)?"`)
)

// countryCodes are the codes of all countries that a server knows.
func countryCodes(t *testing.T, s *api.Server) (codes []string) {
	t.Helper()
	records, _ := apitest.Records(t, s, "/api/v2/metadata/location")
	for _, r := range records {
		codes = append(codes, r["code"].(string))
	}
	return codes
}

// title is the name of the country of a page.
func title(page []byte) string {
	_, name, _ := strings.Cut(string(page), "<h1><bdi>")
	name, _, _ = strings.Cut(name, "<")
	return html.UnescapeString(name)
}

// TestCountryPages compares the page of each country, in both sets of names, with the answer of the
// interface: the same values in tiles, and the same reasons where there are none. The links of a
// tile answer, that to the interface with the same value. A line that ends with the figure's year
// ends with the figure. No page is too large.
func TestCountryPages(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.FigureTables(t))
	tiles, missing := 0, 0
	for _, m := range s.Lists.Routes.Mounts {
		for _, code := range countryCodes(t, s) {
			path := m.Prefix + "/country/" + code
			page := s.Answer("GET", path, nil)
			if page.Status != 200 || len(page.Body) > maxCountryPage {
				t.Fatalf("%s: %d, %d bytes", path, page.Status, len(page.Body))
			}
			figures, _ := apitest.Records(t, s, m.Prefix+"/api/v2/figures?location_code="+code)
			all := tilePattern.FindAllStringSubmatch(string(page.Body), -1)
			shown, at := map[string][]string{}, 0
			for _, tile := range all {
				shown[html.UnescapeString(tile[1])] = tile
			}
			for i, r := range figures {
				if r["value"] == nil {
					missing++
					e := contract.Headlines[i].List(m.Names)
					reason := strings.NewReplacer( // with names for codes
						"of "+code+" ", "of "+title(page.Body)+" ", "list "+e.Name()+" ", "list “"+e.Summary+"” ",
					).Replace(r["reason"].(string))
					testkit.Contains(t, html.UnescapeString(string(page.Body)), reason, "%s does not say", path)
					continue
				}
				h := contract.Headlines[i]
				value := r["value"].(interface{ String() string }).String()
				tile := shown[h.Title]
				if tile == nil {
					t.Fatalf("%s has no row of %s", path, h.Title)
				}
				if tile[2] != value {
					t.Fatalf("%s: %s is %s, the page has %q", path, h.Title, value, tile)
				}
				checkTile(t, s, tile, value)
				spark := sparkPattern.FindStringSubmatch(tile[4])
				if spark != nil && h.Series == "year" && html.UnescapeString(spark[1]) != tile[3] {
					t.Errorf("%s: the line of %s ends with %s, the figure is %s", path, h.Title, spark[1], tile[3])
				}
				at++
				tiles++
			}
			testkit.Equal(t, at, len(shown), "%s has %d tiles more than figures", path, len(shown)-at)
		}
	}
	if tiles < 40 || missing < 40 {
		t.Errorf("only %d tiles, and %d reasons", tiles, missing)
	}
}

// checkTile follows the links of a tile.
func checkTile(t *testing.T, s *api.Server, tile []string, value string) {
	t.Helper()
	links := hrefPattern.FindAllStringSubmatch(tile[0], -1)
	if len(links) != 1 {
		t.Fatalf("%s has %d links", tile[1], len(links))
	}
	view := html.UnescapeString(links[0][1])
	if page := apitest.Browse(s, view); page.Status != 200 || bytes.Contains(page.Body, []byte("Ignored:")) ||
		!bytes.Contains(page.Body, []byte(">All about <bdi>")) {
		t.Errorf("%s leads to %s: %d", tile[1], view, page.Status)
	} else if m := topPattern.FindSubmatch(page.Body); m == nil ||
		apitest.PlainNumber(cmp.Or(string(m[1]), string(m[2]))) != apitest.PlainNumber(value) {
		t.Errorf("%s is %s, but %s begins with %q", tile[1], value, view, m)
	}
}

// TestCountryAnswers checks what caches of pages of countries need.
func TestCountryAnswers(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{SurrogateKey: true, BaseURL: "https://hdqs.example"}, apitest.FigureTables(t))
	for _, path := range []string{
		"/country/AFG", "/hapi/country/AFG", "/country/AFG?snapshot=" + apitest.SampleID, "/country/AFG.xlsx",
	} {
		got := apitest.Browse(s, path)
		tag := apitest.Header(got, "ETag")
		again := s.Answer("GET", path, apitest.Fields("If-None-Match", tag))
		if again.Status != 304 || apitest.Header(got, "Vary") != "Accept-Encoding" ||
			!strings.Contains(apitest.Header(got, "Surrogate-Key"), reply.LandingKey) ||
			!strings.HasPrefix(apitest.Header(got, "Cache-Control"), "public") ||
			apitest.Header(got, "X-Snapshot-Id") != apitest.SampleID {
			t.Errorf("%s: %d, %v", path, again.Status, got.Header)
		}
	}
	if got := apitest.Browse(s, "/sitemap.xml"); !bytes.Contains(got.Body, []byte("/country</loc>")) {
		t.Errorf("the site map has no countries: %d", got.Status)
	}
	if empty := api.New(state.Options{}); empty.Answer("GET", "/country/AFG", nil).Status != 503 {
		t.Error("a page of a country without a snapshot")
	}
}

// TestCountryWorkbook checks that the workbook has each figure of the interface and the sources.
func TestCountryWorkbook(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier, MadeUp: true}, apitest.FigureTables(t))
	book := s.Answer("GET", "/country/AFG.xlsx", nil)
	testkit.Contains(t, apitest.Header(book, "Content-Disposition"), `filename="hdqs-AFG-`, "Content-Disposition")
	var sheets []string
	for _, f := range testkit.Unzip(t, book.Body) {
		if strings.HasPrefix(f.Name, "xl/worksheets/") {
			sheets = append(sheets, html.UnescapeString(f.Text))
		}
	}
	if len(sheets) != 4 {
		t.Fatalf("%d sheets", len(sheets))
	}
	for sheet, wants := range [][]string{
		{"made up", apitest.SampleID}, nil, {"/humanitarian-needs"}, {"licence_address"},
	} {
		for _, want := range wants {
			testkit.Contains(t, sheets[sheet], want, "sheet %d", sheet+1)
		}
	}
	figures, _ := apitest.Records(t, s, "/api/v2/figures?location_code=AFG")
	for _, r := range figures {
		want := "<v>"
		if r["value"] == nil {
			want = r["reason"].(string)
		} else {
			want += r["value"].(interface{ String() string }).String() + "</v>"
		}
		rows := strings.Split(sheets[1], "<row ")
		if !slices.ContainsFunc(rows, func(row string) bool {
			return strings.Contains(row, ">"+r["figure"].(string)+"<") && strings.Contains(row, want)
		}) {
			t.Errorf("no row of %s has %s", r["figure"], want)
		}
	}
}

// TestCountryChanges checks that the page says which lists of a country the newest snapshot has
// changed, and leads to the records that differ as long as the one before is served.
func TestCountryChanges(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	for _, x := range tables {
		if x.Endpoint.Table == "humanitarian_needs" {
			targeted := func(row map[string]any) bool { return row["population_status"] == "TGT" }
			x.Rows = slices.DeleteFunc(x.Rows, targeted)
		}
	}
	before := s.Answer("GET", "/country/AFG", nil)
	next := apitest.StoreSnapshot(t, "20261122T000000Z-000000000002", apitest.SampleTime, tables)
	apitest.Swap(t, s, state.Release{Snapshot: next, PublishedAt: apitest.PublishedTime})
	page := s.Answer("GET", "/country/AFG", nil)
	if bytes.Contains(before.Body, []byte(`id="changes"`)) ||
		bytes.Count(page.Body, []byte(`<li>People in need by sector</li>`)) != 1 {
		t.Errorf("%s", page.Body)
	}
	link := regexp.MustCompile(`href="([^"]*/changelog\?[^"]*)"`).FindStringSubmatch(string(page.Body))
	if link == nil {
		t.Fatal("no link to what changed")
	}
	changed := string(s.Answer("GET", html.UnescapeString(link[1]), nil).Body)
	if !regexp.MustCompile(`kind=removed[^"]*location_code=AFG[^"]*"[^>]*>[1-9]`).MatchString(changed) {
		t.Errorf("%s has no records that were removed", link[1])
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
