//go:build !race

package ogc_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/boundary"
	"hdqs/api/odata"
	"hdqs/api/ogc"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// layerRank is the order of features of one layer: with a geometry, then with a value.
func layerRank(f ogcFeature) int {
	rank := 2 * placeless(f)
	if value, has := f.Properties["value"]; has && value == nil {
		rank++
	}
	return rank
}

// TestOGCLayers replays what the provider of QGIS asks of each collection: its first ten features
// decide what the layer is, then come pages. Of a collection with any geometry they have one. Pages
// of any size, with any filter, have each feature once, in one order.
func TestOGCLayers(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	price := apitest.Plan("/api/v2/food-security-nutrition-poverty/food-prices-market-monitor").Endpoint
	at := slices.IndexFunc(tables, func(x *apitest.Table) bool { return x.Endpoint.Table == price.Table })
	tables[at].Rows = nil
	for i := range 60 { // the first forty have no place, or half of one
		row := apitest.With(apitest.InPlace("AFG"), apitest.InMonth(2024, 1+i%12), apitest.Row{
			"market_code": fmt.Sprintf("M%02d", i), "market_name": "Market", "price": apitest.Decimal("1.5"),
			"commodity_code": "C",
		})
		if i >= 20 {
			row["lat"] = apitest.Decimal(fmt.Sprint(i))
		}
		if i >= 40 {
			row["lon"] = apitest.Decimal(fmt.Sprint(-i))
		}
		tables[at].Rows = append(tables[at].Rows, apitest.FullRow(t, tables[at], row))
	}
	o := state.Options{BaseURL: apitest.ODataBase, Identifier: state.IgnoreIdentifier, Boundaries: ogcBoundaries(t)}
	s := apitest.Server(t, o, tables)
	var listed struct{ Collections []struct{ ID string } }
	apitest.ReadJSON(t, s, ogc.Root+"collections", &listed)
	layers, mixed := 0, 0
	for _, c := range listed.Collections {
		items := ogc.Root + "collections/" + c.ID + "/items"
		all, matched := allFeatures(t, s, items+"?limit=10000")
		if len(all) != matched {
			t.Fatalf("%s: %d features of %d", c.ID, len(all), matched)
		}
		if !slices.IsSortedFunc(all, func(a, b ogcFeature) int { return layerRank(a) - layerRank(b) }) {
			t.Errorf("%s: features with a geometry are not first", c.ID)
		}
		var first ogcPage
		apitest.ReadJSON(t, s, items+"?limit=10", &first)
		if len(all) > 0 && placeless(all[0]) == 0 {
			layers++
			mixed += placeless(all[len(all)-1])
			testkit.Equal(t, placeless(first.Features[0]), 0, "%s would be a layer without a geometry", c.ID)
		}
		for _, filter := range []string{"", "&bbox=-180,-90,180,90", "&datetime=2024-06-01/..", "&bbox=5,1,55,60"} {
			whole, _ := allFeatures(t, s, items+"?limit=10000"+filter)
			paged, matched := allFeatures(t, s, items+"?limit=7"+filter)
			if matched != len(whole) || !reflect.DeepEqual(paged, whole) {
				t.Errorf("%s%s: %d features in pages of 7, %d in one", c.ID, filter, len(paged), len(whole))
			}
		}
	}
	if layers < 20 || mixed < 5 {
		t.Errorf("only %d layers, %d of them with features without a geometry", layers, mixed)
	}
	items := ogc.Root + "collections/food_prices_market_monitor/items"
	all, _ := allFeatures(t, s, items)
	var codes []string
	for _, f := range all {
		codes = append(codes, f.Properties["market_code"].(string))
	}
	if len(all) != 60 || codes[0] != "M40" || codes[20] != "M00" || codes[59] != "M39" {
		t.Errorf("the markets are in the order %v", codes)
	}
	newest, matched := allFeatures(t, s, items+"?latest=true&limit=13")
	if len(newest) != 60 || matched != 60 {
		t.Errorf("the newest of each market: %d of %d", len(newest), matched)
	}
	for _, coding := range []string{"gzip", "zstd"} {
		a := s.Answer("GET", items, apitest.Fields("Accept-Encoding", coding))
		var page ogcPage
		testkit.Must(t, json.Unmarshal(apitest.Body(t, a), &page))
		if len(page.Features) != 60 || page.Features[0].Properties["market_code"] != "M40" {
			t.Errorf("%s: %d features", coding, len(page.Features))
		}
	}
}

// TestOGCExtents compares extents with the features of each collection.
func TestOGCExtents(t *testing.T) {
	t.Parallel()
	o := state.Options{BaseURL: apitest.ODataBase, Identifier: state.IgnoreIdentifier, Boundaries: ogcBoundaries(t)}
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, "table market\nAFG -; code=1; lat=34; lon=69\nAFG -; code=2; lat=-9; lon=71")
	s := apitest.Server(t, o, tables)
	type described struct {
		ID, Description string
		Extent          struct {
			Spatial  *struct{ BBox [][4]float64 }
			Temporal *struct{ Interval [][2]string }
		}
	}
	var listed struct{ Collections []described }
	apitest.ReadJSON(t, s, ogc.Root+"collections", &listed)
	times := 0
	for _, c := range listed.Collections {
		var alone described
		apitest.ReadJSON(t, s, ogc.Root+"collections/"+c.ID, &alone)
		if !reflect.DeepEqual(alone, c) || c.Description == "" {
			t.Errorf("%s: %v alone, and %v in the list", c.ID, alone, c)
		}
		places, first, last := [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}, "9999", ""
		all, _ := allFeatures(t, s, ogc.Root+"collections/"+c.ID+"/items")
		for _, f := range all {
			geometry, _ := json.Marshal(f.Geometry)
			text := string(geometry)
			var lon, lat float64
			if _, err := fmt.Sscanf(text[max(0, strings.LastIndex(text, "[")):], "[%g,%g", &lon, &lat); err == nil {
				places = [4]float64{min(places[0], lon), min(places[1], lat), max(places[2], lon), max(places[3], lat)}
			}
			for _, name := range []string{"period_start", "reference_period_start"} {
				if at, is := f.Properties[name].(string); is {
					first = min(first, at)
				}
			}
			for _, name := range []string{"period_end", "reference_period_end"} {
				if at, is := f.Properties[name].(string); is {
					last = max(last, at)
				}
			}
		}
		switch box := c.Extent.Spatial; {
		case box == nil:
			if !math.IsInf(places[0], 1) {
				t.Errorf("%s has places and no box", c.ID)
			}
		case box.BBox[0][0] > places[0] || box.BBox[0][1] > places[1] || box.BBox[0][2] < places[2] ||
			box.BBox[0][3] < places[3] || box.BBox[0][0] == -180 && places[0] != -180:
			t.Errorf("%s has the box %v, its features are in %v", c.ID, box.BBox, places)
		}
		if at := c.Extent.Temporal; last != "" {
			times++
			if at == nil || at.Interval[0][0] > first+"Z" || at.Interval[0][1] < last+"Z" {
				t.Errorf("%s has the time %v, its features are from %s to %s", c.ID, at, first, last)
			}
		}
	}
	testkit.AtLeast(t, times, 5, "collections have times")
	if a := apitest.Empty(t, o).Answer("GET", ogc.Root+"collections/wfp_market", nil); a.Status != 200 {
		t.Errorf("without a snapshot: %d %s", a.Status, a.Body)
	}
}

// TestOGCLongPages: pages of areas with many points are streamed, so that slow readers do not hold
// them in memory.
func TestOGCLongPages(t *testing.T) {
	t.Parallel()
	var features []string
	for area := range 200 {
		var ring []string
		points := 800
		if area == 0 { // is long alone
			points = 15_000
		}
		for i := range points {
			angle := float64(i%(points-1)) / float64(points-1) * 2 * math.Pi
			ring = append(ring, fmt.Sprintf("[%.6f,%.6f]", 10*math.Cos(angle), 10*math.Sin(angle)))
		}
		features = append(features, fmt.Sprintf(`{"type":"Feature","properties":{"ADM1_PCODE":"AF%03d","ADM1_EN":"%d",`+
			`"ADM0_PCODE":"AF"},"geometry":{"type":"Polygon","coordinates":[[%s]]}}`, area, area, strings.Join(ring, ",")))
	}
	set, err := boundary.Read(strings.NewReader(
		`{"type":"FeatureCollection","attribution":"a test","features":[`+strings.Join(features, ",")+`]}`), "")
	testkit.Must(t, err)
	s := apitest.Sample(t, state.Options{BaseURL: apitest.ODataBase, Boundaries: set}, 30)
	items := ogc.Root + "collections/admin1/items"
	apitest.CheckLongPage(t, s, items, func(body []byte) {
		var page ogcPage
		testkit.Must(t, json.Unmarshal(body, &page))
		if len(page.Features) != 200 || page.Matched != 200 {
			t.Errorf("%d features of %d", len(page.Features), page.Matched)
		}
	})
	apitest.CheckLongPage(t, s, items+"/AF000", func(body []byte) {
		var one ogcFeature
		testkit.Must(t, json.Unmarshal(body, &one))
		if one.ID != "AF000" || len(one.Links) == 0 {
			t.Errorf("the area is %s with the links %v", one.ID, one.Links)
		}
	})
	tag := apitest.Header(s.Answer("GET", items, nil), "ETag")
	testkit.Equal(t, s.Answer("GET", items, apitest.Fields("If-None-Match", tag)).Status, 304, "with its tag")
	if a := s.Answer("GET", items+"?limit=199", apitest.Fields("If-None-Match", tag)); a.Status != 200 {
		t.Errorf("another page with the tag: %d", a.Status)
	}
}

// TestStandardErrors: errors that are found before the handlers of OData and OGC are called are in
// their forms, too.
func TestStandardErrors(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{BaseURL: apitest.ODataBase, Boundaries: ogcBoundaries(t)}, 30)
	long := strings.Repeat("x", 9000)
	for _, c := range []struct {
		method, target string
		status         int
		code           string
	}{
		{"POST", odata.Root + "$batch", 405, "MethodNotAllowed"},
		{"POST", odata.Root + "conflict_events", 405, "MethodNotAllowed"},
		{"DELETE", odata.Root + "conflict_events('x')", 405, "MethodNotAllowed"},
		{"PATCH", odata.Root, 405, "MethodNotAllowed"},
		{"GET", odata.Root + "conflict_events?$filter=" + long, 414, "RequestURITooLong"},
		{"GET", odata.Root + "conflict_events?$filter=" + strings.Repeat(long, 6), 414, "RequestURITooLong"},
		{"GET", "/odata/v3/", 404, "NotFound"},
		{"POST", ogc.Root + "collections/admin0/items", 405, "MethodNotAllowed"},
		{"PUT", "/ogc", 405, "MethodNotAllowed"},
		{"GET", ogc.Root + "collections/admin0/items?code=" + long, 414, "RequestURITooLong"},
		{"GET", ogc.Root + "collections/admin0/items?code=" + strings.Repeat(long, 6), 414, "RequestURITooLong"},
	} {
		a := s.Answer(c.method, c.target, nil)
		var said struct {
			Code, Description string
			Error             struct{ Code, Message string }
		}
		err := json.Unmarshal(a.Body, &said)
		code, text := said.Code, said.Description
		if strings.HasPrefix(c.target, "/odata/") {
			code, text = said.Error.Code, said.Error.Message
			testkit.Equal(t, apitest.Header(a, "OData-Version"), "4.0", "%s %.60s: OData-Version", c.method, c.target)
		}
		if err != nil || a.Status != c.status || code != c.code || text == "" || strings.Contains(text, "{") {
			t.Errorf("%s %.60s: %d %v %s", c.method, c.target, a.Status, err, a.Body)
		}
		if c.status == 405 && apitest.Header(a, "Allow") == "" {
			t.Errorf("%s %.60s: no Allow", c.method, c.target)
		}
	}
	empty := apitest.Empty(t, state.Options{Boundaries: ogcBoundaries(t)})
	const markets = ogc.Root + "collections/wfp_market/items"
	for _, target := range []string{odata.Root + "org", odata.Root + "figures", markets} {
		a := empty.Answer("GET", target, nil)
		if a.Status != 503 || !strings.Contains(string(a.Body), `:"No snapshot is loaded yet"`) {
			t.Errorf("%s without a snapshot: %d %s", target, a.Status, a.Body)
		}
	}
	if a := s.Answer("POST", "/api/v2/metadata/org?app_identifier="+apitest.Identifier, nil); !strings.HasPrefix(
		string(a.Body), `{"detail"`) {
		t.Errorf("errors of lists changed: %s", a.Body)
	}
	testkit.Lacks(t, s.Answer("GET", "/odatas?"+url.QueryEscape("x"), nil).Body, `"error":{`, "a path beside")
}
