package picture

import (
	"fmt"
	"html"
	"strings"

	"hdqs/api/chart"
)

// drawing is a picture as SVG: without classes and style sheets, so that programs for pictures read
// it.
//
// Texts are as wide as in our fonts, whatever fonts there are where it is shown.
type drawing struct {
	strings.Builder
	*letters
}

func newDrawing(title string, l *letters) *drawing {
	d := &drawing{letters: l}
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" width="`, digits(Width), `" height="`, digits(Height),
		`" viewBox="0 0 `, digits(Width), ` `, digits(Height), `" role="img" font-family="`, fontFamily, `">`,
		`<title>`, html.EscapeString(clean(title)), `</title>`,
		`<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse">`,
		`<path d="M0 6L6 0" stroke="`, edge, `" stroke-width="0.75"/></pattern></defs>`)
	return d
}

var digits = chart.Digits

const fontFamily = "Noto Sans, Noto Sans Arabic, system-ui, sans-serif"

func (d *drawing) add(parts ...string) {
	for _, p := range parts {
		d.WriteString(p)
	}
}

func (d *drawing) clip(to *area) {
	if to == nil {
		d.add("</g>")
		return
	}
	d.add(`<clipPath id="view"><rect x="`, digits(to.x), `" y="`, digits(to.y), `" width="`, digits(to.width),
		`" height="`, digits(to.height), `"/></clipPath><g clip-path="url(#view)">`)
}

func (d *drawing) shape(rings []ring, s *style, title string) {
	d.add(`<path d="`)
	for _, r := range rings {
		for i, p := range r.points {
			d.add([]string{"M", "L"}[min(i, 1)], digits(p.x), " ", digits(p.y))
		}
		if r.closed {
			d.add("z")
		}
	}
	d.add(`" fill="`, s.fill, `"`)
	if s.stroke != "" {
		d.add(` stroke="`, s.stroke, `" stroke-width="`, digits(s.width), `" stroke-linejoin="round"`)
	}
	if s.dash != nil {
		d.add(` stroke-dasharray="`, strings.Trim(fmt.Sprint(s.dash), "[]"), `"`)
	}
	if title == "" {
		d.add("/>")
		return
	}
	d.add("><title>", html.EscapeString(clean(title)), "</title></path>")
}

func (d *drawing) text(at point, s *style, text string) {
	d.add(`<text x="`, digits(at.x), `" y="`, digits(at.y), `" font-size="`, digits(s.size), `" fill="`, s.fill, `"`)
	if width := d.width(text, s); width > 0 {
		d.add(` textLength="`, digits(width), `" lengthAdjust="spacingAndGlyphs"`)
	}
	if s.anchor != "" {
		d.add(` text-anchor="`, s.anchor, `"`)
	}
	if s.rtl {
		d.add(` direction="rtl"`)
	}
	if s.bold {
		d.add(` font-weight="600"`)
	}
	if text = clean(text); !s.rtl && isRTL(text) {
		text = "\u2067" + text + "\u2069"
	}
	d.add(">", html.EscapeString(text), "</text>")
}

// clean replaces what XML cannot contain.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}
