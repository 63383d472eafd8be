package chart

import (
	"html"
	"strings"
	"testing"
)

// TestLinks: each area with a place is one link, areas keep their shapes, and the drawing is small
// enough for a page.
func TestLinks(t *testing.T) {
	t.Parallel()
	places := []Target{
		{"AFG", "Afghanistan", "/country/AFG?a&b", "m4"},
		{"SDN", `<"Sudan">`, "/country/SDN", "m2"},
		{"XXX", "Nowhere", "/country/XXX", "m2"},
	}
	drawing := string(Links(World(), places))
	for text, want := range map[string]int{
		"<a href=": 2, `href="/country/AFG?a&amp;b" tabindex="-1"`: 1, "&lt;&#34;Sudan&#34;&gt;": 1, "XXX": 0,
	} {
		if got := strings.Count(drawing, text); got != want {
			t.Errorf("%d times %s, want %d", got, text, want)
		}
	}
	if len(drawing) > 30_000 {
		t.Errorf("the map of links has %d bytes", len(drawing))
	}
	square := &Layer{areas: []area{{code: "A", path: "M30 60l900 0 0 90-900 0z"}}}
	if got := square.coarser(3, 1000).areas; len(got) != 1 || got[0].path != "M10 20l300 0 0 30-300 0 0-30z" {
		t.Errorf("a rectangle at a third: %+v", got)
	}
}

// TestSpark: a line for neighbours, a dot for the last point and for one between two gaps, and a
// dashed line to a figure that can change.
func TestSpark(t *testing.T) {
	t.Parallel()
	points := []Point{{Value: 0, Known: true}, {Value: 10, Known: true}, {}, {Value: 5, Known: true}, {}, {}, {
		Value: 5, Known: true,
	}, {Value: 10, Known: true}}
	got := string(Spark(`a "line"`, points, true))
	for _, want := range []string{
		`aria-label="a &#34;line&#34;"`, `<path d="M3 29L25 3M69 16M135 16"/>`,
		`<path class="changing" d="M135 16L157 3"/>`, `<path class="dot" d="M69 16h0M157 3h0"/>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	flat := []Point{{Value: 0, Known: true}, {Value: 0, Known: true}}
	if got := string(Spark("", flat, false)); strings.Contains(got, "NaN") {
		t.Error(got)
	}
}

// TestMapLinks: areas with a link are reached with the tab key, and their names have their figures;
// a map with links is no image, which would hide them.
func TestMapLinks(t *testing.T) {
	t.Parallel()
	areas := []Area{
		{Code: "AFG", Name: hostile, Value: 1, Text: "1", Link: "/browse/x?a=1&b=2"}, {Code: "SDN", Text: "2"},
	}
	drawing, _, _ := Map(&Chart{ID: "x"}, World(), areas, nil)
	text := string(drawing.HTML())
	elements(t, drawing.HTML())
	link := `<a href="/browse/x?a=1&amp;b=2"><path class="m`
	if strings.Count(text, "<a ") != 1 || !strings.Contains(text, link) || strings.Contains(text, `role="img"`) ||
		!strings.Contains(text, html.EscapeString(isolated(hostile)+": 1")+"</text></a>") {
		t.Errorf("%s", text)
	}
}
