package boundary

import (
	"slices"
	"strconv"
	"strings"

	"hdqs/api/chart"
)

// Set is the boundaries of a file.
type Set struct {
	Source    string       // whose boundaries they are
	Countries *chart.Layer // nil if the file has none
	Features  [3]int       // by level
	Uncoded   int          // features without a code, which are land without figures
	Areas     [3][]Area    // by level, those with a code, by code
	units     [3][]country // by level; that of countries is empty
}

// Area is a country or a unit as the file has it.
type Area struct {
	Code, Name, Country string
	Polygons            []Polygon
}

// Polygon is an outer ring and its holes, of longitude and latitude. A ring ends where it begins.
type Polygon [][][2]float64

// country is the units of a country at one level.
type country struct {
	codes []string // sorted
	layer *chart.Layer
}

// Has reports whether there are units of a level.
func (s *Set) Has(level int) bool { return len(s.units[level]) > 0 }

// Units is the map of the country that most of the codes are of, nil without one.
func (s *Set) Units(level int, codes []string) *chart.Layer {
	var best *chart.Layer
	most := 0
	for i := range s.units[level] {
		c := &s.units[level][i]
		known := 0
		for _, code := range codes {
			if _, found := slices.BinarySearch(c.codes, code); found {
				known++
			}
		}
		if known > most {
			best, most = c.layer, known
		}
	}
	return best
}

// noUnit is the code of land without one, as chart.World has it.
const noUnit = "-"

// build draws the layers. Land without a code is on the map of countries, if there is one.
func build(source string, features []feature) *Set {
	s := &Set{Source: source}
	var countries []chart.Shape
	byCountry := [3]map[string][]chart.Shape{{}, {}, {}}
	for i := range features {
		f := &features[i]
		if f.Code == "" {
			s.Uncoded++
			f.Code = noUnit
		} else {
			s.Features[f.level]++
			s.Areas[f.level] = append(s.Areas[f.level], Area{f.Code, f.Name, f.country, f.polygons})
		}
		if f.level == 0 {
			countries = append(countries, f.Shape)
		} else {
			byCountry[f.level][f.country] = append(byCountry[f.level][f.country], f.Shape)
		}
	}
	if s.Features[0] > 0 {
		s.Countries = chart.NewWorld(countries)
	}
	for _, areas := range s.Areas {
		slices.SortFunc(areas, func(a, b Area) int { return strings.Compare(a.Code, b.Code) })
	}
	for level := 1; level < len(byCountry); level++ {
		for _, shapes := range byCountry[level] {
			c := country{layer: chart.NewFlat(shapes)}
			for i := range shapes {
				c.codes = append(c.codes, shapes[i].Code)
			}
			slices.Sort(c.codes)
			s.units[level] = append(s.units[level], c)
		}
	}
	return s
}

// AppendGeometry appends polygons as GeoJSON.
func AppendGeometry(dst []byte, polygons []Polygon) []byte {
	if len(polygons) == 0 {
		return append(dst, "null"...)
	}
	return append(AppendCoordinates(append(dst, `{"type":"MultiPolygon","coordinates":`...), polygons), '}')
}

// AppendCoordinates appends the coordinates of polygons as GeoJSON.
func AppendCoordinates(dst []byte, polygons []Polygon) []byte {
	dst = append(dst, '[')
	for i, p := range polygons {
		dst = append(dst, ",["[1-min(i, 1):]...)
		for k, ring := range p {
			dst = append(dst, ",["[1-min(k, 1):]...)
			for n, point := range ring {
				dst = append(dst, ",["[1-min(n, 1):]...)
				dst = append(strconv.AppendFloat(dst, point[0], 'f', -1, 64), ',')
				dst = append(strconv.AppendFloat(dst, point[1], 'f', -1, 64), ']')
			}
			dst = append(dst, ']')
		}
		dst = append(dst, ']')
	}
	return append(dst, ']')
}
