package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/browser"
	"hdqs/internal/testkit"
)

// pageCheck is a page that axe-core checks in Chromium, and the result.
type pageCheck struct {
	Path   string `json:"path"`
	Width  int    `json:"width"`
	Scheme string `json:"scheme"`

	Dark       bool     `json:"dark"`
	Viewport   int      `json:"viewport"`
	Content    int      `json:"content"` // its width
	Passes     int      `json:"passes"`  // rules
	Violations []string `json:"violations"`
}

// TestBrowserPages runs axe-core on every kind of page, on a desktop and on a phone, in light and
// dark colours: there must be no violation of any rule, and nothing wider than the window. What is
// dark has the same elements, so only the rules about colours are run there, and on a phone only in
// the long form.
func TestBrowserPages(t *testing.T) {
	t.Parallel()
	needEdge(t)
	var plan []pageCheck
	for _, path := range []string{
		"/", "/docs", "/identifier", "/docs?q=location", "/docs?q=nowhere", "/docs/conflict-events",
		"/docs/food-prices-market-monitor", "/hapi/docs", "/hapi/docs/food-security",
		"/browse/conflict-events?admin_level=2&event_type=demonstration&by=location_code&row=1",
		"/browse/food-prices-market-monitor?by=market&measure=records", "/browse/conflict-events?start_date=never",
		"/browse/humanitarian-needs?country=AFG", "/hapi/browse/food-security?by=ipc_phase&measure=records",
		"/status", "/changelog", "/hapi/status", "/hapi/changelog",
	} {
		for _, width := range []int{1280, 390} {
			for _, scheme := range []string{"light", "dark"} {
				if width < 1280 && scheme == "dark" && !testkit.Long() {
					continue // the colours are those of a desktop; TestBrowserLists sees dark lists on a phone
				}
				plan = append(plan, pageCheck{Path: path, Width: width, Scheme: scheme})
			}
		}
	}
	axe, err := os.ReadFile(os.Getenv("HDQS_AXE"))
	if err != nil {
		t.Fatalf("HDQS_AXE must name axe.min.js, as 'make edge' sets it: %v", err)
	}
	var results []pageCheck
	result := runAxe(t, axe, plan)
	if err := json.Unmarshal([]byte(result), &results); err != nil || len(results) != len(plan) {
		t.Fatalf("%d results of %d: %v in %.300s", len(results), len(plan), err, result)
	}
	for _, r := range results {
		name := func(format string, args ...any) {
			t.Helper()
			t.Errorf("%s at %d px, %s: "+format, append([]any{r.Path, r.Width, r.Scheme}, args...)...)
		}
		if r.Viewport != r.Width || r.Dark != (r.Scheme == "dark") {
			name("checked at %d px, dark %v", r.Viewport, r.Dark)
		}
		if r.Content > r.Viewport {
			name("the page is %d px wide", r.Content)
		}
		atLeast := 20
		if r.Dark {
			atLeast = 1 // those about colours
		}
		if r.Passes < atLeast {
			name("only %d rules were checked", r.Passes)
		}
		for _, v := range r.Violations {
			name("%s", v)
		}
	}
}

// runAxe has Chromium run axe-core on pages of a server and returns what testdata/browser/axe.html
// posts. The pages are served once more here, without the policy that forbids scripts.
func runAxe(t *testing.T, axe []byte, plan []pageCheck) string {
	t.Helper()
	s := changedServer(t)
	script, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	harness := bytes.Replace(testkit.ReadFile(t, filepath.Join("testdata", "browser", "axe.html")),
		[]byte("PLAN"), script, 1)
	return browser.Posted(t, "/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", reply.HtmlType)
		switch r.URL.Path {
		case "/":
			_, _ = w.Write(harness)
		case "/frame":
			page := s.Answer("GET", r.FormValue("path"), []reply.HeaderField{{Name: "Host", Value: "data.example.org"}})
			w.WriteHeader(page.Status)
			_, _ = w.Write(bytes.Replace(page.Body, []byte("</body>"), []byte(`<script src="/axe.js"></script></body>`), 1))
		case "/axe.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(axe)
		default: // what the page loads
			answer := s.Answer("GET", r.URL.Path, []reply.HeaderField{{Name: "Host", Value: "data.example.org"}})
			for _, f := range answer.Header {
				if f.Name == "Content-Type" {
					w.Header().Set(f.Name, f.Value)
				}
			}
			w.WriteHeader(answer.Status)
			_, _ = w.Write(answer.Body)
		}
	})
}

// TestBrowserScripts follows links to the public service's interactive reference, and makes an
// identifier, in Chromium under the policies of the pages.
func TestBrowserScripts(t *testing.T) {
	t.Parallel()
	needEdge(t)
	s := sampleServer(t, state.Options{}, 30)
	harness := testkit.ReadFile(t, filepath.Join("testdata", "browser", "scripts.html"))
	got := browser.Posted(t, "/harness", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/harness":
			w.Header().Set("Content-Type", reply.HtmlType)
			_, _ = w.Write(harness)
		default:
			answer := s.Answer("GET", r.URL.RequestURI(), []reply.HeaderField{{
				Name:  "Host",
				Value: "data.example.org",
			}})
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
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
