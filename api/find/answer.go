package find

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/api/list"
)

// answers are the ways to answer a question, the best first. A bare figure or list has none: names
// of both are found anyway.
func (s *search) answers(q *question) (all []answer) {
	isBare := len(q.asked)+len(q.ids)+len(q.compared)+len(q.left) == 0 && q.by+q.until == "" && q.who == (group{})
	if isBare && q.country() == none {
		return nil
	}
	if q.places == nil {
		q.places = []place{{none, none, none}}
	}
	isPage := q.by != "" || len(q.figures) == 0 || q.places[0].country == none && len(q.left) == 0
	var pages, figures []answer
	for _, at := range q.places {
		if isPage {
			pages = append(pages, answer{question: q, at: at})
		}
		for _, h := range q.figures {
			of := answer{question: q, figure: h, at: at}
			if of.isOfGroup() {
				all = append(all, of)
			} else if at.country != none || !isPage {
				figures = append(figures, of)
			}
		}
	}
	all = slices.Concat(all, pages, figures)
	var near []place
	if q.places[0].unit == none {
		near = append(near, q.namesakes[:min(len(q.namesakes), mostPlaces)]...)
	}
	for _, id := range s.containing(q) {
		near = append(near, place{id, none, none})
	}
	for _, at := range near {
		for _, h := range q.figures[:min(len(q.figures), 1)] {
			all = append(all, answer{question: q, figure: h, at: at, isNear: true})
		}
	}
	return all
}

// containing are the countries whose names have the name of the question's country as a part: who
// asks for Sudan may mean South Sudan.
func (s *search) containing(q *question) (others []int32) {
	if !q.isOfCountry() {
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
	s.inOrder(others, "")
	return others[:min(len(others), mostPlaces)]
}

// resultOf is what is shown of an answer.
func (s *search) resultOf(a answer) (r Result, err error) {
	isOfAll, isOfGroup := a.at.country == none, a.isOfGroup()
	isNarrow := a.figure != nil && (isOfGroup || !isOfAll && a.narrowing())
	if a.figure == nil || isNarrow && !a.figure.CanNarrow() {
		return answerPage(s, &a)
	}
	r = Result{Kind: FigureKind.String(), Code: a.figure.Name, Name: s.titleOf(&a, a.figure.Title)}
	if isOfAll {
		r.Address, _ = s.rows(a.list)
	} else {
		r.Countries, r.Until = []string{s.entries[a.at.country].code}, a.until
		r.Address, _ = s.country(r.Countries[0])
	}
	if s.brief {
		r.Address, err = suggestedPage(s, &a, &r)
		return r, err
	}
	if isOfAll && !(isOfGroup && a.showsNumber()) {
		return r, nil
	}
	if isNarrow && !a.showsNumber() {
		page, err := answerPage(s, &a)
		r.Address, r.Question, r.Reason = page.Address, page.Question, page.Reason
		return r, err
	}
	base, err := s.readFigure(&a)
	if err != nil {
		return r, err
	}
	f := base
	if isNarrow {
		if f, err = s.narrowed(&a, base); err != nil {
			return r, err
		}
	}
	if f.Reading == "" { // of some records
		r.Question = f.rows
	}
	r.Address = cmp.Or(f.View, r.Address)
	if !a.showsNumber() {
		if r.Reason = a.noNumber(); !r.Reason.IsZero() && f.Value == nil {
			r.Reason = f.reason
		}
		return r, nil
	}
	r.Figure, r.Before = inTime(s.language, &a, f), a.before
	if r.Figure.Value == nil {
		r.Reason, r.Lists, err = insteadOf(s, &a, r.Figure, base)
	}
	return r, err
}

// suggestedPage is the page of the records of a suggestion, or its search where there are none: a
// page of a country has the newest figures of all.
func suggestedPage(s *search, a *answer, r *Result) (string, error) {
	if a.isOneSided { // its records are of the other side
		return r.Address, nil
	}
	search := s.page("/search") + "?" + contract.QueryOf("q", r.Name)
	if a.who == (group{}) {
		page := s.pageOf(a)
		if has, err := s.has(page.Question); !has || err != nil {
			return search, err
		}
		return page.Address, nil
	}
	if a.at.country == none || !a.showsNumber() {
		return search, nil
	}
	base, err := s.readFigure(a)
	if err != nil {
		return search, err
	}
	f, err := s.narrowed(a, base) // the ages of the list are read
	if err != nil {
		return search, err
	}
	return cmp.Or(f.View, search), nil
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
		if !a.isOfRecords() {
			r.Name = s.titleOf(a, h.Title)
		}
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
	if r.Headline != "" && h.Newest == contract.NewestMonths && a.until == "" {
		keepMonths(s, q)
	}
	field := strings.Replace(byFields[a.by], "_name", "_code", 1)
	if h != nil && h.Question(contract.ContractNames).Has(field) { // the figure's own value of what it is drawn by
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
			pairs = append(pairs, "measure", s.mount.Names.Name(cmp.Or(a.measure, field)))
		}
	}
	r.Address, r.Question = s.browse(q, pairs), q
	compare := s.page("/compare")
	isPage := s.lists.Routes.HandlerOf(compare) != nil
	switch {
	case !isPage || h == nil || len(a.left) > 0:
	case a.compared != nil && a.until == "" && !of.narrowing():
		r.Address = compare + "?" + contract.QueryOf("figure", h.Name, "country", strings.Join(r.Countries, ", "))
	case h.IsPlain() || a.by == "":
	case r.Headline != "" && a.until == "" && h.Newest != contract.YearApart: // the first view of the list has it
		r.Address, _ = s.rows(a.list)
	default: // the page draws numbers of which the figure is made
		r.Name = s.titleOf(a, e.Summary)
	}
	return r
}

// keepMonths keeps the 12 months that end with the newest one of a list.
func keepMonths(s *search, q *contract.Question) {
	start := s.mount.Names.Name(contract.PeriodStart)
	newest := contract.Ask(q.Endpoint(), contract.Aggregate).Measure("max:" + start)
	_ = s.read(newest, func(records list.Records) error { // with all months its title says so
		for _, r := range list.TextsOf(records) {
			text := r.Value("max_" + start)
			if month, err := time.Parse("2006-01", text[:min(len(text), len("2006-01"))]); err == nil {
				q.Keep(contract.StartParam, month.AddDate(0, -11, 0).Format("2006-01"))
			}
		}
		return nil
	})
}

// byOf is what the view of a question is drawn by, empty if it is not drawn.
func (a *answer) byOf(h *contract.Headline) string {
	field := byFields[a.by]
	switch {
	case a.by == "time" && h != nil && h.Series == "month", a.by == "month" && !contract.IsYearly(a.endpoint()):
		return "month"
	case a.by == "time", a.by == "month":
		return "year"
	case a.by == "compare" && h != nil:
		return h.Place
	case a.by == "place" && a.at.country != none && a.compared == nil && a.endpoint().HasField("admin1_name"):
		return "admin1_name"
	case a.by == "place" && h != nil:
		return h.Place
	case a.by == "place":
		if p := filterOf(a.endpoint(), Country); p != nil { // the list of countries has none
			return p.Name
		}
	}
	return field
}
