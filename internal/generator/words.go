package generator

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"
)

//go:embed words.txt
var wordsText string

// wordLists are lines of words.txt by their names; each language has some of the same name.
var wordLists = func() map[string][][]string {
	all := map[string][][]string{}
	for line := range strings.Lines(wordsText) {
		if name, items, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); found {
			all[name] = append(all[name], strings.Split(strings.ReplaceAll(items, "_", " "), "|"))
		}
	}
	return all
}()

// language is the position of the syllables and words of made-up place names in their lists.
type language int

// place makes up the name of a place: about ten letters, sometimes with a word before or after it.
func (t language) place(r *random) string {
	var b strings.Builder
	b.WriteString(pick(r, wordLists["first"][t]))
	for range r.between(0, 2) {
		b.WriteString(pick(r, wordLists["middle"][t]))
	}
	b.WriteString(pick(r, wordLists["last"][t]))
	name := b.String()
	switch {
	case r.chance(12):
		name = pick(r, wordLists["before"][t]) + name
	case r.chance(14):
		name += pick(r, wordLists["after"][t])
	}
	return name
}

// asSent is a provider's spelling of a place name of the list of codes.
func asSent(r *random, name string) string {
	switch r.below(10) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		return accented.Replace(name)
	case 2:
		return strings.ReplaceAll(name, " ", "-")
	}
	return name
}

var accented = strings.NewReplacer("a", "á", "e", "é", "o", "ô", "i", "ï")

var (
	orgKinds     = wordLists["orgKinds"][0]
	orgLinks     = wordLists["orgLinks"][0]
	orgGoals     = wordLists["orgGoals"][0]
	orgPlaces    = wordLists["orgPlaces"][0]
	foodBases    = wordLists["foodBases"][0] // the n-th belongs to the n-th category, modulo their number
	foodKinds    = wordLists["foodKinds"][0]
	foodMeasures = wordLists["foodMeasures"][0] // of each base; KG where it is empty
	measures     = wordLists["measures"][0]

	categories = enum("commodity_category")
)

// orgName makes up an organisation. The acronym is its initials, so acronyms repeat.
func orgName(r *random) (acronym, name string) {
	parts := pick(r, orgKinds) + " " + pick(r, orgLinks) + " " + pick(r, orgGoals)
	if r.chance(55) {
		parts += " " + pick(r, orgLinks) + " " + pick(r, orgGoals)
	}
	name = parts + pick(r, orgPlaces)
	var b strings.Builder
	for _, word := range strings.Fields(parts) {
		if first, _ := utf8.DecodeRuneInString(word); len(word) > 2 || first < 'a' {
			b.WriteRune(first)
		}
	}
	if r.chance(30) {
		fmt.Fprintf(&b, "-%d", r.between(1, 99))
	}
	return strings.ToUpper(b.String()), name
}
