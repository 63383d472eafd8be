package figures

import (
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/say"
)

// aggregates are the records of a request of kind Aggregate.
type aggregates struct {
	fields  []contract.Field
	groups  int  // how many of the fields are groups
	level   bool // the field after those is the level of the rows
	least   int  // its measure: the least level; the next is the greatest
	result  *aggregate.Result
	from, n int
	total   int
	columns []column // by field, but for the groups
	covered *covered // nil if it is not known
	notes   say.Notes
}

// column is what a field of a record has: a measure, by its position, or a part of coverage.
type column struct {
	measure      int
	units, known bool
	level        bool // of the rows
	exact        bool // a sum, which has all its digits
}

// AggregateSource answers with figures of groups.
var AggregateSource = &list.RecordSource{
	Kind: contract.Aggregate, Version: '1', Long: true, Compute: compute, Seed: coverageSeed,
}

// compute computes the figures of a request, or refuses it if they would be wrong.
func compute(s *list.Lists, a *list.Reply) (list.Records, error) {
	r := &a.Request.Question
	found := &aggregates{fields: r.AggregateFields(), groups: len(r.Groups), level: r.ShowsLevel()}
	if found.level {
		found.columns = append(found.columns, column{level: true})
	}
	measures := 0
	for _, m := range r.Measures {
		if m.Func == contract.Coverage {
			found.columns = append(found.columns, column{units: true}, column{known: true})
			continue
		}
		found.columns = append(found.columns, column{measure: measures, exact: m.Func == aggregate.Sum})
		measures++
	}
	if a.List.Segment == nil {
		if found.groups == 0 {
			found.total = 1
		}
		found.from, found.n = pageOf(r, found.total)
		return found, nil
	}
	adds, err := a.List.Adder(a.Endpoint)
	if err != nil {
		return nil, err
	}
	check := checker{list: a.List, plan: r.Plan(), adder: adds}
	if a.HasTurn {
		check.pause = a.Pause
	}
	wrong, err := check.check(r)
	if err == nil && len(wrong) > 0 {
		err = check.refuse(r, a.Requested(), wrong)
	}
	if err != nil {
		return nil, err
	}
	a.SetQuery(a.List)
	question := questionOf(r, a.Endpoint, &a.Query)
	question.Pause = check.pause
	named := unitsByName(r)
	if named != "" { // after those of the request
		countries := aggregate.Measure{Func: aggregate.Distinct, Column: countryColumn}
		question.Measures = append(question.Measures, countries)
	}
	if found.level {
		found.least = len(question.Measures)
		question.Measures = append(question.Measures, aggregate.Measure{Func: aggregate.Min, Column: levelColumn},
			aggregate.Measure{Func: aggregate.Max, Column: levelColumn})
	}
	found.result, err = adds.Table.Answer(question)
	if err != nil {
		return nil, tooMany(err)
	}
	found.total = found.result.Len()
	found.from, found.n = pageOf(r, found.total)
	if found.covered, err = coverageOf(s, a, found, adds.Table, question.Pause); err != nil {
		return nil, tooMany(err)
	}
	if found.notes.Countries, err = countryCoverage(adds.Table, &a.Request.Question, question); err == nil {
		err = found.addNotes(a, &check, named, measures)
	}
	return found, err
}

// addNotes adds what the answer says besides its groups. named is the name field by which units are
// grouped, if any, and countries the measure that counts their countries.
func (f *aggregates) addNotes(a *list.Reply, check *checker, named string, countries int) (err error) {
	notes := &f.notes
	if f.covered != nil && f.covered.shown {
		notes.Coverage = say.Coverage(f.covered.least)
	}
	if notes.Provisional, err = a.ProvisionalMonths(); err != nil {
		return err
	}
	if a.Request.Question.Unhinted {
		return nil
	}
	if notes.Hints, err = check.hints(&a.Request.Question, &a.Query); err != nil {
		return err
	}
	passing := f.total
	if len(a.Request.Question.Groups) == 0 {
		passing = 0 // the one group may be of no record
	}
	notes.Hints = append(notes.Hints, list.NameHints(&a.Request.Question, a.Served.Bound, a.List, passing)...)
	if named != "" && f.mixesCountries(countries) {
		notes.Hints = append(notes.Hints, say.Of("Groups of %s have records of several countries, which share that "+
			"name; group by %s too.", named, countryColumn))
	}
	return nil
}

// mixesCountries reports whether a group has several countries, by the measure that counts them.
func (f *aggregates) mixesCountries(measure int) bool {
	for i := range f.total {
		if f.result.Measure(i, measure).Int > 1 {
			return true
		}
	}
	return false
}

// pageOf returns where the page of a request begins among all records, and how many it has.
func pageOf(r *contract.Question, total int) (from, n int) {
	from = int(min(r.Offset, uint64(total)))
	return from, min(r.Limit, total-from)
}

func (f *aggregates) Fields() []contract.Field { return f.fields }
func (f *aggregates) Len() int                 { return f.n }
func (f *aggregates) Total() int               { return f.total }
func (f *aggregates) Notes() say.Notes         { return f.notes }

// AppendCell appends a figure. Fields of groups and single values are written as in records of
// rows, sums with all their digits.
func (f *aggregates) AppendCell(dst []byte, record, field int, csv bool) []byte {
	v := f.Value(record, field)
	if v.Kind != aggregate.Decimal || field < f.groups || !f.columns[field-f.groups].exact {
		return appendFigure(dst, v, csv)
	}
	from := len(dst)
	if dst = v.Append(dst); !strings.Contains(string(dst[from:]), ".") {
		dst = append(dst, ".0"...) // a number of the same type as in records of rows
	}
	return dst
}

// appendFigure appends a value as records of rows have it.
func appendFigure(dst []byte, v aggregate.Value, csv bool) []byte {
	switch v.Kind {
	case aggregate.Text:
		return render.AppendText(dst, v.Text, csv)
	case aggregate.Int:
		return v.Append(dst)
	case aggregate.Float:
		return render.AppendFloat(dst, v.Float)
	case aggregate.Bool:
		return render.AppendBool(dst, v.Int != 0, csv)
	case aggregate.Time:
		return render.AppendTime(dst, v.Int, csv)
	case aggregate.Decimal:
		return render.AppendExact(dst, v.String())
	}
	return render.AppendNull(dst, csv)
}

// Value is a field of a record of the page. Without a table there are no values, and counts are 0.
func (f *aggregates) Value(record, field int) aggregate.Value {
	switch {
	case f.result == nil && !f.fields[field].Nullable:
		return aggregate.Value{Kind: aggregate.Int}
	case f.result == nil:
		return aggregate.Value{}
	case field < f.groups:
		return f.result.Group(f.from+record, field)
	}
	switch c := f.columns[field-f.groups]; {
	case c.units:
		return f.covered.of[f.from+record].value(false)
	case c.known:
		return f.covered.of[f.from+record].value(true)
	case c.level:
		return f.levelOf(f.from + record)
	default:
		return f.result.Measure(f.from+record, c.measure)
	}
}

// levelOf is the level of the rows of a group, null if they have several.
func (f *aggregates) levelOf(group int) aggregate.Value {
	least := f.result.Measure(group, f.least)
	if least != f.result.Measure(group, f.least+1) {
		return aggregate.Value{}
	}
	return least
}
