package lang

import (
	"strings"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Places finds countries by their code or by a name in any of the languages, in any case, and with
// or without accents.
type Places struct {
	codes map[string]string // by folded name
}

// IsEmpty reports whether there is no country.
func (p *Places) IsEmpty() bool { return len(p.codes) == 0 }

// Add adds a country with its name in English.
func (p *Places) Add(code, name string) {
	if p.codes == nil {
		p.codes = map[string]string{}
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
	for _, l := range All() {
		add(l.Country(code, name))
		if region, err := language.ParseRegion(code); err == nil && len(code) == len("AFG") {
			add(l.own().regions.Name(region)) // the short name, such as Syria
		}
	}
}

// Order compares names as the language sorts them.
func Order(l *Language) func(a, b string) int {
	return collate.New(l.own().tag, collate.IgnoreCase).CompareString
}

// leastBegun is how many letters the beginning of a name needs to stand for it.
const leastBegun = 4

// Known returns the code of a country whose code or whole name a text is, empty without one.
func (p *Places) Known(text string) string { return p.codes[Folded(text)] }

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

// Folded is a text without accents, signs and the difference of capital letters.
func Folded(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKD.String(text))
}
