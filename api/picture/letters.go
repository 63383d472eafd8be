package picture

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype/tables"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"

	"hdqs/api/web"
)

// fonts are the fonts of pictures, read once. Other scripts than these have an empty box for a
// letter.
var fonts = sync.OnceValue(func() (all struct{ plain, bold []*font.Font }) {
	read := func(name string) *font.Font {
		face, err := font.ParseTTF(bytes.NewReader(web.Font(name)))
		if err != nil {
			panic(name + ": " + err.Error()) // an embedded file
		}
		listCoverage(face.Font)
		return face.Font
	}
	for _, name := range []string{
		"noto-sans-latin-400-normal", "noto-sans-latin-ext-400-normal", "noto-sans-arabic-arabic-400-normal",
		"noto-sans-cyrillic-400-normal",
	} {
		all.plain = append(all.plain, read(name))
	}
	all.bold = append([]*font.Font{read("noto-sans-latin-600-normal")}, all.plain...)
	return all
})

// listCoverage writes what the substitutions of a font are for as single letters. The library takes
// it for less than it is where it has ranges, one of 64 letters or more: then half of the Arabic
// letters, such as noon and yeh, had the form of the end of a word everywhere.
func listCoverage(f *font.Font) {
	for _, lookup := range f.GSUB.Lookups {
		for i, table := range lookup.Subtables {
			switch t := table.(type) {
			case tables.MultipleSubs:
				t.Coverage = listed(t.Coverage)
				lookup.Subtables[i] = t
			case tables.LigatureSubs:
				t.Coverage = listed(t.Coverage)
				lookup.Subtables[i] = t
			case tables.SingleSubs:
				switch data := t.Data.(type) {
				case tables.SingleSubstData1:
					data.Coverage = listed(data.Coverage)
					t.Data = data
				case tables.SingleSubstData2:
					data.Coverage = listed(data.Coverage)
					t.Data = data
				}
				lookup.Subtables[i] = t
			}
		}
	}
}

// listed is a set of letters without ranges, in the same order.
func listed(of tables.Coverage) tables.Coverage {
	ranges, is := of.(tables.Coverage2)
	if !is {
		return of
	}
	var all tables.Coverage1
	for _, r := range ranges.Ranges {
		for glyph := int(r.StartGlyphID); glyph <= int(r.EndGlyphID); glyph++ {
			all.Glyphs = append(all.Glyphs, tables.GlyphID(glyph))
		}
	}
	return all
}

// faces are the fonts of a text. One goroutine uses them.
type faces []*font.Face

// ResolveFace implements shaping.Fontmap.
func (f faces) ResolveFace(r rune) *font.Face {
	for _, face := range f {
		if _, has := face.NominalGlyph(r); has {
			return face
		}
	}
	return f[0]
}

// letters shapes texts. One goroutine uses it.
type letters struct {
	shaper      shaping.HarfbuzzShaper
	segmenter   shaping.Segmenter
	wrapper     shaping.LineWrapper
	plain, bold faces
}

func newLetters() *letters {
	l := new(letters)
	for _, f := range fonts().plain {
		l.plain = append(l.plain, font.NewFace(f))
	}
	l.bold = append(faces{font.NewFace(fonts().bold[0])}, l.plain...)
	return l
}

// written is a text without what no letter shows: ends of lines, and marks that turn its direction.
func written(text string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) && r != '\u202f' && r != '\u00a0' || unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d': // joiners are letters' own
			return -1
		}
		return r
	}, clean(text)))
}

// isRTL reports whether a text is read from right to left. The first letter decides: by the first
// character, "3 to 6" would have its numbers in the other order.
func isRTL(text string) bool {
	at := strings.IndexFunc(text, unicode.IsLetter)
	if at < 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(text[at:])
	return unicode.In(first, unicode.Arabic, unicode.Hebrew)
}

// shaped is a text as lines of letters, each at most so wide, and at most so many. What is too long
// ends with an ellipsis; left is how much of it is left out.
func (l *letters) shaped(text []rune, s *style, width float64, lines int) (all []shaping.Line, left int) {
	if len(text) == 0 {
		return nil, 0
	}
	input := shaping.Input{
		Text: text, RunEnd: len(text), Direction: di.DirectionLTR, Size: fixed.Int26_6(s.size * 64),
		Script: language.Latin, Language: "en",
	}
	if s.rtl || isRTL(string(text)) {
		input.Direction = di.DirectionRTL
	}
	of := l.plain
	if s.bold {
		of = l.bold
	}
	var runs []shaping.Output
	for _, part := range l.segmenter.Split(input, of) {
		runs = append(runs, l.shaper.Shape(part))
	}
	cut := input
	cut.Text, cut.RunEnd, cut.Face = []rune("…"), 1, of[0]
	config := shaping.WrapConfig{
		Direction: input.Direction, TruncateAfterLines: lines, Truncator: l.shaper.Shape(cut),
	}
	return l.wrapper.WrapParagraphF(config, fixed.Int26_6(width*64), text, shaping.NewSliceIterator(runs))
}

// line is a text on one line.
func (l *letters) line(text string, s *style) shaping.Line {
	const endless = 1 << 20
	if all, _ := l.shaped(written(text), s, endless, 1); len(all) > 0 {
		return all[0]
	}
	return nil
}

// width is how wide a text is on one line.
func (l *letters) width(text string, s *style) (width float64) {
	line := l.line(text, s)
	for i := range line {
		width += float64(line[i].Advance) / 64
	}
	return width
}

// wrapped is a text as lines.
func (l *letters) wrapped(text string, s *style, width float64, lines int) (all []string) {
	runes := written(text)
	shaped, left := l.shaped(runes, s, width, lines)
	at := 0
	for i, line := range shaped {
		end := at
		for k := range line {
			end = max(end, line[k].Runes.Offset+line[k].Runes.Count)
		}
		if end = min(end, len(runes)-left); i == len(shaped)-1 && left > 0 {
			return append(all, whole(strings.TrimSpace(string(runes[at:len(runes)-left])))+"…")
		}
		all = append(all, strings.TrimSpace(string(runes[at:end])))
		at = end
	}
	return all
}

// itemEnd is the end of an item of a list, or of a sentence.
var itemEnd = regexp.MustCompile(`[,;:.،] `)

// whole is the beginning of a text without an item that may end within a number: 2.9 mil would be
// read as another number than 2.9 million.
func whole(cut string) string {
	ends := itemEnd.FindAllStringIndex(cut, -1)
	if n := len(ends); n > 0 && strings.ContainsFunc(cut[ends[n-1][1]:], unicode.IsDigit) {
		return cut[:ends[n-1][0]]
	}
	return strings.TrimRight(cut, "0123456789.,\u202f\u2212-")
}
