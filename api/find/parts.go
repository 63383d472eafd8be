package find

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
)

// part is a part of a question: words that mean one thing together.
type part struct {
	from    int // position of its first word
	written string
	side    string // before it
	after   string // a word that asks for people, before it
	terms   []term
	ids     []int32 // names of the data
	people  bool    // it is what people of a country are called
	joined  bool    // "and" is before it
	time    string  // a year, or a month as two digits
	used    bool
}

// question is a question in words, as it was understood: what its query has, and what was left.
type question struct {
	figures    []*contract.Headline // any of them; without one, the question is of the list
	list       int                  // position in contract.Endpoints
	pairs      [][2]string          // filters
	of         [2]string            // the parameter and the slug of a group of countries
	ids        [][]int32            // filters: entries of one kind, any of which is meant
	by         string
	who        group
	measure    string   // a field in place of that of the figure
	places     []place  // any of them, the best first
	isLoose    bool     // it names a country and no figure, list or unit: what has these names comes first
	isCount    bool     // it asks how many people there are
	isOneSided bool     // people or money of the place come from it, and the list does not say from where
	from       []int32  // countries that people or money come from
	namesakes  []place  // units in records of the list, in other countries than the one of their name
	compared   []int32  // countries, if several are meant together
	until      string   // a year or a month
	since      bool     // it is the first of several
	isSince    bool     // no other word asks for times: what was since then, not how it changed
	last       string   // the last of them, if it is named
	asked      []string // what was used as a filter, as it is written
	replaces   bool     // one of them is in place of a filter of the figure
	left       []string // what no query has, as it is written
}

// place is a place that a question is about. Each is an entry or none.
type place struct{ country, unit, origin int32 }

// token is a word that is no aside.
type token struct {
	word, written, side, after string
	isApart, isJoined          bool // asides are before it, and among them "and"
}

// isAcronym reports whether a word is one of two to four capitals: the WHO is not who.
func isAcronym(written string) bool {
	return len(written) >= 2 && len(written) <= 4 && strings.Trim(written, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// tokensOf leaves out the asides of a text, and notes the sides before words. A text all in
// capitals has no acronyms.
func (v *vocabulary) tokensOf(words, written []string) (all []token) {
	side, asked, after, isApart, isJoined := "", "", "", false, false
	isCapital := !slices.ContainsFunc(written, func(w string) bool { return w != strings.ToUpper(w) })
	for i := 0; i < len(words); {
		n := min(longestPhrase, len(words)-i)
		aside := ""
		for ; n > 0; n-- {
			phrase := strings.Join(words[i:i+n], " ")
			if aside = v.asides[phrase]; aside != "" || v.kept[phrase] {
				break
			}
		}
		if n == 1 && !isCapital && isAcronym(written[i]) {
			aside = ""
		}
		n = max(n, 1)
		switch aside {
		case "":
			word, as := strings.Join(words[i:i+n], " "), strings.Join(written[i:i+n], " ")
			all = append(all, token{word, as, side, after, isApart, isJoined})
			side, after, isApart, isJoined = "", "", false, false
		case isPeople:
			after, isApart = strings.Join(written[i:i+n], " "), true
		case isNewest, isEmpty:
			isApart = true
		default:
			side, asked, isApart = aside, strings.Join(written[i:i+n], " "), true
			isJoined = isJoined || side == andSide
		}
		i += n
	}
	if side == fromSide { // "where do refugees in Pakistan come from" asks for it
		if strings.HasSuffix(asked, "from") { // but not "left", which may mean those who stayed
			side = "origins"
		}
		all = append(all, token{word: side, written: asked})
	}
	return all
}

// compass are words that make another name of the place beside them.
var compass = []string{
	"north", "south", "east", "west", "nord", "sud", "est", "ouest", "norte", "sur", "sul", "este", "oeste",
	"northern", "southern", "eastern", "western", "central", "oriental", "occidental",
	"upper", "lower", "middle", "haut", "haute", "bas", "basse", "moyen", "alta", "baja",
	"شمال", "جنوب", "شرق", "غرب", "وسط",
}

// partsOf are the parts of a question, in order: the longest phrases and names that there are.
func (x *parser) partsOf(tokens []token) (parts []*part) {
	taken := make([]bool, len(tokens))
	for n := min(longestPhrase, len(tokens)); n > 0; n-- {
		for from := 0; from+n <= len(tokens); from++ {
			if slices.Contains(taken[from:from+n], true) {
				continue
			}
			var words, written []string
			for _, t := range tokens[from : from+n] {
				words, written = append(words, t.word), append(written, t.written)
			}
			p := x.partOf(strings.Join(words, " "))
			if p != nil && p.isFigure() && x.isOfTwo(tokens[from:from+n], words) {
				p = nil
			}
			if p != nil && n > 1 && tokens[from+1].isApart && slices.Contains(compass, words[0]) {
				p = nil // the south of Sudan is not South Sudan
			}
			isDate := from+n < len(tokens) && isTime(tokens[from+n].word) && !tokens[from+n].isApart // 05-11-2012
			if of := agesOf(words); p == nil && of != (group{}) && !isDate {
				p = &part{terms: []term{{who: of}}}
			}
			if p == nil && (n == 1 || x.partOf(words[0]) == nil) {
				p = x.cutPart(strings.Join(words, " "))
			}
			if p == nil && n > 1 {
				continue
			} else if p == nil {
				p = new(part)
			}
			p.from, p.written, p.side = from, strings.Join(written, " "), cmp.Or(tokens[from].side, p.side)
			p.after, p.joined = tokens[from].after, tokens[from].isJoined || p.side == andSide
			parts = append(parts, p)
			for i := from; i < from+n; i++ {
				taken[i] = true
			}
		}
	}
	slices.SortFunc(parts, func(a, b *part) int { return a.from - b.from })
	return parts
}

// isOfTwo reports whether words are two figures or lists with "and" between them: "IDPs and
// returnees" are not returned IDPs.
func (x *parser) isOfTwo(tokens []token, words []string) bool {
	isTopic := func(words []string) bool {
		p := x.partOf(strings.Join(words, " "))
		return p != nil && p.isTopic(false)
	}
	for i := 1; i < len(words); i++ {
		if tokens[i].isJoined && isTopic(words[:i]) && isTopic(words[i:]) {
			return true
		}
	}
	return false
}

// partOf is what a phrase means, nil if it means nothing.
func (x *parser) partOf(phrase string) *part {
	p := &part{terms: vocabularies().terms[phrase], ids: x.idsOf(phrase)}
	if len(p.ids) == 0 && len(x.people[phrase]) > 0 {
		p.ids, p.people = x.people[phrase], true
	}
	if isTime(phrase) {
		p.time = phrase
	}
	for _, t := range p.terms {
		if after, err := strconv.Atoi(t.year); err == nil {
			return &part{time: strconv.Itoa(x.year + after)}
		} else if t.isWeak && t.by != "" { // "region" is no name: Ilocos is Region I
			p.ids = nil
		}
	}
	if len(p.terms)+len(p.ids) == 0 && p.time == "" {
		return nil
	}
	return p
}

// cutPart is partOf for an Arabic phrase without the preposition that is written with it. It is cut
// only where the whole phrase means nothing.
func (x *parser) cutPart(word string) *part {
	if vocabularies().real[word] {
		return nil
	}
	for _, before := range []struct{ letters, side string }{
		{"لل", toSide}, {"ل", toSide}, {"ب", inSide}, {"و", andSide}, {"ف", ""}, {"ك", ""},
	} {
		rest, has := strings.CutPrefix(word, before.letters)
		if !has {
			continue
		}
		if p := x.partOf(string(stem([]byte(rest)))); p != nil {
			p.side = before.side
			return p
		}
	}
	return nil
}

// ageWords are before ages.
var ageWords = []string{"age", "aged", "agees", "ages", "edad", "edades", "between", "entre"}

// agesOf are ages of people as two numbers, or as one with a plus sign.
func agesOf(words []string) (of group) {
	if len(words) > 1 && slices.Contains(ageWords, words[0]) {
		words = words[1:]
	}
	first, isOpen := strings.CutSuffix(words[0], "+")
	low, err := strconv.Atoi(first)
	high, errHigh := strconv.Atoi(words[len(words)-1])
	if err == nil && len(words) == 1 && isOpen && low >= 10 {
		of.least = low
	} else if err == nil && errHigh == nil && len(words) == 2 && low < high && high <= 120 {
		of.least, of.less = low, high+1
	}
	return of
}

// isTime reports whether a word is a year, or a month as two digits.
func isTime(word string) bool {
	if strings.Trim(word, "0123456789") != "" {
		return false
	}
	return len(word) == 4 && "1950" <= word && word <= "2099" || len(word) == 2 && "01" <= word && word <= "12"
}

// parser reads the parts of a question.
type parser struct {
	*Index
	*question
	parts []*part
	sex   group // of the people that a word of the figure means
	sexAs string
}

// country is the first country of a question, none without one.
func (q *question) country() int32 {
	if len(q.places) == 0 {
		return none
	}
	return q.places[0].country
}

// isOfCountry reports whether a question is about a whole country.
func (q *question) isOfCountry() bool { return q.country() != none && q.places[0].unit == none }

func (q *question) endpoint() *contract.Endpoint { return &contract.Endpoints[q.list] }

// mostPlaces is how many places of one name are shown, or with records where one has none.
const mostPlaces = 6
