//go:build !race

package site_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/browser"
	"hdqs/internal/testkit"
)

// pageChecker opens pages of a server in Chromium and runs axe-core on them.
type pageChecker struct {
	*browser.Page
	t            *testing.T
	address, axe string
	light        map[string]bool // pages that were checked in light colours
}

func newPageChecker(t *testing.T, s *api.Server) pageChecker {
	t.Helper()
	axe := string(testkit.ReadFile(t, os.Getenv("HDQS_AXE"))) // 'make edge' sets it
	return pageChecker{browser.Open(t), t, "http://" + apitest.Listen(t, s), axe, map[string]bool{}}
}

// check checks a page as it is served, in a window of a width and in light or dark colours: there
// must be no violation of any rule, and nothing wider than the window.
func (p pageChecker) check(path string, width int, scheme string) {
	p.t.Helper()
	p.Size(width, 900, width < 1000)
	p.Media("screen", scheme)
	p.Goto(p.address + path)
	p.violations(path, width, scheme)
}

// violations checks the page as it is now. After a check in light colours, one in dark ones is only
// of rules about colours, or in the long form of all.
func (p pageChecker) violations(path string, width int, scheme string) {
	p.t.Helper()
	rules, least := "", "20"
	if scheme == "light" {
		p.light[path] = true
	} else if p.light[path] && !testkit.Long() {
		rules, least = `["cat.color"]`, "1"
	}
	p.Eval(p.axe + `; ""`)
	violations := p.Eval(`axe.run(document, {
		runOnly: {type: "rule", values: axe.getRules(` + rules + `).map((rule) => rule.ruleId)},
		resultTypes: ["violations"],
	}).then((found) => found.passes.length < ` + least + ` ? "few rules were checked" : found.violations.map((v) =>
		[v.impact, v.id, v.help, ...v.nodes.slice(0, 3).map((n) => n.html)].join(": ")).join("; "))`)
	if violations != "" {
		p.t.Errorf("%s at %d px, %s: %s", path, width, scheme, violations)
	}
	// The window of a phone grows with what is too wide for it.
	if wide := p.Eval("document.documentElement.scrollWidth"); wide != strconv.Itoa(width) {
		p.t.Errorf("%s at %d px, %s: it is %s px wide", path, width, scheme, wide)
	}
}

// TestBrowserPages checks every kind of page on a desktop in light colours, and in turn there in
// dark ones or on a phone in light ones; in the long form both.
func TestBrowserPages(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	p := newPageChecker(t, changedServer(t))
	for i, path := range []string{
		"/", "/docs", "/identifier", "/docs?q=location", "/docs?q=nowhere", "/docs/conflict-events",
		"/docs/food-prices-market-monitor", "/hapi/docs", "/hapi/docs/food-security",
		"/browse/conflict-events?admin_level=2&event_type=demonstration&by=location_code&row=1",
		"/browse/food-prices-market-monitor?by=market&measure=records", "/browse/conflict-events?start_date=never",
		"/browse/conflict-events", "/browse/humanitarian-needs", "/browse/funding",
		"/browse/food-prices-market-monitor", "/browse/idps?measure=population&by=month",
		"/browse/humanitarian-needs?country=AFG", "/hapi/browse/food-security?by=ipc_phase&measure=records",
		"/country", "/country/AFG", "/hapi/country/MLI", "/country/AFX", "/embed/conflict-events",
		"/ar/embed/conflict-events?by=location_code&measure=records", "/embed/org?x=1",
		"/status", "/changelog", "/hapi/status", "/hapi/changelog", "/search", "/search?q=refugees+AFG", "/search?q=a",
		"/changelog?since=2001-01-01", "/changelog?since=2001-01-01&list=idps&kind=added",
	} {
		p.check(path, 1280, "light")
		if i%2 == 0 || testkit.Long() {
			p.check(path, 1280, "dark")
		}
		if i%2 == 1 || testkit.Long() {
			p.check(path, 390, "light")
		}
	}
}

// TestBrowserLanguages checks some kinds of pages from right to left, and in the long form all of
// them in each language.
func TestBrowserLanguages(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	s := changedServer(t)
	p := newPageChecker(t, s)
	if !testkit.Long() {
		for _, path := range []string{
			"/ar/", "/ar/country/AFG", "/ar/browse/humanitarian-needs?row=1", "/ar/search?q=refugees+AFG",
			"/ar/changelog?since=2001-01-01",
		} {
			p.check(path, 1280, "light")
			p.check(path, 390, "dark")
		}
		return
	}
	for _, l := range lang.All()[1:] {
		for _, path := range languagePaths(contract.ContractNames) {
			p.check(l.Path+path, 1280, "light")
			p.check(l.Path+path, 390, "dark")
		}
	}
}

// TestBrowserInteractive checks the interactive reference before and after it is loaded, with an
// endpoint open: what swagger-ui leaves without a name gets one.
func TestBrowserInteractive(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	p := newPageChecker(t, apitest.Sample(t, state.Options{}, 5))
	both := func(path string) {
		for _, scheme := range []string{"light", "dark"} {
			p.Media("screen", scheme)
			p.violations(path, 1280, scheme)
		}
	}
	const open = "#/Affected%20people/get_idps_api_v2_affected_people_idps_get"
	p.Size(1280, 900, false)
	p.Goto(p.address + "/hapi/docs/interactive")
	both("/hapi/docs/interactive")
	if got := p.Eval(`document.querySelectorAll("script[src*=swagger]").length`); got != "0" {
		t.Error("swagger-ui is loaded before somebody asks for it")
	}
	p.Eval(`document.querySelector("#swagger-ui button").click(); ""`)
	p.Wait(`document.querySelectorAll("h3.opblock-tag[aria-level]").length > 3`)
	if testkit.Long() { // with an endpoint open, the page has all of it
		both("/hapi/docs/interactive, loaded")
	}
	p.Goto(p.address + "/hapi/docs") // a step to a fragment of the same page would load nothing
	p.Goto(p.address + "/hapi/docs/interactive" + open)
	p.Wait(`document.querySelector(".opblock.is-open td.col_header[role]") !== null`)
	both("/hapi/docs/interactive" + open)
}

// TestBrowserLists checks the page of records of each list with some filters on a phone in dark
// colours, and of each third list, or in the long form of all, without filters on a desktop. Where
// there are months, the first has lines that a script draws; the few years of others are columns.
// Nothing is loaded from elsewhere, and nothing is done that the policies of the pages forbid.
func TestBrowserLists(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	p := newPageChecker(t, apitest.Sample(t, state.Options{}, 30))
	for i, e := range contract.EndpointsIn(contract.ContractNames) {
		filters, scripts := "?measure=records&by=location_code&row=0&limit=5", "0"
		if len(e.Series()) > 0 {
			filters = "?measure=records&limit=5"
			if !contract.IsYearly(&e) {
				scripts = "1"
			}
		}
		if i%3 == 0 || testkit.Long() {
			p.check("/browse/"+e.Name()+"?limit=5", 1280, "light")
		}
		p.check("/browse/"+e.Name()+filters, 390, "dark")
		if got := p.Eval(`document.querySelectorAll("#series .uplot").length`); got != scripts {
			t.Errorf("%s: %s charts that a script draws, want %s", e.Name(), got, scripts)
		}
	}
	if faults := append(p.Faults(), p.Elsewhere()...); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// TestBrowserScripts follows links to the public service's interactive reference, and makes an
// identifier, in Chromium under the policies of the pages.
func TestBrowserScripts(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	s := apitest.Sample(t, state.Options{}, 30)
	harness := testkit.ReadFile(t, filepath.Join("testdata", "browser", "scripts.html"))
	got := browser.Posted(t, "/harness", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/harness":
			w.Header().Set("Content-Type", reply.HtmlType)
			_, _ = w.Write(harness)
		default:
			answer := s.Answer("GET", r.URL.RequestURI(), apitest.Fields("Host", "data.example.org"))
			for _, f := range answer.Header {
				switch f.Name {
				case "Content-Type":
					w.Header().Set(f.Name, f.Value)
				case "Content-Security-Policy": // all of it, but the harness has the page in a frame
					w.Header().Set(f.Name, strings.Replace(f.Value, "ancestors 'none'", "ancestors 'self'", 1))
				}
			}
			w.WriteHeader(answer.Status)
			_, _ = w.Write(answer.Body)
		}
	})
	identifier, issues := contract.EncodeIdentifier("flood-dashboard", "me@example.org")
	if issues != nil {
		t.Fatal(issues)
	}
	const foodSecurity = "get_food_security_api_v2_food_security_nutrition_poverty_food_security_get"
	want := `operations-Food_security\,_nutrition_\&_poverty-` + foodSecurity + "\n" +
		`operations-tag-Coordination_\&_context` + "\n" +
		"operations-Utility-get_encoded_identifier_api_v2_encode_app_identifier_get\n" +
		identifier + "\n" +
		"The name of the application needs at least 4 characters, and no colon.\n" +
		"policy violations: 0"
	testkit.Equal(t, got, want, "what the pages did")
}

// TestBrowserAlone: the chart that a script draws has a dot for a figure between two gaps, also in
// a series that is too long for a mark at each figure.
func TestBrowserAlone(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	tables := apitest.SampleTables(t, 3)
	for _, table := range tables {
		for i, row := range table.Rows {
			if _, has := row["reference_period_start"]; has {
				row["reference_period_start"] = time.Date(1994+15*i, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		}
	}
	address := apitest.Listen(t,
		apitest.Serve(t, state.Options{}, apitest.StoreSnapshot(t, "alone", apitest.SampleTime, tables)))
	p := browser.Open(t)
	p.Media("screen", "light")
	p.Goto("http://" + address + "/browse/conflict-events?measure=records&by=month&span=all")
	p.Wait(`document.querySelector("#series canvas")`)
	const blue = `(() => {
		const c = document.querySelector("#series canvas");
		const all = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		let n = 0;
		for (let i = 0; i < all.length; i += 4) n += all[i] === 0x1f && all[i + 1] === 0x6b && all[i + 2] === 0xa3;
		return n > 30;
	})()`
	p.Wait(blue)
	testkit.Equal(t, p.Eval(`document.querySelectorAll("#series circle").length`), "3", "dots without a script")
}

// TestBrowserSuggestions: while somebody types, the field of a search and those of forms offer
// names, under the policies of the pages.
func TestBrowserSuggestions(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	address := apitest.Listen(t, apitest.Sample(t, state.Options{}, 30))
	p := browser.Open(t)
	for _, c := range []struct{ page, field, text string }{
		{"/", "find", "refug"},
		{"/status", "find", "refug"},
		{"/browse/food-prices-market-monitor", "f-market_code", "mali"},
	} {
		p.Goto("http://" + address + c.page)
		p.Eval(`(() => {
			const field = document.getElementById("` + c.field + `");
			field.value = "` + c.text + `";
			field.dispatchEvent(new InputEvent("input", {inputType: "insertText", bubbles: true}));
			return "";
		})()`)
		p.Wait(`document.querySelector("#` + c.field + `-names option")`)
	}
	// A question that is chosen leads to what it says, not to what a search for its name may read.
	p.Goto("http://" + address + "/search?q=idps+mali")
	p.Eval(`(() => {
		const field = document.getElementById("find");
		const type = (inputType) => field.dispatchEvent(new InputEvent("input", {inputType}));
		type("insertText");
		new MutationObserver(() => {
			field.value = document.querySelector("#find-names option").value;
			type("insertReplacementText");
		}).observe(document.getElementById("find-names"), {childList: true});
		return "";
	})()`)
	p.Wait(`location.pathname === "/browse/idps" && location.search.includes("location_code=")`)
	if faults := append(p.Faults(), p.Elsewhere()...); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// TestBrowserFrames: in the height that the code of a frame has, each drawing is there with its
// title, its source and the way to its page, at three widths, and nothing of that must be scrolled
// to.
func TestBrowserFrames(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	p := newPageChecker(t, apitest.Sample(t, state.Options{}, 120))
	for _, view := range contract.Views {
		name := view.Path[strings.LastIndexByte(view.Path, '/')+1:]
		for _, width := range []int{360, 680, 1000} {
			p.Size(width, 560, false)
			p.Goto(p.address + "/embed/" + name)
			outside := p.Eval(`["h1", ".second", ".drawing svg", "main > p:last-child a"].filter((what) => {
				const all = document.querySelectorAll(what), at = all.length && all[all.length - 1].getBoundingClientRect();
				return !at || at.top < 0 || at.bottom > 560 + 1 || at.height < 12;
			}).join(", ") + (document.querySelector("main").scrollHeight > 562 ? " scrolled" : "")`)
			if outside != "" && !strings.Contains(p.Eval("document.body.textContent"), "No figure") {
				t.Errorf("%s at %d px: outside the frame: %s", name, width, outside)
			}
		}
	}
}

// TestBrowserHTML has the checker of the W3C (vnu) read every kind of page, and the pages of
// records of all endpoints with and without filters: there must be no error and no warning.
func TestBrowserHTML(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	checker := os.Getenv("HDQS_VNU")
	if checker == "" {
		t.Fatal("HDQS_VNU must name vnu.jar, as 'make edge' sets it")
	}
	s := changedServer(t)
	pages := map[string]string{} // addresses by file
	dir := t.TempDir()
	for _, path := range htmlPaths(s) {
		answer := s.Answer("GET", path, apitest.Fields("Host", "data.example.org"))
		if answer.Status != 200 && answer.Status != 422 || apitest.Header(answer, "Content-Type") != reply.HtmlType {
			t.Errorf("%s: %d", path, answer.Status)
		}
		name := filepath.Join(dir, fmt.Sprintf("%03d.html", len(pages)))
		testkit.WriteFile(t, name, answer.Body)
		pages["file:"+name] = path
	}
	var found struct {
		Messages []struct{ Type, URL, Message, Extract string }
	}
	java := func(args ...string) *exec.Cmd {
		command := exec.Command("java", append([]string{"-jar", checker}, args...)...)
		command.Env = append(os.Environ(), testkit.ShortJava)
		return command
	}
	out, err := java("--format", "json", "--exit-zero-always", "--stdout", dir).Output()
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		t.Fatalf("%v: %.500s", err, out)
	}
	reported := map[string]bool{}
	for _, m := range found.Messages {
		if reported[m.Message] {
			continue // most pages have the same templates
		}
		reported[m.Message] = true
		t.Errorf("%s: %s: %s: %.200q", pages[m.URL], m.Type, m.Message, m.Extract)
	}
	broken := filepath.Join(t.TempDir(), "broken.html")
	testkit.WriteFile(t, broken, []byte("<!DOCTYPE html><title>a</title><p><div id=a></p><b id=a>"))
	if java(broken).Run() == nil {
		t.Error("the checker accepts a page that is broken on purpose")
	}
}

// changedServer serves a snapshot of the sample tables that has replaced another one.
func changedServer(t *testing.T) *api.Server {
	t.Helper()
	_, second := apitest.TwoSnapshots(t, 20)
	s := apitest.Serve(t, state.Options{}, second)
	apitest.Swap(t, s, state.Release{Snapshot: apitest.SampleSnapshot(t, 30), PublishedAt: apitest.PublishedTime})
	return s
}

// htmlPaths are the addresses of all kinds of pages in all their states.
func htmlPaths(s *api.Server) []string {
	paths := []string{
		"/docs/interactive", "/identifier", "/docs?q=location", "/docs?q=nowhere", "/browse/idps?country=AFG",
		"/browse/conflict-events?admin_level=7&start_date=soon", "/browse/location?name=nowhere", "/search",
		"/search?q=refugees+AFG", "/search?q=a&kind=province&offset=20", "/search?q=xyzzyqwx", "/hapi/search?q=funding",
		"/embed/conflict-events", "/hapi/embed/conflict-events?by=location_code&measure=records",
		"/embed/humanitarian-needs?by=location_code&measure=population",
		"/changelog?since=2001-01-01", "/hapi/changelog?since=2001-01-01&list=idps&kind=added", "/changelog?since=x",
	}
	paths = append(paths, "/fr/", "/es/country/AFG", "/ar/", "/ar/country/AFG", "/ar/identifier", "/ar/status",
		"/ar/browse/humanitarian-needs?row=0", "/fr/browse/food-security", "/hapi/es/search?q=refugees+AFG")
	for _, m := range s.Lists.Routes.Mounts {
		paths = append(paths, m.Prefix+"/", m.Prefix+"/docs", m.Prefix+"/status", m.Prefix+"/changelog")
		countries := m.Prefix + "/country"
		paths = append(paths, countries, countries+"/AFG", countries+"/MLI")
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			page := m.Prefix + "/browse/" + endpoints[i].Name()
			paths = append(paths, page,
				page+"?row=0&latest=true&by=location_code&measure=records&limit=5&admin_level=1")
			if i%8 == 0 {
				paths = append(paths, m.Prefix+"/docs/"+endpoints[i].Name())
			}
		}
	}
	return paths
}
