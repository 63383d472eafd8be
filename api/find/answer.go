package find

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/say"
)

// answer is one way to answer a question: with a figure of a place, or with a page of a list.
type answer struct {
	*question
	figure *contract.Headline // nil: a page
	at     place
	isNear bool // of a place whose name has that of the question as a part
}

// answers are the ways to answer a question, the best first. A bare figure or list has none: names
// of both are found anyway.
func (s *search) answers(q *question) (all []answer) {
	isBare := len(q.asked)+len(q.ids)+len(q.compared)+len(q.left) == 0 && q.by+q.who+q.until == ""
	if isBare && (q.places == nil || q.places[0].country == none) {
		return nil
	}
	if q.places == nil {
		q.places = []place{{none, none, none}}
	}
	isPage := q.by != "" || len(q.figures) == 0 || q.places[0].country == none && len(q.left) == 0
	for _, at := range q.places {
		if isPage {
			all = append(all, answer{q, nil, at, false})
		}
	}
	for _, at := range q.places {
		for _, h := range q.figures {
			if at.country != none || !isPage {
				all = append(all, answer{q, h, at, false})
			}
		}
	}
	for _, id := range s.containing(q) {
		for _, h := range q.figures[:min(len(q.figures), 1)] {
			all = append(all, answer{q, h, place{id, none, none}, true})
		}
	}
	return all
}

// containing are the countries whose names have the name of the question's country as a part: who
// asks for Sudan may mean South Sudan.
func (s *search) containing(q *question) (others []int32) {
	if len(q.places) == 0 || q.places[0].country == none || q.places[0].unit != none {
		return nil
	}
	is := func(id int32) bool {
		return slices.ContainsFunc(q.places, func(at place) bool { return at.country == id || at.origin == id })
	}
	for id := s.firstCountry; int(id) < len(s.entries) && s.entries[id].kind == Country; id++ {
		name := " " + s.entries[id].folded + " "
		if !is(id) && strings.Contains(name, " "+s.entries[q.places[0].country].folded+" ") {
			others = append(others, id)
		}
	}
	s.inOrder(others)
	return others[:min(len(others), mostPlaces)]
}

// showsNumber reports whether nothing of the question is left, so that a number may answer it.
func (a *answer) showsNumber() bool {
	return len(a.left) == 0 && !a.isNear && a.by == "" && a.compared == nil && a.at.country != none
}

// resultOf is what is shown of an answer.
func (s *search) resultOf(a answer) (r Result, err error) {
	if a.figure == nil {
		return s.pageOf(&a), nil
	}
	r = Result{Kind: FigureKind.String(), Code: a.figure.Name, Name: s.titleOf(&a, a.figure.Title)}
	if a.at.country == none {
		r.Address, _ = s.rows(bits.TrailingZeros32(1 << a.list))
		return r, nil
	}
	r.Country, r.Until = s.entries[a.at.country].code, a.until
	r.Address, _ = s.country(r.Country)
	if s.brief {
		return r, nil
	}
	narrowing := a.narrowing()
	if narrowing && !a.figure.IsPlain() {
		return s.pageOf(&a), nil
	}
	base, err := s.figure(&a)
	if err != nil {
		return r, err
	}
	f := base
	if narrowing && a.showsNumber() && base.rows != nil && s.elsewhere(&a).IsZero() {
		if f, err = s.narrowed(&a, base); err != nil {
			return r, err
		}
		r.Question = f.rows
	}
	if f.View != "" {
		r.Address = f.View
	}
	if a.showsNumber() {
		r.Figure = s.inTime(&a, f)
	}
	return r, nil
}

// narrowing reports whether the question has filters that the figure itself does not take.
func (a *answer) narrowing() bool {
	isOfMonths := a.until != "" && a.figure.Newest == contract.NewestMonths
	takes := len(a.ids) == 1 && a.figure.Takes != "" && len(a.ids[0]) == 1
	return isOfMonths || a.who != "" || len(a.ids) > 0 && !takes || a.at.unit != none || a.at.origin != none ||
		!isOwn(a.figure.Name, a.pairs)
}

// titleOf names what is asked for: the figure or list, how it is narrowed, and the place.
func (s *search) titleOf(a *answer, title string) string {
	if a.replaces {
		title = a.endpoint().Summary
	}
	name := s.language.T(title)
	if len(a.asked) > 0 {
		name += ": " + s.language.List(a.asked)
	}
	if a.at.unit != none {
		name += ", " + s.entries[a.at.unit].name
	}
	if a.at.origin != none {
		name += ", " + s.language.T("from %s", s.nameOf(&s.entries[a.at.origin]))
	}
	for i, id := range append([]int32{a.at.country}, a.compared...) {
		switch {
		case id == none:
		case i == 0 && a.replaces && a.placeField() == "origin_location_code":
			name += ", " + s.language.T("from %s", s.nameOf(&s.entries[id]))
		case i == 0 && a.replaces && a.placeField() == "asylum_location_code":
			name += ", " + s.language.T("in %s", s.nameOf(&s.entries[id]))
		default:
			name += ", " + s.nameOf(&s.entries[id])
		}
	}
	return name
}

// inTime is a figure without its number if it is not of the time that was asked for, with a reason.
func (s *search) inTime(a *answer, f *Figure) *Figure {
	n := len(a.until)
	if f.Value == nil || n == 0 || f.Start[:n] <= a.until && (f.End == "" || f.End[:n] >= a.until) {
		return f
	}
	g := *f
	g.Value, g.Reason = nil, say.Of("no value of %s; the newest until then is of %s", a.until,
		s.language.Period(f.Start, f.End))
	return &g
}

// pageOf is a page of records of the list that answers a question, or a drawing of them.
func (s *search) pageOf(a *answer) Result {
	e := a.endpoint()
	q := contract.Ask(&contract.EndpointsIn(s.mount.Names)[a.list], contract.Rows)
	h := a.figure
	if h == nil && len(a.figures) > 0 {
		h = a.figures[0]
	}
	r := Result{Kind: List.String(), Code: q.Endpoint().Name(), Name: s.titleOf(a, e.Summary)}
	if h != nil {
		q = h.Question(s.mount.Names).As(contract.Rows)
		r.Name = s.titleOf(a, h.Title)
		q.Edition = h.Newest == contract.NewestEdition && a.by != "time" && a.by != "month" && a.until == ""
	}
	s.narrow(q, a)
	if a.compared != nil {
		var codes []string
		for _, id := range a.compared {
			codes = append(codes, s.entries[id].code)
		}
		q.KeepAll(filterOf(e, Country).Name, codes)
	}
	if a.since {
		q.Keep(startParam, a.until)
	} else if a.until != "" {
		q.Keep(startParam, a.until).Keep(endParam, a.until)
	}
	pairs := q.Pairs()
	if by := a.byOf(h); by != "" {
		if strings.HasPrefix(by, "admin") && by != "admin_level" && q.Coarsest {
			pairs = q.Keep("admin_level", by[5:6]).Pairs()
		}
		pairs = append(pairs, "by", by)
		if h != nil && h.IsPlain() && !strings.HasPrefix(h.Measures[0], "distinct") {
			_, field, _ := strings.Cut(h.Measures[0], ":")
			pairs = append(pairs, "measure", s.mount.Names.Name(field))
		}
	}
	r.Address, r.Question = s.page("/browse/")+q.Endpoint().Name(), q
	if pairs != nil {
		r.Address += "?" + contract.QueryOf(pairs...)
	}
	return r
}

// Parameters with the first and the last time of records.
const (
	startParam = "start_date"
	endParam   = "end_date"
)

// byOf is what the view of a question is drawn by, empty if it is not drawn.
func (a *answer) byOf(h *contract.Headline) string {
	field := byFields[a.by]
	switch {
	case a.by == "time" && h != nil && h.Series == "month", a.by == "month":
		return "month"
	case a.by == "time":
		return "year"
	case a.by == "place" && a.at.country != none && a.compared == nil && a.endpoint().HasField("admin1_name"):
		return "admin1_name"
	case a.by == "place" && h != nil:
		return h.Place
	case a.by == "place":
		return filterOf(a.endpoint(), Country).Name
	}
	return field
}

// narrow adds the filters of an answer to a question about its list.
func (s *search) narrow(q *contract.Question, a *answer) {
	e, names := a.endpoint(), s.mount.Names
	keep := func(field, value string) {
		if p := q.Plan().Param(names.Name(field)); p != nil {
			q.Keep(p.Name, p.Exactly(value))
		}
	}
	if a.at.country != none {
		keep(cmp.Or(a.placeField(), filterOf(e, Country).Name), s.entries[a.at.country].code)
	}
	if a.at.origin != none {
		keep("origin_location_code", s.entries[a.at.origin].code)
	}
	if a.at.unit != none {
		u := &s.entries[a.at.unit]
		if filter := kindSources[u.kind].filter; u.lists&(1<<a.list) != 0 {
			keep(filter, u.code)
		} else {
			keep(strings.TrimSuffix(filter, "code")+"name", u.name)
		}
	}
	for _, pair := range a.pairs {
		keep(pair[0], pair[1])
	}
	for _, ids := range a.ids {
		first := &s.entries[ids[0]]
		var codes []string
		for _, id := range ids {
			if c := s.entries[id].code; s.entries[id].lists&(1<<a.list) != 0 || len(ids) == 1 {
				codes = append(codes, c)
			}
		}
		if len(codes) == 0 {
			codes = []string{first.code}
		}
		if field := names.Name(kindSources[first.kind].filter); len(codes) > 1 && q.Plan().Param(field+contract.SeveralSuffix) != nil {
			q.KeepAll(field, codes)
		} else {
			keep(kindSources[first.kind].filter, codes[0])
		}
	}
}

// placeField is the field with the place of the answer's figure, empty without one.
func (a *answer) placeField() string {
	if a.figure == nil && len(a.figures) == 1 {
		return a.figures[0].Place
	}
	if a.figure == nil {
		return ""
	}
	return a.figure.Place
}

// elsewhere says of which countries a list has records, as it has none of one.
func (s *search) elsewhere(a *answer) (why say.Text) {
	if s.entries[a.at.country].lists&(1<<a.list) != 0 {
		return why
	}
	var names []string
	n := 0
	for id := s.firstCountry; int(id) < len(s.entries) && s.entries[id].kind == Country; id++ {
		if s.entries[id].lists&(1<<a.list) != 0 {
			if n++; n <= mostElsewhere {
				names = append(names, s.nameOf(&s.entries[id]))
			}
		}
	}
	if n == 0 {
		return why
	}
	if n > mostElsewhere {
		names = append(names, "…")
	}
	return say.Of("there are no such records of %s here; there are of %s countries: %s",
		s.nameOf(&s.entries[a.at.country]), n, s.language.List(names))
}

// mostElsewhere is how many countries with records are named where one has none.
const mostElsewhere = 6

// read reads the records of a question.
func (s *search) read(q *contract.Question, read func(list.Records) error) error {
	return s.lists.Query(s.served, s.mount, q, func(_ *list.Reply, rows list.Records) error {
		return read(rows)
	})
}
