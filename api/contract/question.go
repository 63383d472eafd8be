package contract

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"hdqs/aggregate"
	"hdqs/index"
)

// Question is what is asked of a list: which of its rows, and what is made of them. Requests are
// read to questions; pages and figures make theirs with the methods below.
type Question struct {
	plan      *Plan
	countries *CountryGroups // of the snapshot that answers; nil until the question is resolved
	Filters   []Filter       // at most one of a parameter
	Limit     int
	Offset    uint64

	// What is asked for besides rows that pass and their page. Each kind of question has some of
	// it.
	Selection
	Aggregation
	Of    []Group // Facets: the fields whose values are counted, in the order asked for
	Since string  // Changes: the id of the snapshot to compare with

	Format     string // of the answer: a value of output_format
	Compressed bool   // Export: buffers of an Arrow stream

	// Apart is a field of Aggregate, or empty: the remedy of a refusal is then the same question
	// about those of its values whose rows are right by themselves, if there are any.
	Apart string

	// Unhinted is an Aggregate whose asker shows no hints, which cost as much as the sums.
	Unhinted bool
}

// Filter is a filter of a question: the position of its parameter in Plan.Params, and its value, or
// for a list its values, of which a row must have one. Text is how a time is written, if it is not
// written as an instant.
type Filter struct {
	Param  int
	Value  index.Value
	Values []index.Value
	Text   string
}

// Group is a field to group by: its position in the endpoint's fields, and what of it counts.
type Group struct {
	Field int
	Part  aggregate.Part
	Class Class
}

// IsWhole reports whether each value of the field is a group of its own.
func (g Group) IsWhole() bool { return g.Part == aggregate.Whole && g.Class == NoClass }

// Measure is one figure of a group. Field is a position in the endpoint's fields, -1 for Count and
// Coverage, which is two figures.
type Measure struct {
	Func  aggregate.Func
	Field int
}

// Aggregation is what a request of kind Aggregate asks for.
type Aggregation struct {
	Groups   []Group   // in the order asked for
	Measures []Measure // at least one
}

func (a *Aggregation) reset() {
	a.Groups, a.Measures = a.Groups[:0], append(a.Measures[:0], Measure{Func: aggregate.Count, Field: -1})
}

// Selection is what of the rows that pass is in the answer.
type Selection struct {
	Fields []int // positions in AllFields, in ascending order; nil for all

	// Which of the rows that pass the filters: those of the coarsest places (Coarsest), then the
	// newest of each series, or those of the newest editions (LatestParam).
	Coarsest, Latest, Edition bool

	Everybody bool // only rows that count everybody (EverybodyParam)

	fields []int // memory of Fields
}

func (s *Selection) reset() { *s = Selection{fields: s.fields} }

// plans are the plans of PlanOf.
var plans sync.Map

// PlanOf is the plan of an endpoint for a kind, which all questions share.
func PlanOf(e *Endpoint, k Kind) *Plan {
	plan, known := plans.Load(PlanKey{e, k})
	if !known {
		plan, _ = plans.LoadOrStore(PlanKey{e, k}, NewPlan(e, k))
	}
	return plan.(*Plan)
}

// Ask begins a question of a kind: about all rows, with the usual limit.
func Ask(e *Endpoint, k Kind) *Question {
	q := new(Question)
	q.reset(PlanOf(e, k))
	return q
}

// Read reads a question from the query string of a page's address. Names that the plan does not
// have are ignored; the request says which.
func Read(p *Plan, query string) (*Request, error) {
	r := new(Request)
	r.Scanned.Scan(p, []byte(query))
	r.Scanned.IsLong = true
	return r, r.Parse()
}

// Ask makes a request of a question, in its memory.
func (r *Request) Ask(q *Question) {
	r.Scanned.Scan(q.plan, nil)
	filters, groups, measures := r.Question.Filters, r.Question.Groups, r.Question.Measures
	r.Question = *q
	r.Question.Filters = append(filters[:0], q.Filters...)
	r.Question.Groups, r.Question.Measures = append(groups[:0], q.Groups...), append(measures[:0], q.Measures...)
	r.Question.Of, r.Question.fields = slices.Clone(q.Of), nil
	r.issues, r.hints = nil, nil
}

// AskWhole is Ask for a request that is answered over HTTP: with its canonical query.
func (r *Request) AskWhole(q *Question) {
	r.Ask(q)
	r.canonicalize(q.plan.byName)
}

func (q *Question) reset(p *Plan) {
	selection, aggregation := q.Selection, q.Aggregation
	selection.reset()
	aggregation.reset()
	*q = Question{
		plan: p, Filters: q.Filters[:0], Limit: p.usualLimit(), Selection: selection, Aggregation: aggregation,
		Of: q.Of[:0], Format: p.Params[p.format].Default,
	}
}

// Plan is the plan that the question's parameters are of.
func (q *Question) Plan() *Plan { return q.plan }

// Endpoint is the list that is asked.
func (q *Question) Endpoint() *Endpoint { return q.plan.Endpoint }

// Copy is a question that can be changed alone.
func (q *Question) Copy() *Question {
	c := *q
	c.Filters, c.Groups = slices.Clone(q.Filters), slices.Clone(q.Groups)
	c.Measures, c.Of = slices.Clone(q.Measures), slices.Clone(q.Of)
	c.fields = nil
	return &c
}

// As is a question of another kind about the same rows: its filters, and what keeps some of the
// rows.
func (q *Question) As(k Kind) *Question {
	c := Ask(q.plan.Endpoint, k)
	c.Filters, c.countries = slices.Clone(q.Filters), q.countries
	c.Coarsest, c.Latest, c.Edition, c.Everybody = q.Coarsest, q.Latest, q.Edition, q.Everybody
	return c
}

// filterAt is the filter of a parameter, nil without one.
func (q *Question) filterAt(position int) *Filter {
	for i := range q.Filters {
		if q.Filters[i].Param == position {
			return &q.Filters[i]
		}
	}
	return nil
}

// Has reports whether there is a filter of a name.
func (q *Question) Has(name string) bool {
	at, known := q.plan.known[name]
	return known && (q.filterAt(at.position) != nil || q.Coarsest && q.plan.Params[at.position].IsLevel())
}

// Drop removes filters by their names.
func (q *Question) Drop(names ...string) *Question {
	for _, name := range names {
		at, known := q.plan.known[name]
		if !known {
			continue
		}
		q.Filters = slices.DeleteFunc(q.Filters, func(f Filter) bool { return f.Param == at.position })
		switch p := &q.plan.Params[at.position]; {
		case p.IsLevel() && !p.List:
			q.Coarsest = false
		case name == LatestParam:
			q.Latest, q.Edition = false, false
		case name == EverybodyParam:
			q.Everybody = false
		}
	}
	return q
}

// Only is a question of the same kind with the filters of some names alone.
func (q *Question) Only(names ...string) *Question {
	c := Ask(q.plan.Endpoint, q.plan.Kind)
	c.countries = q.countries
	for _, f := range q.Filters {
		if slices.Contains(names, q.plan.Params[f.Param].Name) {
			c.Filters = append(c.Filters, f)
		}
	}
	return c
}

// Keep sets the filter of a name to a value, or to several with the name of its list. An empty text
// is a value too: no row may pass because a filter is ignored. The name and the values must be as
// the list has them; a question that a stranger asks is read by Request.
func (q *Question) Keep(name string, values ...string) *Question {
	at, known := q.plan.known[name]
	if !known {
		panic(fmt.Sprintf("contract: %s has no parameter %s", q.plan.Name(), name))
	}
	q.Drop(name)
	p, f := &q.plan.Params[at.position], Filter{Param: at.position}
	r := Request{Question: Question{plan: q.plan}, position: at.position} // reads values
	r.Scanned.plan = q.plan
	for _, text := range values {
		v, ok := index.Value{}, true
		if p.Type == Day {
			f.Text = text
			v.Int, ok = parseDay(text, p.Op == index.Below)
		} else {
			v, ok = r.readValue(p, text)
		}
		if !ok && p.Type != String && !r.Question.Coarsest { // no text is too long here
			panic(fmt.Sprintf("contract: %s of %s does not take %q", name, q.plan.Name(), text))
		}
		f.Value, f.Values = v, append(f.Values, v)
	}
	switch {
	case r.Question.Coarsest:
		q.Coarsest = true
		return q
	case p.List:
		f.Value = index.Value{}
		slices.SortFunc(f.Values, compareValues)
	default:
		f.Values = nil
	}
	q.Filters = append(q.Filters, f)
	return q
}

// KeepAll keeps rows with one of some values of a field, with one filter for any number of them.
func (q *Question) KeepAll(field string, values []string) *Question {
	if q.Drop(field, field+SeveralSuffix); len(values) == 1 {
		return q.Keep(field, values[0])
	}
	return q.Keep(field+SeveralSuffix, values...)
}

// Add adds the filters of another question, by their names, in place of those that there are.
func (q *Question) Add(more *Question) *Question {
	for _, f := range more.Filters {
		name := more.plan.Params[f.Param].Name
		if at, known := q.plan.known[name]; known {
			q.Drop(name)
			if f.Param = at.position; hasInstant(f.Value.Int) {
				f.Text = "" // as a request has it
			}
			q.Filters = append(q.Filters, f)
		}
	}
	q.Coarsest, q.Everybody = q.Coarsest || more.Coarsest, q.Everybody || more.Everybody
	q.Latest, q.Edition = q.Latest || more.Latest, q.Edition || more.Edition
	return q
}

// In is the question in the names of a set.
func (q *Question) In(s NameSet) *Question {
	c := q.Copy()
	c.plan = PlanOf(EndpointOf(q.plan.Endpoint.Table, s), q.plan.Kind) // with the same positions
	return c
}

// ValuesOf are the values of a filter of the parameter.
func (p *Param) ValuesOf(f *Filter) []index.Value {
	if p.List {
		return f.Values
	}
	return []index.Value{f.Value}
}

// Texts are the values of the filter of a name, as requests have them.
func (q *Question) Texts(name string) (texts []string) {
	at, known := q.plan.known[name]
	if f := q.filterAt(at.position); known && f != nil {
		p := &q.plan.Params[at.position]
		for _, v := range p.ValuesOf(f) {
			texts = append(texts, p.textOf(&Filter{Value: v, Text: f.Text}))
		}
	}
	return texts
}

// GroupBy adds fields to those that are grouped by, by their names in group_by. Of facets these are
// the fields whose values are counted.
func (q *Question) GroupBy(names ...string) *Question {
	groups := &q.Groups
	if q.plan.Kind == Facets {
		groups = &q.Of
	}
	for _, name := range names {
		if g, known := q.plan.Endpoint.groupOf(name); known && !slices.Contains(*groups, g) {
			*groups = append(*groups, g)
		}
	}
	return q
}

// GroupNames are the names in group_by.
func (q *Question) GroupNames() []string { return q.plan.Endpoint.groupNames(q.Groups) }

// MeasureNames are the names in measures.
func (q *Question) MeasureNames() (names []string) {
	for _, m := range q.Measures {
		names = append(names, q.plan.Endpoint.MeasureName(m))
	}
	return names
}

// Measure sets the measures, by their names in measures.
func (q *Question) Measure(names ...string) *Question {
	q.Measures = nil
	for _, name := range names {
		function, field, _ := strings.Cut(name, ":")
		m := Measure{Func: aggregate.Func(slices.Index(funcNames[:], function)), Field: -1}
		if field != "" {
			m.Field = positionOf(q.plan.Endpoint.Fields, field)
		}
		q.Measures = append(q.Measures, m)
	}
	return q
}

// Page sets the page.
func (q *Question) Page(offset, limit int) *Question {
	q.Offset, q.Limit = uint64(offset), limit
	return q
}

// Select sets the fields of the records.
func (q *Question) Select(names ...string) *Question {
	q.Fields = nil
	for _, name := range names {
		q.Fields = append(q.Fields, positionOf(q.AllFields(), name))
	}
	slices.Sort(q.Fields)
	return q
}

// InCSV reports whether records are lines of cells, those of a sheet among them.
func (q *Question) InCSV() bool {
	return q.Format == FormatCSV || q.Format == FormatExcelCSV || q.Format == FormatXLSX
}

// Text is the question as the query of a request, as people read it: sorted by name, without its
// offset and what has no effect.
func (q *Question) Text() string {
	var dst []byte
	for _, position := range q.plan.byName {
		if q.plan.Params[position].Name == "limit" && q.Limit != q.plan.usualLimit() {
			dst = fmt.Appendf(dst, "limit=%d&", q.Limit)
			continue
		}
		dst = q.appendParam(dst, position)
	}
	return readable.Replace(strings.TrimSuffix(string(dst), "&"))
}

// Pairs are the parameters of the question's rows, each a name and a value, sorted by name: its
// filters, and what keeps some of the rows.
func (q *Question) Pairs() (pairs []string) {
	rows := q.As(Rows)
	for _, position := range rows.plan.byName {
		if pair := rows.appendParam(nil, position); len(pair) > 0 {
			name := rows.plan.Params[position].Name
			value, err := url.QueryUnescape(string(pair[len(name)+1 : len(pair)-1]))
			if err != nil {
				panic(err) // appendParam has escaped it
			}
			pairs = append(pairs, name, value)
		}
	}
	return pairs
}

// QueryOf is the query of an address with some parameters, given as name, value, name, value. Those
// without a value are left out.
func QueryOf(pairs ...string) string {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Add(pairs[i], pairs[i+1])
		}
	}
	return values.Encode()
}

// readable undoes escapes of what separates the values of a list: they are easier to read so.
var readable = strings.NewReplacer("%2C", ",", "%3A", ":")
