package boundary

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// rawFeature is a feature as the file has it.
type rawFeature struct {
	Type       string          `json:"type"`
	Properties json.RawMessage `json:"properties"`
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
		{"location_name", "adm0_name", "adm0_en", "admin0name", "name"},
		{"admin1_name", "adm1_name", "adm1_en", "admin1name", "name"},
		{"admin2_name", "adm2_name", "adm2_en", "admin2name", "name"},
	}
	// countryNames say which units are of one country.
	countryNames = append([]string{"adm0_pcode", "admin0pcod"}, codeNames[0]...)
)

// noCode is what Natural Earth has in place of a code.
const noCode = "-99"

// feature checks a feature. If it fails, the feature has the code as far as it is known. A feature
// without a code has an empty one.
func (r *reader) feature(raw *rawFeature) (f feature, err error) {
	if n := len(raw.Properties); n > maxProperties {
		return f, fmt.Errorf("its properties have %d bytes; at most %d are read", n, maxProperties)
	}
	var texts map[string]json.RawMessage
	if raw.Properties != nil {
		if err := json.Unmarshal(raw.Properties, &texts); err != nil {
			return f, fmt.Errorf("its properties: %w", err)
		}
	}
	properties := make(map[string]string, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		var text string
		if json.Unmarshal(texts[name], &text) != nil { // numbers and others are no codes
			continue
		}
		if text = strings.TrimSpace(text); text != noCode {
			properties[strings.ToLower(name)] = text
		}
	}
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
	switch raw.Geometry.Type {
	case "Polygon":
		f.Rings, err = r.rings(raw.Geometry.Coordinates, 1)
	case "MultiPolygon":
		f.Rings, err = r.rings(raw.Geometry.Coordinates, 2)
	default:
		return f, fmt.Errorf("its geometry is a %q; Polygon and MultiPolygon can be drawn", short(raw.Geometry.Type))
	}
	if err == nil && len(f.Rings) == 0 {
		err = errors.New("its geometry is empty")
	}
	return f, err
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

// rings reads the rings of an area from coordinates, which are valid JSON. Rings are lists of
// positions at a depth of 1 (Polygon) or 2 (MultiPolygon) lists. Each value is checked as it comes:
// as slices of slices, a file of empty lists would take twenty times its length.
func (r *reader) rings(text []byte, depth int) (rings [][][2]float64, err error) {
	var ring [][2]float64
	var position []float64
	level, polygons, ringsOf := 0, 0, 0
	where := func() string { return fmt.Sprintf("polygon %d, ring %d", polygons, ringsOf) }
	for len(text) > 0 {
		switch c := text[0]; {
		case c == '[' && level < depth+2:
			switch level++; level {
			case depth:
				polygons, ringsOf = polygons+1, 0
			case depth + 1:
				ringsOf++
			}
			position = position[:0]
		case c == ']':
			if level--; level == depth+1 {
				ring, err = r.position(ring, position, where)
			} else if level == depth {
				rings, err = closed(rings, ring, where)
				ring = nil
			}
		case level == depth+2 && (c == '-' || c >= '0' && c <= '9'):
			n := bytes.IndexAny(text, ", \t\r\n]")
			var value float64
			if value, err = strconv.ParseFloat(string(text[:n]), 64); len(position) < 5 {
				position = append(position, value)
			}
			text = text[n-1:]
		case !strings.ContainsRune(", \t\r\n", rune(c)):
			return nil, fmt.Errorf("the coordinates of its %s: %s has %q, where a number or a list should be",
				[]string{1: "Polygon", 2: "MultiPolygon"}[depth], where(), short(string(text[:min(len(text), 100)])))
		}
		if err != nil {
			return nil, err
		}
		text = text[1:]
	}
	return rings, nil
}

// position checks a position and adds it to a ring.
func (r *reader) position(ring [][2]float64, p []float64, where func() string) ([][2]float64, error) {
	if r.points++; r.points > maxPoints {
		return nil, fmt.Errorf("the file has more than %d points up to here; simplify the boundaries, as a page "+
			"shows no more than a thousand points across", maxPoints)
	}
	if len(p) < 2 || len(p) > 4 || math.Abs(p[0]) > 180+rounding || math.Abs(p[1]) > 90+rounding {
		return nil, fmt.Errorf("%s, position %d: %v is no longitude (-180 to 180) and latitude (-90 to 90)",
			where(), len(ring)+1, p[:min(len(p), 4)])
	}
	return append(ring, [2]float64{min(max(p[0], -180), 180), min(max(p[1], -90), 90)}), nil
}

// closed checks a ring and adds it to the others.
func closed(rings [][][2]float64, ring [][2]float64, where func() string) ([][][2]float64, error) {
	if len(ring) < 4 {
		return nil, fmt.Errorf("%s: %d positions are no ring, which has at least 4", where(), len(ring))
	}
	last := ring[len(ring)-1]
	if max(math.Abs(ring[0][0]-last[0]), math.Abs(ring[0][1]-last[1])) > gap {
		return nil, fmt.Errorf("%s: it ends at %v, not where it begins, at %v", where(), last, ring[0])
	}
	if ring[0] != last {
		ring = append(ring, ring[0])
	}
	return append(rings, slices.Clip(ring)), nil
}
