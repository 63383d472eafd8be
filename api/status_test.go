//go:build !race

package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
)

// shownText is the page without its tags and with single blanks.
func shownText(page string) string {
	return strings.Join(strings.Fields(tagPattern.ReplaceAllString(page, " ")), " ")
}

// TestStatus: the page says what /readyz says, for people, and needs no identifier.
func TestStatus(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, Options{}, 30)
	s.Looked(Look{At: time.Now().Add(-90 * time.Second), Outcome: "failed", Reason: "s3://secret-bucket is away"})
	var ready readiness
	if err := json.Unmarshal(ask(t, listenAdmin(t, s), "GET", "/readyz", nil).Body, &ready); err != nil {
		t.Fatal(err)
	}
	for _, m := range s.mounts {
		page := pageOf(t, s, m.prefix+statusPath)
		text := shownText(page)
		for _, want := range []string{
			"Requests are answered.", "Served " + ready.Snapshot, "20 November 2026, 02:00 UTC",
			"20 November 2024, 02:10 UTC",
			"1 minute ago: failed", "Earlier ones that still answer none", "org since 18 November 2026",
			"Example Agency", "Creative Commons Attribution", "last update 17 November 2026",
			`Figures &lt;made up&gt; &amp; more`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s%s does not say %q:\n%s", m.prefix, statusPath, want, text)
			}
		}
		if strings.Contains(page, "secret-bucket") || strings.Contains(page, "it has no column name") {
			t.Errorf("%s%s shows what is for operators", m.prefix, statusPath)
		}
		for _, e := range contract.EndpointsIn(m.names) {
			row := `<tr id="table-` + e.Name() + `"><td><a href="` + m.prefix + "/browse/" + e.Name() + `">`
			count := `<td class="count">` + groupedNumber(ready.Rows[e.Table]) + "</td></tr>"
			_, rest, found := strings.Cut(page, row)
			if line, _, _ := strings.Cut(rest, "</tr>"); !found || !strings.HasSuffix(line+"</tr>", count) {
				t.Errorf("%s%s: no row of %s with %d records", m.prefix, statusPath, e.Name(), ready.Rows[e.Table])
			}
		}
	}
}

// TestStatusStates: without a snapshot, with a table that is refused, and after a swap the page
// says so. Within some seconds of the same snapshot it is made once.
func TestStatusStates(t *testing.T) {
	t.Parallel()
	empty := New(Options{})
	if text := shownText(pageOf(t, empty, statusPath)); !strings.Contains(text, "No data is loaded yet.") {
		t.Errorf("without a snapshot: %s", text)
	}
	first, second := twoSnapshots(t)
	s := serverOf(t, Options{}, first)
	before := s.Answer("GET", statusPath, nil)
	s.current.Load().bound.lists["/api/v2/metadata/sector"].segment.MarkSuspect()
	if again := s.Answer("GET", statusPath, nil); string(again.Body) != string(before.Body) {
		t.Error("the page was made twice within its time")
	}
	if kept, _ := before.field("Cache-Control"); kept != "public, max-age=5" {
		t.Errorf("Cache-Control: %s", kept)
	}
	if err := s.Swap(Release{Snapshot: second, PublishedAt: publishedTime}); err != nil {
		t.Fatal(err)
	}
	s.current.Load().bound.lists["/api/v2/metadata/org"].segment.MarkSuspect()
	text := shownText(pageOf(t, s, statusPath))
	for _, want := range []string{
		"Served second", "Earlier ones that still answer first", "but those for some tables are not", "checked: org.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("after the swap the page does not say %q:\n%s", want, text)
		}
	}
}
