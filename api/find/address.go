package find

import (
	"math/bits"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"hdqs/api/contract"
	"hdqs/api/list"
)

// result is what is shown of a hit.
func (s *search) result(h hit) (r Result, err error) {
	if h.answer != nil {
		return s.resultOf(*h.answer)
	}
	e := &s.entries[h.id]
	r = Result{Kind: e.kind.String(), Name: s.nameOf(e), Code: e.code, Within: e.of, Whole: isNamed(h.key)}
	if h.country != none && e.country == none {
		of := s.nameOf(&s.entries[h.country])
		if slices.Contains(s.from, h.country) {
			of = s.language.T("from %s", of)
		}
		r.Name += ", " + of
	}
	switch at := bits.TrailingZeros32(e.lists); {
	case e.kind == FigureKind:
		r.Address, _ = s.rows(at) // which begins with its figures
	case e.kind == List:
		r.Code = contract.EndpointsIn(s.mount.Names)[at].Name()
		var pairs []string
		if h.country != none {
			pairs = []string{sideOf(s, &contract.Endpoints[at], h.country), s.entries[h.country].code}
		}
		if r.Address, r.Question = s.rows(at, pairs...); pairs != nil && pairs[0] == "" {
			r.Question = nil // the list cannot be asked for the side that the country is on
		}
	default:
		r.Lists, err = s.links(e, h.country, r.Whole && (e.kind == Province || e.kind == District))
		r.Address, r.Question = s.entry(e, r.Lists)
	}
	for _, id := range []int32{e.parent, e.country} {
		if id != none {
			r.Within = strings.TrimPrefix(r.Within+", "+s.nameOf(&s.entries[id]), ", ")
		}
	}
	return r, err
}

// nameOf is the name of an entry in the language of the search, where it has one.
func (s *search) nameOf(e *entry) string {
	switch e.kind {
	case Country:
		return s.language.Country(e.code, e.name)
	case Group:
		return s.language.Group(e.code, e.name)
	case FigureKind, List:
		return s.language.T(e.name)
	}
	return e.name
}

// entry is the page of an entry, the first with records of it or its own record, and what it shows:
// nil if it is no page of records.
func (s *search) entry(e *entry, links []Link) (string, *contract.Question) {
	switch {
	case e.kind == Country:
		return s.country(e.code)
	case e.kind == Group:
		return s.rows(listOf("location"), contract.GroupParam, e.code)
	case e.kind == Field:
		return s.mount.Prefix + "/docs/" + links[0].Name + "#field-" + s.mount.Names.Name(e.code), nil
	case len(links) > 0:
		return links[0].Address, links[0].Question
	}
	return s.rows(listOf(kindSources[e.kind].table), kindSources[e.kind].code, e.code)
}

// shown are the positions of lists in the order in which links lead to them.
var shown = func() (all []int) {
	for _, first := range []bool{true, false} {
		for at := range contract.Endpoints {
			if e := &contract.Endpoints[at]; !isMetadata(e) && first == (e.Group() == "affected-people") {
				all = append(all, at)
			}
		}
	}
	for at := range contract.Endpoints {
		if isMetadata(&contract.Endpoints[at]) {
			all = append(all, at)
		}
	}
	return all
}()

// links are the pages with records of an entry, in a country if one is given. Where byName is set,
// they are also those of lists that have a unit by its name only, since providers have codes of
// their own.
func (s *search) links(e *entry, country int32, byName bool) (links []Link, err error) {
	for _, at := range shown {
		list := &contract.Endpoints[at]
		has := func(kind *entry) bool { return kind.lists&(1<<at) != 0 }
		isThere := country != none && e.country == none
		isChecked := isThere || e.kind == Organisation // there can be others with its acronym
		var pairs []string
		switch {
		case has(e) && (!isThere || has(&s.entries[country])):
			if filterOf(list, e.kind) != nil {
				pairs = append(pairs, kindSources[e.kind].filter, e.code)
			}
			if e.kind == Organisation {
				pairs = append(pairs, "org_name", e.name)
			}
			if isThere {
				side := sideOf(s, list, country)
				if side == "" {
					continue
				}
				pairs = append(pairs, side, s.entries[country].code)
			}
		case byName && e.country != none && has(&s.entries[e.country]) && list.HasField(nameFilter(e.kind)):
			name, err := spelled(s, e, at)
			if err != nil {
				return nil, err
			}
			if name == "" {
				continue
			}
			pairs = []string{contract.CountryParam, s.entries[e.country].code, nameFilter(e.kind), name}
		default:
			continue
		}
		address, q := s.rows(at, pairs...)
		if isChecked {
			if has, err := s.has(q); err != nil {
				return nil, err
			} else if !has {
				continue
			}
		}
		named := &contract.EndpointsIn(s.mount.Names)[at]
		links = append(links, Link{Name: named.Name(), Title: named.Summary, Address: address, Question: q})
	}
	return links, nil
}

// nameFilter is the filter by the name of a province or district.
func nameFilter(kind Kind) string {
	return strings.TrimSuffix(kindSources[kind].filter, "code") + "name"
}

// spelled is the name of a unit in a list that has no code of it: Ouaddai can be Ouaddaï there. It
// is empty if the list has no records of the unit.
func spelled(s *search, e *entry, at int) (name string, err error) {
	field := s.mount.Names.Name(nameFilter(e.kind))
	q := contract.Ask(&contract.EndpointsIn(s.mount.Names)[at], contract.Aggregate).GroupBy(field).Measure("count")
	keepExactly(q, s.mount.Names, contract.CountryParam, s.entries[e.country].code)
	err = s.read(q.Page(0, contract.MaxLimit), func(rows list.Records) error {
		for _, r := range list.TextsOf(rows) {
			if text := r.Value(field); folded(text) == e.folded {
				name = text
			}
		}
		return nil
	})
	return name, err
}

// keepExactly keeps the rows with a value, in a list that has the filter. The country may be that
// of asylum.
func keepExactly(q *contract.Question, names contract.NameSet, field, value string) {
	if p := filterOf(q.Endpoint().Contract(), Country); field == contract.CountryParam && p != nil {
		field = p.Name
	}
	if p := q.Plan().Param(names.Name(field)); p != nil {
		q.Keep(p.Name, p.Exactly(value))
	}
}

// has reports whether a question has records.
func (s *search) has(q *contract.Question) (has bool, err error) {
	if q == nil {
		return false, nil
	}
	err = s.lists.Query(s.served, s.mount, q.Copy().Page(0, 0), func(_ *list.Reply, rows list.Records) error {
		has = rows.Total() > 0
		return nil
	})
	return has, err
}

// rows is the page of some records of a list, with filters by names in the contract, and what it
// shows: nil if a name is too long for its filter.
func (s *search) rows(at int, pairs ...string) (address string, q *contract.Question) {
	q = contract.Ask(&contract.EndpointsIn(s.mount.Names)[at], contract.Rows)
	for pair := range slices.Chunk(pairs, 2) {
		keepExactly(q, s.mount.Names, pair[0], pair[1])
	}
	address = s.browse(q, q.Pairs())
	for pair := range slices.Chunk(q.Pairs(), 2) {
		if p := q.Plan().Param(pair[0]); p.Max > 0 && utf8.RuneCountInString(pair[1]) > p.Max {
			return address, nil
		}
	}
	return address, q
}

// browse is the page of the records of a question, with its pairs and others.
func (s *search) browse(q *contract.Question, pairs []string) string {
	address := s.page("/browse/") + q.Endpoint().Name()
	if pairs != nil {
		address += "?" + contract.QueryOf(pairs...)
	}
	return address
}

// country is the page of a country, or its entry in the list of countries.
func (s *search) country(code string) (string, *contract.Question) {
	if page := s.page("/country/") + url.PathEscape(code); s.lists.Routes.HandlerOf(page) != nil {
		return page, nil
	}
	return s.rows(listOf("location"), "code", code)
}
