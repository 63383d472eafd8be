package boundary

import (
	"fmt"
	"strings"
	"testing"

	"hdqs/api/chart"
	"hdqs/internal/testkit"
)

// polygon is the geometry of a square.
func polygon(lon, lat float64) string {
	return fmt.Sprintf(`{"type":"Polygon","coordinates":[[[%g,%g],[%g,%g],[%g,%g],[%g,%g],[%g,%g]]]}`,
		lon, lat, lon+1, lat, lon+1, lat+1, lon, lat+1, lon, lat)
}

// fileOf is a file with features, given as properties and geometries in turn.
func fileOf(more string, features ...string) string {
	var all []string
	for i := 0; i < len(features); i += 2 {
		all = append(all, `{"type":"Feature","properties":`+features[i]+`,"geometry":`+features[i+1]+`}`)
	}
	return `{"type":"FeatureCollection",` + more + `"features":[` + strings.Join(all, ",\n") + `]}`
}

const whose = `"attribution":"The Mapmakers",`

var good = fileOf(whose,
	`{"ADM0_PCODE":"AFG","ADM0_EN":"Afghanistan"}`, polygon(66, 33),
	`{"iso_3":"TCD","name":"Chad","shape":3.5}`,
	`{"type":"MultiPolygon","coordinates":[[[[18,15],[19,15],[19,16],[18,15]]],[[[20,15,300],[21,15,300],[21,16,300],[20,15,300]]]]}`,
	`{"ADM0_PCODE":"AF","ADM1_PCODE":"AF01","ADM1_EN":"Kabul"}`, polygon(66, 33),
	`{"adm0_pcode":"AF","adm1_pcode":"AF02","adm1_name":"كابول"}`, polygon(67, 33),
	`{"location_code":"TCD","admin1_code":"TD01"}`, polygon(18, 15),
	`{"ADM0_PCODE":"AF","ADM1_PCODE":"AF01","ADM2_PCODE":"AF0101","ADM2_EN":null}`, polygon(66, 33),
)

func TestRead(t *testing.T) {
	t.Parallel()
	s := testkit.Value(Read(strings.NewReader(good), ""))(t)
	if s.Source != "The Mapmakers" || s.Features != [3]int{2, 3, 1} || !s.Has(1) || !s.Has(2) || s.Countries == nil {
		t.Errorf("%+v", s)
	}
	// The map of a country has its units and no others.
	drawing, _, missing := chart.Map(&chart.Chart{ID: "x"}, s.Units(1, []string{"AF01", "AF99", ""}), []chart.Area{
		{Code: "AF01", Name: "Kabul", Value: 3, Text: "3"}, {Code: "AF99", Name: "new", Value: 4, Text: "4"},
	}, nil)
	text := string(drawing.HTML())
	if strings.Count(text, "<path") != 2 || !strings.Contains(text, "Kabul: 3") || !strings.Contains(text, "كابول") ||
		len(missing) != 1 || missing[0].Code != "AF99" {
		t.Errorf("missing %v in %s", missing, text)
	}
	if s.Units(2, []string{"XX"}) != nil || s.Units(1, nil) != nil {
		t.Error("a map of nowhere")
	}
	if s, err := Read(strings.NewReader(good), "Others"); err != nil || s.Source != "Others" {
		t.Errorf("the caller's source is lost: %v", err)
	}
	only, err := Read(strings.NewReader(fileOf(whose, `{"ADM0_PCODE":"AF","ADM1_PCODE":"AF01"}`, polygon(1, 1))), "")
	if err != nil || only.Countries != nil || only.Has(2) || !only.Has(1) {
		t.Errorf("%+v, %v", only, err)
	}
}

// TestReadUncoded: Natural Earth has areas without a code of ISO 3166, and some with another one.
func TestReadUncoded(t *testing.T) {
	t.Parallel()
	s, err := Read(strings.NewReader(fileOf(whose,
		`{"ISO_A3":"-99","ADM0_A3":"FRA","NAME":"France"}`, polygon(2, 47),
		`{"ISO_A3":"-99","NAME":"Nobody's"}`, polygon(5, 47),
		`{"ISO_A3":null,"NAME":"Sea"}`, polygon(8, 47),
	)), "")
	testkit.Must(t, err)
	if s.Features != [3]int{1, 0, 0} || s.Uncoded != 2 {
		t.Errorf("%+v", s)
	}
	areas := []chart.Area{{Code: "FRA", Name: "France", Text: "3"}}
	drawing, _, missing := chart.Map(&chart.Chart{ID: "x"}, s.Countries, areas, nil)
	text := string(drawing.HTML())
	if strings.Count(text, "<path") != 3 || !strings.Contains(text, "Nobody&#39;s</title>") ||
		len(missing) > 0 {
		t.Errorf("missing %v in %s", missing, text)
	}
	units, err := Read(strings.NewReader(fileOf(whose, `{"ADM0_PCODE":"AF","ADM1_PCODE":"AF01"}`, polygon(1, 1),
		`{"name":"Lake"}`, polygon(2, 1))), "")
	if err != nil || units.Countries != nil || units.Uncoded != 1 {
		t.Errorf("%+v, %v", units, err)
	}
}

// TestReadMistakes: each error says what is wrong, and in which feature.
func TestReadMistakes(t *testing.T) {
	t.Parallel()
	const unit = `{"ADM0_PCODE":"AF","ADM1_PCODE":"AF01"}`
	ring := func(coordinates string) string { return `{"type":"Polygon","coordinates":` + coordinates + `}` }
	for _, c := range []struct{ name, file, says string }{
		{"empty", ``, "no JSON at byte 0: unexpected end"},
		{"cut off", good[:len(good)-30], "unexpected end"},
		{"no JSON", `{"type":FeatureCollection}`, "no JSON at byte"},
		{"a list", `[1]`, "a GeoJSON FeatureCollection is wanted"},
		{"a topology", `{"type":"Topology","arcs":[]}`, `has the type "Topology"`},
		{"more", good + "{}", "after top-level value"},
		{"no feature", fileOf(whose), "no feature"},
		{"nobody", fileOf("", unit, polygon(1, 1)), "names no source"},
		{"a long source", fileOf(`"attribution":"`+strings.Repeat("x", 600)+`",`, unit, polygon(1, 1)), "has 600 bytes"},
		{
			"metres", fileOf(whose, unit, ring(`[[[500000,1],[500001,1],[500001,2],[500000,1]]]`)),
			"feature 1 (AF01): polygon 1, ring 1, position 1: [500000 1] is no longitude",
		},
		{
			"another system", fileOf(whose+`"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::32642"}},`, unit, polygon(1, 1)),
			"ogr2ogr -t_srs EPSG:4326",
		},
		{"no code", fileOf(whose, `{"name":"Kabul","iso3":"-99"}`, polygon(1, 1)), "feature 1: it has no code"},
		{"two letters", fileOf(whose, `{"ADM0_PCODE":"AF"}`, polygon(1, 1)), "feature 1 (AF): the code of a country"},
		{"no country", fileOf(whose, `{"ADM1_PCODE":"AF01"}`, polygon(1, 1)), "which country"},
		{"the same code", fileOf(whose, unit, polygon(1, 1), unit, polygon(2, 1)), "feature 2 (AF01): feature 1"},
		{"no geometry", fileOf(whose, unit, `null`), "no geometry"},
		{"no code and no geometry", fileOf(whose, unit, polygon(1, 1), `{}`, `null`), "feature 2: it has no geometry"},
		{"a point", fileOf(whose, unit, `{"type":"Point","coordinates":[1,1]}`), `"Point"`},
		{"open", fileOf(whose, unit, ring(`[[[1,1],[2,1],[2,2],[1,2]]]`)), "it ends at [1 2], not where it begins"},
		{"a line", fileOf(whose, unit, ring(`[[[1,1],[2,1],[1,1]]]`)), "3 positions are no ring"},
		{"one number", fileOf(whose, unit, ring(`[[[1,1],[2],[2,2],[1,1]]]`)), "position 2: [2]"},
		{"texts", fileOf(whose, unit, ring(`[[["1","1"]]]`)), "feature 1 (AF01): the coordinates of its Polygon"},
		{"a number too many", fileOf(whose, unit, ring(`[[[1,1],[2,1],7,[1,1]]]`)), "the coordinates of its Polygon"},
		{"too deep", fileOf(whose, unit, ring(`[[[[1,1],[2,1],[2,2],[1,1]]]]`)), "the coordinates of its Polygon"},
		{"a number too large", fileOf(whose, unit, ring(`[[[1,1],[2,1e999],[1,1]]]`)), "the coordinates of its Polygon"},
		{
			"the second ring of the second polygon", fileOf(whose, unit,
				`{"type":"MultiPolygon","coordinates":[[[[1,1],[2,1],[2,2],[1,1]]],[[[1,1],[2,1],[2,2],[1,1]],[[1,1]]]]}`),
			"polygon 2, ring 2: 1 positions are no ring",
		},
		{"nothing drawn", fileOf(whose, unit, ring(`[]`)), "its geometry is empty"},
		{"no feature type", `{"type":"FeatureCollection","features":[{"geometry":null}]}`, `feature 1: its type is ""`},
		{"deep", `{"type":"FeatureCollection","features":[` + strings.Repeat("[", 20_000), "no JSON at byte"},
	} {
		if _, err := Read(strings.NewReader(c.file), ""); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.says)
		}
	}
}

// endless is a file that never ends.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.n += len(p)
	return len(p), nil
}

// TestReadBounds: what is too much is refused before it is read.
func TestReadBounds(t *testing.T) {
	t.Parallel()
	e := new(endless)
	if _, err := Read(e, "x"); err == nil || !strings.Contains(err.Error(), "larger than") || e.n > 2*maxBytes {
		t.Errorf("read %d bytes: %v", e.n, err)
	}
}

// FuzzRead: any bytes end with a set that can be drawn, or with an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(good[:200]))
	f.Add([]byte(fileOf(whose, `{"ADM0_PCODE":"FJ","ADM1_PCODE":"FJ1"}`,
		`{"type":"Polygon","coordinates":[[[179,-17],[-179,-17],[-179,-16],[179,-17]]]}`)))
	f.Add([]byte(fileOf(whose, `{"iso3":"ATA"}`, `{"type":"Polygon","coordinates":[[[-180,-90],[180,-90],[0,-60],[-180,-90]]]}`)))
	f.Add([]byte(fileOf(whose, `{"ADM0_PCODE":"AF","ADM1_PCODE":"<b>"}`, `{"type":"Polygon","coordinates":[[[1,1],[1,1],[1,1],[1,1]]]}`)))
	f.Add([]byte(`{"features":[{"type":"Feature"}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := Read(strings.NewReader(string(file)), "me")
		if err != nil {
			if s != nil || err.Error() == "" {
				t.Errorf("a set beside %v", err)
			}
			return
		}
		for _, layer := range []*chart.Layer{s.Countries, s.Units(1, []string{"AF01"}), s.Units(2, nil)} {
			if layer != nil {
				drawing, _, _ := chart.Map(&chart.Chart{ID: "x"}, layer, nil, nil)
				if strings.Contains(string(drawing.HTML()), "<b>") || strings.Contains(string(drawing.HTML()), "NaN") {
					t.Errorf("%s", drawing.HTML())
				}
			}
		}
	})
}

// TestReadRounded: positions that rounding has moved off the map, and rings whose ends do not quite
// meet, are drawn. Published files have both.
func TestReadRounded(t *testing.T) {
	t.Parallel()
	const at = `{"type":"Polygon","coordinates":[[[179,-80],[180.00000000000017,-80],[180,-90.0000001],[179,-80.0008]]]}`
	s, err := Read(strings.NewReader(fileOf(whose, `{"iso3":"ATA"}`, at, `{"iso3":"NZL"}`, polygon(170, -44))), "")
	testkit.Must(t, err)
	if drawing, _, missing := chart.Map(&chart.Chart{ID: "x"}, s.Countries,
		[]chart.Area{{Code: "ATA", Text: "1"}}, nil); len(missing) > 0 {
		t.Errorf("missing %v in %s", missing, drawing.HTML())
	}
}
