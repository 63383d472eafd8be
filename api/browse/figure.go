package browse

import (
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
	"hdqs/api/textual"
)

// offer adds a form that draws another measure, or by something else, of the records of an address.
func (x *figure) offer(q *Question, s state, measure, by string) {
	for _, m := range measuresOf(q.Language, q.Plan.Endpoint) {
		x.Form.Measures = append(x.Form.Measures, option{m.name, m.label, m.name == measure})
	}
	for _, b := range bysOf(q, s) {
		x.Form.Bys = append(x.Form.Bys, option{b.value, b.choice(q.Language), b.value == by})
	}
	x.Form.Keep = keptIn(s.copy(measureParam, byParam, spanParam))
}

func drawFigure(q *Question, s state) (*figure, error) {
	e := q.Plan.Endpoint
	l := q.Language
	measures, bys := measuresOf(l, e), bysOf(q, s)
	if len(bys) == 0 {
		return nil, nil
	}
	isAsked := func(m measure) bool { return m.name == s.values.Get(measureParam) }
	m := measures[max(0, slices.IndexFunc(measures, isAsked))]
	by := bys[max(0, slices.IndexFunc(bys, func(b by) bool { return b.value == s.values.Get(byParam) }))]
	x := &figure{ID: "figure", Title: l.T("%[1]s by %[2]s", m.label, by.label)}
	x.offer(q, s, m.name, by.value)
	request, most := m.requests()
	x.Source = s.groups(q.Base+q.Root+e.Path+"/aggregate", by.fields, request)
	answer, err := q.Source.Ask(s.asked.As(contract.Aggregate).GroupBy(by.fields...).Measure(request...))
	issues, isWrong := Problems(err)
	if err != nil && !isWrong {
		return nil, err
	}
	var records []textual.Record
	total := 0
	if answer != nil {
		x.units = answer.Notes.Coverage
		records, total, x.Limit.Coverage = answer.Records, answer.Total, unitsText(l, x.units)
		x.Limit.Changing = answer.Notes.Provisional
	}
	if len(records) < total {
		issues = append(issues, tooManyGroups(total))
	}
	if len(issues) > 0 {
		if x, err := drawUnits(q, s, &by); x != nil || err != nil {
			return x, err
		}
		x.Refusal.Refused = messages(issues)
		x.Refusal.Heal, err = heal(q, s)
		return x, err
	}
	groups := groupsOf(q, records, &by, m.field())
	for i, r := range records {
		if text, ok := r.Text(most); ok && groups[i].known && text != groups[i].sent {
			groups[i].known = false
			x.Limit.Several++
		}
	}
	if x.Limit.Several > 0 && x.Limit.Several == len(groups) {
		x.Refusal.Refused = append(x.Refusal.Refused, say.Join(
			say.Of("%s: the records have several values, which are not added up or averaged.", m.label),
			say.Of("Choose a level, and only the newest edition.")))
		x.Refusal.Heal, err = heal(q, s)
		return x, err
	}
	if err := x.tell(q, s.asked, m, &by); err != nil {
		return nil, err
	}
	x.draw(q, s, groups, m, &by)
	if err := x.addNational(q, s, s.asked, by.fields, m.request()); err != nil {
		return nil, err
	}
	if err := x.addOthers(q, s, &by, request, total); err != nil {
		return nil, err
	}
	return x, nil
}

// drawUnits draws by province or district the records of that level, where the address asks for a
// whole country or its units. It is nil if no unit of that level has records, or they are refused.
func drawUnits(q *Question, s state, by *by) (*figure, error) {
	level := strings.TrimPrefix(by.value[:min(len(by.value), len("admin1"))], "admin")
	isOne := len(chosenOf(s, "location_code")) == 1
	if !isOne || s.values.Get(levelParam) != contract.Coarsest || level != "1" && level != "2" {
		return nil, nil
	}
	at := state{path: s.path, values: s.copy(levelParam), asked: s.asked.Copy().Keep(levelParam, level)}
	at.values.Set(levelParam, level)
	x, err := drawFigure(q, at)
	if err != nil || len(x.Refusal.Refused) > 0 || len(x.Data.Rows) == 0 || x.units.All > 0 && x.units.Have == 0 {
		return nil, err
	}
	text := chipText(q.Language, q.known.named, q.Plan.Param(levelParam), []string{level})
	x.Chosen = []link{{text, at.with(levelParam, "")}}
	return x, nil
}

// tell adds what a reader must know of a figure of some records.
func (x *figure) tell(q *Question, rows *contract.Question, m measure, b *by) (err error) {
	if x.About, err = q.about(rows); err != nil {
		return err
	}
	what, unit := q.whatOf(rows, m, b.value)
	x.About.Unit = unit
	x.entitle(q, rows, named{what: what, by: b.label, where: q.whereOf(rows, x.About, b.as == onCountries)})
	return nil
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

// unitsText says in words how many units have records, if not all have.
func unitsText(l *lang.Language, units say.Coverage) string {
	if !units.IsPart() {
		return ""
	}
	const text = "Where the fewest have records, it is %[1]s of %[2]s provinces or districts."
	return l.T(text, l.Number(strconv.Itoa(units.Have)), l.Number(strconv.Itoa(units.All)))
}
