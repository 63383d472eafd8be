package find

import (
	"cmp"
	"slices"
	"strings"

	"hdqs/api/contract"
)

// placesOf are the countries that a part names.
func (x *Index) placesOf(p *part) (countries []int32) {
	for _, id := range p.ids {
		if x.entries[id].kind == Country {
			countries = append(countries, id)
		}
	}
	x.inOrder(countries, p.written)
	return countries
}

// use uses a part for the countries that it names.
func (x *parser) use(p *part) (places []place) {
	p.used = true
	for _, id := range x.placesOf(p) {
		places = append(places, place{id, none, none})
	}
	return places
}

// inOrder sorts places of one name: those with a response plan first, then those of which it is the
// first name, then by name.
func (x *Index) inOrder(ids []int32, written string) {
	name := folded(written)
	isOther := func(id int32) int {
		if x.entries[id].folded == name {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(ids, func(a, b int32) int {
		of := x.countryOf
		return cmp.Or(int(of(b).urgency)-int(of(a).urgency), cmp.Compare(x.entries[a].kind, x.entries[b].kind),
			isOther(a)-isOther(b), strings.Compare(of(a).name, of(b).name),
			strings.Compare(x.entries[a].name, x.entries[b].name))
	})
}

// The fields with the countries that people come from, and that they are in.
const (
	originField = "origin_location_code"
	asylumField = "asylum_location_code"
)

// sideOf is the field of a list with a country of the question, on the side that the question says.
// It is empty if the list has only the other side.
func sideOf(s *search, e *contract.Endpoint, country int32) string {
	switch {
	case !slices.Contains(s.from, country):
	case e.HasField(originField):
		return originField
	case slices.Contains(movements, e.Name()):
		return ""
	}
	return contract.CountryParam
}

// isOneSided reports whether people or money come from the place of a part, which the list does not
// say of its records.
func isOneSided(q *question, p *part) bool {
	return p.side == fromSide && slices.Contains(movements, q.endpoint().Name())
}

// leaveDoer leaves a part over that names who says or did something, of which conflict events have
// only where it was: "killed by Israel", "Russian attacks".
func leaveDoer(q *question, p *part) {
	isBy := p.side == bySide
	if p.side == bySource || (isBy || p.people) && q.endpoint().Name() == "conflict-events" {
		p.ids = nil
	} else if isBy {
		p.side = ""
	}
}

// movements are the lists whose records of a country are not of those who come from it.
var movements = []string{"idps", "returnees", "funding", "operational-presence"}

// addPlaces uses the parts that name places.
func (x *parser) addPlaces() {
	q, parts := x.question, x.parts
	country := filterOf(q.endpoint(), Country)
	if country == nil {
		return
	}
	var named []*part
	for _, p := range parts {
		leaveDoer(q, p)
		if !p.used && len(x.placesOf(p)) > 0 {
			named = append(named, p)
		}
	}
	isJoined := len(named) > 1 && (q.by == "compare" || q.by == "place" ||
		slices.ContainsFunc(named[1:], func(p *part) bool { return p.side == andSide }))
	for i, p := range named {
		isNext := p.side == andSide || p.side == "" || q.by == "compare" && p.side == toSide
		if isJoined && i > 0 && isNext { // "in Pakistan, Iran and Turkey", "Mali compared to Niger"
			p.side = named[i-1].side
		}
	}
	for _, p := range named {
		p.used = !isJoined && slices.ContainsFunc(named, func(other *part) bool { return isSaidBy(x, p, other) })
	}
	all := slices.Clone(named)
	named = slices.DeleteFunc(named, func(p *part) bool { // "Niger, Nigeria": a state of the second
		return p.used || slices.ContainsFunc(all, func(other *part) bool {
			return x.isRun([]*part{p, other}) && slices.Contains([]string{"", inSide}, other.side) &&
				!other.joined && x.unitsOf(p, x.placesOf(other)) != nil
		})
	})
	places := []place{{none, none, none}}
	switch {
	case q.hasPair() && len(named) > 0:
		places = x.movement(named)
	case len(named) > 1 && (isJoined || x.isRun(named)) &&
		!slices.ContainsFunc(named, func(p *part) bool { return p.side == fromSide }):
		places = x.compare(named)
	case len(named) > 0: // "US funding for Ukraine": the last in which something is
		at := len(named) - 1
		for at > 0 && named[at].isOrigin() {
			at--
		}
		places, q.isOneSided = x.use(named[at]), isOneSided(q, named[at])
		for _, id := range x.unitsOf(named[at], nil) {
			e := &x.entries[id]
			isThere := func(p place) bool { return p.country == e.country }
			if e.lists&(1<<q.list) != 0 && !slices.ContainsFunc(places, isThere) {
				q.namesakes = append(q.namesakes, place{e.country, id, none})
			}
		}
	}
	q.places = places
	for _, p := range named {
		isOrigin := q.hasPair() && len(q.figures) > 0 && q.figures[0].Place == originField
		if p.people && q.hasPair() || p.side == fromSide || p.side == fromOrOf && isOrigin {
			q.from = append(q.from, x.placesOf(p)...)
		}
	}
	x.addUnit(named)
	for _, p := range parts { // "the state of Borno", "the country Chad"
		x.addWhere(p)
		for _, t := range p.terms {
			isHow := t.by == "how" // "how did hunger change", but not "how do refugees live"
			if p.used || t.by == "" || !t.isWeak || isHow && q.by == "" || t.by == "where" {
				continue
			}
			isNamed := isHow || q.places[0].country != none && (t.by == "place" || q.places[0].unit != none)
			switch t.by {
			case "sector": // "the health sector"
				isNamed = x.hasFilter(Sector)
			case "origin": // "of Afghan nationality"
				isNamed = len(q.from) > 0
			}
			if p.used = true; !isNamed && (q.by == "" || q.by == "place") {
				q.by = t.by
			}
		}
	}
}

// addWhere uses a part that asks where people are, or where they come from: countries, provinces of
// one, or the countries that host people of one.
func (x *parser) addWhere(p *part) {
	isWhere := slices.ContainsFunc(p.terms, func(t term) bool { return t.by == "where" })
	by := "admin1"
	switch {
	case x.country() == none:
		by = "place"
	case x.hasPair() && len(x.from) > 0:
		by = "asylum"
	}
	if p.used || !isWhere || x.by != "origin" && by != "place" && !x.endpoint().HasField(byFields[by]) {
		return
	}
	if p.used = true; x.by == "" || x.by == "place" || x.by == "since" {
		x.by = by
	}
}

// isSaidBy reports whether another part says which place a part names: "Haitians in Haiti", "Congo
// (DRC)".
func isSaidBy(x *parser, p, other *part) bool {
	of, those := x.placesOf(p), x.placesOf(other)
	isLess := p.people && !other.people || p.people == other.people && p.from > other.from
	isSame := isLess && !x.hasPair() && slices.Equal(of, those)
	isBeside := !x.hasPair() || x.isRun([]*part{p, other}) || x.isRun([]*part{other, p}) // no origin and asylum
	isWithin := len(those) == 1 && len(of) > 1 && slices.Contains(of, those[0]) && isBeside &&
		(p.side == "" || other.side == "" || p.side == other.side)
	return other != p && (isSame || isWithin)
}

// isRun reports whether parts follow each other.
func (x *parser) isRun(parts []*part) bool {
	first := slices.Index(x.parts, parts[0])
	return first+len(parts) <= len(x.parts) && slices.Equal(parts, x.parts[first:first+len(parts)])
}

// compare uses countries that are meant together. Those on another side are left, and where only
// one is on its side it is the place.
func (x *parser) compare(named []*part) (places []place) {
	var all []int32
	for _, p := range named {
		if of := x.placesOf(p); len(of) == 1 && p.side == named[0].side && p.people == named[0].people {
			all, p.used = append(all, of[0]), true
		}
	}
	x.onlySide(named[0])
	if len(all) == 1 {
		return []place{{all[0], none, none}}
	}
	x.compared, x.by = all, cmp.Or(x.by, "place")
	return []place{{none, none, none}}
}

// onlySide keeps the figures of the side of a movement that a country is on.
func (x *parser) onlySide(p *part) {
	field := ""
	if p.isOrigin() {
		field = originField
	} else if p.side != "" {
		field = asylumField
	}
	isOther := func(h *contract.Headline) bool { return h.Place != field }
	if field == "" || !x.hasPair() {
		return
	}
	own := slices.DeleteFunc(slices.Clone(x.figures), isOther)
	isPair := p.ids == nil // "Pakistanis who fled to Afghanistan": of either side
	if len(own) == 0 && len(x.figures) > 0 && (p.people || isPair) {
		for _, h := range contract.Headlines {
			if h.Path == x.figures[0].Path && !isOther(h) {
				own = append(own, h)
			}
		}
		if !isPair { // "who hosts Afghans": those from there, by host
			x.by = "asylum"
		}
	}
	if len(own) > 0 || p.side != fromOrOf { // "the refugee population of Chad" is in Chad
		x.figures = own
	}
}

// isOrigin reports whether people come from the country of a part.
func (p *part) isOrigin() bool { return p.people || p.side == fromSide || p.side == fromOrOf }

// hasPair reports whether the list has two countries, of which one can be asked for without the
// other.
func (q *question) hasPair() bool {
	return q.endpoint().HasField(originField) && q.endpoint().Name() != "returnees"
}

// movement uses countries of people who are in one and come from another. Where there are several
// on one side these are compared, and the only one on the other side is a filter.
func (x *parser) movement(named []*part) (places []place) {
	var origins, others []*part
	for _, p := range named {
		if p.isOrigin() {
			origins = append(origins, p)
		} else {
			others = append(others, p)
		}
	}
	isBetween := func(p *part) bool { return p.isTopic(false) && p.from > named[0].from && p.from < named[1].from }
	if len(others) == 2 && len(named) == 2 && others[0].side == "" &&
		(others[1].side != "" || x.by == "" && slices.ContainsFunc(x.parts, isBetween)) {
		origins, others = named[:1], named[1:] // Afghanistan refugees in Iran
	}
	isPair := len(origins) == 1 && len(others) == 1
	isSaid := isPair && origins[0].side != "" && !origins[0].people
	if isSaid && others[0].side == "" && others[0].from > origins[0].from {
		return x.compare(named) // from Pakistan, Iran: both can be meant
	}
	one, several, field := origins, others, originField
	if len(others) == 1 {
		one, several, field = others, origins, asylumField
	}
	switch {
	case len(named) == 1:
		x.onlySide(named[0])
		return x.use(named[0])
	case isPair:
		x.onlySide(&part{side: inSide})
		for _, at := range x.placesOf(others[0]) {
			for _, from := range x.placesOf(origins[0]) {
				places = append(places, place{at, none, from})
			}
		}
		origins[0].used, others[0].used = true, true
		return places
	case len(one) != 1 || len(x.placesOf(one[0])) != 1:
		return x.compare(named)
	}
	one[0].used = x.addPairs([][2]string{{field, x.entries[x.placesOf(one[0])[0]].code}})
	if x.asked = append(x.asked, one[0].written); field == originField {
		x.onlySide(&part{side: inSide})
	}
	return x.compare(several)
}

// unitsOf are the units that a part names, in some countries if there are any, which the list can
// be asked for: provinces before districts.
func (x *parser) unitsOf(p *part, countries []int32) (units []int32) {
	for _, id := range p.ids {
		e := &x.entries[id]
		if (e.kind == Province || e.kind == District) && filterOf(x.endpoint(), e.kind) != nil &&
			(len(countries) == 0 || slices.Contains(countries, e.country)) {
			units = append(units, id)
		}
	}
	hasMarkets := filterOf(x.endpoint(), Market) != nil // few countries have prices
	if x.inOrder(units, p.written); hasMarkets || len(units) > mostPlaces {
		slices.SortStableFunc(units, func(a, b int32) int {
			return cmp.Compare(x.entries[b].lists&(1<<x.list), x.entries[a].lists&(1<<x.list))
		})
	}
	seen := map[int32]bool{}
	return slices.DeleteFunc(units, func(id int32) bool {
		e := &x.entries[id]
		twice := e.kind == District && seen[e.country] // a province has its name
		seen[e.country] = true
		return twice
	})
}

// addUnit uses a province or district. Of two the one within the other is meant.
func (x *parser) addUnit(countryNames []*part) {
	q, parts := x.question, x.parts
	var countries []int32
	for _, at := range q.places {
		if at.country != none {
			countries = append(countries, at.country)
		}
	}
	var units []int32
	for _, p := range parts {
		found := x.unitsOf(p, countries)
		if p.used || len(found) == 0 || q.compared != nil || slices.Contains(countryNames, p) {
			continue
		}
		if units != nil {
			within := slices.DeleteFunc(slices.Clone(found), func(id int32) bool {
				return !slices.Contains(units, x.entries[id].parent)
			})
			if len(within) == 0 {
				continue
			}
			found = within
		}
		units, p.used = found, true
		q.isOneSided = q.isOneSided || isOneSided(q, p)
	}
	if units == nil {
		return
	}
	q.places = nil
	for _, id := range units[:min(len(units), mostPlaces)] {
		q.places = append(q.places, place{x.entries[id].country, id, none})
	}
}
