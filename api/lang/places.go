package lang

import (
	"cmp"
	_ "embed" // of names
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Places finds countries by their code or by a name in any of the languages, in any case, and with
// or without accents.
type Places struct {
	codes map[string]string // by folded name
	other map[string]string // by code of two letters or other name; empty if several have it
}

//go:embed names.txt
var names string

// Lines are the lines of a text that have something, each cut at its colon.
func Lines(text string) (lines [][2]string) {
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && left[0] != '#' {
			lines = append(lines, [2]string{left, strings.TrimSpace(right)})
		}
	}
	return lines
}

// PlaceNames are the lines of names.txt.
var PlaceNames = sync.OnceValue(func() [][2]string { return Lines(names) })

// otherNames are those of countries in names.txt, by code.
var otherNames = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, line := range PlaceNames() {
		if !strings.Contains(line[0], " ") { // else it is of a unit
			all[line[0]] = strings.Split(line[1], ",")
		}
	}
	return all
})

// Commas makes one mark of those that people write between names.
var Commas = strings.NewReplacer(
	";", ",", "،", ",", "؛", ",", "、", ",", "，", ",", "；", ",", "|", ",", "\t", ",", "\n", ",")

// articles are before names of countries. The Arabic one is written with them.
var articles = []string{"the ", "le ", "la ", "les ", "l'", "l’", "lʼ", "el ", "los ", "las ", "ال"}

// Letters are those that decomposition does not change, and that people write in another way.
var Letters = map[rune]string{
	'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ı': "i", 'ħ': "h",
	'ة': "ه", 'ى': "ي", 'ک': "ك", 'ی': "ي",
	'٠': "0", '١': "1", '٢': "2", '٣': "3", '٤': "4", '٥': "5", '٦': "6", '٧': "7", '٨': "8", '٩': "9",
	'۰': "0", '۱': "1", '۲': "2", '۳': "3", '۴': "4", '۵': "5", '۶': "6", '۷': "7", '۸': "8", '۹': "9",
}

// IsEmpty reports whether there is no country.
func (p *Places) IsEmpty() bool { return len(p.codes) == 0 }

// Add adds a country with its name in English.
func (p *Places) Add(code, name string) {
	if p.codes == nil {
		p.codes, p.other = map[string]string{}, map[string]string{}
	}
	add := func(text string) {
		if _, known := p.codes[Folded(text)]; !known {
			p.codes[Folded(text)] = code
		}
	}
	if strings.ToUpper(Folded(code)) == code { // letters alone
		add(code)
	}
	add(name)
	others := otherNames()[code]
	region, err := language.ParseRegion(code)
	isRegion := err == nil && len(code) == len("AFG")
	if isRegion {
		others = append(slices.Clip(others), region.String())
	}
	for _, l := range All() {
		if add(l.Country(code, name)); isRegion {
			add(l.own().regions.Name(region)) // the short name, such as Syria
		}
	}
	for _, text := range others {
		text = Folded(text)
		if owner, known := p.other[text]; !known {
			p.other[text] = code
		} else if owner != code {
			p.other[text] = ""
		}
	}
}

// Order compares names as the language sorts them.
func Order(l *Language) func(a, b string) int {
	return collate.New(l.own().tag, collate.IgnoreCase).CompareString
}

// leastBegun is how many letters the beginning of a name needs to stand for it.
const leastBegun = 4

// Known returns the code of a country whose code or whole name a text is, with or without an
// article, or with its end before a comma ("Congo, Republic of the"). It is empty without one.
func (p *Places) Known(text string) string {
	whole := strings.ToLower(strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }))
	names := []string{text, "ال" + whole}
	if last, first, ok := strings.Cut(Commas.Replace(whole), ","); ok {
		names = append(names, first+last)
	}
	for _, article := range articles {
		if name, ok := strings.CutPrefix(whole, article); ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		name = Folded(name)
		if code := cmp.Or(p.codes[name], p.other[name]); code != "" {
			return code
		}
	}
	return ""
}

// Find returns the code of a country, empty if the text names none. The beginning of a name stands
// for it if no other country's name begins so.
func (p *Places) Find(text string) string {
	sought := Folded(text)
	if code := p.Known(text); code != "" || len([]rune(sought)) < leastBegun {
		return code
	}
	found := ""
	for name, code := range p.codes {
		if strings.HasPrefix(name, sought) && code != found {
			if found != "" {
				return ""
			}
			found = code
		}
	}
	return found
}

// Containing are the codes of countries of which the code or a name has a text in it.
func (p *Places) Containing(text string) map[string]bool {
	found, sought := map[string]bool{}, Folded(text)
	for name, code := range p.codes {
		if strings.Contains(name, sought) {
			found[code] = true
		}
	}
	return found
}

// Contains reports whether a name has a text in it, in any case and with or without accents.
func Contains(name, text string) bool { return strings.Contains(Folded(name), Folded(text)) }

// Initial is the letter with which a name begins, a capital without accents.
func Initial(name string) string {
	for _, r := range Folded(name) {
		return string(unicode.ToUpper(r))
	}
	return ""
}

// Folded is a text without accents, signs and the difference of capital letters, and of letters and
// digits that people exchange.
func Folded(text string) string {
	var folded []byte
	for _, r := range norm.NFKD.String(text) {
		switch r = unicode.ToLower(r); {
		case Letters[r] != "":
			folded = append(folded, Letters[r]...)
		case unicode.Is(unicode.Lm, r): // a stretched letter, an apostrophe
		case unicode.IsLetter(r), unicode.IsDigit(r):
			folded = utf8.AppendRune(folded, r)
		}
	}
	return string(folded)
}
