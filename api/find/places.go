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
	x.inOrder(countries)
	return countries
}

// inOrder sorts places of one name: those with a response plan first, then by name.
func (x *Index) inOrder(ids []int32) {
	slices.SortStableFunc(ids, func(a, b int32) int {
		of := x.countryOf
		return cmp.Or(int(of(b).urgency)-int(of(a).urgency), cmp.Compare(x.entries[a].kind, x.entries[b].kind),
			strings.Compare(of(a).name, of(b).name), strings.Compare(x.entries[a].name, x.entries[b].name))
	})
}

// movements are the lists whose records of a country are not of those who come from it.
var movements = []string{"idps", "returnees", "funding", "operational-presence"}

// addPlaces uses the parts that name places.
func (x *Index) addPlaces(q *question, parts []*part) {
	country := filterOf(q.endpoint(), Country)
	if country == nil {
		return
	}
	var named []*part
	for _, p := range parts {
		if !p.used && len(x.placesOf(p)) > 0 {
			named = append(named, p)
		}
	}
	if len(named) > 1 { // "Niger, Nigeria": the first may be a state of the second
		named = slices.DeleteFunc(named, func(p *part) bool {
			return slices.ContainsFunc(named, func(o *part) bool { return o != p && x.unitsOf(q, p, x.placesOf(o)) != nil })
		})
	}
	places := []place{{none, none, none}}
	isPair := country.Name != contract.CountryParam && q.endpoint().Name() != "returnees"
	switch {
	case isPair && len(named) > 0:
		if places = x.movement(q, named); places == nil {
			x.compare(q, named)
		}
	case len(named) == 1 && (named[0].side != fromSide || !slices.Contains(movements, q.endpoint().Name())):
		places = nil
		for _, id := range x.placesOf(named[0]) {
			places = append(places, place{id, none, none})
		}
		named[0].used = true
	case len(named) > 1 && !slices.ContainsFunc(named, func(p *part) bool { return p.side == fromSide }):
		x.compare(q, named)
	}
	q.places = places
	x.addUnit(q, parts)
	for _, p := range parts { // "the state of Borno", "the country Chad"
		for _, t := range p.terms {
			if p.used || t.by == "" || !t.isWeak {
				continue
			}
			isNamed := q.places[0].country != none && (t.by == "place" || q.places[0].unit != none)
			if p.used = true; !isNamed && (q.by == "" || q.by == "place") {
				q.by = t.by
			}
		}
	}
}

// compare uses countries that are meant together.
func (x *Index) compare(q *question, named []*part) {
	for _, p := range named {
		if all := x.placesOf(p); len(all) == 1 {
			q.compared, p.used = append(q.compared, all[0]), true
		}
	}
	q.by = cmp.Or(q.by, "place")
}

// movement uses one or two countries of people who are in one and come from the other. It returns
// nil if it is not said which is which.
func (x *Index) movement(q *question, named []*part) (places []place) {
	isFrom := func(p *part) bool { return p.people || p.side == fromSide || p.side == fromOrOf }
	var origin, asylum *part
	for _, p := range named {
		if isFrom(p) && origin == nil {
			origin = p
		} else if asylum == nil {
			asylum = p
		}
	}
	if len(named) == 2 && origin == nil && named[1].side != "" && named[0].side == "" { // Afghanistan refugees in Iran
		origin, asylum = named[0], named[1]
	}
	only := func(name string) {
		q.figures = slices.DeleteFunc(q.figures, func(h *contract.Headline) bool { return h.Place != name })
	}
	switch {
	case len(named) > 2 || len(named) == 2 && (origin == nil || asylum == nil):
		return nil
	case origin != nil && asylum != nil:
		only("asylum_location_code")
		for _, at := range x.placesOf(asylum) {
			for _, from := range x.placesOf(origin) {
				places = append(places, place{at, none, from})
			}
		}
		origin.used, asylum.used = true, true
		return places
	case origin != nil:
		only("origin_location_code")
	case asylum.side != "":
		only("asylum_location_code")
	}
	for _, id := range x.placesOf(named[0]) {
		places = append(places, place{id, none, none})
	}
	named[0].used = true
	return places
}

// unitsOf are the units that a part names, in some countries if there are any, which the list can
// be asked for: provinces before districts.
func (x *Index) unitsOf(q *question, p *part, countries []int32) (units []int32) {
	for _, id := range p.ids {
		e := &x.entries[id]
		if (e.kind == Province || e.kind == District) && filterOf(q.endpoint(), e.kind) != nil &&
			(len(countries) == 0 || slices.Contains(countries, e.country)) {
			units = append(units, id)
		}
	}
	x.inOrder(units)
	seen := map[int32]bool{}
	return slices.DeleteFunc(units, func(id int32) bool {
		e := &x.entries[id]
		twice := e.kind == District && seen[e.country] // a province has its name
		seen[e.country] = true
		return twice
	})
}

// addUnit uses a province or district. Of two the one within the other is meant.
func (x *Index) addUnit(q *question, parts []*part) {
	var countries []int32
	for _, at := range q.places {
		if at.country != none {
			countries = append(countries, at.country)
		}
	}
	var units []int32
	for _, p := range parts {
		found := x.unitsOf(q, p, countries)
		isFrom := p.side == fromSide && slices.Contains(movements, q.endpoint().Name())
		if p.used || len(found) == 0 || isFrom || q.compared != nil {
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
	}
	if units == nil {
		return
	}
	q.places = nil
	for _, id := range units[:min(len(units), mostPlaces)] {
		q.places = append(q.places, place{x.entries[id].country, id, none})
	}
}

// mostPlaces is how many places of one name are shown.
const mostPlaces = 6
