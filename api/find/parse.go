package find

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"hdqs/api/contract"
	"hdqs/internal/nearest"
)

// isTopic reports whether a part is a figure or a list, and may not be a filter.
func (p *part) isTopic(weak bool) bool {
	return slices.ContainsFunc(p.terms, func(t term) bool { return len(t.topics) > 0 && t.isWeak == weak })
}

// isFigure reports whether a part is a figure.
func (p *part) isFigure() bool {
	return slices.ContainsFunc(p.terms, func(t term) bool {
		return slices.ContainsFunc(t.topics, func(name string) bool {
			h, _ := contract.HeadlineOf(name, contract.ContractNames)
			return h != nil
		})
	})
}

// parse understands a question, nil if it is about no figure and no list. The title of a figure
// asks for it, and that of a list does where more is understood then.
func (x *Index) parse(words, written []string) *question {
	v, p := vocabularies(), &parser{Index: x}
	isCount, titled := v.isCount(words), p.titled(words, written)
	if titled != nil && titled[0].isFigure() {
		return about(x, titled, isCount)
	}
	best := about(x, p.partsOf(v.tokensOf(words, written)), isCount)
	if titled == nil || best != nil && best.left == nil {
		return best
	}
	if of := about(x, titled, isCount); best == nil || of != nil && len(of.left) < len(best.left) {
		return of
	}
	return best
}

// about is the question of some parts. Where they name several figures or lists, it is about the
// first that leaves the fewest words over.
func about(x *Index, parts []*part, isCount bool) (best *question) {
	for first, p := range parts {
		if best != nil && !p.isTopic(false) {
			continue
		}
		q := &question{list: none, isCount: isCount}
		r := &parser{Index: x, question: q}
		for _, p := range parts {
			own := *p
			r.parts = append(r.parts, &own)
		}
		isGuess := !r.takeTopics(r.parts[first])
		if isGuess && !r.guess() {
			return nil
		}
		r.addFilters()
		r.addTimes()
		r.addPlaces()
		if q.by == "compare" && q.compared == nil && q.until != "" { // with an earlier time
			q.by, q.since = "time", true
		}
		ofOther := func(h *contract.Headline) bool { return h.Place != byFields[q.by] }
		own := slices.DeleteFunc(slices.Clone(q.figures), ofOther)
		if len(own) > 0 && q.places[0].country == none && q.of[0] == "" {
			q.figures, q.by = own, "place" // "countries of origin" are not of those of asylum
		}
		isBefore := len(q.figures) > 0 && !slices.Contains(unitsOfPeople, q.figures[0].Unit)
		for _, p := range r.parts {
			if isBefore && p.after != "" { // "people in organisations" are not organisations
				q.left = append(q.left, p.after)
			}
			if !p.used {
				q.left = append(q.left, p.written)
			}
			isBefore = isBefore && !p.used
		}
		if isGuess && q.left != nil {
			return nil
		}
		if best == nil || len(q.left) < len(best.left) {
			best = q
		}
	}
	return best
}

// titled are the parts of a question that begins or ends with the title of a figure or a list, as
// pages have it: "Refugees, by country of origin, Pakistan" does not ask for a view by origin. A
// question with a side of its place has none: "refugees by country of origin in Pakistan".
func (x *parser) titled(words, written []string) []*part {
	v := vocabularies()
	for n := min(len(words), longestTitle); n > 1; n-- {
		for _, from := range []int{0, len(words) - n} {
			name := v.titles[strings.Join(words[from:from+n], " ")]
			if name == "" {
				continue
			}
			without := func(all []string) []string { return slices.Concat(all[:from], all[from+n:]) }
			rest := v.tokensOf(without(words), without(written))
			if slices.ContainsFunc(rest, func(t token) bool { return t.side != "" }) {
				return nil
			}
			title := &part{written: strings.Join(written[from:from+n], " "), terms: []term{{topics: []string{name}}}}
			return append([]*part{title}, x.partsOf(rest)...)
		}
	}
	return nil
}

// unitsOfPeople are those of figures that may answer how many people there are.
var unitsOfPeople = []string{"people", "fatalities", "per cent"}

// listOfNames are the lists that names of a kind are asked of with a place.
var listOfNames = map[Kind]string{Commodity: "food-prices-market-monitor", Organisation: "operational-presence"}

// guess sets what parts without a figure and a list are about: people of one country in another
// ("Syrians in Turkey"), people of a sex or an age, with a place ("women and girls in Chad"), or
// the list of a commodity or an organisation, with a place.
func (x *parser) guess() bool {
	var topic string
	var nations, hosts []int32
	var isWho, isUnit, isBy bool
	for _, p := range x.parts {
		if isWho = isWho || slices.ContainsFunc(p.terms, term.isWho); p.people {
			nations = append(nations, x.placesOf(p)...)
		} else {
			hosts = append(hosts, x.placesOf(p)...)
		}
		isBy = isBy || slices.ContainsFunc(p.terms, func(t term) bool { return t.by != "" })
		list, isHere := "", false
		for _, id := range p.ids {
			kind := x.entries[id].kind
			isHere = isHere || kind == Province || kind == District || kind == Market
			list = cmp.Or(list, listOfNames[kind])
		}
		if isUnit = isUnit || isHere; !isHere {
			topic = cmp.Or(topic, list)
		}
	}
	isOther := func(id int32) bool { return !slices.Contains(nations, id) }
	switch {
	case nations != nil && slices.ContainsFunc(hosts, isOther):
		topic = "refugees-persons-of-concern"
	case isWho && (hosts != nil || nations != nil || isUnit):
		topic = "population"
	case hosts == nil && !isUnit && !isBy || topic == "" || len(x.parts) == 1: // "DRC" alone is the country
		return false
	default:
		x.isLoose = !isUnit && !isBy
	}
	x.setTopics([]string{topic})
	return true
}

// takeTopics finds what the question is about: the figures or lists that all parts have in common
// which name some, beginning with one. It returns false if no part does.
func (x *parser) takeTopics(first *part) bool {
	var topics []string
	var named *part // the first that was taken
	take := func(p *part, weak bool) {
		isApart := topics != nil && (p.joined || p.from < named.from && named.joined) // "IDPs and returnees"
		for _, t := range p.terms {
			if len(t.topics) == 0 || t.isWeak != weak || topics == nil && t.isMore || isApart {
				continue
			}
			common := slices.DeleteFunc(slices.Clone(t.topics), func(name string) bool {
				return topics != nil && !slices.Contains(topics, name)
			})
			isOther := t.measure != "" && x.measure != "" && t.measure != x.measure
			if len(common) > 0 && !isOther && x.addPairs(t.pairs) {
				if topics == nil {
					named = p
				}
				topics, p.used, x.by, x.measure = common, !t.isPart, cmp.Or(x.by, t.by), cmp.Or(t.measure, x.measure)
				if t.isWho() && !slices.ContainsFunc(x.parts, func(p *part) bool { return p.after != "" }) {
					x.sex, x.sexAs = t.who, p.written // but "personnes réfugiées" are of both
				}
				if len(t.pairs) > 0 && !isOwn(common[0], t.pairs) || !isOwnMeasure(common[0], t.measure) {
					x.asked = append(x.asked, p.written)
					x.replaces = x.replaces || !isOwn(common[0], t.pairs, "%") || !isOwnMeasure(common[0], t.measure)
				}
				return
			}
		}
	}
	for _, p := range append([]*part{first}, x.parts...) {
		if !p.used && p.isTopic(false) {
			take(p, false)
		}
	}
	for range 2 { // parts of another phrase may be before it: "aid reached"
		for _, p := range x.parts {
			if !p.used && p.isTopic(true) {
				take(p, true)
			}
		}
	}
	x.setTopics(topics)
	return topics != nil
}

// isOwn reports whether filters are those of a figure, or of fields of which it takes a free value.
func isOwn(name string, pairs [][2]string, free ...string) bool {
	h, _ := contract.HeadlineOf(name, contract.ContractNames)
	if h == nil {
		return false
	}
	own := h.Question(contract.ContractNames)
	return !slices.ContainsFunc(pairs, func(p [2]string) bool {
		texts := own.Texts(p[0])
		return !slices.Equal(texts, []string{p[1]}) && !(free != nil && slices.Equal(texts, free))
	})
}

// isOwnMeasure reports whether a field is the one that a figure measures, or none.
func isOwnMeasure(name, field string) bool {
	h, _ := contract.HeadlineOf(name, contract.ContractNames)
	return field == "" || h == nil || strings.HasSuffix(h.Measures[0], ":"+field)
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
	"origin": originField, "asylum": asylumField, "phase": "classification_phase", "commodity": "commodity_category",
	"time": contract.PeriodStart, "since": contract.PeriodStart, "month": contract.PeriodStart,
}

// addFilters uses the parts that are filters of the list, or say what its view is drawn by.
func (x *parser) addFilters() {
	e, q := x.endpoint(), x.question
	isProvince := func(id int32) bool { // with records of all of its markets
		return x.entries[id].kind == Province && x.entries[id].lists&(1<<q.list) != 0
	}
	for _, p := range x.parts {
		for _, t := range p.terms {
			if p.used || len(t.topics) > 0 || t.month != "" {
				continue
			}
			switch field := byFields[t.by]; {
			case t.by != "" && t.isWeak, t.by == "person": // it depends on the places; no view divides
			case t.by != "":
				if field == "" || e.HasField(field) && (t.by != "origin" || q.hasPair()) {
					if p.used = true; q.by == "" || q.by == "place" || q.by == "since" {
						q.by = t.by
					}
				}
			case t.isWho():
				if both, ok := q.who.with(t.who); ok && (e.HasField("age_range") || e.HasField("category")) {
					q.who, p.used = both, true
					q.asked = append(q.asked, p.written)
				}
			case slices.ContainsFunc(q.ids, func(ids []int32) bool {
				return kindSources[x.entries[ids[0]].kind].filter == t.pairs[0][0]
			}):
			case e.HasField(t.pairs[0][0]):
				if p.used = q.addPairs(t.pairs); p.used {
					q.asked = append(q.asked, p.written)
				}
			}
		}
		for _, id := range p.ids {
			if x.entries[id].kind == Group && !p.used {
				x.addGroup(p, x.entries[id].code)
			}
		}
		for _, kind := range []Kind{Sector, Commodity, Market, Organisation} {
			of := slices.DeleteFunc(slices.Clone(p.ids), func(id int32) bool { return x.entries[id].kind != kind })
			isPlace := func(id int32) bool { // but for one whose code is a word: "pan", "col"
				return kind != Commodity || !strings.EqualFold(x.entries[id].code, p.written)
			}
			isFree := !p.used && p.side != bySource &&
				!slices.ContainsFunc(x.placesOf(p), isPlace) &&
				!(kind == Market && slices.ContainsFunc(x.unitsOf(p, nil), isProvince))
			if isFree && len(of) > 0 && !x.hasFilter(kind) && filterOf(e, kind) != nil {
				if q.ids, p.used = append(q.ids, of), true; kind == Organisation {
					q.figures = nil // which counts them
				}
				q.asked = append(q.asked, p.written)
			}
		}
	}
	if q.who == (group{}) && x.sexAs != "" { // "refugiadas", but not "mujeres refugiadas"
		q.who, q.asked = x.sex, append(q.asked, x.sexAs)
	}
}

// hasFilter reports whether a question keeps the records of names of a kind.
func (x *parser) hasFilter(kind Kind) bool {
	return slices.ContainsFunc(x.ids, func(ids []int32) bool { return x.entries[ids[0]].kind == kind }) ||
		slices.ContainsFunc(x.pairs, func(p [2]string) bool { return p[0] == kindSources[kind].filter })
}

// addTimes uses a year and a month. Two of them are a time from one to the other.
func (x *parser) addTimes() {
	q := x.question
	if q.isSince = q.by == "since"; q.isSince {
		q.by = "time"
	}
	if !q.endpoint().HasPeriod() {
		return
	}
	for i, p := range x.parts {
		switch {
		case len(p.time) != 4 || p.used:
		case q.until == "":
			q.until = x.monthOf(i)
		case q.last == "" && slices.Contains([]string{"", "time", "month", "compare"}, q.by):
			q.last, q.by = x.monthOf(i), cmp.Or(q.by, "time")
		}
	}
	if q.last != "" {
		q.until, q.last = min(q.until, q.last), max(q.until, q.last)
	}
	q.since = q.until != "" && (q.by == "time" || q.last != "")
}

// monthOf uses a year, with the month beside it if there is one.
func (x *parser) monthOf(at int) string {
	year := x.parts[at]
	year.used = true
	for _, k := range []int{at - 1, at + 1} {
		if k < 0 || k >= len(x.parts) || x.parts[k].used {
			continue
		}
		p := x.parts[k]
		month := p.time
		for _, t := range p.terms {
			month = cmp.Or(t.month, month)
		}
		if len(month) == 2 {
			p.used = true
			return year.time + "-" + month
		}
	}
	return year.time
}

// corrected understands a question with one of the words that mean nothing replaced by what was
// probably meant: a unit of the country that is named, or a word of figures or countries. It
// returns the position of the word, and what is in its place: several words where it is as near to
// several countries, all of which the question names then. It returns nil where as many words are
// left over.
func (x *Index) corrected(q *question, words, written []string) (best *question, at int, meant []string) {
	v, country := vocabularies(), q.country()
	var units, places []string // of the country; the countries, and their provinces with records
	for i := range x.entries {
		if e := &x.entries[i]; country != none && e.country == country && e.kind <= District {
			units = append(units, e.folded)
		} else if country == none && q.list != none && e.kind == Province && e.lists&(1<<q.list) != 0 {
			places = append(places, e.folded)
		}
	}
	if places != nil {
		places = append(places, x.countryWords...)
	}
	slices.Sort(units)
	slices.Sort(places)
	for i, word := range words {
		_, from, to := x.span(word, i == len(words)-1)
		_, isListed := slices.BinarySearch(v.words, word)
		isKnown := !slices.Contains(q.left, written[i]) || q.list == none && from < to ||
			strings.ContainsAny(word, "0123456789") || // phase 4+ is not 3+
			isListed || v.real[word] || len(x.people[word]) > 0 || // "miners" are not minors
			len(x.placesOf(&part{ids: x.idsOf(word)})) > 0 // "to Somalia" is not Somalis
		n := utf8.RuneCountInString(word)
		if isKnown || n < leastCorrected {
			continue
		}
		near := func(known []string, oneIn int) []string { return nearest.All(word, withFirst(word, known), n/oneIn) }
		countries, nearer := near(x.countryWords, oneInPlaces), near(places, oneInPlaces)
		if len(countries) > 0 && !slices.Contains(nearer, countries[0]) { // "Zambézie" is not "Zambie"
			countries = append(nearer, countries...)
		}
		isOfThere := func(name string) bool { // "Israeli" and "Americans" are not Israel and America
			return word == name+"i" || strings.TrimSuffix(word, "s") == name+"n" && !strings.HasSuffix(name, "n")
		}
		for _, other := range slices.Concat(near(units, oneInPlaces), near(v.words, oneInWords), countries,
			near(x.peopleWords, oneInPlaces)) {
			replaced := func(words []string) []string { return slices.Concat(words[:i], []string{other}, words[i+1:]) }
			again := x.parse(replaced(words), replaced(written))
			switch {
			case isOfThere(other):
			case v.asides[other] != "": // "nationales" is not "nationals", which asks for nothing
			case again == nil || len(again.left) >= len(q.left):
			case country != none && country != again.country() && // it names another one
				(again.places == nil || again.places[0].origin != country):
			case best == nil || len(again.left) < len(best.left):
				best, at, meant = again, i, []string{other}
			case i == at && len(again.left) == len(best.left) && again.isOfCountry() && best.isOfCountry() &&
				again.country() != best.country(): // as near
				best.places, meant = append(best.places, again.places...), append(meant, other)
			}
		}
	}
	return best, at, meant
}

// isNearlyEmpty reports whether a word is one that asks for nothing with two letters swapped:
// "combein", "whta".
func isNearlyEmpty(x *Index, written string) bool {
	word := []rune(folded(written))
	if _, from, to := x.span(string(word), false); from < to || len(word) < leastCorrected-1 {
		return false
	}
	for i := range len(word) - 1 {
		meant := slices.Clone(word)
		meant[i], meant[i+1] = word[i+1], word[i]
		if aside := vocabularies().asides[string(meant)]; aside == isEmpty || aside == isPeople {
			return true
		}
	}
	return false
}

// The length from which a word is corrected, in how many letters one may be wrong, and how many are
// corrected. Other words than names of places are near to many that mean something else: "training"
// to "tracking".
const (
	leastCorrected = 5
	oneInPlaces    = 4
	oneInWords     = 5
	mostCorrected  = 4
)
