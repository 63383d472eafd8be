package find

import (
	"errors"
	"math/bits"
	"net/url"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/list"
)

// result is what is shown of a hit.
func (s *search) result(h hit) (r Result, err error) {
	e := &s.entries[h.id]
	r = Result{Kind: e.kind.String(), Name: s.nameOf(e), Code: e.code, Within: e.of}
	var country []string
	if h.country != none && e.country == none {
		r.Name += ", " + s.nameOf(&s.entries[h.country])
		country = []string{contract.CountryParam, s.entries[h.country].code}
	}
	switch at := bits.TrailingZeros32(e.lists); {
	case e.kind == FigureKind && country == nil:
		r.Address = s.address(at) // which begins with its figures
	case e.kind == FigureKind:
		r.Address = s.countryAddress(country[1])
		if !s.brief {
			r.Figure, err = s.figure(e.code, country[1])
		}
		if r.Figure != nil && r.Figure.View != "" {
			r.Address = r.Figure.View
		}
	case e.kind == List:
		r.Code, r.Address = contract.EndpointsIn(s.mount.Names)[at].Name(), s.address(at, country...)
	default:
		r.Lists, err = s.links(e, h.country)
		r.Address = s.entryAddress(e, r.Lists)
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
	case FigureKind, List:
		return s.language.T(e.name)
	}
	return e.name
}

// entryAddress is the page of an entry: the first with records of it, or its own record.
func (s *search) entryAddress(e *entry, links []Link) string {
	switch {
	case e.kind == Country:
		return s.countryAddress(e.code)
	case e.kind == Field:
		return s.mount.Prefix + "/docs/" + links[0].Name + "#field-" + s.mount.Names.Name(e.code)
	case len(links) > 0:
		return links[0].Address
	}
	return s.address(listOf(kindSources[e.kind].table), kindSources[e.kind].code, e.code)
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

// links are the pages with records of an entry, in a country if one is given.
func (s *search) links(e *entry, country int32) (links []Link, err error) {
	lists, isChecked := e.lists, e.kind == Organisation // there can be others with its acronym
	if country != none && e.country == none {
		lists, isChecked = lists&s.entries[country].lists, true
	}
	for _, at := range shown {
		if lists&(1<<at) == 0 {
			continue
		}
		var pairs []string
		if filterOf(&contract.Endpoints[at], e.kind) != nil {
			pairs = append(pairs, kindSources[e.kind].filter, e.code)
		}
		if e.kind == Organisation {
			pairs = append(pairs, "org_name", e.name)
		}
		if country != none && e.country == none {
			pairs = append(pairs, contract.CountryParam, s.entries[country].code)
		}
		address := s.address(at, pairs...)
		if isChecked {
			if has, err := s.has(at, address); err != nil {
				return nil, err
			} else if !has {
				continue
			}
		}
		named := &contract.EndpointsIn(s.mount.Names)[at]
		links = append(links, Link{named.Name(), named.Summary, address})
	}
	return links, nil
}

// has reports whether a page of a list has records.
func (s *search) has(at int, address string) (has bool, err error) {
	e := &contract.EndpointsIn(s.mount.Names)[at]
	to := s.mount.Lists[list.ListKey{Endpoint: e, Kind: contract.Rows}]
	_, query, _ := strings.Cut(address, "?")
	r, err := contract.Read(to.List, query)
	if _, invalid := errors.AsType[*contract.Invalid](err); invalid { // a name that is too long for its filter
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = s.lists.Query(s.served, &to, r.Question.Page(0, 0), func(_ *list.Reply, rows list.Records) error {
		has = rows.Total() > 0
		return nil
	})
	return has, err
}

// address is the page of records of a list, with filters by names in the contract.
func (s *search) address(at int, pairs ...string) string {
	e, values := &contract.Endpoints[at], url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		name, value := pairs[i], pairs[i+1]
		if p := filterOf(e, Country); name == contract.CountryParam && p != nil {
			name = p.Name
		}
		if p := filterWhere(e, func(p *contract.Param) bool { return p.Name == name }); p != nil {
			value = p.Exactly(value)
		}
		values.Set(s.mount.Names.Name(name), value)
	}
	address := s.page("/browse/") + contract.EndpointsIn(s.mount.Names)[at].Name()
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	return address
}

// countryAddress is the page of a country, or its entry in the list of countries.
func (s *search) countryAddress(code string) string {
	if page := s.page("/country/") + url.PathEscape(code); s.lists.Routes.HandlerOf(page) != nil {
		return page
	}
	return s.address(listOf("location"), "code", code)
}
