package find

import (
	"bytes"
	"cmp"
	"embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"hdqs/api/contract"
	"hdqs/api/lang"
)

//go:embed words/*.txt
var files embed.FS

// term is what the query of a question with a phrase has.
type term struct {
	topics  []string    // figures and lists, of which it is one
	pairs   [][2]string // filters: fields and values
	who     group       // of a sex or an age
	by      string      // what a view is drawn by
	month   string      // two digits
	measure string      // a field of the list in place of that of the figure
	year    string      // how many after that of the snapshot, with its sign; empty for none
	isWeak  bool        // it means this only where nothing else does
	isMore  bool        // it is a part of another phrase, and means nothing alone
	isKept  bool        // empty words of the phrase count
	isPart  bool        // of the topic, which no filter keeps: the phrase is left over
}

// group is people of a sex and of some ages.
type group struct {
	gender      string
	least, less int
	category    string
}

// people are the sexes and ages that questions name: a value of gender, the least age, and the age
// below which they are; and what needs call them.
var people = map[string]group{
	"women": {"f", 18, 0, "Adult - Female"}, "men": {"m", 18, 0, "Adult - Male"},
	"girls": {"f", 0, 18, "Children - Female"}, "boys": {"m", 0, 18, "Children - Male"},
	"children": {"", 0, 18, "Children"}, "adults": {"", 18, 0, "Adult"},
	"female": {"f", 0, 0, "Female"}, "male": {"m", 0, 0, "Male"},
	"under5": {"", 0, 5, ""}, "elderly": {"", 60, 0, "Elderly"},
}

// with are those of a sex who are of an age, if the ages of one have those of the other: "women"
// and "children" are both.
func (g group) with(other group) (both group, ok bool) {
	if same := (group{other.gender, other.least, other.less, g.category}); g == (group{}) || g == same {
		return other, true // "âgés de plus de 60 ans"
	}
	both.gender, both.least = cmp.Or(g.gender, other.gender), max(g.least, other.least)
	both.less = cmp.Or(min(g.less, other.less), g.less+other.less)
	first, second := g, other
	first.gender, first.category, second.gender, second.category = both.gender, "", both.gender, ""
	return both, (g.gender == "") != (other.gender == "") && (both == first || both == second)
}

func (t term) isWho() bool { return t.who != (group{}) }

// sides of a movement, of the place that follows. Words with fromOrOf mean one of the two.
const (
	fromSide = "from"
	fromOrOf = "of"
	inSide   = "in"
	toSide   = "to"
	andSide  = "and"    // of the place before
	bySource = "source" // no side: what follows says where a number is from
	bySide   = "by"     // no side: what follows did something
	isNewest = "newest" // no side: a word that asks for the newest
	isEmpty  = "empty"  // a word that asks for nothing
	isPeople = "people" // a word that asks for people
	isReal   = "real"   // a word that means nothing, and is no misspelling
	isCount  = "count"  // an empty phrase that asks for a number of people
)

// vocabulary is the words of questions in all languages, as the files in words have them.
type vocabulary struct {
	terms  map[string][]term   // by phrase, without the words of asides
	asides map[string]string   // phrases that say a side, ask for the newest, or for nothing
	others map[string][]string // phrases of a figure, list, sector or commodity, by name or code
	words  []string            // that are in phrases, sorted
	kept   map[string]bool     // phrases whose asides count: "by country", "who does what where"
	real   map[string]bool     // words that mean nothing, and are no misspellings
	count  []string            // phrases that ask for a number of people
	titles map[string]string   // figures and lists, by their title in each language
}

// isCount reports whether words ask for a number of people.
func (v *vocabulary) isCount(words []string) bool {
	text := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(v.count, func(p string) bool { return strings.Contains(text, " "+p+" ") })
}

// These are before the name of a commodity, the acronym of organisations and the slug of a group,
// whose words are other names of them.
const (
	commodityWord    = "commodity="
	organisationWord = "organisation="
	groupWord        = contract.GroupParam + "="
)

// longestPhrase is the most words of a phrase that is looked for.
const longestPhrase = 7

// linesOf are the lines of a file.
func linesOf(name string) [][2]string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return lang.Lines(string(text))
}

// listed are texts with commas between them.
func listed(text string) (all []string) {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// vocabularyOf are the words of some languages.
func vocabularyOf(languages ...string) *vocabulary {
	v := &vocabulary{
		terms: map[string][]term{}, asides: map[string]string{}, others: map[string][]string{}, kept: map[string]bool{},
		real: map[string]bool{},
	}
	var lines [][2]string
	for _, language := range languages {
		lines = append(lines, linesOf("words/"+language+".txt")...)
	}
	for _, line := range lines {
		side := strings.TrimPrefix(line[0], "side=")
		if side == line[0] && side != isNewest && side != isEmpty && side != isPeople {
			continue
		}
		for _, phrase := range listed(line[1]) {
			if key := folded(phrase); v.asides[key] == "" || v.asides[key] == isEmpty {
				v.asides[key] = side
			}
		}
	}
	words := map[string]bool{}
	for _, line := range lines {
		if line[0] == isCount || line[0] == isReal {
			for _, phrase := range listed(line[1]) {
				if phrase = folded(phrase); line[0] == isReal {
					v.real[phrase] = true
				} else {
					v.count = append(v.count, phrase)
				}
			}
			continue
		}
		t := termOf(line[0])
		for _, phrase := range listed(line[1]) {
			all := wordsOf(phrase)
			key := strings.Join(needed(v.asides, all), " ")
			isAside := v.asides[all[0]] != "" || v.asides[all[len(all)-1]] == isPeople // "per person"
			isWhole := t != nil && (t.isKept || t.year != "" || t.by != "" && isAside ||
				t.isWho() && strings.ContainsAny(key, "0123456789")) // 60 is no age, but over 60 is
			if len(all) > 1 && (isWhole || key == strings.Join(all, " ")) {
				key = strings.Join(all, " ")
				v.kept[key] = slices.ContainsFunc(all, func(w string) bool { return v.asides[w] != "" })
			}
			if t != nil {
				v.terms[key] = append(v.terms[key], *t)
			}
			for word := range strings.FieldsSeq(key) {
				words[word] = true
			}
		}
		if t == nil && strings.Contains(line[0], "=") {
			name := strings.ReplaceAll(line[0], "~", " ")
			v.others[name] = append(v.others[name], listed(line[1])...)
		}
		if t == nil || t.isMore || t.isWeak && len(t.topics) > 1 {
			continue
		}
		for _, name := range t.topics {
			v.others[name] = append(v.others[name], listed(line[1])...)
		}
		if len(t.topics) == 0 && len(t.pairs) == 1 {
			v.others[t.pairs[0][1]] = append(v.others[t.pairs[0][1]], listed(line[1])...)
		}
	}
	v.titles = titlesOf()
	for _, h := range contract.Headlines { // who looks for a list has the words of its figures
		name := h.List(contract.ContractNames).Name()
		v.others[name] = append(v.others[name], v.others[h.Name]...)
	}
	v.words = slices.Sorted(maps.Keys(words))
	return v
}

// titlesOf are the figures and lists, by their title in each language.
func titlesOf() map[string]string {
	all := map[string]string{}
	for _, l := range lang.All() {
		for i := range contract.Endpoints {
			e := &contract.Endpoints[i]
			all[folded(l.T(e.Summary))] = e.Name()
		}
		for _, h := range contract.Headlines {
			all[folded(l.T(h.Title))] = h.Name
		}
	}
	return all
}

// longestTitle is the most words of a title that is looked for.
const longestTitle = 16

// vocabularies are the words of all languages.
var vocabularies = sync.OnceValue(func() *vocabulary { return vocabularyOf("en", "fr", "es", "ar") })

// termOf reads the left side of a line, nil of one whose words are asides.
func termOf(text string) *term {
	t := new(term)
	text, t.isWeak = strings.CutPrefix(text, "?")
	text, t.isMore = strings.CutPrefix(text, "+")
	text, t.isKept = strings.CutPrefix(text, "=")
	t.isWeak = t.isWeak || t.isMore
	for word := range strings.FieldsSeq(text) {
		field, value, hasValue := strings.Cut(word, "=")
		switch {
		case slices.Contains([]string{"side=", commodityWord, organisationWord, groupWord}, field+"=") ||
			slices.Contains([]string{isNewest, isEmpty, isPeople, isReal, isCount}, word):
			return nil
		case word == "part":
			t.isPart = true
		case !hasValue:
			t.topics = append(t.topics, word)
		case field == "who":
			t.who = people[value]
		case field == "by":
			t.by = value
		case field == "measure":
			t.measure = value
		case field == "month":
			t.month = value
		case field == "year":
			t.year = value
		default:
			t.pairs = append(t.pairs, [2]string{field, strings.ReplaceAll(value, "~", " ")})
		}
	}
	return t
}

// placeNames are those of lang.PlaceNames.
type placeNames struct {
	names  map[string][]string // by code of a country, or that and the name of a unit
	towns  map[string][]string // in a unit
	people map[string][]string // what those of a country are called
	units  map[string]bool     // countries with names of units
}

// of are other names of a unit of a country, and of towns in it, by its name as it is compared.
func (p *placeNames) of(country, unit string) (names, towns []string) {
	if !p.units[country] {
		return nil, nil
	}
	key := country + " " + unit
	return p.names[key], p.towns[key]
}

var otherNames = sync.OnceValue(func() *placeNames {
	p := &placeNames{map[string][]string{}, map[string][]string{}, map[string][]string{}, map[string]bool{}}
	for _, line := range lang.PlaceNames() {
		code, unit, isUnit := strings.Cut(line[0], " ")
		names, towns, _ := strings.Cut(line[1], ";")
		switch {
		case code == "people":
			p.people[unit] = listed(names)
			continue
		case isUnit:
			p.units[code], code = true, code+" "+folded(unit)
		}
		p.names[code], p.towns[code] = listed(names), listed(towns)
	}
	return p
})

// elided are the words before an apostrophe that are of their own, as in French.
var elided = []string{"c", "d", "j", "l", "n", "qu", "s"}

// The Arabic article, which is written with its word, and the two endings of a plural.
var (
	article    = []byte("ال")
	pluralIn   = []byte("ين")
	pluralOn   = []byte("ون")
	leastStems = len(pluralIn) + 2 // bytes of a word with such an ending
)

// wordsOf are the words of a text as they are compared: in lower case, without accents, without
// apostrophes and without an Arabic article.
func wordsOf(text string) (words []string) {
	eachWord(text, make([]byte, 0, 64), func(word []byte, _ string) { words = append(words, string(word)) })
	return words
}

// figureName matches the name of a figure as programs have it.
var figureName = regexp.MustCompile(`[a-z]+(?:_[a-z0-9]+)+`)

// withTitles has the titles of figures in place of their names, whose words mean other figures.
func withTitles(text string) string {
	return figureName.ReplaceAllStringFunc(text, func(name string) string {
		if h, _ := contract.HeadlineOf(name, contract.ContractNames); h != nil {
			return h.Title
		}
		return name
	})
}

// splitWords returns the words of a text as they are compared, and as they are written.
func splitWords(text string) (words, written []string) {
	eachWord(withTitles(text), make([]byte, 0, 64), func(word []byte, as string) {
		words, written = append(words, string(word)), append(written, norm.NFC.String(as))
	})
	return words, written
}

// eachWord calls do with each word of a text as it is compared, and as it is written, decomposed.
// The word is in room, or in new memory.
func eachWord(text string, room []byte, do func(word []byte, as string)) {
	if utf8.RuneCountInString(text) < len(text) {
		text = norm.NFKD.String(strings.ToValidUTF8(text, " "))
	}
	word := room[:0]
	from, skip := -1, false
	end := func(to int) {
		if len(word) > 0 {
			do(stem(word), text[from:to])
		}
		word, from = word[:0], -1
	}
	for at, r := range text {
		if skip { // the s after an apostrophe
			skip = false
			continue
		}
		if from < 0 {
			from = at
		}
		switch r = unicode.ToLower(r); {
		case r == '%', r == '٪':
			end(at)
			do([]byte("percent"), text[at:at+utf8.RuneLen(r)])
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9': // no look-ups for most
			word = append(word, byte(r))
		case r == ' ':
			end(at)
		case lang.Letters[r] != "":
			word = append(word, lang.Letters[r]...)
		case r == '.': // of D.R.C.
		case r == '+' && len(word) > 0 && unicode.IsDigit(rune(word[len(word)-1])): // of 3+
			word = append(word, '+')
		case strings.ContainsRune("'’‘`´ʹʼ", r): // within a word
			if slices.Contains(elided, string(word)) {
				end(at)
			} else if isGenitive(text[at+utf8.RuneLen(r):]) {
				end(at)
				skip = true
			}
		case unicode.In(r, unicode.Mn, unicode.Lm, unicode.Cf): // Cf: marks of direction, soft hyphens
		case unicode.IsLetter(r), unicode.IsNumber(r):
			word = utf8.AppendRune(word, r)
		default:
			end(at)
		}
	}
	end(len(text))
}

// stem is a word without an Arabic article, with one ending for both of a plural.
func stem(word []byte) []byte {
	if len(word) == 0 || word[0] < utf8.RuneSelf {
		return word
	}
	for rest := bytes.TrimPrefix(word, article); len(rest) > len(article) && len(rest) < len(word); {
		word, rest = rest, bytes.TrimPrefix(rest, article)
	}
	if rest, ok := bytes.CutSuffix(word, pluralIn); ok && len(rest) >= leastStems {
		return append(rest, pluralOn...)
	}
	return word
}

// isGenitive reports whether what follows an apostrophe is the English s of a name that ends there.
func isGenitive(rest string) bool {
	if rest == "" || rest[0] != 's' && rest[0] != 'S' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest[1:])
	return !unicode.IsLetter(next) && !unicode.IsNumber(next)
}

// folded is a text as it is compared.
func folded(text string) string { return strings.Join(wordsOf(text), " ") }

// needed are the words that must match: those that are no asides, or all if no other is left.
func needed(asides map[string]string, words []string) []string {
	isAside := func(w string) bool { return asides[w] != "" }
	if !slices.ContainsFunc(words, isAside) {
		return words
	}
	if all := slices.DeleteFunc(slices.Clone(words), isAside); len(all) > 0 {
		return all
	}
	return words
}
