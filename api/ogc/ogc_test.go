//go:build !race

package ogc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/ogc"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// ogcPage is an answer with features.
type ogcPage struct {
	Matched  int          `json:"numberMatched"`
	Returned int          `json:"numberReturned"`
	Stamp    time.Time    `json:"timeStamp"`
	Features []ogcFeature `json:"features"`
	Links    []ogcLink    `json:"links"`
}

type ogcLink struct{ Rel, Type, Href string }

type ogcFeature struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Geometry   any            `json:"geometry"`
	Properties map[string]any `json:"properties"`
	Links      []ogcLink      `json:"links"`
}

// linkOf is the address of a link, empty without one.
func linkOf(links []ogcLink, rel string) string {
	at := slices.IndexFunc(links, func(l ogcLink) bool { return l.Rel == rel })
	if at < 0 {
		return ""
	}
	return links[at].Href
}

// allFeatures follows the links to the next pages.
func allFeatures(t *testing.T, s *api.Server, target string) (all []ogcFeature, matched int) {
	t.Helper()
	for target != "" {
		var page ogcPage
		apitest.ReadJSON(t, s, target, &page)
		if page.Returned != len(page.Features) || page.Stamp.IsZero() {
			t.Fatalf("%s: %d features of %d, timeStamp %s", target, len(page.Features), page.Returned, page.Stamp)
		}
		all, matched, target = append(all, page.Features...), page.Matched, linkOf(page.Links, "next")
	}
	return all, matched
}

// TestOGCRows compares the features of lists with the GeoJSON of pages: all of them by links, and
// those that filters choose with what a program finds in the rows.
func TestOGCRows(t *testing.T) {
	t.Parallel()
	const rows = 300
	s := apitest.Sample(t, state.Options{BaseURL: apitest.ODataBase, Identifier: state.IgnoreIdentifier}, rows)
	lists := 0
	endpoints := contract.EndpointsIn(contract.HAPINames)
	for i := range endpoints {
		e := &endpoints[i]
		if !e.HasPoints() {
			continue
		}
		lists++
		items := ogc.Root + "collections/" + e.SetName() + "/items"
		var plain ogcPage
		apitest.ReadJSON(t, s, "/hapi"+e.Path+"?output_format=geojson", &plain)
		all, matched := allFeatures(t, s, items+"?limit=37")
		if len(all) != rows || matched != rows || len(plain.Features) != rows {
			t.Fatalf("%s: %d features of %d, want %d", e.Path, len(all), matched, rows)
		}
		seen := map[string]bool{}
		for i, f := range all {
			seen[f.ID] = true
			var one ogcFeature
			apitest.ReadJSON(t, s, items+"/"+f.ID, &one)
			if linkOf(one.Links, "collection") != apitest.ODataBase+strings.TrimSuffix(items, "/items") {
				t.Fatalf("%s has the links %v", f.ID, one.Links)
			}
			if one.Links = nil; !reflect.DeepEqual(one, f) {
				t.Fatalf("%s: alone it is %v, on a page %v", f.ID, one, f)
			}
			if i == 0 { // those with a place come first
				slices.SortStableFunc(plain.Features, func(a, b ogcFeature) int { return placeless(a) - placeless(b) })
			}
			if f.ID = ""; !reflect.DeepEqual(f, plain.Features[i]) {
				t.Fatalf("%s: feature %d is\n%v\nand in GeoJSON\n%v", e.Path, i, f, plain.Features[i])
			}
		}
		testkit.Equal(t, len(seen), rows, "%s: ids", e.Path)
		testOGCFilters(t, s, items, e, all)
	}
	testkit.AtLeast(t, lists, 2, "lists have points")
}

// testOGCFilters asks for features by values of properties, by boxes and by times.
func testOGCFilters(t *testing.T, s *api.Server, items string, e *contract.Endpoint, all []ogcFeature) {
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	check := func(query url.Values, passes func(f *ogcFeature) bool) {
		t.Helper()
		query.Set("limit", strconv.Itoa(1+r.IntN(200)))
		got, matched := allFeatures(t, s, items+"?"+query.Encode())
		var want []ogcFeature
		for i := range all {
			if passes(&all[i]) {
				want = append(want, all[i])
			}
		}
		found += len(want)
		if matched != len(want) || !slices.EqualFunc(got, want, func(a, b ogcFeature) bool { return a.ID == b.ID }) {
			t.Fatalf("%s?%s: %d features of %d, want %d", items, query.Encode(), len(got), matched, len(want))
		}
	}
	for range 60 {
		of := all[r.IntN(len(all))].Properties
		f := e.Fields[r.IntN(len(e.Fields))].Name
		value, has := of[f]
		if !has || value == nil {
			continue
		}
		same := func(x *ogcFeature) bool {
			return x.Properties[f] != nil && fmt.Sprint(x.Properties[f]) == fmt.Sprint(value)
		}
		if number, is := value.(json.Number); is {
			want, _ := number.Float64()
			same = func(x *ogcFeature) bool {
				other, is := x.Properties[f].(json.Number)
				got, _ := other.Float64()
				return is && got == want
			}
		}
		check(url.Values{f: {fmt.Sprint(value)}}, same)
	}
	place := func(f *ogcFeature) (lon, lat float64, has bool) {
		geometry, has := f.Geometry.(map[string]any)
		if has {
			at := geometry["coordinates"].([]any)
			lon, _ = at[0].(json.Number).Float64()
			lat, _ = at[1].(json.Number).Float64()
		}
		return lon, lat, has
	}
	for range 40 {
		lon, lat, _ := place(&all[r.IntN(len(all))])
		west, east := lon-r.Float64()*40*float64(r.IntN(2)), lon+r.Float64()*40
		south, north := lat-r.Float64()*20, lat+r.Float64()*20*float64(r.IntN(2))
		if r.IntN(3) == 0 {
			west, east = east, west // across the antimeridian
		}
		check(url.Values{"bbox": {fmt.Sprintf("%v,%v,%v,%v", west, south, east, north)}}, func(f *ogcFeature) bool {
			lon, lat, has := place(f)
			inside := west <= lon && lon <= east || lon <= east-360 || west+360 <= lon
			if west > east {
				inside = west <= lon || lon <= east
			}
			return has && inside && south <= lat && lat <= north
		})
	}
	if found == 0 {
		t.Errorf("%s: no filter found a feature", items)
	}
	if !e.HasField(contract.PeriodStart) {
		check(url.Values{"datetime": {"2024-01-01"}}, func(*ogcFeature) bool { return true })
		return
	}
	for range 40 {
		of := all[r.IntN(len(all))].Properties
		from, next := of[contract.PeriodStart].(string), "9999"
		datetime := from + "Z/.."
		if r.IntN(2) == 0 {
			from, next = from[:10], from[:10]+"T23:59:59.999999" // a day
			datetime = from
		}
		check(url.Values{"datetime": {datetime}}, func(f *ogcFeature) bool {
			end, _ := f.Properties[contract.PeriodEnd].(string)
			return (end == "" || end >= from) && f.Properties[contract.PeriodStart].(string) <= next
		})
	}
}

// ogcBoundaries are squares of places, one of which no list has. SOM and CF02 are without.
func ogcBoundaries(t *testing.T) *boundary.Set {
	t.Helper()
	var features []string
	for i, code := range []string{"AFG", "SDN", "PAK", "TCD", "CAF", "HTI", "ATL", "CF01", "CF03", "HT01", "ZZ01"} {
		of := fmt.Sprintf(`"iso3":%q,"adm0_name":"Land %s"`, code, code)
		if len(code) == 4 {
			of = fmt.Sprintf(`"ADM1_PCODE":%q,"ADM1_EN":"Unit %s","ADM0_PCODE":%q`, code, code, code[:2])
		}
		x := i * 10
		features = append(features, fmt.Sprintf(`{"type":"Feature","properties":{%s},"geometry":{"type":"Polygon",`+
			`"coordinates":[[[%d,0],[%d,0],[%d,5],[%d,5],[%d,0]]]}}`, of, x, x+5, x+5, x, x))
	}
	text := `{"type":"FeatureCollection","attribution":"a test","features":[` + strings.Join(features, ",") + `]}`
	return testkit.Value(boundary.Read(strings.NewReader(text), ""))(t)
}

// TestOGCAreas compares areas with the figures that their records name: the request of each gives
// the same number, a place without a value says why, and none is left out.
func TestOGCAreas(t *testing.T) {
	t.Parallel()
	o := state.Options{BaseURL: apitest.ODataBase, Identifier: state.IgnoreIdentifier, Boundaries: ogcBoundaries(t)}
	o.Groups = []contract.CountryGroup{
		{Kind: contract.OwnGroup, Slug: "ours", Name: "Ours", Members: []string{"CAF", "HTI"}},
	}
	s := apitest.Server(t, o, apitest.FigureTables(t))
	for target, want := range map[string]string{
		"admin0/items?group=ours":                "CAF HTI",
		"admin0_population/items?group=ours":     "CAF HTI",
		"admin1/items?group=ours":                "CF01 CF03 HT01",
		"admin1_population/items?group=ours":     "CF01 CF03 HT01 CF02", // which has no boundaries
		"admin0/items?group=ours&code=AFG":       "",
		"admin0_population/items?group=none":     "400",
		"admin0_population/queryables?group=one": "400",
	} {
		a := s.Answer("GET", ogc.Root+"collections/"+target, nil)
		var page ogcPage
		var codes []string
		if testkit.Must(t, json.Unmarshal(a.Body, &page)); a.Status != 200 {
			codes = append(codes, fmt.Sprint(a.Status))
		}
		for _, f := range page.Features {
			codes = append(codes, f.Properties["code"].(string))
		}
		testkit.Equal(t, strings.Join(codes, " "), want, "%s", target)
	}
	var listed struct{ Collections []struct{ ID string } }
	apitest.ReadJSON(t, s, ogc.Root+"collections", &listed)
	values, units, several := 0, 0, 0
	for _, c := range listed.Collections {
		level, figure, has := strings.Cut(c.ID, "_")
		if !strings.HasPrefix(level, "admin") {
			continue
		}
		items := ogc.Root + "collections/" + c.ID + "/items"
		all, matched := allFeatures(t, s, items+"?limit=2")
		codes := map[string]bool{}
		for _, f := range all {
			codes[f.ID] = true
			var one ogcFeature
			apitest.ReadJSON(t, s, items+"/"+f.ID, &one)
			if one.Links = nil; !reflect.DeepEqual(one, f) {
				t.Fatalf("%s: alone it is %v, on a page %v", f.ID, one, f)
			}
			p := f.Properties
			if !has {
				continue
			}
			request, isText := p["request"].(string)
			if !isText && p["request"] != nil {
				t.Fatalf("%s, %s: the request is %v", c.ID, f.ID, p["request"])
			}
			if strings.Contains(request, " ") {
				several++
			}
			if p["value"] == nil {
				if reason, _ := p["reason"].(string); len(reason) < 20 {
					t.Errorf("%s, %s: no value, and the reason is %q", c.ID, f.ID, reason)
				}
				continue
			}
			values++
			if strings.Contains(request, " ") { // made of several
				continue
			}
			if level != "admin0" {
				units++
			}
			got, _ := apitest.Records(t, s, request)
			number := ""
			for name, v := range got[0] {
				if strings.Contains(name, "_") && !strings.HasSuffix(name, "_known") || name == "count" {
					number = fmt.Sprint(v)
				}
			}
			if number != fmt.Sprint(p["value"]) {
				t.Errorf("%s, %s: %v, and %s gives %v", c.ID, f.ID, p["value"], request, got)
			}
		}
		want := 7 // countries
		if level == "admin1" {
			want = 4
		}
		for _, code := range []string{"AFG", "SDN", "PAK", "TCD", "CAF", "HTI", "ATL", "CF01", "CF03", "HT01", "ZZ01"} {
			if len(code) == 3 == (level == "admin0") && !codes[code] {
				t.Errorf("%s has no %s", c.ID, code)
			}
		}
		if len(codes) != len(all) || matched != len(all) || len(all) < want {
			t.Errorf("%s: %d features of %d with %d codes", c.ID, len(all), matched, len(codes))
		}
		testOGCTimes(t, s, items, all)
		if level != "admin0" || !has {
			continue
		}
		plain, _ := apitest.Records(t, s, "/hapi/api/v2/figures/"+figure)
		for _, record := range plain {
			at := slices.IndexFunc(all, func(f ogcFeature) bool { return f.ID == record["location_code"] })
			if at < 0 || !reflect.DeepEqual(all[at].Properties["value"], record["value"]) {
				t.Errorf("%s has another %v", c.ID, record)
			}
		}
	}
	if several == 0 {
		t.Error("no figure is made of several requests")
	}
	if values < 10 || units < 2 {
		t.Errorf("only %d values were compared, %d of units", values, units)
	}
	population, _ := allFeatures(t, s, ogc.Root+"collections/admin1_population/items")
	for _, code := range []string{"CF01", "CF02"} { // the latter has no boundaries
		at := slices.IndexFunc(population, func(f ogcFeature) bool { return f.ID == code })
		if at < 0 || fmt.Sprint(population[at].Properties["value"]) != "7" ||
			(population[at].Geometry == nil) != (code == "CF02") {
			t.Errorf("the population of %s is not as it is in the list: %v", code, population)
		}
	}
	for query, want := range map[string]string{
		"code=SDN": "SDN", "name=Land+AFG": "AFG", "country=SDN": "SDN", "code=sdn": "", "bbox=15,2,21,3": "SDN PAK",
		"bbox=21,1,22,2": "PAK", "bbox=55,-5,5,6": "ATL", "bbox=16,0,19,5": "", "bbox=11,1,12,2&name=x": "",
		"bbox=416,2,421,3": "ATL", "bbox=-350,2,-339,3": "SDN PAK", "bbox=170,2,361,3": "AFG",
		"bbox=-200,2,160,3": "AFG SDN PAK TCD CAF HTI ATL",
	} {
		var got []string
		all, _ := allFeatures(t, s, ogc.Root+"collections/admin0/items?limit=1&"+query)
		for _, f := range all {
			got = append(got, f.ID)
		}
		slices.Sort(got)
		words := strings.Fields(want)
		if slices.Sort(words); query == "bbox=55,-5,5,6" {
			words = []string{"AFG", "ATL", "HTI"}
		}
		testkit.EqualLists(t, got, words, "%s", query)
	}
}

// testOGCTimes asks for areas by times: those whose figure has a period with a time in common, and
// those of no time.
func testOGCTimes(t *testing.T, s *api.Server, items string, all []ogcFeature) {
	t.Helper()
	text := func(f ogcFeature, name string) string { return fmt.Sprint(f.Properties[name]) }
	days := []string{"1950-01-01", "2023-06-01"}
	for _, f := range all {
		if from := text(f, "period_start"); strings.HasPrefix(from, "2") {
			days = append(days, from[:10], text(f, "period_end")[:10])
		}
	}
	for _, day := range days {
		for _, datetime := range []string{day, day + "/..", "../" + day} {
			from, to, open := strings.Cut(datetime, "/")
			if !open {
				to = from
			}
			want := slices.DeleteFunc(slices.Clone(all), func(f ogcFeature) bool {
				first, last := text(f, "period_start"), text(f, "period_end")
				ended := f.Properties["period_end"] != nil && from != ".." && last[:10] < from
				return ended || f.Properties["period_start"] != nil && to != ".." && first[:10] > to
			})
			got, matched := allFeatures(t, s, items+"?datetime="+datetime)
			if matched != len(want) || !reflect.DeepEqual(got, want) && len(want) > 0 {
				t.Errorf("%s of %s: %d features of %d, want %d", items, datetime, len(got), matched, len(want))
			}
		}
	}
}

// TestOGCAcrossSwap follows links across a swap: all pages are of one state, or 410.
func TestOGCAcrossSwap(t *testing.T) {
	t.Parallel()
	for _, kept := range []time.Duration{testkit.Patience, -1} {
		o := state.Options{BaseURL: apitest.ODataBase, Boundaries: ogcBoundaries(t), KeepPrevious: kept}
		first, second := apitest.TwoSnapshots(t, 30)
		s := apitest.Serve(t, o, first)
		var page ogcPage
		apitest.ReadJSON(t, s, ogc.Root+"collections/admin0_overall_risk/items?limit=2", &page)
		apitest.Swap(t, s, state.Release{Snapshot: second, PublishedAt: apitest.PublishedTime})
		next := linkOf(page.Links, "next")
		if kept > 0 {
			a := s.Answer("GET", strings.TrimPrefix(next, apitest.ODataBase), nil)
			testkit.Equal(t, apitest.Header(a, "X-Snapshot-Id"), first.Manifest.ID, "the snapshot of a page")
			rest, _ := allFeatures(t, s, next)
			testkit.Equal(t, len(page.Features)+len(rest), page.Matched, "features")
			continue
		}
		a := s.Answer("GET", strings.TrimPrefix(next, apitest.ODataBase), nil)
		if a.Status != 410 || !strings.Contains(string(a.Body), "Begin again") {
			t.Errorf("%d %s, want 410", a.Status, a.Body)
		}
	}
}

// TestOGCShapes asks for documents in both forms, and for what is refused.
func TestOGCShapes(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: apitest.ODataBase, Boundaries: ogcBoundaries(t)}, 30)
	apitest.Shapes(t, s, "/ogc", "testdata/ogc.txt", func(request string, a api.Answer) {
		isPage := strings.HasPrefix(apitest.Header(a, "Content-Type"), "text/html")
		if isPage != bytes.HasPrefix(a.Body, []byte("<!DOCTYPE html>")) || !isPage && !json.Valid(a.Body) {
			t.Errorf("%s: the type is %s: %.200s", request, apitest.Header(a, "Content-Type"), a.Body)
		}
	})
	strict := apitest.Sample(t, state.Options{OGCIdentifier: true}, 30)
	if a := strict.Answer("GET", "/ogc/collections/food_prices_market_monitor/items", nil); a.Status != 403 {
		t.Errorf("without an identifier: %d", a.Status)
	}
}

// TestOGCDescribed compares the described parameters with those that are taken.
func TestOGCDescribed(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: apitest.ODataBase, Boundaries: ogcBoundaries(t)}, 30)
	var described struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct{ Name, In string }
			}
		}
	}
	apitest.ReadJSON(t, s, ogc.Root+"api", &described)
	paths := 0
	for path, of := range described.Paths {
		id, isItems := strings.CutSuffix(path, "/items")
		if !isItems {
			continue
		}
		paths++
		var queryables struct{ Properties map[string]any }
		apitest.ReadJSON(t, s, strings.TrimSuffix(ogc.Root, "/")+id+"/queryables", &queryables)
		named := 1 // geometry
		for _, p := range of.Get.Parameters {
			if p.Name == "" { // shared
				continue
			}
			named++
			if queryables.Properties[p.Name] == nil {
				t.Errorf("%s: %s is no queryable", path, p.Name)
			}
			if a := s.Answer("GET", strings.TrimSuffix(ogc.Root, "/")+path+"?"+p.Name+"=1", nil); a.Status != 200 &&
				strings.Contains(string(a.Body), "no parameter") {
				t.Errorf("%s: %s is described and not taken: %s", path, p.Name, a.Body)
			}
		}
		testkit.Equal(t, named, len(queryables.Properties), "%s: parameters", path)
	}
	testkit.AtLeast(t, paths, 20, "collections are described")
}

// placeless is 1 for a feature without a geometry.
func placeless(f ogcFeature) int {
	if f.Geometry == nil {
		return 1
	}
	return 0
}

func TestMain(m *testing.M) { apitest.Main(m) }
