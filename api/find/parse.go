package find

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"hdqs/api/contract"
	"hdqs/internal/nearest"
)

// part is a part of a question: words that mean one thing together.
type part struct {
	from    int // position of its first word
	written string
	side    string // before it
	terms   []term
	ids     []int32 // names of the data
	people  bool    // it is what people of a country are called
	time    string  // a year, or a month as two digits
	used    bool
}

// question is a question in words, as it was understood: what its query has, and what was left.
type question struct {
	figures  []*contract.Headline // any of them; without one, the question is of the list
	list     int                  // position in contract.Endpoints
	pairs    [][2]string          // filters
	ids      [][]int32            // filters: entries of one kind, any of which is meant
	who, by  string
	places   []place  // any of them, the best first
	compared []int32  // countries, if several are meant together
	until    string   // a year or a month, from which since is open
	since    bool     //
	asked    []string // what was used as a filter, as it is written
	replaces bool     // one of them is in place of a filter of the figure
	left     []string // what no query has, as it is written
}

// place is a place that a question is about. Each is an entry or none.
type place struct{ country, unit, origin int32 }

// token is a word that is no aside.
type token struct {
	word, written, side string
}

// tokensOf leaves out the asides of a text, and notes the sides before words.
func (v *vocabulary) tokensOf(words, written []string) (all []token) {
	side := ""
	for i := 0; i < len(words); {
		n := min(longestPhrase, len(words)-i)
		aside := ""
		for ; n > 0; n-- {
			phrase := strings.Join(words[i:i+n], " ")
			if aside = v.asides[phrase]; aside != "" || v.kept[phrase] {
				break
			}
		}
		n = max(n, 1)
		switch aside {
		case "":
			all = append(all, token{strings.Join(words[i:i+n], " "), strings.Join(written[i:i+n], " "), side})
			side = ""
		case isNewest, isEmpty:
		default:
			side = aside
		}
		i += n
	}
	return all
}

// partsOf are the parts of a question, in order: the longest phrases and names that there are.
func (x *Index) partsOf(tokens []token) (parts []*part) {
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
			if p == nil && n == 1 {
				p = x.cutPart(words[0])
			}
			if p == nil && n > 1 {
				continue
			} else if p == nil {
				p = new(part)
			}
			p.from, p.written, p.side = from, strings.Join(written, " "), cmp.Or(tokens[from].side, p.side)
			parts = append(parts, p)
			for i := from; i < from+n; i++ {
				taken[i] = true
			}
		}
	}
	slices.SortFunc(parts, func(a, b *part) int { return a.from - b.from })
	return parts
}

// partOf is what a phrase means, nil if it means nothing.
func (x *Index) partOf(phrase string) *part {
	p := &part{terms: vocabularies().terms[phrase], ids: x.names[phrase]}
	if len(p.ids) == 0 && len(x.people[phrase]) > 0 {
		p.ids, p.people = x.people[phrase], true
	}
	if isTime(phrase) {
		p.time = phrase
	}
	if len(p.terms)+len(p.ids) == 0 && p.time == "" {
		return nil
	}
	return p
}

// cutPart is partOf for an Arabic word without the preposition that is written with it. It is cut
// only where the whole word means nothing.
func (x *Index) cutPart(word string) *part {
	for _, before := range []struct{ letters, side string }{
		{"لل", toSide}, {"ل", toSide}, {"ب", inSide}, {"و", ""}, {"ف", ""}, {"ك", ""},
	} {
		rest, has := strings.CutPrefix(word, before.letters)
		if !has {
			continue
		}
		if p := x.partOf(stem(rest)); p != nil {
			p.side = before.side
			return p
		}
	}
	return nil
}

// isTime reports whether a word is a year, or a month as two digits.
func isTime(word string) bool {
	if strings.Trim(word, "0123456789") != "" {
		return false
	}
	return len(word) == 4 && "1950" <= word && word <= "2099" || len(word) == 2 && "01" <= word && word <= "12"
}

// isTopic reports whether a part is a figure or a list, and may not be a filter.
func (x *Index) isTopic(p *part, weak bool) bool {
	return slices.ContainsFunc(p.terms, func(t term) bool { return len(t.topics) > 0 && t.isWeak == weak })
}

// isFilter reports whether a part may be a filter.
func (x *Index) isFilter(p *part) bool {
	isSector := func(id int32) bool { return x.entries[id].kind == Sector }
	isOther := func(t term) bool { return len(t.topics) == 0 }
	return slices.ContainsFunc(p.terms, isOther) || slices.ContainsFunc(p.ids, isSector)
}

// parse understands a question, nil if it is about no figure and no list.
func (x *Index) parse(words, written []string) *question {
	parts := x.partsOf(vocabularies().tokensOf(words, written))
	q := &question{list: none}
	var topics []string
	take := func(p *part, weak bool) {
		for _, t := range p.terms {
			if len(t.topics) == 0 || t.isWeak != weak {
				continue
			}
			common := slices.DeleteFunc(slices.Clone(t.topics), func(name string) bool {
				return topics != nil && !slices.Contains(topics, name)
			})
			if len(common) > 0 && q.addPairs(t.pairs) {
				topics, p.used = common, true
				if len(t.pairs) > 0 && !isOwn(common[0], t.pairs) {
					q.asked, q.replaces = append(q.asked, p.written), true
				}
				return
			}
		}
	}
	for _, p := range parts {
		if x.isTopic(p, false) && !x.isFilter(p) {
			take(p, false)
		}
	}
	for _, p := range parts {
		if topics == nil && x.isTopic(p, false) {
			take(p, false)
		}
	}
	for _, p := range parts {
		if isNone := topics == nil; !p.used && x.isTopic(p, true) {
			take(p, true)
			p.used = p.used || !isNone
		}
	}
	if topics == nil {
		return nil
	}
	q.setTopics(topics)
	x.addFilters(q, parts)
	x.addTimes(q, parts)
	x.addPlaces(q, parts)
	for _, p := range parts {
		if !p.used {
			q.left = append(q.left, p.written)
		}
	}
	return q
}

// isOwn reports whether filters are those of a figure.
func isOwn(name string, pairs [][2]string) bool {
	h, _ := contract.HeadlineOf(name, contract.ContractNames)
	if h == nil {
		return false
	}
	own := h.Question(contract.ContractNames)
	return !slices.ContainsFunc(pairs, func(p [2]string) bool { return !slices.Equal(own.Texts(p[0]), []string{p[1]}) })
}

// setTopics sets the figures or the list. All are of one list.
func (q *question) setTopics(topics []string) {
	for _, name := range topics {
		if h, _ := contract.HeadlineOf(name, contract.ContractNames); h != nil {
			q.figures = append(q.figures, h)
			q.list = slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Path == h.Path })
		} else {
			q.list = slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Name() == name })
		}
	}
}

func (q *question) endpoint() *contract.Endpoint { return &contract.Endpoints[q.list] }

// addPairs adds filters. It adds nothing if there is another value already.
func (q *question) addPairs(pairs [][2]string) bool {
	for _, pair := range pairs {
		if slices.ContainsFunc(q.pairs, func(p [2]string) bool { return p[0] == pair[0] && p[1] != pair[1] }) {
			return false
		}
	}
	for _, pair := range pairs {
		if !slices.Contains(q.pairs, pair) {
			q.pairs = append(q.pairs, pair)
		}
	}
	return true
}

// byFields are the fields that views are drawn by.
var byFields = map[string]string{
	"admin1": "admin1_name", "admin2": "admin2_name", "sector": "sector_name", "gender": "gender", "age": "age_range",
	"origin": "origin_location_code", "asylum": "asylum_location_code", "phase": "classification_phase",
	"commodity": "commodity_category", "time": contract.PeriodStart, "month": contract.PeriodStart,
}

// addFilters uses the parts that are filters of the list, or say what its view is drawn by.
func (x *Index) addFilters(q *question, parts []*part) {
	e := q.endpoint()
	for _, p := range parts {
		for _, t := range p.terms {
			if p.used || len(t.topics) > 0 || t.month != "" {
				continue
			}
			switch field := byFields[t.by]; {
			case t.by != "" && t.isWeak: // it depends on the places
			case t.by != "":
				if field == "" || e.HasField(field) {
					if p.used = true; q.by == "" || q.by == "place" {
						q.by = t.by
					}
				}
			case t.who != "":
				if q.who == "" && (e.HasField("age_range") || e.HasField("category")) {
					q.who, p.used = t.who, true
					q.asked = append(q.asked, p.written)
				}
			case e.HasField(t.pairs[0][0]):
				if p.used = q.addPairs(t.pairs); p.used {
					q.asked = append(q.asked, p.written)
				}
			}
		}
		for _, kind := range []Kind{Sector, Commodity, Market, Organisation} {
			of := slices.DeleteFunc(slices.Clone(p.ids), func(id int32) bool { return x.entries[id].kind != kind })
			isTaken := slices.ContainsFunc(q.ids, func(ids []int32) bool { return x.entries[ids[0]].kind == kind })
			if !p.used && len(of) > 0 && !isTaken && filterOf(e, kind) != nil && len(x.placesOf(p)) == 0 {
				q.ids, p.used = append(q.ids, of), true
				q.asked = append(q.asked, p.written)
			}
		}
	}
}

// addTimes uses a year and a month.
func (x *Index) addTimes(q *question, parts []*part) {
	if !q.endpoint().HasPeriod() {
		return
	}
	for i, p := range parts {
		if len(p.time) != 4 || q.until != "" {
			continue
		}
		q.until, p.used = p.time, true
		for _, k := range []int{i + 1, i - 1} {
			if k < 0 || k >= len(parts) || parts[k].used {
				continue
			}
			month := parts[k].time
			for _, t := range parts[k].terms {
				month = cmp.Or(t.month, month)
			}
			if len(month) == 2 && len(q.until) == 4 {
				q.until, parts[k].used = q.until+"-"+month, true
			}
		}
	}
	for _, p := range parts { // between two years
		if len(p.time) == 4 && !p.used && q.by == "time" {
			p.used = true
		}
	}
	q.since = q.by == "time" && q.until != ""
}

// corrected returns the words with those that mean nothing replaced by what was probably meant: a
// unit of the country that is named, or a word of countries and figures. It is nil if there are
// none. One letter may be wrong in five.
func (x *Index) corrected(q *question, words, written []string) (other []string) {
	for i, word := range words {
		if !slices.Contains(q.left, written[i]) || utf8.RuneCountInString(word) < leastCorrected {
			continue
		}
		most := utf8.RuneCountInString(word) / leastCorrected
		var units []string
		for _, at := range q.places {
			for id := range x.entries {
				if e := &x.entries[id]; at.country != none && e.country == at.country && e.kind <= District {
					units = append(units, e.folded)
				}
			}
		}
		best := ""
		for _, known := range [][]string{units, vocabularies().words, x.countryWords} {
			if best == "" {
				best = nearest.Within(word, known, most)
			}
		}
		if best != "" {
			if other == nil {
				other = slices.Clone(words)
			}
			other[i] = best
		}
	}
	return other
}

const leastCorrected = 5

// wordsIn are the words of names, sorted.
func wordsIn(names map[string][]int32) []string {
	all := map[string]bool{}
	for name := range names {
		for word := range strings.FieldsSeq(name) {
			all[word] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
