package boundary

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

type rawFeature struct {
	Type       string         `json:"type"`
	Properties map[string]any `json:"properties"`
	Geometry   *struct {
		Type        string          `json:"type"`
		Coordinates json.RawMessage `json:"coordinates"`
	} `json:"geometry"`
}

// The names of properties that are understood, in any case: those of the boundaries of HDX, of
// Natural Earth, and of the fields of this interface. The first one with a value counts.
var (
	codeNames = [3][]string{
		{"location_code", "iso3", "iso_3", "iso3_code", "iso_a3", "adm0_a3", "adm0_pcode", "admin0pcod"},
		{"admin1_code", "adm1_pcode", "admin1pcod", "admin1pcode"},
		{"admin2_code", "adm2_pcode", "admin2pcod", "admin2pcode"},
	}
	nameNames = [3][]string{
		{"location_name", "adm0_name", "adm0_en", "admin0name", "adm0_name1", "adm0_fr", "adm0_es", "adm0_pt", "name"},
		{"admin1_name", "adm1_name", "adm1_en", "admin1name", "adm1_name1", "adm1_fr", "adm1_es", "adm1_pt", "name"},
		{"admin2_name", "adm2_name", "adm2_en", "admin2name", "adm2_name1", "adm2_fr", "adm2_es", "adm2_pt", "name"},
	}
	// countryNames say which units are of one country.
	countryNames = append([]string{"adm0_pcode", "admin0pcod"}, codeNames[0]...)
)

// noCode is what Natural Earth has in place of a code.
const noCode = "-99"

// feature checks a feature. If it fails, the feature has the code as far as it is known. A feature
// without a code has an empty one.
func (r *reader) feature(raw *rawFeature) (f feature, err error) {
	properties := textsOf(raw.Properties)
	for f.level = 2; f.level > 0 && first(properties, codeNames[f.level]) == ""; f.level-- {
	}
	f.Code = first(properties, codeNames[f.level])
	f.Name = first(properties, nameNames[f.level])
	switch {
	case raw.Type != "Feature":
		return f, fmt.Errorf("its type is %q, not Feature", short(raw.Type))
	case len(f.Code) > maxText || len(f.Name) > maxText || !utf8.ValidString(f.Code+f.Name):
		f.Code = ""
		return f, fmt.Errorf("its code or name is longer than %d bytes, or no UTF-8", maxText)
	case f.level == 0 && f.Code != "" && len(f.Code) != 3:
		return f, errors.New("the code of a country should have three letters (ISO 3166-1), such as AFG; " +
			"add a property iso3")
	}
	if f.country = first(properties, countryNames); f.level > 0 && f.country == "" {
		return f, fmt.Errorf("nothing says which country the unit is of. Its properties should have one of %s",
			strings.Join(countryNames, ", "))
	}
	if raw.Geometry == nil {
		return f, errors.New("it has no geometry")
	}
	f.polygons, err = r.polygons(raw.Geometry.Type, raw.Geometry.Coordinates)
	for _, p := range f.polygons {
		f.Rings = append(f.Rings, p...)
	}
	return f, err
}

// textsOf are the properties that are texts, by their names in lower case.
func textsOf(given map[string]any) map[string]string {
	properties := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, is := given[name].(string) // numbers and others are no codes
		if text = strings.TrimSpace(text); is && text != noCode {
			properties[strings.ToLower(name)] = text
		}
	}
	return properties
}

// errNoCode says which properties are codes.
var errNoCode = fmt.Errorf("it has no code. Its properties should have one of %s for a country, %s or %s for a unit",
	strings.Join(codeNames[0], ", "), strings.Join(codeNames[1], ", "), strings.Join(codeNames[2], ", "))

// first is the first of some properties that has a value.
func first(properties map[string]string, names []string) string {
	for _, name := range names {
		if text := properties[name]; text != "" {
			return text
		}
	}
	return ""
}

// Real files have positions that rounding has moved off the map, and rings whose ends do not quite
// meet, in degrees: ten centimetres, and a kilometre.
const (
	rounding = 1e-6
	gap      = 0.01
)

type reader struct{ points int }

func (r *reader) polygons(kind string, coordinates json.RawMessage) (all []Polygon, err error) {
	var polygons [][][][]float64
	switch kind {
	case "Polygon":
		polygons = make([][][][]float64, 1)
		err = json.Unmarshal(coordinates, &polygons[0])
	case "MultiPolygon":
		err = json.Unmarshal(coordinates, &polygons)
	default:
		return nil, fmt.Errorf("its geometry is a %q; Polygon and MultiPolygon can be drawn", short(kind))
	}
	if err != nil {
		return nil, fmt.Errorf("the coordinates of its %s: %w", kind, err)
	}
	return r.check(polygons)
}

// check checks polygons, and closes their rings.
func (r *reader) check(polygons [][][][]float64) (all []Polygon, err error) {
	for i, polygon := range polygons {
		var rings Polygon
		for k, positions := range polygon {
			ring, err := r.ring(positions)
			if err != nil {
				return nil, fmt.Errorf("polygon %d, ring %d%w", i+1, k+1, err)
			}
			rings = append(rings, ring)
		}
		if len(rings) > 0 {
			all = append(all, rings)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("its geometry is empty")
	}
	return all, nil
}

// ring checks a ring, and closes it. The error continues the text that says which ring it is.
func (r *reader) ring(positions [][]float64) ([][2]float64, error) {
	if r.points += len(positions); r.points > maxPoints {
		return nil, fmt.Errorf(": the file has more than %d points up to here; simplify the boundaries, as a page "+
			"shows no more than a thousand points across", maxPoints)
	}
	ring := make([][2]float64, 0, len(positions)+1)
	for i, p := range positions {
		if len(p) < 2 || len(p) > 4 || math.Abs(p[0]) > 180+rounding || math.Abs(p[1]) > 90+rounding {
			return nil, fmt.Errorf(", position %d: %v is no longitude (-180 to 180) and latitude (-90 to 90)",
				i+1, p[:min(len(p), 4)])
		}
		ring = append(ring, [2]float64{min(max(p[0], -180), 180), min(max(p[1], -90), 90)})
	}
	if len(ring) < 4 {
		return nil, fmt.Errorf(": %d positions are no ring, which has at least 4", len(ring))
	}
	last := ring[len(ring)-1]
	if max(math.Abs(ring[0][0]-last[0]), math.Abs(ring[0][1]-last[1])) > gap {
		return nil, fmt.Errorf(": it ends at %v, not where it begins, at %v", last, ring[0])
	}
	if ring[0] != last {
		ring = append(ring, ring[0])
	}
	return ring, nil
}
