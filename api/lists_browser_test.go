package api

import (
	"os"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/site"
	"hdqs/api/state"
	"hdqs/internal/browser"
	"hdqs/internal/testkit"
)

// TestBrowserLists runs axe-core on the page of records of each list with some filters on a phone,
// and of each third list, or in the long form of all, without filters on a desktop, as the pages
// are served. Where there is a time, the first has lines that a script draws. There must be no
// violation of any rule, nothing wider than the window, and nothing that the policies of the pages
// forbid.
func TestBrowserLists(t *testing.T) {
	t.Parallel()
	needEdge(t)
	axe := string(testkit.ReadFile(t, os.Getenv("HDQS_AXE")))
	s := sampleServer(t, state.Options{}, 30)
	address := listen(t, s)
	p := browser.Open(t)
	check := func(path string) {
		t.Helper()
		p.Goto("http://" + address + path)
		p.Eval(axe + `; ""`)
		violations := p.Eval(`axe.run(document, {
			rules: Object.fromEntries(axe.getRules().map((rule) => [rule.ruleId, {enabled: true}])),
			resultTypes: ["violations"],
		}).then((found) => found.passes.length < 20 ? "few rules were checked" : found.violations.map((v) =>
			[v.impact, v.id, v.help, ...v.nodes.slice(0, 3).map((n) => n.html)].join(": ")).join("; "))`)
		if violations != "" {
			t.Errorf("%s: %s", path, violations)
		}
		if wider := p.Eval("document.documentElement.scrollWidth - innerWidth"); wider != "0" {
			t.Errorf("%s is %s px wider than the window", path, wider)
		}
	}
	for i, e := range contract.EndpointsIn(contract.ContractNames) {
		filters, scripts := "?measure=records&by=location_code&row=0&limit=5", "0"
		if len(e.Series()) > 0 {
			filters, scripts = "?measure=records&limit=5", "1"
		}
		if i%3 == 0 || testkit.Long() {
			p.Size(1280, 900, false)
			p.Media("screen", "light")
			check(site.BrowsePath + e.Name() + "?limit=5")
		}
		p.Size(390, 844, true)
		p.Media("screen", "dark")
		check(site.BrowsePath + e.Name() + filters)
		if got := p.Eval(`document.querySelectorAll("#series .uplot").length`); got != scripts {
			t.Errorf("%s: %s charts that a script draws, want %s", e.Name(), got, scripts)
		}
	}
	if faults := append(p.Faults(), p.Elsewhere()...); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}
