package find

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/say"
)

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
	for _, h := range q.figures {
		if of := (answer{question: q, figure: h, at: q.places[0]}); of.isOfGroup() {
			all = append(all, of)
		}
	}
	for _, at := range q.places {
		if isPage {
			all = append(all, answer{question: q, at: at})
		}
	}
	for _, at := range q.places {
		for _, h := range q.figures {
			if of := (answer{question: q, figure: h, at: at}); (at.country != none || !isPage) && !of.isOfGroup() {
				all = append(all, of)
			}
		}
	}
	for _, id := range s.containing(q) {
		for _, h := range q.figures[:min(len(q.figures), 1)] {
			all = append(all, answer{question: q, figure: h, at: place{id, none, none}, isNear: true})
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
	for id := range s.eachCountry {
		name := " " + s.entries[id].folded + " "
		if !is(id) && strings.Contains(name, " "+s.entries[q.places[0].country].folded+" ") {
			others = append(others, id)
		}
	}
	s.inOrder(others)
	return others[:min(len(others), mostPlaces)]
}

// resultOf is what is shown of an answer.
func (s *search) resultOf(a answer) (r Result, err error) {
	if a.figure == nil {
		return answerPage(s, &a)
	}
	r = Result{Kind: FigureKind.String(), Code: a.figure.Name, Name: s.titleOf(&a, a.figure.Title)}
	if a.at.country == none {
		r.Address, _ = s.rows(bits.TrailingZeros32(1 << a.list))
		if !s.brief && a.isOfGroup() && a.showsNumber() {
			r.Figure, err = ofGroup(s, &a)
			r.Address, r.Question = cmp.Or(r.Figure.View, r.Address), r.Figure.rows
		}
		return r, err
	}
	r.Countries, r.Until = []string{s.entries[a.at.country].code}, a.until
	r.Address, _ = s.country(r.Countries[0])
	if s.brief {
		return r, nil
	}
	narrowing := a.narrowing()
	if narrowing && !a.figure.IsPlain() {
		return answerPage(s, &a)
	}
	if narrowing && !a.showsNumber() {
		page, err := answerPage(s, &a)
		r.Address, r.Question, r.Reason = page.Address, page.Question, page.Reason
		return r, err
	}
	base, err := s.readFigure(&a)
	if err != nil {
		return r, err
	}
	f := base
	if narrowing && base.rows != nil && s.elsewhere(&a).IsZero() {
		if f, err = s.narrowed(&a, base); err != nil {
			return r, err
		}
		if r.Question = f.rows; f.Value == nil {
			if r.Lists, err = wider(s, &a, base); err != nil {
				return r, err
			}
		}
	} else if narrowing {
		of := *base // without records
		of.Request = ""
		f = &of
	}
	if f.View != "" {
		r.Address = f.View
	}
	if f.Value == nil && a.until != "" && r.Lists == nil && a.showsNumber() {
		of := *f
		if of.Reason, r.Lists, err = years(s, &a, f); err != nil {
			return r, err
		}
		f = &of
	}
	if r.Reason = a.noNumber(); !r.Reason.IsZero() && f.Value == nil {
		r.Reason = f.Reason
	}
	if a.showsNumber() {
		r.Figure, r.Before = inTime(s.language, &a, f), a.before
	}
	return r, nil
}

// titleOf names what is asked for: the figure or list, how it is narrowed, and the place.
func (s *search) titleOf(a *answer, title string) string {
	if a.replaces {
		title = a.endpoint().Summary
	}
	name := s.language.T(title)
	if len(a.asked) > 0 {
		name = s.language.T("%[1]s: %[2]s", name, s.language.List(a.asked))
	}
	parts := []string{name}
	if a.at.unit != none {
		parts = append(parts, s.entries[a.at.unit].name)
	}
	if a.at.origin != none {
		parts = append(parts, s.language.T("from %s", s.nameOf(&s.entries[a.at.origin])))
	}
	for i, id := range append([]int32{a.at.country}, a.compared...) {
		switch {
		case id == none:
		case i == 0 && a.replaces && a.placeField() == originField:
			parts = append(parts, s.language.T("from %s", s.nameOf(&s.entries[id])))
		case i == 0 && a.replaces && a.placeField() == asylumField:
			parts = append(parts, s.language.T("in %s", s.nameOf(&s.entries[id])))
		default:
			parts = append(parts, s.nameOf(&s.entries[id]))
		}
	}
	switch {
	case a.last != "":
		parts = append(parts, a.until+"/"+a.last)
	case a.since:
		parts = append(parts, s.language.T("since %s", a.until))
	case a.until != "":
		parts = append(parts, a.until)
	}
	return s.language.List(parts)
}

// mostYears is how many years with records are links where one has none: the newest.
const mostYears = 12

// years are the years of which a figure has records, where it has none of the time that was asked
// for, and why it has none then. Each leads to the same search of that year.
func years(s *search, a *answer, f *Figure) (why say.Text, links []Link, err error) {
	q := a.figure.Question(s.mount.Names)
	s.narrow(q, &answer{question: &question{list: a.list}, figure: a.figure, at: a.at})
	rows := q.As(contract.Rows)
	var names []string
	err = s.read(q.GroupBy("year").Measure("count"), func(records list.Records) error {
		for _, r := range list.TextsOf(records) {
			year := r.Value("year")
			of := rows.Copy().Keep(contract.StartParam, year).Keep(contract.EndParam, year)
			link := Link{of.Endpoint().Name(), year, s.viewOf(a.figure.Name, of.Endpoint(), of), of, true}
			if before := a.until[:4]; strings.Contains(s.text, before) {
				text := strings.Replace(s.text, before, year, 1)
				link.Address = s.page("/search?") + contract.QueryOf("q", text)
			}
			names, links = append(names, year), append(links, link)
		}
		return nil
	})
	if len(names) == 0 || slices.Contains(names, a.until[:4]) || err != nil { // there is another reason
		return f.Reason, nil, err
	}
	slices.Reverse(names)
	slices.Reverse(links)
	links = links[:min(len(links), mostYears)]
	return say.Of("there is no record of %s; there are records of these years: %s", a.until, say.And(names)), links, nil
}

// inTime is a figure without its number if it is not of the time that was asked for, with a reason.
func inTime(l *lang.Language, a *answer, f *Figure) *Figure {
	n := len(a.until)
	if f.Value == nil || n == 0 || f.Start[:n] <= a.until && (f.End == "" || f.End[:n] >= a.until) {
		return f
	}
	g := *f
	g.View, g.Request, g.rows = "", "", nil // which are of another time
	g.Value, g.Reason = nil, say.Of("no value of %s; the newest until then is of %s", a.until,
		l.Period(f.Start, f.End))
	return &g
}

// noNumber says why a whole question has no number, nothing of one that has.
func (a *answer) noNumber() say.Text {
	switch {
	case len(a.left) > 0 || a.isNear:
	case a.isOneSided:
		return say.Of("the list has the country where people or money arrive, not the one that they come from")
	case a.compared != nil:
		return say.Of("the answer is a number for each country, which the page compares")
	case a.by != "" && a.before == nil, a.figure == nil && len(a.figures) > 0 && a.at.country == none:
		return say.Of("the answer is more than one number, which the page shows")
	case a.figure != nil && !a.figure.IsPlain() && a.isNarrow():
		return say.Of("the figure is of the whole country, and cannot be of a part of its records")
	}
	return say.Text{}
}

// answerPage is the page that answers a question, with why it has no number. It leads to no page
// without records. A name with several codes has a page for each.
func answerPage(s *search, a *answer) (Result, error) {
	r := s.pageOf(a)
	r.Reason = a.noNumber()
	if s.brief {
		return r, nil
	}
	has, err := s.has(r.Question)
	if err != nil {
		return r, err
	}
	for _, ids := range a.ids {
		if has && len(ids) == 1 {
			continue
		}
		for _, id := range ids[:min(len(ids), mostPlaces)] {
			e := &s.entries[id]
			links, err := s.links(e, a.at.country, false)
			if err != nil {
				return r, err
			}
			for i := range links {
				links[i].Title = s.language.T("%[1]s: %[2]s", e.name+" ("+e.code+")", s.language.T(links[i].Title))
			}
			r.Lists = append(r.Lists, links...)
		}
	}
	if has {
		return r, nil
	}
	r.Question, r.Reason = nil, say.Of("no record is of all that")
	if r.Address = s.page("/browse/") + r.Code; a.at.country != none {
		r.Address, _ = s.country(s.entries[a.at.country].code)
		if why := s.elsewhere(a); !why.IsZero() {
			r.Reason = why
		}
	}
	return r, nil
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
	for _, id := range a.compared {
		r.Countries = append(r.Countries, s.entries[id].code)
	}
	if a.compared != nil {
		q.KeepAll(s.mount.Names.Name(cmp.Or(a.placeField(), filterOf(e, Country).Name)), r.Countries)
	}
	of := answer{question: a.question, figure: h, at: a.at}
	isOfEach := (a.by == "place" || a.by == "compare") && a.at.country == none && !a.since && len(a.left) == 0
	if h != nil && isOfEach && !of.narrowing() {
		r.Headline, r.Until = h.Name, a.until
	}
	if field := strings.Replace(byFields[a.by], "_name", "_code", 1); h != nil && isPinned(h, field) {
		q.Drop(s.mount.Names.Name(field))
	}
	if a.since {
		q.Keep(contract.StartParam, a.until)
		if a.last != "" {
			q.Keep(contract.EndParam, a.last)
		}
	} else if a.until != "" {
		q.Keep(contract.StartParam, a.until).Keep(contract.EndParam, a.until)
	}
	pairs := q.Pairs()
	if by := a.byOf(h); by != "" {
		if strings.HasPrefix(by, "admin") && by != "admin_level" && q.Coarsest {
			if has, err := s.has(q.Copy().Keep("admin_level", by[5:6])); err == nil && has {
				pairs = q.Keep("admin_level", by[5:6]).Pairs() // a country of its own would hide its units
			}
		}
		pairs = append(pairs, "by", by)
		if h != nil && h.IsPlain() && !strings.HasPrefix(h.Measures[0], "distinct") {
			_, field, _ := strings.Cut(h.Measures[0], ":")
			pairs = append(pairs, "measure", s.mount.Names.Name(field))
		}
	}
	r.Address, r.Question = s.page("/browse/")+q.Endpoint().Name(), q
	compare := s.page("/compare")
	isPage := s.lists.Routes.HandlerOf(compare) != nil
	if isPage && a.compared != nil && h != nil && a.until == "" && len(a.left) == 0 && !of.narrowing() {
		r.Address = compare
		pairs = []string{"figure", h.Name, "country", strings.Join(r.Countries, ", ")}
	}
	if pairs != nil {
		r.Address += "?" + contract.QueryOf(pairs...)
	}
	return r
}

// isPinned reports whether a figure keeps one value of a field.
func isPinned(h *contract.Headline, field string) bool {
	return h.Question(contract.ContractNames).Has(field)
}

// byOf is what the view of a question is drawn by, empty if it is not drawn.
func (a *answer) byOf(h *contract.Headline) string {
	field := byFields[a.by]
	switch {
	case a.by == "time" && h != nil && h.Series == "month", a.by == "month":
		return "month"
	case a.by == "time":
		return "year"
	case a.by == "compare" && h != nil:
		return h.Place
	case a.by == "place" && a.at.country != none && a.compared == nil && a.endpoint().HasField("admin1_name"):
		return "admin1_name"
	case a.by == "place" && h != nil:
		return h.Place
	case a.by == "place":
		return filterOf(a.endpoint(), Country).Name
	}
	return field
}
