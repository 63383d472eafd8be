package api

import (
	"strings"
	"testing"

	"hdqs/internal/browser"
	"hdqs/internal/testkit"
)

// TestBrowserDictionaries lets Chromium fetch a page, publishes a snapshot, and lets it fetch the
// page again. It must offer the first page as a dictionary, get dcz, and read today's page. The
// address is a loopback address, which is a secure context without TLS.
func TestBrowserDictionaries(t *testing.T) {
	t.Parallel()
	needEdge(t)
	s, address, before, after := listenBefore(t, 3)
	p := browser.Open(t)
	p.Goto("http://" + address + "/docs/interactive")
	const path = "/api/v2/coordination-context/conflict-events"
	for _, query := range []string{"?limit=800", "?output_format=csv&limit=500&app_identifier=" + goodIdentifier} {
		target := path + query
		fetch := `fetch("` + target + `", {cache: "reload"}).then(async (r) =>
			r.headers.get("Content-Encoding") + " " + await r.text())`
		ask := func() (coding, body string) {
			coding, body, _ = strings.Cut(p.Eval(fetch), " ")
			if want := string(s.Answer("GET", target, nil).Body); body != want {
				t.Fatalf("%s: the page, in %s, has %d bytes, want %d", target, coding, len(body), len(want))
			}
			return coding, body
		}
		coding, first := ask()
		if coding == "dcz" {
			t.Fatalf("%s: the first page is in dcz", target)
		}
		swap := func(name string, tables []*testTable) {
			if err := s.Swap(Release{Snapshot: storeSnapshot(t, name, sampleTime, tables)}); err != nil {
				t.Fatal(err)
			}
		}
		// Chromium stores the page of each answer as a dictionary in the background, and offers
		// none meanwhile. Then it has to begin again, since the next answer takes its place.
		testkit.WaitFor(t, "Chromium offers the page of the snapshot before", func() bool {
			testkit.WaitFor(t, "Chromium offers the page as its own dictionary", func() bool {
				coding, _ := ask()
				return coding == "dcz"
			})
			swap("after", after)
			waitForEqual(t, s, path)
			coding, second := ask()
			if second == first {
				t.Fatalf("%s: the page of the next snapshot is the same", target)
			}
			swap("before", before)
			return coding == "dcz"
		})
	}
}
