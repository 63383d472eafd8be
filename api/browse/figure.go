package browse

import (
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
)

// drawFigure draws what an address asks for. A refused figure leads nowhere yet: heal does that,
// which draws others.
func drawFigure(q *Question, s state) (*figure, error) {
	e, l := q.Plan.Endpoint, q.Language
	m, by := q.drawnOf(s)
	if by == nil {
		return nil, nil
	}
	asked := by.label
	by, t, err := q.turned(s, m, by)
	if err != nil {
		return nil, err
	}
	x := &figure{ID: "figure", Title: l.T("%[1]s by %[2]s", m.label, by.label), apart: by.each}
	if err := x.offer(q, s, m, by); err != nil {
		return nil, err
	}
	if by.label != asked {
		text := "Drawn by %[2]s: by %[1]s, these records count people or things more than once."
		if m.function == only {
			text = "Drawn by %[2]s: by %[1]s, these records have several values, which are not added up or averaged."
		}
		x.Limit.Turned = l.T(text, asked, by.label)
	}
	if len(t.issues) > 0 {
		x.Refusal.Refused = messages(t.issues)
		return x, nil
	}
	if x.Chosen = q.brought(s, t.at); !by.each && (len(x.Chosen) > 0 || x.Limit.Turned != "") {
		x.drawn = t.at.set(measureParam, m.name, byParam, by.value)
	}
	if s = t.at; x.Limit.Turned != "" { // links go on by what is drawn
		s.values = s.set(byParam, by.value).values
	}
	request, _ := m.requests()
	x.Source = s.groups(q.Base+q.Root+e.Path+"/aggregate", by.fields, request)
	x.Limit.Coverage = unitsText(l, coverageOf(s.asked, t.answer), by.as == overTime)
	x.Limit.Changing = t.answer.Notes.Provisional
	if err := q.nameGroups(t.answer.Records, by.fields); err != nil {
		return nil, err
	}
	groups := groupsOf(q, t.answer.Records, by, m.field())
	for i := range groups {
		if t.several[i] {
			groups[i].known = false
			x.Limit.Several++
		}
	}
	if err := x.tell(q, s.asked, m, by); err != nil {
		return nil, err
	}
	x.draw(q, s, groups, m, by)
	if x.since != "" && x.Limit.Coverage != "" {
		rows := s.asked.Copy().Keep("start_date", x.since).As(contract.Aggregate)
		answer, err := q.Source.Ask(rows.GroupBy(by.fields...).Measure(request...))
		if err != nil {
			return nil, err
		}
		x.Limit.Coverage = unitsText(l, coverageOf(s.asked, answer), true)
	}
	if err := x.addSummed(q, s.asked, by, by.fields, m.request()); err != nil {
		return nil, err
	}
	if err := x.addNational(q, s, s.asked, by.fields, m.request()); err != nil {
		return nil, err
	}
	if err := x.addOthers(q, s, by, request, t.answer.Total); err != nil {
		return nil, err
	}
	return x, nil
}

// shorten leaves out the lines of the table after the first ones, unless the address asks for all.
func (x *figure) shorten(s state) {
	if x.Data.Open = s.values.Get(moreParam) == moreFigures; x.Data.Open || x.Data.Times {
		return
	}
	if x.Data.More = max(0, len(x.Data.Rows)-shownFigures); x.Data.More > 0 {
		x.Data.Rows = x.Data.Rows[:shownFigures]
		x.Data.All = s.with(moreParam, moreFigures) + "#" + x.ID + "-heading"
	}
}

// tell adds what a reader must know of a figure of some records.
func (x *figure) tell(q *Question, rows *contract.Question, m measure, b *by) (err error) {
	if x.About, err = q.about(rows); err != nil {
		return err
	}
	field, label := b.value, b.label
	if isOfOne(rows, field) {
		field, label = "", ""
	}
	what, unit, around := q.whatOf(rows, m, field)
	x.About.Unit, x.around = unit, around
	x.entitle(q, rows, named{what: what, by: label, where: q.whereOf(rows, x.About, b.as == onCountries)})
	return nil
}

// isOfOne reports whether a question is about one value of a field, so that nothing is compared by
// it. Of names that is their code: other names can have a name in them.
func isOfOne(rows *contract.Question, field string) bool {
	field = strings.Replace(field, "_name", "_code", 1)
	values := splitLists(append(rows.Texts(field), rows.Texts(field+contract.SeveralSuffix)...))
	return len(values) == 1 && !isAny(values[0])
}

// unasked is the first right figure of records that no drawing of their list suits, nil without
// one. Panels of many values at once are drawn only for who asks for them.
func unasked(q *Question, s state) (*figure, error) {
	x, err := drawFigure(q, s)
	if err != nil || x == nil || len(x.Refusal.Refused) > 0 {
		return nil, err
	}
	if drawing := x.Chart.Drawing; drawing == nil || drawing.Panels != nil {
		return nil, nil
	}
	x.Limit.Turned = "" // from what nobody has chosen
	return x, nil
}

// addOthers says how many countries are only published at other levels than the one that is chosen.
func (x *figure) addOthers(q *Question, s state, by *by, request []string, total int) error {
	level, param := s.values.Get(levelParam), q.Plan.Param(levelParam)
	if by.as != onCountries || level == "" || level == contract.Coarsest || !param.Takes(contract.Coarsest) {
		return nil
	}
	wide := valuesPairs(levelParam, contract.Coarsest)
	rows := s.asked.Copy().Drop(levelParam+contract.SeveralSuffix).Keep(levelParam, contract.Coarsest)
	_, all, err := q.groups(rows, by.fields, request...)
	if _, refused := Problems(err); refused {
		return nil
	}
	if all > total {
		const text = "%s more countries have records at other levels only: show all"
		x.Limit.Others = link{q.Language.T(text, lang.Count(all-total)), s.with(wide...)}
	}
	return err
}

// coverageOf is how many units have records. It is zero where the question names units: the others
// are not asked for.
func coverageOf(asked *contract.Question, answer *Answer) say.Coverage {
	if namesUnits(asked) {
		return say.Coverage{}
	}
	return answer.Notes.Coverage
}

// namesUnits reports whether a question is about some units or markets.
func namesUnits(asked *contract.Question) bool {
	units := []string{"admin1_code", "admin1_name", "admin2_code", "admin2_name", "market_code", "market_name"}
	return slices.ContainsFunc(units, func(name string) bool {
		return asked.Has(name) || asked.Has(name+contract.SeveralSuffix)
	})
}

// unitsText says in words how many units have records, if not all have. Times of which some have
// records of nearly all can be compared.
func unitsText(l *lang.Language, units say.Coverage, overTime bool) string {
	if !units.IsPart() {
		return ""
	}
	text := "%[1]s of %[2]s provinces or districts have data."
	if overTime && 10*units.Have < 9*units.All {
		text = "In the time with the fewest reports, %[1]s of %[2]s provinces or districts reported; " +
			"do not compare it with the others."
	}
	said := l.T(text, l.Number(strconv.Itoa(units.Have)), l.Number(strconv.Itoa(units.All)))
	if units.Have == 0 {
		said += " " + l.T("These records are of units that are not in the list of units.")
	}
	return said
}
