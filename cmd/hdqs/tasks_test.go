package main_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// A person opens pages as people do who know none of our names: by the words of links, of labels
// and of buttons. No task takes more than three pages.
type person struct {
	*server
	t     *testing.T
	page  string
	at    string
	loads int
}

var (
	taskTag    = regexp.MustCompile(`<[^>]*>`)
	taskForm   = regexp.MustCompile(`(?s)<form[^>]*>.*?</form>`)
	taskLink   = regexp.MustCompile(`(?s)<a [^>]*href="([^"]*)"[^>]*>(.*?)</a>`)
	taskLabel  = regexp.MustCompile(`(?s)<label for="([^"]*)">([^<]*)</label>`)
	taskInput  = regexp.MustCompile(`<(?:input|select)[^>]* name="([^"]*)"[^>]*>`)
	taskOption = regexp.MustCompile(`(?s)<option value="([^"]*)"( selected)?>([^<]*)</option>`)
	taskRow    = regexp.MustCompile(`(?s)<tr>(.*?)</tr>`)
	taskCell   = regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`)
	taskImage  = regexp.MustCompile(`<meta property="og:image" content="([^"]*)">`)
	taskEmbed  = regexp.MustCompile(`(?s)<textarea [^>]*id="embed"[^>]*>(.*?)</textarea>`)
	taskChange = regexp.MustCompile(`kind=([a-z]+)&amp;list=([a-z-]+)&[^>]*>([0-9]+)</a>`)
	taskFrame  = regexp.MustCompile(`src="([^"]*)"`)
)

func plainText(text string) string {
	text = strings.ReplaceAll(html.UnescapeString(taskTag.ReplaceAllString(text, " ")), "\u202f", "")
	return strings.Join(strings.Fields(text), " ")
}

func attribute(tag, name string) string {
	_, rest, _ := strings.Cut(tag, " "+name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return html.UnescapeString(value)
}

func (p *person) open(address string) {
	p.t.Helper()
	p.at, p.page = address, p.view(p.t, strings.TrimPrefix(address, p.base))
	if p.loads++; p.loads > 4 { // the start page, and three more
		p.t.Errorf("%s is page %d", address, p.loads)
	}
}

// link is the address of the first link with some words.
func (p *person) link(words string) string {
	p.t.Helper()
	for _, m := range taskLink.FindAllStringSubmatch(p.page, -1) {
		if text := plainText(m[2]); text == words || strings.HasPrefix(text, words+" ") {
			return html.UnescapeString(m[1])
		}
	}
	p.t.Fatalf("%s has no link %q", p.at, words)
	return ""
}

func (p *person) follow(words string) {
	p.t.Helper()
	p.open(p.link(words))
}

// submit fills a form in and presses its button: label, value, label, value. A value of a choice is
// what its option says.
func (p *person) submit(button string, filled ...string) {
	p.t.Helper()
	for _, form := range taskForm.FindAllString(p.page, -1) {
		labels, values := map[string]string{}, url.Values{}
		for _, m := range taskLabel.FindAllStringSubmatch(form, -1) {
			labels[plainText(m[2])] = m[1]
		}
		if _, has := labels[filled[0]]; !has || !strings.Contains(form, ">"+button+"</button>") {
			continue
		}
		for _, m := range taskInput.FindAllStringSubmatch(form, -1) {
			text, value := "", attribute(m[0], "value")
			for i := 0; i < len(filled); i += 2 {
				if labels[filled[i]] == attribute(m[0], "id") {
					text = filled[i+1]
				}
			}
			if _, after, isChoice := strings.Cut(form, m[0]); isChoice && strings.HasPrefix(m[0], "<select") {
				options, _, _ := strings.Cut(after, "</select>")
				for _, o := range taskOption.FindAllStringSubmatch(options, -1) {
					if plainText(o[3]) == text || text == "" && o[2] != "" {
						value = html.UnescapeString(o[1])
					}
				}
			} else if text != "" {
				value = text
			}
			if value != "" {
				values.Add(m[1], value)
			}
		}
		action := attribute(form[:strings.Index(form, ">")], "action")
		if action == "" {
			action, _, _ = strings.Cut(p.at, "?")
		}
		p.open(action + "?" + values.Encode())
		return
	}
	p.t.Fatalf("%s has no form with %q and a button %q", p.at, filled[0], button)
}

// figures are the rows of the first table of figures, as texts.
func (p *person) figures() (rows [][]string) {
	_, table, _ := strings.Cut(p.page, `<table class="data" id="figures">`)
	table, _, _ = strings.Cut(table, "</table>")
	for _, row := range taskRow.FindAllStringSubmatch(table, -1) {
		var cells []string
		for _, m := range taskCell.FindAllStringSubmatch(row[1], -1) {
			cells = append(cells, plainText(m[1]))
		}
		if cells != nil {
			rows = append(rows, cells)
		}
	}
	return rows
}

// records are the records of an answer of the interface.
func (s *server) records(t *testing.T, query string) []map[string]any {
	t.Helper()
	return decode[struct{ Data []map[string]any }](t, ask(t, "GET", s.base+with("/api/v2/"+query)).body).Data
}

// want fails unless the page says something.
func (p *person) want(texts ...string) {
	p.t.Helper()
	page := plainText(p.page)
	for _, text := range texts {
		if !strings.Contains(page, text) {
			p.t.Errorf("%s does not say %q", p.at, text)
		}
	}
}

// TestTasks does what people come for, by the words of the pages, on the real input.
func TestTasks(t *testing.T) {
	parallel(t)
	squares := filepath.Join(t.TempDir(), "provinces.json")
	var features []string
	for i := range 10 { // made up, so that there is a map of the provinces of Haiti
		features = append(features, fmt.Sprintf(`{"type":"Feature","properties":{"adm0_pcode":"HTI",
			"adm1_pcode":"HT%02d","adm1_name":"p%d"},"geometry":{"type":"Polygon","coordinates":
			[[[%[2]d,18],[%[3]d,18],[%[3]d,19],[%[2]d,19],[%[2]d,18]]]}}`, i+1, i, i+1))
	}
	testkit.Must(t, os.WriteFile(squares, []byte(`{"type":"FeatureCollection","attribution":"made up","features":[`+
		strings.Join(features, ",")+`]}`), 0o600))
	s := serve(t, "--store", fixtureStore(t), "--boundaries", squares)
	for name, task := range map[string]func(p *person){
		"people in need in Sudan, and who says so": func(p *person) {
			p.submit("Search", "A country, a place, an organisation, a question", "people in need sudan")
			p.want("24786370 people", "2024")
			p.follow("People in need, Sudan")
			p.want("24786370")
			if p.loads != 3 || !strings.Contains(p.page, "All about") {
				p.t.Errorf("%d pages", p.loads)
			}
			p.follow("All about Sudan")
			p.want("source not listed in this copy") // the file names no resource that is known
		},
		"the price of wheat flour in a market of Syria": func(p *person) {
			p.submit("Search", "A country, a place, an organisation, a question", "wheat flour syria")
			p.follow("Wheat flour, Syrian Arab Republic")
			p.submit("Show records", "Market", "Al Mayadin")
			months := s.records(p.t, pricesPath[len("/api/v2/"):]+"/aggregate?location_code=SYR&commodity_code=58"+
				"&market_name=Al%20Mayadin&group_by=month,unit,currency_code&measures=mean:price")
			rows := p.figures()
			if len(rows) == 0 || len(months) < len(rows) || rows[len(rows)-1][0] != months[len(months)-1]["month"] {
				p.t.Errorf("%s has %d months, the interface %d", p.at, len(rows), len(months))
			}
			book := workbook(p.t, ask(p.t, "GET", s.base+p.link("XLSX")).body)
			for _, text := range []string{"SYP", "KG", "snapshot"} {
				if !strings.Contains(book+p.page, text) {
					p.t.Errorf("the workbook does not say %s", text)
				}
			}
			p.want("Citation")
		},
		"deaths in Burkina Faso by month": func(p *person) {
			p.submit("Search", "A country, a place, an organisation, a question", "fatalities burkina faso")
			p.follow("Conflict events and fatalities by month, Burkina Faso")
			if rows := p.figures(); fmt.Sprint(rows) != "[[2025-01 can change 0]]" {
				p.t.Errorf("deaths by month: %v", rows)
			}
			p.runR("conflict-events", "subset(records, event_type == 'political_violence' & "+
				"startsWith(reference_period_start, '2025-01'))$fatalities", "0")
		},
		"a map of displaced people by province": func(p *person) {
			p.submit("Search", "A country, a place, an organisation, a question", "displaced people haiti")
			p.follow("Internally displaced people, Haiti")
			p.submit("Draw", "by", "province (map)")
			sums := s.records(p.t, "affected-people/idps/aggregate?location_code=HTI&admin_level=1&latest=edition"+
				"&group_by=admin1_name&measures=sum:population")
			shown := fmt.Sprint(p.figures())
			for _, r := range sums {
				if !strings.Contains(shown, fmt.Sprintf("[%v %v]", r["admin1_name"], r["sum_population"])) {
					p.t.Errorf("%s does not show %v: %s", p.at, r, shown)
				}
			}
			if !strings.Contains(p.page, `class="chart map"`) || len(sums) != 10 {
				p.t.Errorf("%s has no map of %d provinces", p.at, len(sums))
			}
		},
		"organisations in nutrition in a district": func(p *person) {
			p.submit("Search", "A country, a place, an organisation, a question", "nutrition somalia")
			p.follow("Nutrition, Somalia")
			p.submit("Show records", "District", "Afgooye")
			found := s.records(p.t, "coordination-context/operational-presence/aggregate?location_code=SOM"+
				"&sector_code=NUT&admin2_name=Afgooye&latest=edition&measures=distinct:org_acronym")
			if rows := p.figures(); len(rows) != 1 || rows[0][1] != fmt.Sprint(found[0]["distinct_org_acronym"]) {
				p.t.Errorf("%s has %v, the interface %v", p.at, rows, found)
			}
		},
		"a chart in a message": func(p *person) {
			p.follow("How many people need help, and where?")
			image := ask(p.t, "GET", html.UnescapeString(taskImage.FindStringSubmatch(p.page)[1]))
			if image.status != 200 || !bytes.HasPrefix(image.body, []byte("\x89PNG")) || len(image.body) > 150_000 ||
				!bytes.Equal(image.body[16:24], []byte{0, 0, 4, 176, 0, 0, 2, 118}) { // 1200 by 630
				p.t.Errorf("the picture: %d, %d bytes", image.status, len(image.body))
			}
		},
		"a chart in another page": func(p *person) {
			p.follow("How many people need help, and where?")
			frame := html.UnescapeString(taskEmbed.FindStringSubmatch(p.page)[1])
			address := html.UnescapeString(taskFrame.FindStringSubmatch(frame)[1])
			a := ask(p.t, "GET", address)
			policy := a.header.Get("Content-Security-Policy")
			inner := &person{server: s, t: p.t, page: string(a.body), at: address}
			if inner.want("24786370"); a.status != 200 || !strings.Contains(policy, "frame-ancestors *") {
				p.t.Errorf("%s: %d %s", address, a.status, policy)
			}
		},
		"countries with data on returnees": func(p *person) {
			p.follow("People who went back")
			known := 0
			for _, r := range s.records(p.t, "figures/returned_refugees") {
				if r["value"] != nil {
					known++
				}
			}
			rows := p.figures()
			if p.want("27 countries", "South Sudan"); known != 27 || len(rows) != 27 {
				p.t.Errorf("%d countries in the table, %d have a figure", len(rows), known)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &person{server: s, t: t}
			p.open("/")
			task(p)
		})
	}
}

// runR runs the program in R that the page shows, where R is installed, and an expression of its
// records, whose sum is known.
func (p *person) runR(list, figures, want string) {
	p.t.Helper()
	r, err := exec.LookPath("Rscript")
	if err != nil || !testkit.Long() {
		return
	}
	for _, program := range snippetPattern.FindAllStringSubmatch(p.page, -1) {
		if program[1] != "R" {
			continue
		}
		code := strings.ReplaceAll(html.UnescapeString(program[2]), "YOUR_APP_IDENTIFIER", identifier)
		out, err := exec.Command(r, "-e", code+"\ncat(sum("+figures+"))").CombinedOutput()
		if err != nil || string(out) != want {
			p.t.Errorf("R reads %s: %v %s, want %s", list, err, out, want)
		}
		return
	}
	p.t.Error("the page has no program in R")
}

// workbook is the text of all parts of a workbook.
func workbook(t *testing.T, body []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	var all strings.Builder
	for _, f := range z.File {
		part, err := f.Open()
		testkit.Must(t, err)
		_, err = io.Copy(&all, part)
		testkit.Must(t, err)
	}
	return all.String()
}

// TestTaskOfChanges finds what changed of one country since a day.
func TestTaskOfChanges(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	from, _ := inspect(t, store)
	s := serve(t, "--store", store)
	edition := newCatalogOf(t, generator.Options{Seed: 1, Edited: 8})
	run(t, "build", "--catalog", edition, "--store", store, "--snapshot-time", "2026-11-28T00:00:00Z")
	s.signalAndWait(t, "the swap", "snapshot swapped")
	p := &person{server: s, t: t}
	p.open("/")
	p.follow("What changed")
	p.submit("Show", "Since", "2026-11-21", "Country", "AFG")
	compared := 0
	for _, m := range taskChange.FindAllStringSubmatch(p.page, -1) {
		place := "location_code"
		if m[2] == "refugees-persons-of-concern" || m[2] == "returnees" {
			place = "origin_location_code"
		}
		a := ask(t, "GET", s.base+with(listPathOf(t, m[2])+"/changes?"+place+"=AFG&limit=1&since="+from.ID))
		compared++
		if totals := a.header.Get("X-Changes"); !strings.Contains(totals, m[1]+"="+m[3]) {
			t.Errorf("%s: %s %s, the interface says %s", m[2], m[1], m[3], totals)
		}
	}
	if compared < 10 {
		t.Errorf("%s has only %d numbers", p.at, compared)
	}
}
