//go:build !race

package browse_test

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/boundary"
	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

var totalPattern = regexp.MustCompile(`<p class="total"[^>]*><strong>([^<]+)</strong>`)

// TestBrowse requests the page of every endpoint in both sets of names. Each has the total of the
// list, a row for each record, and links that answer.
func TestBrowse(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	for _, m := range s.Lists.Routes.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			e := &endpoints[i]
			path := m.Prefix + "/browse/" + e.Name()
			page := apitest.Browse(s, path)
			if page.Status != 200 {
				t.Fatalf("%s: %d %.300s", path, page.Status, page.Body)
			}
			list := s.Answer("GET", m.Prefix+e.Path+"?limit=25&app_identifier="+apitest.Identifier, nil)
			total := totalPattern.FindSubmatch(page.Body)
			if total == nil ||
				strings.ReplaceAll(string(total[1]), "\u202f", "") != apitest.Header(list, "X-Total-Count") {
				t.Errorf("%s: total %q, the list has %s", path, total, apitest.Header(list, "X-Total-Count"))
			}
			if n, want := bytes.Count(page.Body, []byte(`#record"`)), apitest.Header(list, "X-Result-Count"); want != strconv.Itoa(
				n) {
				t.Errorf("%s: %d rows, want %s", path, n, want)
			}
			for _, link := range linksOn(page.Body, path) {
				// A made-up code that is the name of another country is read as that.
				if other := apitest.Browse(s, link); other.Status != 200 && other.Status != 303 {
					t.Errorf("%s leads to %s: %d", path, link, other.Status)
				}
			}
		}
	}
}

var hrefPattern = regexp.MustCompile(`href="([^"]+)`)

// linksOn are the links of a page that begin with a path, at most ten.
func linksOn(body []byte, path string) (links []string) {
	for _, m := range hrefPattern.FindAllSubmatch(body, -1) {
		link, _, _ := strings.Cut(html.UnescapeString(string(m[1])), "#")
		if strings.HasPrefix(link, path) && len(links) < 10 {
			links = append(links, link)
		}
	}
	return links
}

// TestBrowseSeveral: each of several countries is a line of the chart over time, and counts by
// value offer to add one or to take it away.
func TestBrowseSeveral(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	const path = "/browse/conflict-events"
	codes := slices.DeleteFunc(groupsIn(t, s, "conflict-events", "location_code", ""), func(code string) bool {
		return !regexp.MustCompile("^[A-Z]{3}$").MatchString(code)
	})
	if len(codes) < 3 {
		t.Fatalf("records of %q only", codes)
	}
	pair := codes[0] + "%2C" + codes[1]
	page := string(apitest.Browse(s, path+"?measure=records&location_code__in="+pair).Body)
	for _, want := range []string{
		`name="location_code" value="`, // with their names
		`<th scope="col">Month</th><th scope="col" class="number">`,
		`class="mark s2"`, `?location_code=` + codes[0] + `&amp;measure=records" aria-current="true"`,
		`location_code__in=` + pair + "%2C" + codes[2] + `&amp;measure=records">add`,
	} {
		testkit.Contains(t, page, want, "the page")
	}
	testkit.Lacks(t, page, `id="f-location_code__in"`, "the form has two fields for one list")
}

// groupsIn are the values of a field in the records of an endpoint that pass a filter.
func groupsIn(t *testing.T, s *api.Server, name, field, filter string) (values []string) {
	t.Helper()
	for _, e := range contract.EndpointsIn(contract.ContractNames) {
		if e.Name() != name {
			continue
		}
		query := "?measures=count&group_by=" + field + filter + "&app_identifier=" + apitest.Identifier
		records, _ := apitest.Records(t, s, e.Path+"/aggregate"+query)
		for _, record := range records {
			if text, ok := record[field].(string); ok {
				values = append(values, text)
			}
		}
	}
	return values
}

// TestBrowsePoints: the map of markets has the markets of the aggregate, each once or in a mark
// with others, and the table has their figures.
func TestBrowsePoints(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 20)
	for _, m := range s.Lists.Routes.Mounts {
		for _, e := range contract.EndpointsIn(m.Names) {
			if !e.HasPoints() {
				continue
			}
			code, name := "market_code", "market_name"
			if e.Contract().Table == "market" {
				code, name = "code", "name"
			}
			query := "?group_by=" + code + "," + name + ",lat,lon&measures=count&app_identifier=" + apitest.Identifier
			want, _ := apitest.Records(t, s, m.Prefix+e.Path+"/aggregate"+query)
			placed := 0
			for _, d := range want {
				if d["lat"] != nil {
					placed++
				}
			}
			address := m.Prefix + "/browse/" + e.Name() + "?by=market&measure=records&more=figures"
			page := string(apitest.Browse(s, address).Body)
			marks := 0
			for _, title := range regexp.MustCompile(`<circle[^>]*><title>([^<]*)`).FindAllStringSubmatch(page, -1) {
				marks++
				marks += strings.Count(strings.TrimSuffix(title[1], ":"), ", ")
			}
			table := page[strings.Index(page, `id="figures"`):]
			table = table[:strings.Index(table, "</table>")]
			if rows := strings.Count(table, "<tr>") - 1; rows != len(want) || rows == 0 {
				t.Errorf("%s: %d rows of %d markets", e.Name(), rows, len(want))
			}
			if marks == 0 || marks > placed {
				t.Errorf("%s: %d places in marks, of %d", e.Name(), marks, placed)
			}
		}
	}
}

// TestBrowseBoundaries: with boundaries of an operator, maps have those, and maps of the units of
// one country are offered.
func TestBrowseBoundaries(t *testing.T) {
	t.Parallel()
	square := func(lon int) string {
		return fmt.Sprintf(`"geometry":{"type":"Polygon","coordinates":[[[%d,1],[%d,1],[%d,2],[%d,1]]]}`, lon, lon+1,
			lon+1, lon)
	}
	plain := apitest.Sample(t, state.Options{}, 120)
	place, unit := "", ""
	for _, place = range groupsIn(t, plain, "conflict-events", "location_code", "") {
		all := groupsIn(t, plain, "conflict-events", "admin1_code", "&location_code="+place)
		if len(all) >= chart.MapLeast {
			unit = all[0]
			break
		}
	}
	set, err := boundary.Read(strings.NewReader(`{"type":"FeatureCollection","features":[
		{"type":"Feature","properties":{"iso3":"`+place+`"},`+square(10)+`},
		{"type":"Feature","properties":{"ADM0_PCODE":"AF","ADM1_PCODE":"`+unit+`","ADM1_EN":"<b>One"},`+square(10)+`},
		{"type":"Feature","properties":{"ADM0_PCODE":"AF","ADM1_PCODE":"AF77","ADM1_EN":"Empty"},`+square(11)+`},
		{"type":"Feature","properties":{"ADM0_PCODE":"TD","ADM1_PCODE":"TD01","ADM1_EN":"Elsewhere"},`+square(12)+`},
		{"type":"Feature","properties":{"ADM0_PCODE":"TD","ADM2_PCODE":"TD0101"},`+square(12)+`}]}`), "The Mapmakers")
	if err != nil || unit == "" {
		t.Fatal(unit, err)
	}
	const path = "/browse/conflict-events?measure=records"
	s := apitest.Sample(t, state.Options{Boundaries: set}, 120)
	world := string(apitest.Browse(s, path+"&by=location_code").Body)
	if strings.Count(world, "<path") != 1 || !strings.Contains(world, "<bdi>The Mapmakers</bdi>") ||
		strings.Contains(world, `<option value="admin1_code"`) {
		t.Errorf("the map of countries: %d areas", strings.Count(world, "<path"))
	}
	units := string(apitest.Browse(s, path+"&location_code="+place+"&by=admin1_code").Body)
	if strings.Count(units, "<path") != 2 || !strings.Contains(units, "<title>Empty</title>") ||
		strings.Contains(units, "Elsewhere") || strings.Contains(units, "<b>") ||
		!strings.Contains(units,
			`value="admin1_code" selected`) || !strings.Contains(units, "<bdi>The Mapmakers</bdi>") {
		t.Errorf("the map of units: %d areas", strings.Count(units, "<path"))
	}
	none := string(apitest.Browse(s, path+"&location_code="+place+"&by=admin2_code").Body)
	if !strings.Contains(none, "have none of these units") || !strings.Contains(none, `class="chart bars"`) {
		t.Error("units that the boundaries do not have")
	}
	without := string(apitest.Browse(plain, path+"&location_code="+place+"&by=admin1_code").Body)
	if strings.Contains(without, `value="admin1_code" selected`) ||
		!strings.Contains(without, `value="month" selected`) {
		t.Error("a map of units without boundaries")
	}
}

// TestBrowseDownloads checks that each file that a page offers has the records of the question,
// that it needs no identifier, and that a page says which files there are not.
func TestBrowseDownloads(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 60)
	for path, list := range map[string]string{
		"/browse/national-risk?location_name=a&fields=location_name&limit=3": "coordination-context/national-risk",
		"/hapi/browse/wfp-market?offset=7":                                   "metadata/agency-market",
	} {
		var want []string
		for _, format := range apitest.Plan("/api/v2/" + list).Endpoint.ExportFormats() {
			want = append(want, format.Name)
		}
		page := apitest.Browse(s, path)
		total := strings.ReplaceAll(string(totalPattern.FindSubmatch(page.Body)[1]), "\u202f", "")
		bare, _, _ := strings.Cut(path, "?")
		var formats []string
		for _, link := range linksOn(page.Body, bare+"/download?") {
			got := apitest.Browse(s, link)
			address := testkit.Value(url.Parse(link))(t)
			formats = append(formats, address.Query().Get("output_format"))
			name := apitest.Header(got, "Content-Disposition")
			if rows := apitest.Header(got, "X-Result-Count"); got.Status != 200 || rows != total ||
				len(got.Body) == 0 ||
				!strings.HasPrefix(name, "attachment; filename=") {
				t.Errorf("%s: %d, %s rows of %s, %q", link, got.Status, rows, total, name)
			}
		}
		testkit.EqualLists(t, formats, want, "%s offers", path)
	}
	s = apitest.Sample(t, state.Options{ExportRows: 59}, 60)
	page := apitest.Browse(s, "/browse/conflict-events")
	if links := linksOn(page.Body, "/browse/conflict-events/download"); len(links) > 0 ||
		!bytes.Contains(page.Body, []byte("has at most 59 records")) {
		t.Errorf("with 60 of at most 59 records: %q", links)
	}
	if got := apitest.Browse(s, "/browse/conflict-events/download?output_format=xlsx"); got.Status != 422 {
		t.Errorf("a download that is too long: %d %s", got.Status, got.Body)
	}
}
