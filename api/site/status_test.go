//go:build !race

package site_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// shownText is the page without its tags and with single blanks.
func shownText(page string) string {
	return strings.Join(strings.Fields(tagPattern.ReplaceAllString(page, " ")), " ")
}

// TestStatus: the page says what /readyz says, for people, and needs no identifier.
func TestStatus(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	s.State.Polled(state.Poll{
		At: time.Now().Add(-90 * time.Second), Outcome: "failed", Reason: "s3://secret-bucket is away",
	})
	var ready state.Readiness
	testkit.Must(t, json.Unmarshal(apitest.Ask(t, apitest.ListenAdmin(t, s), "GET", "/readyz", nil).Body, &ready))
	for _, m := range s.Lists.Routes.Mounts {
		page := pageOf(t, s, m.Prefix+"/status")
		text := shownText(page)
		for _, want := range []string{
			"Requests are answered.", "Served " + ready.Snapshot, "20 November 2026, 02:00 UTC",
			"20 November 2024, 02:10 UTC",
			"1 minute ago: failed", "Earlier ones that still answer none", "org since 18 November 2026",
			"Example Agency", "Creative Commons Attribution", "last update 17 November 2026",
			`Figures &lt;made up&gt; &amp; more`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s%s does not say %q:\n%s", m.Prefix, "/status", want, text)
			}
		}
		if strings.Contains(page, "secret-bucket") || strings.Contains(page, "it has no column name") {
			t.Errorf("%s%s shows what is for operators", m.Prefix, "/status")
		}
		for _, e := range contract.EndpointsIn(m.Names) {
			row := `<tr id="table-` + e.Name() + `"><td><a href="` + m.Prefix + "/browse/" + e.Name() + `">`
			count := `<td class="count">` + inGroups(ready.Rows[e.Table]) + "</td></tr>"
			_, rest, found := strings.Cut(page, row)
			if line, _, _ := strings.Cut(rest, "</tr>"); !found || !strings.HasSuffix(line+"</tr>", count) {
				t.Errorf("%s%s: no row of %s with %d records", m.Prefix, "/status", e.Name(), ready.Rows[e.Table])
			}
		}
	}
}

// TestStatusStates: without a snapshot and after a swap the page says so. Within some seconds of
// the same snapshot it is made once.
func TestStatusStates(t *testing.T) {
	t.Parallel()
	empty := api.New(state.Options{})
	if text := shownText(pageOf(t, empty, "/status")); !strings.Contains(text, "No data is loaded yet.") {
		t.Errorf("without a snapshot: %s", text)
	}
	first, second := apitest.TwoSnapshots(t, 20)
	s := apitest.Serve(t, state.Options{}, first)
	before := s.Answer("GET", "/status", nil)
	s.State.Polled(state.Poll{At: apitest.SampleTime, Outcome: "unchanged"})
	if again := s.Answer("GET", "/status", nil); string(again.Body) != string(before.Body) {
		t.Error("the page was made twice within its time")
	}
	if kept, _ := apitest.Field(before, "Cache-Control"); kept != "public, max-age=5" {
		t.Errorf("Cache-Control: %s", kept)
	}
	apitest.Swap(t, s, state.Release{Snapshot: second, PublishedAt: apitest.PublishedTime})
	text := shownText(pageOf(t, s, "/status"))
	for _, want := range []string{"Served second", "Earlier ones that still answer first", "Requests are answered."} {
		if !strings.Contains(text, want) {
			t.Errorf("after the swap the page does not say %q:\n%s", want, text)
		}
	}
}

// inGroups is a count with narrow spaces between thousands.
func inGroups(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return inGroups(n/1000) + fmt.Sprintf("\u202f%03d", n%1000)
}
