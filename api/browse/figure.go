package browse

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
	"hdqs/api/textual"
)

// countMeasure is the measure that every list has.
const countMeasure = "records"

// figure is what a page draws of all records that pass.
type figure struct {
	ID, Title string // ID is unique on the page
	Chosen    []link // filters that were chosen for the reader, each with the page without it
	Form      figureForm
	Chart     drawnChart
	Map       drawnMap
	Data      data
	Limit     limit
	Refusal   refusal
	About     *about
	Source    string // the same figures as a request

	units say.Coverage
	span  string // the time that a chart shows, where that is not all of it
}

// figureForm is the form that draws something else.
type figureForm struct {
	Measures, Bys []option
	Keep          []option // parameters that the form sends on
}

// drawnChart is the drawing of a figure.
type drawnChart struct {
	Drawing  *chart.Drawing
	OverTime bool           // a script may draw the lines too
	Bars     *chart.Drawing // below a map of the same figures
	AllBars  []chart.Bar    // that could be drawn
	Lines    []seriesKey
	Legend   []chart.Shade
	Left     int      // groups that are not drawn
	Cut      []string // what a chart over time leaves out, in words
	Whole    link     // the page that draws all of it
}

// drawnMap is what a map lacks.
type drawnMap struct {
	Blank      bool   // it has areas without a figure
	Boundaries string // whose they are; empty without a map
	Unmapped   string // whose boundaries have none of the units
	Missing    string // areas that it does not have
	Placeless  int    // groups without a place on it
}

// data is the figures as a table.
type data struct {
	Head     []string
	Rows     [][]cell
	Codes    []string // of the names, empty without codes
	Unlisted int      // groups that are not in it
}

// limit is what a reader must know of a figure that is not all of what it seems to be.
type limit struct {
	LeftOut  []string // places of which sums would be wrong
	Coverage string   // that not all units have records
	National []string // countries of which this is not the figure of the whole country, with that one
	Coarsest string   // the page with those
	Several  int      // groups without a figure, since their records have several
	Others   link     // the page with countries that are published at other levels
	Changing []string // months whose figures their source can still change
}

// refusal is why there is no figure.
type refusal struct {
	Refused []say.Text
	Heal    string // the page that shows the right figure
}

// seriesKey is a line of the legend of a chart over time.
type seriesKey struct{ Class, Name string }

// maxBars is how many bars a page draws, maxLabels how many points in time, and maxFigures how many
// lines its table has.
const (
	maxBars    = 30
	maxLabels  = 600
	maxFigures = 600

	newestMonths = 36 // are drawn first
	maxPanels    = 12 // are drawn beside each other
)

// measure is a figure that can be drawn.
type measure struct{ name, function, label string }

// request is the measure in a request, and field the name of its figure in a record.
func (m measure) request() string {
	if m.name == countMeasure {
		return "count"
	}
	return m.function + ":" + m.name
}

func (m measure) field() string { return strings.ReplaceAll(m.request(), ":", "_") }

// only is the function of ratings and rates, which are neither added up nor averaged: a figure of
// records that all have the same one.
const only = "min"

// requests are all measures that are asked for. most is the field of the greatest figure of several
// that must be the same.
func (m measure) requests() (measures []string, most string) {
	if m.function != only {
		return []string{m.request()}, ""
	}
	return []string{m.request(), "max:" + m.name}, "max_" + m.name
}

// measuresOf are the figures of an endpoint that mean something over several records.
func measuresOf(l *lang.Language, e *contract.Endpoint) []measure {
	var all []measure
	for _, f := range e.Figures {
		name := e.Names().Name(f.Field)
		switch f.Use {
		case contract.Added:
			all = append(all, measure{name, "sum", label(l, name)})
		case contract.Averaged:
			all = append(all, measure{name, "mean", l.T("Mean of %s", strings.ToLower(label(l, name)))})
		case contract.Apart:
			i := slices.IndexFunc(e.Fields, func(x contract.Field) bool { return x.Name == name })
			if rank(e, &e.Fields[i]) == amount {
				all = append(all, measure{name, only, label(l, name)})
			}
		}
	}
	for _, h := range contract.Headlines {
		if field, distinct := strings.CutPrefix(h.Measures[0], "distinct:"); distinct && h.Path == e.Contract().Path {
			all = append(all, measure{e.Names().Name(field), "distinct", l.T(h.Title)})
		}
	}
	return append(all, measure{countMeasure, "count", l.T("Number of records")})
}

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

// unitOf is what a measure counts, for an axis.
func unitOf(l *lang.Language, e *contract.Endpoint, m measure) string {
	if m.name == countMeasure {
		return l.T("records")
	}
	unit := e.Texts().Unit(m.name)
	f := e.Figure(contract.ContractNames.Name(m.name))
	switch {
	case unit == "USD":
		return "US$"
	case unit == "" && f != nil && f.Use == contract.Added:
		return l.T(f.Noun)
	case unit == "":
		return strings.ToLower(m.label)
	}
	return l.T(unit)
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
		for _, issue := range issues {
			x.Refusal.Refused = append(x.Refusal.Refused, issue.Message())
		}
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
	x.draw(q, s, groups, m, &by)
	if err := x.addNational(q, s, s.asked, by.fields, m.request()); err != nil {
		return nil, err
	}
	if err := x.addOthers(q, s, &by, request, total); err != nil {
		return nil, err
	}
	return x, x.tell(q, s.asked, unitOf(l, e, m))
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
	text := chipText(q.Language, q.named, q.Plan.Param(levelParam), []string{level})
	x.Chosen = []link{{text, at.with(levelParam, "")}}
	return x, nil
}

// tell adds what a reader must know of a figure of some records.
func (x *figure) tell(q *Question, rows *contract.Question, unit string) (err error) {
	if x.About, err = q.about(rows); err != nil {
		return err
	}
	x.About.Unit, x.About.Period = unit, cmp.Or(x.span, x.About.Period)
	return nil
}

// addOthers says how many countries are only published at other levels than the one that is chosen.
func (x *figure) addOthers(q *Question, s state, by *by, request []string, total int) error {
	if level := s.values.Get(levelParam); by.as != onCountries || level == "" || level == contract.Coarsest {
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

// tooManyGroups says that an answer lacks groups, without which figures and their order would be
// wrong.
func tooManyGroups(total int) contract.Issue {
	return contract.Issue{Text: say.Join(
		say.Of("%s groups are more than a page can draw, which is %s.", Count(total), Count(contract.MaxLimit)),
		say.Of("Choose a country, a time, or fewer values."))}
}

// keptIn are parameters that a form sends on.
func keptIn(values url.Values) (kept []option) {
	for _, pair := range pairs(values) {
		kept = append(kept, option{Label: pair[0], Value: pair[1]})
	}
	return kept
}

// groups asks for measures of the rows of a question, by the fields that a group has in common.
// There can be more groups in total than an answer has.
func (q *Question) groups(
	rows *contract.Question, fields []string, measures ...string,
) (groups []textual.Record, total int, err error) {
	answer, err := q.Source.Ask(rows.As(contract.Aggregate).GroupBy(fields...).Measure(measures...))
	if err != nil {
		return nil, 0, err
	}
	return answer.Records, answer.Total, nil
}
