package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdqs/internal/browser"
	"hdqs/internal/testkit"
)

// events is a page whose figures may be added up.
const events = "/browse/conflict-events?admin_level=2&event_type=political_violence"

// pictures are the pages that are checked, what to do before a picture is taken, and the sizes
// whose picture docs/pages.md shows. TestPicturedPages reads the same addresses without a browser.
var pictures = []struct{ name, path, then, shown string }{
	{"start", "/", "", ""},
	{"funding", "/browse/funding", "", "desktop"},
	{"records", events + "&location_code__in=AFG,SDN,TCD", "", "desktop phone"},
	{"bars", "/browse/humanitarian-needs?by=sector_name&measure=records", "", ""},
	{"map", "/browse/humanitarian-needs", "", "desktop"},
	{"compare", "/compare?figure=people_in_need&country=Haiti,+Chad,+Niger", "", "desktop"},
	{"markets", "/browse/food-prices-market-monitor?by=market&measure=records", "", "desktop"},
	{"refused", "/browse/humanitarian-needs?by=location_code&measure=population", "", ""},
	{"record", events + "&row=2", "#record", "desktop"},
	{"country", "/country/HTI", "", "desktop phone"},
	{"use", "/browse/funding?location_code=AFG", "#use", "desktop"},
	{"search", "/search?q=people+in+need+haiti", "", "desktop"},
	{"reference", "/docs", "", ""},
	{"endpoint", "/docs/conflict-events", "", ""},
	{"interactive", "/docs/interactive", "", ""},
	{"identifier", "/identifier", "", ""},
	{"status", "/status", "", ""},
	{"changelog", "/changelog", "", ""},
}

// maxPicture is the most bytes of a picture in the documentation.
const maxPicture = 100_000

// TestBrowserPictures takes the pictures of docs/pages.md, each on a desktop and on a phone. With
// -update it writes them; "make pictures" does that.
func TestBrowserPictures(t *testing.T) {
	needBrowser(t)
	parallel(t)
	s := serve(t)
	text := string(testkit.ReadFile(t, filepath.Join("..", "..", "docs", "pages.md")))
	p := browser.Open(t)
	folder := filepath.Join("..", "..", "docs", "pictures")
	take := func(file string) {
		t.Helper()
		picture := p.Picture(60)
		if len(picture) > maxPicture || len(picture) < 3000 {
			t.Errorf("%s has %d bytes", file, len(picture))
		}
		path := filepath.Join(folder, file)
		if *update {
			testkit.WriteFile(t, path, picture)
		} else if _, err := os.Stat(path); err != nil {
			t.Errorf("docs/pages.md wants it: %v; make pictures", err)
		}
		if !regexp.MustCompile(`\(pictures/` + regexp.QuoteMeta(file) + `\)`).MatchString(text) {
			t.Errorf("docs/pages.md does not show %s", file)
		}
	}
	for _, x := range pictures {
		for size, phone := range map[string]bool{"desktop": false, "phone": true} {
			width := "1280"
			p.Size(1280, 1150, false)
			if phone {
				width = "390"
				p.Size(390, 844, true)
			}
			p.Goto(s.base + x.path)
			p.Eval(`document.fonts.ready.then(() => "")`)
			if x.then != "" {
				p.Eval(`document.querySelector("` + x.then + `").scrollIntoView()`)
			}
			if x.name == "interactive" {
				p.Eval(`document.querySelector("#swagger-ui button").click(); ""`)
				p.Wait(`document.querySelector(".opblock-tag")`)
			}
			if wide := p.Eval("document.documentElement.scrollWidth"); wide != width {
				t.Errorf("%s on a %s is %s px wide", x.path, size, wide)
			}
			if strings.Contains(x.shown, size) {
				take(x.name + "-" + size + ".webp")
			}
		}
	}
	p.Size(1280, 900, false)
	p.Media("screen", "dark")
	p.Goto(s.base + pictures[2].path)
	take("records-dark.webp")
	if faults := p.Faults(); len(faults) > 0 {
		t.Errorf("faults: %q", faults)
	}
}

// TestPicturedPages: no page that the documents show is a refusal, is empty, or has drawings or
// headline figures of zeros.
func TestPicturedPages(t *testing.T) {
	parallel(t)
	s := serve(t)
	drawn := regexp.MustCompile(`class="chart|class="value"|class="results"|class="bar"|<data value=`)
	for _, x := range pictures {
		if x.shown == "" {
			continue
		}
		page := s.view(t, x.path)
		for _, refusal := range []string{
			"their sum would be wrong", "No record passes", "No figure", "These are results for", ">0</strong>", `<data value="0"`,
		} {
			if strings.Contains(page, refusal) {
				t.Errorf("%s: %s says %q", x.name, x.path, refusal)
			}
		}
		if !drawn.MatchString(page) || !strings.Contains(page, "<h1") {
			t.Errorf("%s: %s shows no figure", x.name, x.path)
		}
		if x.then != "" && !strings.Contains(page, `id="`+x.then[1:]+`"`) {
			t.Errorf("%s: %s has no %s", x.name, x.path, x.then)
		}
	}
}
