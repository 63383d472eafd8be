package api

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/index"
)

// adder is what a list needs for aggregates, made at the first request for one.
type adder struct {
	once     sync.Once
	made     atomic.Bool // the fields below can be read
	table    *aggregate.Table
	overlaps *index.Overlaps // of amounts that add up over time, else nil
	err      error
}

// bytes is the memory of what was made of the list's table so far.
func (a *adder) bytes() int64 {
	if a == nil || !a.made.Load() || a.err != nil {
		return 0
	}
	n := a.table.Bytes()
	if a.overlaps != nil {
		n += a.overlaps.Bytes()
	}
	return n
}

// adder returns the list's adder.
func (l *boundList) adder(e *contract.Endpoint) (*adder, error) {
	a := l.adds.Load()
	if a == nil {
		l.adds.CompareAndSwap(nil, new(adder))
		a = l.adds.Load()
	}
	if a == nil { // given up just now: the snapshot was replaced
		a = new(adder)
	}
	a.once.Do(func() {
		defer a.made.Store(true)
		var o aggregate.Options
		if e.HasPeriod() {
			o = aggregate.Options{PeriodStart: contract.PeriodStart, PeriodEnd: contract.PeriodEnd}
		}
		if a.table, a.err = aggregate.Open(l.index, l.segment, o); a.err == nil && e.AddsOverTime() {
			a.overlaps, a.err = l.index.NewOverlaps(e.Series(), contract.PeriodStart, contract.PeriodEnd)
		}
	})
	return a, a.err
}

// aggregates are the records of a request of kind Aggregate.
type aggregates struct {
	fields  []contract.Field
	groups  int // how many of the fields are groups
	result  *aggregate.Result
	from, n int
	total   int
	exact   []bool // by field: sums, which have all their digits
	hint    string
}

var aggregateComputation = &computation{kind: contract.Aggregate, version: '1', compute: (*Server).aggregate}

// aggregate computes the figures of a request, or refuses it if they would be wrong.
func (s *Server) aggregate(a *reply) (records, error) {
	r := &a.request
	found := &aggregates{fields: r.AggregateFields(), groups: len(r.Groups)}
	for i := range found.fields {
		found.exact = append(found.exact, i >= found.groups && r.Measures[i-found.groups].Func == contract.Sum)
	}
	if a.list.segment == nil {
		if found.groups == 0 {
			found.total = 1
		}
		found.page(r)
		return found, nil
	}
	adds, err := a.list.adder(a.endpoint)
	if err != nil {
		return nil, err
	}
	check := sumCheck{list: a.list, plan: r.Plan(), adder: adds}
	wrong, err := check.check(r)
	if err == nil && len(wrong) > 0 {
		err = check.refuse(r, a.requested(), wrong)
	}
	if err != nil {
		return nil, err
	}
	a.list.setQuery(a.scratch)
	found.result, err = adds.table.Answer(questionOf(r, a.endpoint, &a.query))
	if err != nil {
		return nil, tooMany(err)
	}
	found.total = found.result.Len()
	found.page(r)
	found.hint, err = check.hint(r)
	return found, err
}

// Functions and parts of the contract as those of package aggregate.
var (
	aggregateFuncs = [...]aggregate.Func{
		contract.Count: aggregate.Count, contract.Sum: aggregate.Sum, contract.Min: aggregate.Min,
		contract.Max: aggregate.Max, contract.Mean: aggregate.Mean, contract.Distinct: aggregate.Distinct,
		contract.Latest: aggregate.Latest,
	}
	aggregateParts = [...]aggregate.Part{
		contract.Whole: aggregate.Whole, contract.Year: aggregate.Year, contract.Quarter: aggregate.Quarter,
		contract.Month: aggregate.Month,
	}
)

func questionOf(r *contract.Request, e *contract.Endpoint, q *index.Query) *aggregate.Question {
	question := &aggregate.Question{Query: q}
	for _, g := range r.Groups {
		group := aggregate.Group{Column: e.Fields[g.Field].Column(), Part: aggregateParts[g.Part]}
		question.Groups = append(question.Groups, group)
	}
	for _, m := range r.Measures {
		measure := aggregate.Measure{Func: aggregateFuncs[m.Func]}
		if m.Func != contract.Count {
			measure.Column = e.Fields[m.Field].Column()
		}
		question.Measures = append(question.Measures, measure)
	}
	return question
}

// tooMany turns the limits on groups and values into errors of the request.
func tooMany(err error) error {
	param, text := "", ""
	if e, ok := errors.AsType[*aggregate.TooManyGroups](err); ok {
		param = "group_by"
		text = fmt.Sprintf("There are more than %d groups; group by fewer fields, or filter", e.Max)
	} else if e, ok := errors.AsType[*aggregate.TooManyValues](err); ok {
		param = "measures"
		text = fmt.Sprintf("distinct of %s has more than %d values in all groups; group by fewer fields, or filter",
			e.Column, e.Max)
	} else {
		return err
	}
	return &contract.Invalid{Issues: []contract.Issue{{Type: "too_much", Param: param, Text: text, NullInput: true}}}
}

// page keeps the records of the request's page.
func (f *aggregates) page(r *contract.Request) {
	f.from = f.total
	if r.Offset < uint64(f.total) {
		f.from = int(r.Offset)
	}
	f.n = min(r.Limit, f.total-f.from)
}

func (f *aggregates) Fields() []contract.Field { return f.fields }
func (f *aggregates) Len() int                 { return f.n }
func (f *aggregates) Total() int               { return f.total }

func (f *aggregates) Header() []HeaderField {
	if f.hint == "" {
		return nil
	}
	return []HeaderField{{Name: contract.HeaderHint, Value: f.hint}}
}

// AppendCell appends a figure. Fields of groups and single values are written as in records of
// rows, sums with all their digits.
func (f *aggregates) AppendCell(dst []byte, record, field int, csv bool) []byte {
	v := f.value(record, field)
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
		from := len(dst)
		dst = v.Append(dst)
		if !f.exact[field] {
			text := string(dst[from:])
			return render.AppendExact(dst[:from], text)
		}
		if !strings.Contains(string(dst[from:]), ".") {
			dst = append(dst, ".0"...) // a number of the same type as in records of rows
		}
		return dst
	}
	return render.AppendNull(dst, csv)
}

// value is a field of a record of the page. Without a table there are no values, and counts are 0.
func (f *aggregates) value(record, field int) aggregate.Value {
	switch {
	case f.result == nil && !f.fields[field].Nullable:
		return aggregate.Value{Kind: aggregate.Int}
	case f.result == nil:
		return aggregate.Value{}
	case field < f.groups:
		return f.result.Group(f.from+record, field)
	}
	return f.result.Measure(f.from+record, field-f.groups)
}
