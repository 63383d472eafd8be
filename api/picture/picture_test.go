package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"

	"hdqs/api/chart"
	"hdqs/api/lang"
	"hdqs/internal/testkit"
)

// hostile is a text that would run a script if it were not escaped, with what XML cannot contain.
const hostile = "</title><script>alert(1)</script>\x00\x1b\xff\ufffe \"'><img src=x onerror=alert(1)> & سوريا\n\u202e"

// cards are pictures of every kind of drawing.
func cards() map[string]*Card {
	labels := []string{"2020", "2021", "2022"}
	series := func(n int) (all []chart.Series) {
		for range n {
			one := chart.Series{Name: hostile}
			for k := range labels {
				one.Points = append(one.Points, chart.Point{Value: float64(k), Text: "1", Known: k != 1})
			}
			all = append(all, one)
		}
		return all
	}
	c := &chart.Chart{ID: "x", Title: hostile, Description: hostile, Unit: hostile}
	areas := []chart.Area{{Code: "AFG", Name: hostile, Value: 9, Text: "9"}, {Code: "SDN", Value: 1, Text: "1"}}
	world, legend, _ := chart.Map(c, chart.World(), areas, nil)
	points, _ := chart.Points(c, chart.World(), []chart.Place{{Name: hostile, Lat: 34, Lon: 69, Text: "1"}}, nil)
	var keys []Key
	for _, shade := range legend {
		keys = append(keys, Key{Class: shade.Class, Text: shade.Text})
	}
	long := make([]string, 40)
	line := chart.Series{Points: make([]chart.Point, 40)}
	for i := range long {
		long[i], line.Points[i] = "2020-01", chart.Point{Value: float64(i % 7), Known: i%5 > 0}
	}
	return map[string]*Card{
		"columns": {Chart: chart.Lines(c, labels, series(2))},
		"lines":   {Chart: chart.Lines(c, long, []chart.Series{line, line}), Legend: []Key{{"s2", hostile, true}}},
		"panels":  {Chart: chart.Panels(c, labels, series(12))},
		"map":     {Chart: world, Legend: keys},
		"points":  {Chart: points},
		"bars": {Chart: chart.Bars(&chart.Chart{ID: "p"}, []chart.Bar{
			{Name: "a", Value: 2, Text: "2"}, {Name: hostile, Value: 1, Text: "1"},
		})},
		"tiles":   {Tiles: []Tile{{hostile, "1", "people", hostile}, {Title: "b"}, {Title: "c"}, {Title: "d"}}},
		"nothing": {},
	}
}

// dressed is a card with texts around it, as long as they get.
func dressed(c *Card) *Card {
	c.MadeUp, c.Title, c.Second = "made up", hostile, strings.Repeat(hostile, 30)
	c.Notes, c.Facts, c.Service, c.Address = c.Second, c.Second, "service", strings.Repeat("https://example.org/", 90)
	return c
}

// recorder notes what is drawn.
type recorder struct {
	shapes []struct {
		rings []ring
		style style
	}
	texts []string
	at    map[string]float64 // of texts, from the left
	view  *area
}

// recorded is what a card draws.
func recorded(c *Card) *recorder {
	r := &recorder{at: map[string]float64{}}
	c.draw(r, newLetters())
	return r
}

func (r *recorder) shape(rings []ring, s *style, _ string) {
	r.shapes = append(r.shapes, struct {
		rings []ring
		style style
	}{rings, *s})
}

func (r *recorder) text(at point, _ *style, text string) {
	r.texts, r.at[text] = append(r.texts, text), at.x
}
func (r *recorder) clip(to *area) { r.view = to }

// TestCards: every kind of picture is a PNG of the right size that is not blank and not long, and
// an SVG that is well formed, without scripts; both are of the same shapes.
func TestCards(t *testing.T) {
	t.Parallel()
	for name, c := range cards() {
		dressed(c)
		raw, err := c.PNG()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		pixels, err := png.Decode(bytes.NewReader(raw))
		if err != nil || pixels.Bounds() != image.Rect(0, 0, 1200, 630) || len(raw) > 150<<10 {
			t.Errorf("%s: %v, %d bytes", name, err, len(raw))
		}
		if few, is := pixels.(*image.Paletted); !is || len(few.Palette) < 20 {
			t.Errorf("%s has hardly any colours", name)
		}
		text := c.SVG()
		counts := elementsOf(t, name, text)
		r := recorded(c)
		if counts["path"] != len(r.shapes)+1 || counts["text"] != len(r.texts) || counts["script"]+counts["img"] > 0 ||
			r.view != nil {
			t.Errorf("%s: the drawing has %v, want %d shapes and %d texts", name, counts, len(r.shapes), len(r.texts))
		}
	}
}

// elementsOf counts the elements of a drawing.
func elementsOf(t *testing.T, name string, text []byte) map[string]int {
	t.Helper()
	counts := map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if x, is := token.(xml.StartElement); is {
			counts[x.Name.Local]++
		}
	}
}

// TestPixels: in the middle of each bar and column is its colour, so that a picture shows what its
// drawing says.
func TestPixels(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"columns", "bars", "panels"} {
		c := cards()[name]
		r, to := recorded(c), newCanvas(newLetters())
		c.draw(to, to.letters)
		checked := 0
		for _, x := range r.shapes {
			if len(x.rings) != 1 || len(x.rings[0].points) != 4 || x.style.fill != mark && x.style.fill != "#b4470b" {
				continue
			}
			a, b := x.rings[0].points[0], x.rings[0].points[2]
			if b.x-a.x < 4 || b.y-a.y < 4 {
				continue
			}
			checked++
			got := to.RGBAAt(int(a.x+b.x)/2, int(a.y+b.y)/2)
			testkit.Equal[any](t, got, paint(x.style.fill).At(0, 0), "%s at %v", name, a)
		}
		if checked == 0 {
			t.Errorf("%s: no bar was looked at", name)
		}
	}
}

// TestSides: the value of a tile is below its title, in Arabic too, where the first tile and the
// first key are on the right.
func TestSides(t *testing.T) {
	t.Parallel()
	var tiles []Tile
	for _, n := range []string{"0", "1", "2", "3"} {
		tiles = append(tiles, Tile{Title: "t" + n, Value: n})
	}
	c := &Card{Tiles: tiles, Legend: []Key{{Class: "m0", Text: "low"}, {Class: "m1", Text: "high"}}}
	for _, c.Language = range lang.All() {
		r := recorded(c)
		for _, tile := range tiles {
			if r.at[tile.Title] != r.at[tile.Value] {
				t.Errorf("%s: %s is not below its title: %v", c.Language.Code, tile.Value, r.at)
			}
		}
		if is := c.Language.IsRTL(); is != (r.at["low"] > r.at["high"]) || is != (r.at["0"] > r.at["2"]) {
			t.Errorf("%s: %v", c.Language.Code, r.at)
		}
	}
}

// TestArabic: letters are joined and run from right to left, also beside Latin ones.
func TestArabic(t *testing.T) {
	t.Parallel()
	l := newLetters()
	glyphs := func(text string) (all []font.GID, direction di.Direction) {
		for _, run := range l.line(text, facts) {
			for _, g := range run.Glyphs {
				all = append(all, g.GlyphID)
			}
			direction = run.Direction
		}
		return all, direction
	}
	_, other := glyphs("b")
	for _, letter := range []string{"ب", "ت", "س", "ف", "ل", "م", "ن", "ه", "ي"} {
		alone, direction := glyphs(letter)
		joined, _ := glyphs(strings.Repeat(letter, 3))
		if slices.Contains(joined, alone[len(alone)-1]) || len(joined) != 3*len(alone) || direction == other {
			t.Errorf("%s alone %v, joined %v, in direction %v", letter, alone, joined, direction)
		}
	}
	const fromTo = "من 3 إلى 6"
	line := l.line(fromTo, keyed)
	first := slices.MinFunc(line, func(a, b shaping.Output) int { return int(a.VisualIndex - b.VisualIndex) })
	if end := first.Runes.Offset + first.Runes.Count; end != len([]rune(fromTo)) {
		t.Errorf("%s: on the left is what ends at %d", fromTo, end)
	}
	for _, text := range []string{"Côte d’Ivoire", "Türkiye, Ağrı", "سوريا", "Львів", "1\u202f234 − 5 … “x”"} {
		for _, of := range []*style{facts, titled} {
			for _, run := range l.line(text, of) {
				for _, g := range run.Glyphs {
					if g.GlyphID == 0 {
						t.Errorf("%q has a letter that no font has", text)
					}
				}
			}
		}
	}
}

// TestWrapped: lines have all of a text, in order, or end with an ellipsis.
func TestWrapped(t *testing.T) {
	t.Parallel()
	l := newLetters()
	text := strings.Repeat("people in need of help ", 30)
	all := l.wrapped(text, facts, inner, 99)
	if got := strings.Join(all, " "); got != strings.TrimSpace(text) || len(all) < 3 {
		t.Errorf("%d lines: %q", len(all), got)
	}
	for _, text := range []string{text, strings.Repeat("x", 900), strings.Repeat("سوريا ", 90)} {
		for lines := 1; lines < 3; lines++ {
			all := l.wrapped(text, facts, inner, lines)
			if len(all) != lines || !strings.HasSuffix(all[lines-1], "…") {
				t.Errorf("%q", all)
			}
			for _, line := range all {
				if width := l.width(line, facts); width > inner+20 || width < inner/2 {
					t.Errorf("a line of %v: %q", width, line)
				}
			}
		}
	}
}

// FuzzDrawing: whatever a drawing has, there is a picture in a bounded time.
func FuzzDrawing(f *testing.F) {
	f.Add("text", "map", "line s2", 10.0, 5.0)
	f.Add(hostile, "lines", "text end", -1.0, 1e300)
	f.Add("", "map points", "circle none", math.NaN(), math.Inf(1))
	f.Add("", "bars", "mark changing", 0.0, -0.04)
	f.Fuzz(func(t *testing.T, text, kind, class string, x, y float64) {
		l := newLetters()
		for lines := 1; lines < 4 && len(text) < 1000; lines++ {
			if all := l.wrapped(text, facts, 300, lines); len(all) > lines {
				t.Errorf("%q is %q", text, all)
			}
		}
		d := &chart.Drawing{Class: kind, View: [4]float64{x, y, y, x}}
		for _, kind := range []chart.Kind{chart.Path, chart.Rect, chart.Circle, chart.Text, chart.Row} {
			d.Elements = append(d.Elements, chart.Element{
				Kind: kind, Class: class, Title: text, Text: text, Figure: text, At: [4]float64{x, y, y, x},
				Lines: [][][2]float64{{{x, y}, {1, 2}, {y, x}}, nil},
			})
		}
		if len(text) > 1000 {
			return
		}
		area{0, 0, Width, Height}.draw(newCanvas(l), d)
		area{0, 0, Width, Height}.draw(newDrawing("", l), &chart.Drawing{Panels: []*chart.Drawing{d, d}})
	})
}

// TestNumbersAreWhole: what is too long is not cut within a number, nor before the word for its
// power of ten.
func TestNumbersAreWhole(t *testing.T) {
	t.Parallel()
	items := []string{"Kiribati 5.3", "Tonga 2.9 million", "Nauru 1\u202f234.5"}
	l, s := newLetters(), &style{size: 20}
	for width := 60.0; width < 500; width++ {
		line := l.wrapped(strings.Join(items, ", "), s, width, 1)[0]
		for item := range strings.SplitSeq(strings.TrimSuffix(line, "…"), ", ") {
			if strings.ContainsAny(item, "0123456789") && !slices.Contains(items, item) {
				t.Errorf("%g: %q", width, line)
			}
		}
	}
	c := &Card{Tiles: []Tile{{Value: "888,8 mil millones"}, {Value: "2"}, {Value: "3"}}}
	testkit.Contains(t, c.SVG(), ">888,8 mil millones<", "a tile without its whole value")
}

// TestBarsOfPages: bars have the colours of the drawing on the page: phases those of their legend,
// and figures around a usual one both sides.
func TestBarsOfPages(t *testing.T) {
	t.Parallel()
	phases := chart.Bars(&chart.Chart{ID: "p"}, []chart.Bar{
		{Name: "a", Value: 100, Parts: []float64{40, 60}, Texts: []string{"40", "60"}},
	})
	phases.Class += " " + chart.Phases
	around := chart.Bars(&chart.Chart{ID: "p", Around: 100}, []chart.Bar{
		{Name: "a", Value: 90, Text: "90"}, {Name: "b", Value: 110, Text: "110"},
	})
	for _, c := range []struct {
		drawing *chart.Drawing
		colours []string
	}{{phases, []string{"#cdfacd", "#fae61e"}}, {around, []string{"#bf812d", "#35978f"}}} {
		svg := string((&Card{Title: "x", Chart: c.drawing}).SVG())
		for _, colour := range c.colours {
			testkit.Contains(t, svg, colour, "%s: nothing", c.drawing.Class)
		}
	}
}

// TestBarsAboveLegend: a picture has as many bars as there is room for above its legend.
func TestBarsAboveLegend(t *testing.T) {
	t.Parallel()
	var bars []chart.Bar
	for range 30 {
		bars = append(bars, chart.Bar{Name: "place", Value: 1, Text: "1"})
	}
	count := func(legend int) int {
		c := &Card{Title: "x", Chart: chart.Bars(&chart.Chart{ID: "p"}, bars), More: 5}
		for range legend {
			c.Legend = append(c.Legend, Key{Class: "m1", Text: "none or minimal (phase 1)"})
		}
		return strings.Count(string(c.SVG()), ">place<")
	}
	if all, some, few := count(0), count(1), count(5); all < 8 || some >= all || few >= some {
		t.Errorf("%d bars without a legend, %d above one row, %d above two", all, some, few)
	}
}
