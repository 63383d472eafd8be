package browse

import (
	"html/template"
	"strconv"
	"strings"

	"hdqs/api/chart"
	"hdqs/api/contract"
)

// countMeasure is the measure that every list has.
const countMeasure = "records"

// figure is what a page draws of all records that pass.
type figure struct {
	Title         string
	Measures, Bys []option
	Keep          []option // parameters that the form of the figure sends on
	Drawing       template.HTML
	OverTime      bool // a script may draw the lines too
	Lines         []seriesKey
	Legend        []chart.Shade
	Boundaries    string // whose they are; empty without a map
	Unmapped      string // whose boundaries have none of the units
	Missing       string // areas that the map does not have
	Placeless     int    // groups without a place on the map
	Head          []string
	Rows          [][]cell
	Left          int      // groups that are not drawn
	Unlisted      int      // groups that are not in the table
	Refused       []string // why there is no figure
	Instead       string   // the page with the number of records, where there is no other figure
	Source        string   // the same figures as a request
}

// seriesKey is a line of the legend of a chart over time.
type seriesKey struct{ Class, Name string }

// maxBars is how many bars a page draws, maxLabels how many points in time, and maxFigures how many
// lines its table has.
const (
	maxBars    = 30
	maxLabels  = 600
	maxFigures = 600
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

// measuresOf are the figures of an endpoint that mean something over several records.
func measuresOf(e *contract.Endpoint) []measure {
	var all []measure
	for _, f := range e.Figures {
		name := e.Names().Name(f.Field)
		switch f.Use {
		case contract.Added:
			all = append(all, measure{name, "sum", label(name)})
		case contract.Averaged:
			all = append(all, measure{name, "mean", "Mean of " + strings.ToLower(label(name))})
		}
	}
	return append(all, measure{countMeasure, "count", "Number of records"})
}

// drawFigure asks for the figure of a page and draws it.
func drawFigure(q *Question, s state, countries []Country) (*figure, error) {
	e := q.Plan.Endpoint
	measures, bys := measuresOf(e), bysOf(q, s)
	if len(bys) == 0 {
		return nil, nil
	}
	m := measures[0]
	for _, other := range measures {
		if other.name == s.values.Get(measureParam) {
			m = other
		}
	}
	by := bys[0]
	for _, other := range bys {
		if other.value == s.values.Get(byParam) {
			by = other
		}
	}
	x := &figure{Title: m.label + " by " + strings.TrimSuffix(by.label, mapSuffix)}
	for _, other := range measures {
		x.Measures = append(x.Measures, option{other.name, other.label, other == m})
	}
	for i := range bys {
		x.Bys = append(x.Bys, option{bys[i].value, bys[i].label, bys[i].value == by.value})
	}
	for _, pair := range pairs(s.copy(measureParam, byParam)) {
		x.Keep = append(x.Keep, option{Label: pair[0], Value: pair[1]})
	}
	values := s.filters()
	values.Set("group_by", strings.Join(by.fields, ","))
	values.Set("measures", m.request())
	values.Set("limit", strconv.Itoa(contract.MaxLimit))
	x.Source = address(q.Base+q.Prefix+e.Path+"/aggregate", values)
	answer, err := q.Source.Ask(e, contract.Aggregate, values.Encode())
	if issues, isWrong := problems(err); isWrong {
		for _, issue := range issues {
			x.Refused = append(x.Refused, issue.Text)
		}
		if m.name != countMeasure {
			values := s.copy()
			values.Set(measureParam, countMeasure)
			x.Instead = s.address(values)
		}
		return x, nil
	}
	if err != nil {
		return nil, err
	}
	records, err := answer.records()
	if err != nil {
		return nil, err
	}
	if len(records) < answer.Total {
		// Without the rest, figures and their order would be wrong.
		x.Refused = append(x.Refused, count(answer.Total)+" groups are more than a page can draw, which is "+
			count(contract.MaxLimit)+". Choose a country, a time, or fewer values.")
		return x, nil
	}
	x.draw(q, s, groupsOf(records, &by, m.field(), countries), m, &by, countries)
	return x, nil
}
