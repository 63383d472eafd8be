//go:build !race

package site_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/png"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// figureQuery is a view of conflict events whose figures may be added up.
const figureQuery = "?admin_level=2&by=location_code&event_type=political_violence&measure=fatalities"

// TestFigureTables: the figures of a view as CSV and as a workbook are those of the interface, for
// every list and every measure and part that its page offers, and what the page refuses, the files
// refuse. Where the page says that its figure is of other records than the address, the address of
// the file becomes theirs.
func TestFigureTables(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	choices := regexp.MustCompile(`(?s)<select id="(measure|by)"[^>]*>(.*?)</select>`)
	value := regexp.MustCompile(`<option value="([^"]*)"`)
	call := regexp.MustCompile(
		`<p class="soft">(?:The same|[^<]* The interface)[^<]*</p><pre class="call"><code>([^<]*)`)
	drawn, refused, turned := 0, 0, 0
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		page := apitest.Browse(s, "/browse/"+e.Name()+"?measure=records&by=location_code") // rates too
		offered := map[string][]string{}
		for _, m := range choices.FindAllStringSubmatch(string(page.Body), -1) {
			for _, v := range value.FindAllStringSubmatch(m[2], -1) {
				offered[m[1]] = append(offered[m[1]], v[1])
			}
		}
		for _, measure := range offered["measure"] {
			for _, by := range offered["by"] {
				query := "?" + url.Values{"measure": {measure}, "by": {by}, "span": {"all"}}.Encode()
				page := apitest.Browse(s, "/browse/"+e.Name()+query)
				file := apitest.Browse(s, "/figure/"+e.Name()+".csv"+query)
				if file.Status == 303 {
					turned++ // the page says that the figure is of other records
					if !bytes.Contains(page.Body, []byte(" in place of: ")) &&
						!bytes.Contains(page.Body, []byte("This figure shows:")) {
						t.Errorf("%s%s does not say what it shows", e.Name(), query)
					}
					query = apitest.Header(file, "Location")
					query = query[strings.IndexByte(query, '?'):]
					file = apitest.Browse(s, "/figure/"+e.Name()+".csv"+query)
				}
				source := call.FindSubmatch(page.Body)
				if other := bytes.Contains(page.Body, []byte("Drawn by ")); source == nil || other {
					if other {
						turned++
					} else {
						refused++
					}
					raster := apitest.Browse(s, "/figure/"+e.Name()+".png"+query)
					if raster.Status != 422 || file.Status != 422 ||
						!bytes.Contains(file.Body, []byte("no_figure")) {
						t.Errorf("%s%s: no figure, but %d %.200s", e.Name(), query, file.Status, file.Body)
					}
					continue
				}
				drawn++
				picture := apitest.Browse(s, "/figure/"+e.Name()+".svg"+query)
				if picture.Status != 200 || !bytes.HasPrefix(picture.Body, []byte("<svg xmlns=")) ||
					!bytes.Contains(picture.Body, []byte("Humanitarian Data Query Service</text>")) {
					t.Errorf("%s%s: %d %.300s", e.Name(), query, picture.Status, picture.Body)
				}
				at, err := url.Parse(html.UnescapeString(string(source[1])))
				if err != nil || file.Status != 200 {
					t.Fatalf("%s%s: %v %d %.200s", e.Name(), query, err, file.Status, file.Body)
				}
				answer := s.Answer("GET", at.Path+"?"+at.RawQuery+"&app_identifier="+apitest.Identifier, nil)
				want := numbersOf(t, answer.Body, strings.ReplaceAll(at.Query().Get("measures"), ":", "_"))
				if got := csvNumbers(t, file.Body); !slices.Equal(got, want) {
					t.Errorf("%s%s: the file has %q, the interface %q", e.Name(), query, got, want)
				}
			}
		}
	}
	if drawn < 50 || refused > 0 || turned < 10 {
		t.Errorf("%d figures, %d refused, %d of other records", drawn, refused, turned)
	}
}

// numbersOf are the figures of an aggregate, sorted, as plain numbers.
func numbersOf(t *testing.T, body []byte, field string) (all []string) {
	t.Helper()
	var answer struct{ Data []map[string]json.RawMessage }
	testkit.Must(t, json.Unmarshal(body, &answer))
	field, most, apart := strings.Cut(field, ",") // rates have a figure where all records have the same one
	for _, record := range answer.Data {
		if text := string(record[field]); text != "null" && (!apart || text == string(record[most])) {
			if strings.Contains(text, ".") {
				text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
			}
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// csvNumbers are the numbers of a figure as CSV, sorted. They are its last column, or all but the
// first.
func csvNumbers(t *testing.T, body []byte) (all []string) {
	t.Helper()
	lines := testkit.Value(csv.NewReader(bytes.NewReader(body)).ReadAll())(t)
	for _, line := range lines[1:] {
		if text := line[len(line)-1]; text != "" {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// TestFigureBook: a workbook has the same figures, and a sheet that says what they are.
func TestFigureBook(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	textOf := func(query string) string {
		return fmt.Sprint(testkit.Unzip(t, apitest.Browse(s, "/figure/conflict-events.xlsx"+query).Body))
	}
	for by, want := range map[string]string{"month": `<c r="A2" s="4"><v>45`, "year": `<c r="A2"><v>20`} {
		query := strings.Replace(figureQuery, "by=location_code", "by="+by, 1)
		testkit.Contains(t, textOf(query), want, "a %s", by)
	}
	text := textOf(figureQuery)
	for _, number := range csvNumbers(t, apitest.Browse(s, "/figure/conflict-events.csv"+figureQuery).Body) {
		testkit.Contains(t, text, "<v>"+number+"</v>", "the workbook lacks %s", number)
	}
	for _, want := range []string{
		"Kind of event: political violence", "unit", "period", apitest.SampleID, "snapshot=",
	} {
		testkit.Contains(t, text, want, "the workbook")
	}
}

// TestFigurePictures: the picture of a view is the one that its page names, in the size that it
// says, and is the same when it is asked for again; a country has one too.
func TestFigurePictures(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: "https://hdqs.example"}, 30)
	named := regexp.MustCompile(`<meta property="og:image" content="https://hdqs.example([^"]+)"`)
	for _, path := range []string{
		"/browse/conflict-events" + figureQuery, "/browse/conflict-events",
		"/browse/funding", "/country/AFG",
	} {
		page := apitest.Browse(s, path)
		at := named.FindSubmatch(page.Body)
		if at == nil {
			t.Fatalf("%s names no picture", path)
		}
		first := apitest.Browse(s, html.UnescapeString(string(at[1])))
		again := apitest.Browse(s, html.UnescapeString(string(at[1])))
		pixels, err := png.Decode(bytes.NewReader(first.Body))
		if err != nil || pixels.Bounds() != image.Rect(0, 0, 1200, 630) || len(first.Body) > 150<<10 {
			t.Errorf("%s: %d, %d bytes, %v", at[1], first.Status, len(first.Body), err)
		}
		if !bytes.Equal(first.Body, again.Body) || apitest.Header(first, "Content-Type") != "image/png" {
			t.Errorf("%s: another picture the second time, or %s", at[1], apitest.Header(first, "Content-Type"))
		}
	}
	for _, path := range []string{
		"/browse/org?x=1",
		"/browse/conflict-events?event_type=none", "/browse/conflict-events?start_date=never",
	} {
		if page := apitest.Browse(s, path); named.Match(page.Body) {
			t.Errorf("%s names a picture, which is refused", path)
		}
	}
	hostile := "/figure/conflict-events.svg?by=month&measure=records&provider_admin1_name=" +
		url.QueryEscape("</title><script>\x00\x1b\u202e&'\"")
	if got := apitest.Browse(s, hostile); bytes.Contains(got.Body, []byte("<script")) || got.Status == 500 {
		t.Errorf("%d %.500s", got.Status, got.Body)
	}
	long := "/figure/conflict-events.png?event_type=" + strings.Repeat("x", 2100)
	testkit.Equal(t, apitest.Browse(s, long).Status, 414, "a long address")
}

// TestEmbed: a page for frames may be in pages of others, and no other page may. It leads back to
// its view, and says why it has no figure.
func TestEmbed(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: "https://hdqs.example"}, 30)
	const policy = "Content-Security-Policy"
	frame := apitest.Browse(s, "/embed/conflict-events"+figureQuery+"&row=1&limit=7&utm_source=x")
	if frame.Status != 422 || !bytes.Contains(frame.Body, []byte("no filter utm_source")) {
		t.Errorf("a filter that there is not: %d %.300s", frame.Status, frame.Body)
	}
	other := apitest.Browse(s, "/figure/conflict-events.csv?measure=fatality&by=day")
	if other.Status != 422 || !bytes.Contains(other.Body, []byte("no filter measure=fatality, by=day")) {
		t.Errorf("a measure that there is not: %d %.300s", other.Status, other.Body)
	}
	frame = apitest.Browse(s, "/embed/conflict-events"+figureQuery+"&row=1&limit=7")
	if !strings.Contains(apitest.Header(frame, policy), "frame-ancestors *;") &&
		!strings.HasSuffix(apitest.Header(frame, policy), "frame-ancestors *") {
		t.Errorf("the policy of the frame is %q", apitest.Header(frame, policy))
	}
	back := `<a href="https://hdqs.example/browse/conflict-events` + html.EscapeString(figureQuery) + `"`
	for _, want := range []string{back, "<svg", "Kind of event: political violence", `class="soft about"`} {
		if frame.Status != 200 || !bytes.Contains(frame.Body, []byte(want)) {
			t.Errorf("%d, the frame lacks %q: %s", frame.Status, want, frame.Body)
		}
	}
	if bytes.Contains(frame.Body, []byte("<script")) || bytes.Contains(frame.Body, []byte("row=1")) {
		t.Error("the frame has a script, or a link with what is no part of the figure")
	}
	for _, target := range apitest.EveryPage("") {
		page := apitest.Browse(s, target)
		is := strings.Contains(apitest.Header(page, policy), "frame-ancestors *")
		testkit.Equal(t, is, strings.HasPrefix(target, "/embed/"), "%s: %q", target, apitest.Header(page, policy))
	}
	wrong := apitest.Browse(s, "/embed/humanitarian-needs?by=location_code&measure=population")
	if wrong.Status != 422 || bytes.Contains(wrong.Body, []byte("<svg")) {
		t.Errorf("a wrong sum: %d %.300s", wrong.Status, wrong.Body)
	}
}

// TestStale: where its list is older than its source, each figure says so, also away from its page.
func TestStale(t *testing.T) {
	t.Parallel()
	snap := apitest.StoreSnapshot(t, "stale", apitest.SampleTime, apitest.FigureTables(t))
	for i := range snap.Manifest.Sources {
		snap.Manifest.Sources[i].StaleSince = apitest.SampleStale
	}
	s := apitest.Serve(t, state.Options{Identifier: state.IgnoreIdentifier}, snap)
	for _, path := range []string{
		"/country/AFG", "/compare?figure=people_in_need&country=AFG,SDN", "/search?q=people+in+need+Afghanistan",
		"/browse/humanitarian-needs?location_code=AFG", "/embed/humanitarian-needs?location_code=AFG",
		"/figure/humanitarian-needs.svg?location_code=AFG",
	} {
		page := string(apitest.Browse(s, path).Body)
		if !regexp.MustCompile(`(?i)older than its source since:? 18 November 2026`).MatchString(page) {
			t.Errorf("%s does not say how old its figures are: %.1500s", path, shownText(page))
		}
	}
}

// TestOEmbed: the description that a page names has its frame, in the size that was asked for.
func TestOEmbed(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: "https://hdqs.example"}, 30)
	page := apitest.Browse(s, "/browse/conflict-events"+figureQuery)
	link := regexp.MustCompile(`json\+oembed" href="https://hdqs.example([^"]+)`).FindSubmatch(page.Body)
	if link == nil {
		t.Fatal("the page names no description")
	}
	var frame struct {
		Type, Version, Title, HTML string
		Width, Height              int
	}
	got := apitest.Browse(s, html.UnescapeString(string(link[1]))+"&maxwidth=500&maxheight=9999")
	if err := json.Unmarshal(got.Body, &frame); err != nil || got.Status != 200 {
		t.Fatalf("%d %v %s", got.Status, err, got.Body)
	}
	src := regexp.MustCompile(`src="https://hdqs.example([^"]+)"`).FindStringSubmatch(frame.HTML)
	if src == nil || apitest.Browse(s, html.UnescapeString(src[1])).Status != 200 || frame.Type != "rich" ||
		frame.Version != "1.0" || frame.Width != 500 || frame.Height != 560 ||
		!strings.Contains(frame.HTML, `width="500" height="560"`) || !strings.HasPrefix(frame.Title, "Deaths in political violence by country, ") {
		t.Errorf("%+v", frame)
	}
	for _, c := range []struct {
		query  string
		status int
	}{
		{"url=" + url.QueryEscape("https://hdqs.example/figure/conflict-events.csv"+figureQuery), 200},
		{"url=" + url.QueryEscape("https://hdqs.example/embed/conflict-events?location_code=AFG,MLI&by=month&measure=records"), 200},
		{"url=" + url.QueryEscape("https://hdqs.example/browse/conflict-events"+figureQuery) + "&format=xml", 501},
		{"url=https://other.example/browse/conflict-events", 404},
		{"url=https://hdqs.example/docs/conflict-events", 404},
		{"", 404},
		{"url=%25", 404},
		{"url=" + url.QueryEscape("https://hdqs.example/browse/org?x=1"), 422},
		{"url=" + url.QueryEscape("https://hdqs.example/browse/org?%zz"), 400},
		{"url=" + url.QueryEscape("https://hdqs.example/browse/org?snapshot=nowhere"), 410},
	} {
		if got := apitest.Browse(s, "/oembed?"+c.query); got.Status != c.status {
			t.Errorf("%s: %d, want %d: %s", c.query, got.Status, c.status, got.Body)
		}
	}
}

// TestShare: a view is called by what it shows, says where its figures come from, and is cited with
// its snapshot, whose address answers.
func TestShare(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: "https://hdqs.example"}, 30)
	page := apitest.Browse(s, "/browse/conflict-events"+figureQuery)
	query := strings.Replace(figureQuery, "political_violence", "demonstration", 1)
	other := apitest.Browse(s, "/browse/conflict-events"+query)
	title := regexp.MustCompile("<title>[^<]*</title>")
	if a, b := title.Find(page.Body), title.Find(other.Body); bytes.Equal(a, b) ||
		!bytes.Contains(a, []byte("Deaths in political violence by country, ")) {
		t.Errorf("titles %q and %q", a, b)
	}
	for _, want := range []string{
		`<meta property="og:title"`, `<meta name="twitter:card"`, `<p class="second"><bdi>fatalities; `, "Places: ",
		"@misc{hdqs-conflict-events-", "[Data set]", `src=&#34;https://hdqs.example/embed/conflict-events?`,
	} {
		testkit.Contains(t, page.Body, want, "the page")
	}
	cited := regexp.MustCompile(`https://hdqs\.example(/browse/[^ "<]*snapshot=[^ "<}]*)`).
		FindAllSubmatch(page.Body, -1)
	if len(cited) < 3 {
		t.Fatalf("%d addresses with a snapshot", len(cited))
	}
	for _, m := range cited {
		testkit.Equal(t, apitest.Browse(s, html.UnescapeString(string(m[1]))).Status, 200, "%s", m[1])
	}
}

// TestFigureFormulas: no text of a figure as CSV is one that spreadsheet programs run.
func TestFigureFormulas(t *testing.T) {
	t.Parallel()
	s, harmless := apitest.Hostile(t), 0
	for _, by := range []string{"org_acronym", "sector_name", "admin1_name"} {
		body := apitest.Browse(s, "/figure/operational-presence.csv?measure=records&by="+by).Body
		lines := testkit.Value(csv.NewReader(bytes.NewReader(body)).ReadAll())(t)
		for _, line := range lines {
			for _, text := range line {
				if strings.HasPrefix(text, "'") {
					harmless++
				}
				if strings.ContainsAny(text[:min(1, len(text))], "=+-@\t\r") {
					t.Errorf("by %s: %q", by, line)
				}
			}
		}
	}
	if harmless == 0 {
		t.Error("no text was like a formula")
	}
}
