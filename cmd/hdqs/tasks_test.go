package main_test

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

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
	taskNumber = regexp.MustCompile(`<(?:data value="([^"]*)"|` +
		`p class="value[^"]*">\s*<strong(?: title="([^"]*)")?>([^<]*)<)`)
	taskFrame = regexp.MustCompile(`src="([^"]*)"`)
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

// TestTasks does what people come for by the words of the pages, in English and in French, on the
// sample and on the real input. testdata/tasks.txt has the tasks, and explains their language.
func TestTasks(t *testing.T) {
	parallel(t)
	squares := filepath.Join(t.TempDir(), "provinces.json")
	var features []string
	for i := range 20 { // made up, so that there are maps of the provinces of Haiti and Mozambique
		place := []string{"HTI", "MOZ"}[i%2]
		features = append(features, fmt.Sprintf(`{"type":"Feature","properties":{"adm0_pcode":"%[4]s",
			"adm1_pcode":"%[5]s%02[1]d","adm1_name":"p%[1]d"},"geometry":{"type":"Polygon","coordinates":
			[[[%[2]d,18],[%[3]d,18],[%[3]d,19],[%[2]d,19],[%[2]d,18]]]}}`, i/2+1, i, i+1, place,
			map[string]string{"HTI": "HT", "MOZ": "MZ"}[place]))
	}
	testkit.Must(t, os.WriteFile(squares, []byte(`{"type":"FeatureCollection","attribution":"made up","features":[`+
		strings.Join(features, ",")+`]}`), 0o600))
	tasks := strings.Split(string(testkit.ReadFile(t, filepath.Join("testdata", "tasks.txt"))), "\n\ntask ")[1:]
	if len(tasks) < 30 {
		t.Errorf("%d tasks, want at least 30", len(tasks))
	}
	for input, store := range map[string]func(t *testing.T) string{"sample": sampleStore, "real": fixtureStore} {
		s := serve(t, "--store", store(t), "--boundaries", squares)
		for _, task := range tasks {
			name, steps, _ := strings.Cut(task, "\n")
			if name, only, is := strings.Cut(name, " ("); is && only != "only "+input+")" {
				t.Log(name, "is not of the", input)
				continue
			}
			for at, start := range []string{"/", "/fr/"} {
				t.Run(input+start+name, func(t *testing.T) {
					p := &person{server: s, t: t}
					p.open(start)
					for step := range strings.Lines(strings.TrimSpace(steps)) {
						p.do(strings.TrimSpace(step), at)
					}
				})
			}
		}
	}
}

// do takes one step of a task, in the words of one of its languages.
func (p *person) do(step string, language int) {
	p.t.Helper()
	verb, words, _ := strings.Cut(step, " ")
	if both := strings.Split(words, " | "); len(both) > 1 {
		words = both[language]
	}
	switch verb {
	case "search":
		at := []string{
			"A country, a place, an organisation, a question", "Un pays, un lieu, une organisation, une question",
		}
		p.submit([]string{"Search", "Rechercher"}[language], at[language], words)
	case "follow":
		p.follow(words)
	case "fill": // button: label = value; label = value
		button, rest, _ := strings.Cut(words, ": ")
		var filled []string
		for pair := range strings.SplitSeq(rest, "; ") {
			label, value, _ := strings.Cut(pair, " = ")
			filled = append(filled, label, value)
		}
		p.submit(button, filled...)
	case "says":
		p.want(words)
	case "draws":
		if is, _ := regexp.MatchString(`class="chart [^"]*\b`+words+`\b`, p.page); !is {
			p.t.Errorf("%s has no drawing %s", p.at, words)
		}
	case "number":
		p.number(words)
	case "table":
		p.table(words)
	case "file": // link: text
		link, text, _ := strings.Cut(words, ": ")
		a := ask(p.t, "GET", p.base+strings.TrimPrefix(p.link(link), p.base))
		all := string(a.body)
		if !strings.Contains(all, text) && !strings.Contains(fmt.Sprint(testkit.Unzip(p.t, a.body)), text) {
			p.t.Errorf("the file %s of %s does not say %q", link, p.at, text)
		}
	case "picture":
		p.picture()
	case "frame":
		p.frame(words)
	case "R":
		p.runR(p.at, words)
	default:
		p.t.Fatalf("no step is called %q", verb)
	}
}

// number fails unless the first number of a page is what its records give.
func (p *person) number(expression string) {
	p.t.Helper()
	groups := p.compute(expression)
	m := taskNumber.FindStringSubmatch(p.page)
	if len(groups) != 1 || m == nil {
		p.t.Fatalf("%s: %v of records, on the page %v", p.at, groups, m)
	}
	for _, want := range groups {
		if shown := cmp.Or(m[1], m[2], m[3]); !asShown(shown, want) {
			p.t.Errorf("%s says %s, its records give %v", p.at, shown, want)
		}
	}
}

// table fails unless the rows of the table of figures are what records give: all of them, but for
// a table of times, which begins with the newest, and for a long one, which has its first 12 rows.
// Names of places and sectors are known in English only: in French their figures are compared.
func (p *person) table(expression string) {
	p.t.Helper()
	groups, rows := p.compute(expression), p.figures()
	isTime := strings.Contains(expression, "by month") || strings.Contains(expression, "by year")
	for name := range groups {
		if isTime && len(rows) > 0 && name < rows[0][0][:len(name)] {
			delete(groups, name)
		}
	}
	most := 12
	if isTime {
		most = len(groups)
	}
	if len(rows) == 0 || len(rows) != min(len(groups), most) {
		p.t.Errorf("%s has %d rows, its records give %d", p.at, len(rows), len(groups))
	}
	left := slices.Sorted(maps.Values(groups))
	for _, row := range rows {
		name := row[0]
		if isTime {
			name, _, _ = strings.Cut(name, " ") // not what stands beside it, such as "can change"
		}
		want, is := groups[name]
		isFrench := strings.Contains(p.at, "/fr/")
		at := -1
		for i, v := range left {
			if far := off(row[1], v); (isFrench || is && v == want) && (at < 0 || far < off(row[1], left[at])) {
				at = i
			}
		}
		if at < 0 || !asShown(row[1], left[at]) {
			p.t.Errorf("%s says %q, its records give %v", p.at, row, want)
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
}

// picture fails unless the preview of a page is a picture of 1200 by 630.
func (p *person) picture() {
	p.t.Helper()
	image := ask(p.t, "GET", html.UnescapeString(taskImage.FindStringSubmatch(p.page)[1]))
	if image.status != 200 || !bytes.HasPrefix(image.body, []byte("\x89PNG")) || len(image.body) > 150_000 ||
		!bytes.Equal(image.body[16:24], []byte{0, 0, 4, 176, 0, 0, 2, 118}) {
		p.t.Errorf("the picture: %d, %d bytes", image.status, len(image.body))
	}
}

// frame fails unless the frame that a page offers may stand in any page, and says something.
func (p *person) frame(words string) {
	p.t.Helper()
	frame := html.UnescapeString(taskEmbed.FindStringSubmatch(p.page)[1])
	address := html.UnescapeString(taskFrame.FindStringSubmatch(frame)[1])
	a := ask(p.t, "GET", address)
	policy := a.header.Get("Content-Security-Policy")
	inner := &person{server: p.server, t: p.t, page: string(a.body), at: address}
	if inner.want(words); a.status != 200 || !strings.Contains(policy, "frame-ancestors *") {
		p.t.Errorf("%s: %d %s", address, a.status, policy)
	}
}

// runR runs the program in R that the page shows, where R is installed, and compares the sum of an
// expression with what records give: EXPRESSION => SUM.
func (p *person) runR(list, words string) {
	p.t.Helper()
	figures, expression, _ := strings.Cut(words, " => ")
	want := strconv.FormatFloat(p.compute(expression)[""], 'f', -1, 64)
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
