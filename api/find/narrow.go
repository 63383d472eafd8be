package find

import (
	"cmp"
	"slices"

	"hdqs/api/contract"
	"hdqs/api/list"
)

// answer is one way to answer a question: with a figure of a place, or with a page of a list.
type answer struct {
	*question
	figure *contract.Headline // nil: a page
	at     place
	isNear bool // of a place whose name has that of the question as a part
	before *Before
}

// but is an answer to a question that is changed.
func (a *answer) but(change func(*question)) answer {
	q := *a.question
	change(&q)
	return answer{question: &q, figure: a.figure, at: a.at}
}

// showsNumber reports whether nothing of the question is left, so that a number may answer it.
func (a *answer) showsNumber() bool {
	return len(a.left) == 0 && !a.isNear && !a.isOneSided && (a.by == "" || a.before != nil) && a.compared == nil &&
		(a.at.country != none || a.isOfGroup()) && !a.isShareOfPeople() && !a.isOfMonths()
}

// isShareOfPeople reports whether the question is how many people there are, and the figure is not.
func (a *answer) isShareOfPeople() bool {
	return a.isCount && a.figure != nil && a.figure.Name == "poverty_headcount"
}

// isOfMonths reports whether the question is of a year, and the figure of some months, as rain is.
func (a *answer) isOfMonths() bool {
	return len(a.until) == len("2006") && a.figure != nil &&
		a.figure.Question(contract.ContractNames).Has("aggregation_period")
}

// narrowing reports whether the question has filters, or a time, that the figure does not take.
func (a *answer) narrowing() bool {
	return a.until != "" && a.figure.Newest == contract.NewestMonths || a.isNarrow()
}

// isNarrow reports whether the question has filters that the figure itself does not take.
func (a *answer) isNarrow() bool {
	return a.who != (group{}) || len(a.ids) > 0 || a.at.unit != none || a.at.origin != none ||
		!isOwn(a.figure.Name, a.pairs) || !isOwnMeasure(a.figure.Name, a.measure)
}

// isOfRecords reports whether the question is about some records of a figure that cannot be made of
// some: prices of rice are no part of the change of all prices.
func (a *answer) isOfRecords() bool {
	return a.figure != nil && !a.figure.CanNarrow() && a.isNarrow()
}

// narrow adds the filters of an answer to a question about its list.
func (s *search) narrow(q *contract.Question, a *answer) {
	e, names := a.endpoint(), s.mount.Names
	keep := func(field, value string) { keepExactly(q, names, field, value) }
	if a.at.country != none {
		keep(cmp.Or(a.placeField(), filterOf(e, Country).Name), s.entries[a.at.country].code)
	}
	if a.at.origin != none {
		keep(originField, s.entries[a.at.origin].code)
	}
	if a.at.unit != none {
		u := &s.entries[a.at.unit]
		if filter := kindSources[u.kind].filter; u.lists&(1<<a.list) != 0 {
			keep(filter, u.code)
		} else {
			name, _ := spelled(s, u, a.list) // an error is damage, which is noted, and comes again
			keep(nameFilter(u.kind), cmp.Or(name, u.name))
		}
		if a.figure != nil && a.figure.Whole { // whose rows are of the whole country
			q.Keep("admin_level", contract.Coarsest)
		}
	}
	for _, pair := range append(slices.Clip(a.pairs), a.of) {
		keep(pair[0], pair[1])
	}
	for _, ids := range a.ids {
		first := &s.entries[ids[0]]
		var codes []string
		for _, id := range ids {
			if c := s.entries[id].code; s.entries[id].lists&(1<<a.list) != 0 {
				codes = append(codes, c)
			}
		}
		if len(codes) == 0 {
			codes = []string{first.code}
		}
		field := names.Name(kindSources[first.kind].filter)
		if len(codes) > 1 && q.Plan().Param(field+contract.SeveralSuffix) != nil {
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

// read reads the records of a question.
func (s *search) read(q *contract.Question, read func(list.Records) error) error {
	return s.lists.Query(s.served, s.mount, q, func(_ *list.Reply, rows list.Records) error {
		return read(rows)
	})
}
