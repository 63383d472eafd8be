package main_test

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/browser"
)

// TestBrowserJourney goes from the start page to a filtered table, a chart, a map, a copied program
// and a download, with the keyboard alone, in a Chromium that can reach no other machine; once with
// scripts and once without.
func TestBrowserJourney(t *testing.T) {
	needBrowser(t)
	parallel(t)
	s := serve(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journey{browser.Open(t), t, scripts}
			j.Scripts(scripts)
			j.Size(1280, 900, false)
			j.Goto(s.base + "/")
			j.Follow(`x.pathname === "/browse/conflict-events"`, "Enter")
			j.filter()
			j.chart()
			j.drawMap()
			j.program(s.base)
			j.download()
			if there := j.Elsewhere(); len(there) > 0 {
				t.Errorf("requests to other machines: %q", there)
			}
			if faults := j.Faults(); len(faults) > 0 {
				t.Errorf("faults: %q", faults)
			}
		})
	}
}

// needBrowser skips a test that needs Chromium unless HDQS_EDGE is set, as 'make edge' does.
func needBrowser(t *testing.T) {
	t.Helper()
	if os.Getenv("HDQS_EDGE") == "" {
		t.Skip("HDQS_EDGE is not set: 'make edge' runs this with Chromium")
	}
}

type journey struct {
	*browser.Page
	t       *testing.T
	scripts bool
}

// says fails unless an expression on the page has a value.
func (j *journey) says(expression, want string) {
	j.t.Helper()
	if got := j.Eval(expression); got != want {
		j.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

// filter fills the form of filters: two countries, a level, a type of event.
func (j *journey) filter() {
	j.TabTo(`x.tagName === "SUMMARY" && x.textContent === "Place"`)
	j.Press("Enter")
	j.TabTo(`x.name === "location_code"`)
	j.Type("TCD, COL")
	j.TabTo(`x.name === "admin_level"`)
	j.Type("D") // districts
	j.TabTo(`x.tagName === "SUMMARY" && x.textContent === "What"`)
	j.Press("Enter")
	j.TabTo(`x.name === "event_type"`)
	j.Type("p")
	j.Follow(`x.textContent === "Show records"`, "Enter")
	j.says("location.search", "?admin_level=2&event_type=political_violence&location_code__in=TCD%2CCOL")
	j.says(`document.querySelector(".total strong").textContent`, "96")
	j.says(`document.querySelectorAll(".records > .scroll tbody tr").length`, "25")
}

// chart reads the figures over time: with arrow keys where there are scripts, else from the table.
func (j *journey) chart() {
	const title = `document.querySelector("#figure-heading").textContent.replace(/^[^:]*: |, [^,]*$/g, "")`
	j.says(title, "deaths in political violence by month")
	visible := `getComputedStyle(document.querySelector("#series > svg")).display !== "none"`
	const row = `[...document.querySelector("#figures").tBodies[0].rows].at(-1)`
	if j.scripts {
		j.Wait(`document.querySelector("#series .uplot")`)
		j.says(visible, "false")
		j.TabTo(`x.getAttribute("role") === "application"`)
		j.Press("End")
		last := strings.Replace(j.Eval(row+`.textContent`), " can change", "", 1) // of a provisional month
		said := j.Eval(`document.querySelector("[aria-live]").textContent`)
		if got := regexp.MustCompile(`: Colombia | · Chad `).ReplaceAllString(said, ""); got != last {
			j.t.Errorf("the chart says %q, the table has %q", said, last)
		}
		j.Press("ArrowLeft")
		if again := j.Eval(`document.querySelector("[aria-live]").textContent`); again == said {
			j.t.Errorf("the arrow key leads nowhere: %q", again)
		}
		j.Press("+")
		j.TabTo(`x.textContent === "Whole period"`)
		j.Press("Enter")
		j.Media("print", "light")
		j.says(visible, "true")
		j.Media("screen", "light")
	} else {
		j.says(visible, "true")
		j.says(`document.querySelectorAll("#series .uplot").length`, "0")
	}
	j.TabTo(`x.tagName === "SUMMARY" && x.textContent === "The figures as a table"`)
	j.Press("Enter")
	j.Wait(`document.querySelector("#figures").checkVisibility()`)
}

// drawMap chooses countries, of which two make no map but bars, and follows one from its table.
func (j *journey) drawMap() {
	j.TabTo(`x.id === "by"`)
	j.Type("c")
	j.Follow(`x.textContent === "Draw"`, "Enter")
	j.says(`document.querySelector("#figure-heading").textContent`, "Colombia, Chad: deaths in political "+
		"violence by country, November 2025 to October 2026")
	j.says(`document.querySelector(".drawing .chart").classList.contains("bars")`, "true")
	j.TabTo(`x.tagName === "SUMMARY" && x.textContent === "The figures as a table"`)
	j.Press("Enter")
	j.Follow(`x.closest("#figures") && x.textContent === "Chad"`, "Enter")
	j.says("location.search",
		"?admin_level=2&by=location_code&event_type=political_violence&location_code=TCD&measure=fatalities"+
			"&start_date=2023-11")
}

// program copies the program in Python.
func (j *journey) program(base string) {
	j.TabTo(`x.tagName === "SUMMARY" && x.textContent === "Python"`)
	j.Press("Enter")
	j.TabTo(`x.getAttribute("aria-label") === "Program in Python"`)
	j.Control("a", "selectAll")
	j.Control("c", "copy")
	copied := j.Eval("navigator.clipboard.readText()")
	if copied != j.Eval(`document.activeElement.value`) || !strings.Contains(copied, "import pandas") ||
		!strings.Contains(copied, base) || !strings.Contains(copied, "TCD") {
		j.t.Errorf("copied %q", copied)
	}
}

// download saves all records as CSV.
func (j *journey) download() {
	total, err := strconv.Atoi(j.Eval(`document.querySelector(".total strong").textContent`))
	if err != nil {
		j.t.Fatal(err)
	}
	j.TabTo(`x.tagName === "A" && x.textContent === "CSV"`)
	j.Press("Enter")
	name, content := j.Downloaded(".csv")
	if lines := bytes.Count(content, []byte("\n")); lines != total+1 ||
		!strings.HasPrefix(name, "conflict-events") || !bytes.HasPrefix(content, []byte("location_code,")) {
		j.t.Errorf("%s has %d lines for %d records: %.200s", name, lines, total, content)
	}
}
