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

// Bounds of a file. maxMember is the most bytes of a feature or of another member, which is read
// whole, maxProperties of the properties of a feature, and maxText of a code, a name or a source.
const (
	MaxBytes    = 128 << 20
	maxFeatures = 100_000
	maxPoints   = 5_000_000
	maxMember   = 32 << 20
	maxText     = 512

	maxProperties = 256 << 10
)

// attributionMember is the member of the collection that says whose boundaries they are.
const attributionMember = "attribution"

// feature is an area of the file.
type feature struct {
	chart.Shape
	level   int
	country string // of a unit: what units of one country have in common
}

// Read reads a file. source says whose boundaries they are; if it is empty, the collection's member
// "attribution" does.
func Read(in io.Reader, source string) (*Set, error) {
	r := reader{
		in: &bounded{in: in}, source: source, seen: [3]map[string]int{{}, {}, {}},
	}
	r.decoder = json.NewDecoder(r.in)
	r.next()
	if err := r.collection(); err != nil {
		return nil, err
	}
	if r.source == "" {
		return nil, errors.New(`nobody is named whose boundaries these are: add a member "attribution" to the ` +
			"FeatureCollection, or use --boundaries-source")
	}
	if len(r.source) > maxText || !utf8.ValidString(r.source) {
		return nil, fmt.Errorf("the text that says whose boundaries these are has %d bytes; "+
			"at most %d of UTF-8 are fine", len(r.source), maxText)
	}
	return build(r.source, r.features), nil
}

// bounded is a reader with an end that is an error.
type bounded struct {
	in   io.Reader
	read int
	stop int // where the present member has to end
}

func (b *bounded) Read(p []byte) (int, error) {
	end := min(b.stop, MaxBytes)
	if b.read >= end {
		what, bound := "the file", MaxBytes
		if end < MaxBytes {
			what, bound = "a feature or another member", maxMember
		}
		return 0, fmt.Errorf("%s is larger than %d bytes; simplify the boundaries, as a page shows no more than "+
			"a thousand points across", what, bound)
	}
	n, err := b.in.Read(p[:min(len(p), end-b.read)])
	b.read += n
	return n, err
}

type reader struct {
	in       *bounded
	decoder  *json.Decoder
	source   string
	features []feature
	points   int
	uncoded  int               // features without a code
	seen     [3]map[string]int // numbers of features, by level and code
}

// collection reads the whole file. Members may come in any order, and there may be others.
func (r *reader) collection() error {
	if err := r.open('{', "the file"); err != nil {
		return err
	}
	kind, listed := "", false
	for r.next(); r.decoder.More(); r.next() {
		name, err := r.decoder.Token()
		if err != nil {
			return notJSON(err)
		}
		switch name {
		case "type":
			err = r.member("type", &kind)
		case "crs":
			err = r.crs()
		case attributionMember:
			text := ""
			if err = r.member(attributionMember, &text); r.source == "" {
				r.source = strings.TrimSpace(text)
			}
		case "features":
			if listed {
				return errors.New(`there are two members "features"`)
			}
			listed = true
			err = r.list()
		default:
			var other json.RawMessage
			err = r.member(fmt.Sprint(name), &other)
		}
		if err != nil {
			return err
		}
	}
	switch _, err := r.decoder.Token(); {
	case err != nil:
		return notJSON(err)
	case kind != "FeatureCollection" || !listed:
		return fmt.Errorf(`a GeoJSON FeatureCollection is wanted (RFC 7946), this has the type %q`, short(kind))
	case len(r.features) == 0:
		return errors.New("the collection has no feature")
	case len(r.features) == r.uncoded:
		return fmt.Errorf("feature 1: %w", errNoCode)
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the FeatureCollection")
	}
	return nil
}

func (r *reader) open(want json.Delim, what string) error {
	switch token, err := r.decoder.Token(); {
	case err != nil:
		return notJSON(err)
	case token != want:
		return fmt.Errorf("%s should begin with %s; a GeoJSON FeatureCollection is wanted (RFC 7946)", what, want)
	}
	return nil
}

// next begins a member: the decoder holds no more than one in memory.
func (r *reader) next() { r.in.stop = int(r.decoder.InputOffset()) + maxMember }

func (r *reader) member(name string, into any) error {
	if err := r.decoder.Decode(into); err != nil {
		return fmt.Errorf("member %q: %w", short(name), notJSON(err))
	}
	return nil
}

// crs refuses coordinates of other systems. RFC 7946 has one; files of before may name another.
func (r *reader) crs() error {
	var c *struct {
		Properties struct{ Name string } `json:"properties"`
	}
	if err := r.member("crs", &c); err != nil || c == nil {
		return err
	}
	if name := c.Properties.Name; !strings.HasSuffix(name, "CRS84") && !strings.HasSuffix(name, ":4326") {
		return fmt.Errorf("coordinates of %q: longitude and latitude of WGS 84 are wanted; "+
			"ogr2ogr -t_srs EPSG:4326 converts them", short(name))
	}
	return nil
}

func (r *reader) list() error {
	if err := r.open('[', `"features"`); err != nil {
		return err
	}
	for r.next(); r.decoder.More(); r.next() {
		number := len(r.features) + 1
		if number > maxFeatures {
			return fmt.Errorf("there are more than %d features", maxFeatures)
		}
		var raw rawFeature
		if err := r.decoder.Decode(&raw); err != nil {
			return fmt.Errorf("feature %d: %w", number, notJSON(err))
		}
		f, err := r.feature(&raw)
		if err != nil {
			if f.Code != "" {
				return fmt.Errorf("feature %d (%s): %w", number, f.Code, err)
			}
			return fmt.Errorf("feature %d: %w", number, err)
		}
		if other := r.seen[f.level][f.Code]; other > 0 {
			return fmt.Errorf("feature %d (%s): feature %d has the same code; an area is one feature, "+
				"of several polygons where it needs them", number, f.Code, other)
		}
		if r.features = append(r.features, f); f.Code == "" {
			r.uncoded++
		} else {
			r.seen[f.level][f.Code] = number
		}
	}
	_, err := r.decoder.Token()
	return notJSON(err)
}

// notJSON explains errors of the decoder. Others stay as they are.
func notJSON(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("no JSON at byte %d: %w", syntax.Offset, err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends too early")
	}
	return err
}

// short is a text for an error.
func short(text string) string {
	if len(text) > 60 {
		return strings.ToValidUTF8(text[:60], "") + "..."
	}
	return text
}
