package boundary

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"hdqs/api/chart"
)

// Bounds of a file. maxText is the most bytes of a code, a name or a source.
const (
	maxBytes  = 128 << 20
	maxPoints = 5_000_000
	maxText   = 512
)

// feature is an area of the file.
type feature struct {
	chart.Shape
	level   int
	country string // of a unit: what units of one country have in common

	polygons []Polygon // whose rings are those of the shape
}

// collection is the file.
type collection struct {
	Type        string            `json:"type"`
	Attribution string            `json:"attribution"`
	Features    []json.RawMessage `json:"features"`

	CRS *struct {
		Properties struct {
			Name string `json:"name"`
		} `json:"properties"`
	} `json:"crs"`
}

// Read reads a file. source says whose boundaries they are; if it is empty, the collection's member
// "attribution" does.
func Read(in io.Reader, source string) (*Set, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("the file is larger than %d bytes; simplify the boundaries, as a page shows no more "+
			"than a thousand points across", maxBytes)
	}
	var file collection
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, notJSON(err)
	}
	if source == "" {
		source = strings.TrimSpace(file.Attribution)
	}
	if err := file.check(); err != nil {
		return nil, err
	}
	features, err := readFeatures(file.Features)
	switch {
	case err != nil:
		return nil, err
	case source == "":
		return nil, errors.New(`the file names no source of the boundaries: add a member "attribution" to the ` +
			"FeatureCollection, or use --boundaries-source")
	case len(source) > maxText || !utf8.ValidString(source):
		return nil, fmt.Errorf("the source of the boundaries has %d bytes; at most %d of UTF-8 are accepted",
			len(source), maxText)
	}
	return build(source, features), nil
}

// check checks what the file says of all features.
func (file *collection) check() error {
	switch {
	case file.Type != "FeatureCollection":
		return fmt.Errorf("a GeoJSON FeatureCollection is wanted (RFC 7946), this has the type %q",
			short(file.Type))
	case len(file.Features) == 0:
		return errors.New("the collection has no feature")
	}
	// RFC 7946 has one coordinate system; files that are older than it may name another.
	if file.CRS != nil {
		name := file.CRS.Properties.Name
		if !strings.HasSuffix(name, "CRS84") && !strings.HasSuffix(name, ":4326") {
			return fmt.Errorf("coordinates of %q: longitude and latitude of WGS 84 are wanted; "+
				"ogr2ogr -t_srs EPSG:4326 converts them", short(name))
		}
	}
	return nil
}

// readFeatures reads the features of a file. At least one has a code, and no two have the same.
func readFeatures(texts []json.RawMessage) (features []feature, err error) {
	r, uncoded := new(reader), 0
	seen := [3]map[string]int{{}, {}, {}} // numbers of features, by level and code
	for i, text := range texts {
		number := i + 1
		var raw rawFeature
		if err := json.Unmarshal(text, &raw); err != nil {
			return nil, fmt.Errorf("feature %d: %w", number, err)
		}
		f, err := r.feature(&raw)
		name := fmt.Sprintf("feature %d", number)
		if f.Code != "" {
			name += " (" + f.Code + ")"
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if other := seen[f.level][f.Code]; other > 0 {
			return nil, fmt.Errorf("%s: feature %d has the same code; an area is one feature, "+
				"of several polygons where it needs them", name, other)
		}
		if f.Code == "" {
			uncoded++
		} else {
			seen[f.level][f.Code] = number
		}
		features = append(features, f)
	}
	if uncoded == len(features) {
		return nil, fmt.Errorf("feature 1: %w", errNoCode)
	}
	return features, nil
}

// notJSON says where a file is no JSON.
func notJSON(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("no JSON at byte %d: %w", syntax.Offset, err)
	}
	return fmt.Errorf("a GeoJSON FeatureCollection is wanted (RFC 7946): %w", err)
}

func short(text string) string {
	if len(text) > 60 {
		return strings.ToValidUTF8(text[:60], "") + "..."
	}
	return text
}
