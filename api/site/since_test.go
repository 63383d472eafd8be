//go:build !race

package site_test

import (
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
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

var (
	sinceList   = regexp.MustCompile(`(?s)<section class="changed" aria-labelledby="list-([a-z0-9-]+)">(.*?)</section>`)
	sinceNumber = regexp.MustCompile(`<td class="count"><a href="([^"]*)"[^>]*>([^<]*)</a>`)
	sinceEach   = regexp.MustCompile(`<p><a href="([^"]*)" rel="nofollow">and `)
	sinceRows   = regexp.MustCompile(`<tr><td`)
)

// TestChangelogSince: the page of changes since a day has the numbers of the interface by list and
// kind, and each number leads to as many records.
func TestChangelogSince(t *testing.T) {
	t.Parallel()
	before, after := apitest.ChangedTables(t, rand.New(rand.NewPCG(30, 8)), 60, 6)
	s := apitest.Changed(t, before, after)
	day := apitest.SampleTime.Format(time.DateOnly)
	for _, m := range s.Lists.Routes.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		page := string(apitest.Browse(s, m.Prefix+"/changelog?since="+day).Body)
		shown := map[string]string{}
		for _, l := range sinceList.FindAllStringSubmatch(page, -1) {
			shown[l[1]] = l[2]
			if each := sinceEach.FindStringSubmatch(l[2]); each != nil { // all of its countries
				whole := string(apitest.Browse(s, html.UnescapeString(each[1])).Body)
				shown[l[1]] = sinceList.FindStringSubmatch(whole)[2]
			}
		}
		followed, lists := 0, 0
		for i := range endpoints {
			e := &endpoints[i]
			a := s.Answer("GET", m.Prefix+e.Path+"/changes?since=before&app_identifier="+apitest.Identifier, nil)
			header, _ := apitest.Field(a, contract.HeaderChanges)
			var want, got [3]int
			fmt.Sscanf(header, "added=%d, removed=%d, changed=%d", &want[0], &want[1], &want[2])
			for _, n := range sinceNumber.FindAllStringSubmatch(shown[e.Name()], -1) {
				address := html.UnescapeString(n[1])
				u, err := url.Parse(address)
				testkit.Must(t, err)
				number, _ := strconv.Atoi(apitest.PlainNumber(n[2]))
				got[slices.Index([]string{"added", "removed", "changed"}, u.Query().Get("kind"))] += number
				if followed++; followed%7 != 0 {
					continue
				}
				records := string(apitest.Browse(s, address).Body)
				_, records, _ = strings.Cut(records, `<table class="data cards">`)
				records, _, _ = strings.Cut(records, "</table>")
				if rows := len(sinceRows.FindAllString(records, -1)); rows != number {
					t.Errorf("%s: %d records, want %d", address, rows, number)
				}
			}
			if got != want {
				t.Errorf("%s%s: %v, want %v", m.Prefix, e.Name(), got, want)
			}
			if want != [3]int{} {
				lists++
			}
		}
		if lists < 5 || followed < 50 {
			t.Errorf("%d lists, %d numbers", lists, followed)
		}
	}
}

// TestChangelogSinceNothing: a day before all loads that are kept, a country, and what is no day.
func TestChangelogSinceNothing(t *testing.T) {
	t.Parallel()
	before, after := apitest.ChangedTables(t, rand.New(rand.NewPCG(30, 9)), 30, 3)
	s := apitest.Changed(t, before, after)
	none := apitest.Sample(t, state.Options{}, 5)
	for _, c := range []struct {
		server      *api.Server
		query, want string
	}{
		{s, "?since=2001-01-01", "the oldest whose records are still kept"},
		{s, "?since=2001-01-01", "/browse/resource?update_date_min=2001-01-01"},
		{s, "?since=after", "No record differs."},
		{s, "?since=before&location_code=QQQ", "No country is called <bdi>QQQ</bdi>."},
		{s, "?since=%3Cb%3E", "&lt;b&gt; is neither a day"},
		{none, "?since=2001-01-01", "No earlier load is kept"},
		{none, "", "This is the first load that is known here."},
	} {
		page := apitest.Browse(c.server, "/changelog"+c.query)
		if page.Status != 200 || !strings.Contains(shownText(string(page.Body)), c.want) &&
			!strings.Contains(string(page.Body), c.want) {
			t.Errorf("%s: %d, without %q", c.query, page.Status, c.want)
		}
	}
}
