package find

import (
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/say"
)

// insteadOf is why a figure has no value, with what there is in its place: the nearest that is more
// than what was asked for, or other years. base is the figure of everybody.
func insteadOf(s *search, a *answer, f, base *Figure) (why say.Text, links []Link, err error) {
	for _, wider := range widerThan(s, a) {
		of := base
		if wider.isNarrow() {
			if of, err = s.narrowed(&wider, base); err != nil {
				return why, nil, err
			}
		}
		if of.Value != nil { // not shown, as it answers another question
			title := s.titleOf(&wider, a.figure.Title)
			return f.reason, []Link{{of.rows.Endpoint().Name(), title, of.View, of.rows, false}}, nil
		}
	}
	if a.until != "" && a.at.country != none {
		if why, links, err = ofYears(s, a); links != nil {
			return why, links, err
		}
	}
	return f.reason, nil, err
}

// widerThan are the same questions of more people or places, the nearest first: of all ages in
// place of some, of everybody, and of the whole country.
func widerThan(s *search, a *answer) (all []answer) {
	for _, wider := range [][3]string{
		{"female", "f", "all women and girls"}, {"male", "m", "all men and boys"}, {"", a.who.gender, "all ages"},
	} {
		if wider[1] != a.who.gender || a.who == people[wider[0]] {
			continue
		}
		all = append(all, a.but(func(q *question) {
			q.who = people[wider[0]]
			q.asked = slices.DeleteFunc(slices.Clone(q.asked), func(written string) bool {
				return slices.ContainsFunc(vocabularies().terms[folded(written)], term.isWho)
			})
			q.asked = append(q.asked, s.language.T(wider[2]))
		}))
	}
	if a.at.unit != none {
		whole := *a
		whole.at.unit = none
		all = append(all, whole)
	}
	return all
}

// mostYears is how many years with records are links where one has none: the newest.
const mostYears = 12

// ofYears are the years of which a figure has records, where it has none of the time that was asked
// for. Each leads to the same search of that year.
func ofYears(s *search, a *answer) (why say.Text, links []Link, err error) {
	q := a.figure.Question(s.mount.Names)
	s.narrow(q, &answer{question: &question{list: a.list, pairs: a.pairs}, figure: a.figure, at: a.at})
	rows, asked := q.As(contract.Rows), a.until[:4]
	var names []string
	err = s.read(q.GroupBy("year").Measure("count"), func(records list.Records) error {
		for _, r := range list.TextsOf(records) {
			year := r.Value("year")
			of := rows.Copy().Keep(contract.StartParam, year).Keep(contract.EndParam, year)
			link := Link{of.Endpoint().Name(), year, s.viewOf(a.figure.Name, of.Endpoint(), of), of, true}
			if strings.Contains(s.text, asked) {
				text := strings.Replace(s.text, asked, year, 1)
				link.Address = s.page("/search?") + contract.QueryOf("q", text)
			}
			names, links = append(names, year), append(links, link)
		}
		return nil
	})
	if len(names) == 0 || slices.Contains(names, asked) || err != nil { // there is another reason
		return why, nil, err
	}
	slices.Reverse(names)
	slices.Reverse(links)
	why = say.Of("there is no record of %s; there are records of these years: %s", a.until, say.And(names))
	return why, links[:min(len(links), mostYears)], nil
}

// inTime is a figure without its number if it is not of the time that was asked for, with a reason.
func inTime(l *lang.Language, a *answer, f *Figure) *Figure {
	n := len(a.until)
	if f.Value == nil || n == 0 || f.Start[:n] <= a.until && (f.End == "" || f.End[:n] >= a.until) {
		return f
	}
	g := *f
	g.View, g.Request, g.rows = "", "", nil // which are of another time
	g.Value, g.reason = nil, say.Of("no value of %s; the newest until then is of %s", a.until,
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
	case a.by != "" && a.before == nil, a.figure == nil && len(a.figures) > 0 && a.at.country == none,
		a.isOfRecords(), a.isOfMonths():
		return say.Of("the answer is more than one number, which the page shows")
	case a.isShareOfPeople():
		return say.Of("the figure is a share of the people, and not their number")
	}
	return say.Text{}
}

// elsewhere says of which countries a list has records, as it has none of one.
func (s *search) elsewhere(a *answer) (why say.Text) {
	if s.entries[a.at.country].lists&(1<<a.list) != 0 || a.placeField() == originField { // the bits are of asylum
		return why
	}
	var names []string
	for id := range s.eachCountry {
		if s.entries[id].lists&(1<<a.list) != 0 {
			names = append(names, s.nameOf(&s.entries[id]))
		}
	}
	return notOf(s, a, names)
}

// notOf says of which countries there are records, as there are none of one.
func notOf(s *search, a *answer, names []string) (why say.Text) {
	n := len(names)
	switch {
	case n == 0:
		return why
	case n == 1:
		return say.Of("there are no such records of %s here; there are of %s only",
			s.nameOf(&s.entries[a.at.country]), names[0])
	case n > mostPlaces:
		names = append(names[:mostPlaces], "…")
	}
	return say.Of("there are no such records of %s here; there are of %s countries: %s",
		s.nameOf(&s.entries[a.at.country]), n, s.language.List(names))
}

// alike says of which countries a list has the commodity, the sector or the organisation of a
// question, as there are none of its country. It leads to the records of the first of them.
func alike(s *search, a *answer) (why say.Text, links []Link, err error) {
	if len(a.ids) == 0 {
		return s.elsewhere(a), nil, nil
	}
	e := &contract.EndpointsIn(s.mount.Names)[a.list]
	country := s.mount.Names.Name(filterOf(a.endpoint(), Country).Name)
	q := contract.Ask(e, contract.Aggregate)
	s.narrow(q, &answer{question: &question{list: a.list, ids: a.ids, pairs: a.pairs}, at: place{none, none, none}})
	rows, has := q.As(contract.Rows), map[string]bool{}
	err = s.read(q.GroupBy(country).Measure("count"), func(records list.Records) error {
		for _, r := range list.TextsOf(records) {
			has[r.Value(country)] = true
		}
		return nil
	})
	if has[s.entries[a.at.country].code] { // there is another reason
		return why, nil, err
	}
	var names []string
	for id := range s.eachCountry {
		if c := &s.entries[id]; has[c.code] {
			of := rows.Copy().Keep(country, c.code)
			names = append(names, s.nameOf(c))
			links = append(links, Link{e.Name(), s.nameOf(c), s.browse(of, of.Pairs()), of, true})
		}
	}
	return notOf(s, a, names), links[:min(len(links), mostPlaces)], err
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
		why, links, err := alike(s, a)
		if r.Lists = append(r.Lists, links...); !why.IsZero() {
			r.Reason = why
		}
		return r, err
	}
	return r, nil
}
