package browse

import (
	"html/template"
	"net/url"
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
	Cut           []string // what a chart over time leaves out, in words
	Unlisted      int      // groups that are not in the table
	Refused       []string // why there is no figure
	Instead       string   // the page with the number of records, where there is no other figure
	Ways          []link   // pages with the figure
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
	values := groupsQuery(s, by.fields, m.request())
	x.Source = address(q.Base+q.Prefix+e.Path+"/aggregate", values)
	records, total, err := askGroups(q, values)
	issues, isWrong := problems(err)
	if err != nil && !isWrong {
		return nil, err
	}
	if len(records) < total {
		// Without the rest, figures and their order would be wrong.
		issues = append(issues, contract.Issue{Text: count(total) + " groups are more than a page can draw, which is " +
			count(contract.MaxLimit) + ". Choose a country, a time, or fewer values."})
	}
	if len(issues) > 0 {
		for _, issue := range issues {
			x.Refused = append(x.Refused, issue.Text)
		}
		if m.name != countMeasure {
			x.Instead = s.with(measureParam, countMeasure)
		}
		x.Ways, err = withFigure(q, s, m, &by, issues[0].CtxText)
		return x, err
	}
	x.draw(q, s, groupsOf(records, &by, m.field(), countries), m, &by, countries)
	return x, nil
}

// groupsQuery asks for a measure of the records that pass, by the fields that a group has in
// common.
func groupsQuery(s state, fields []string, measure string) url.Values {
	values := s.filters()
	if len(fields) > 0 {
		values.Set("group_by", strings.Join(fields, ","))
	}
	values.Set("measures", measure)
	values.Set("limit", strconv.Itoa(contract.MaxLimit))
	return values
}

// askGroups asks for groups. There can be more in total than an answer has.
func askGroups(q *Question, values url.Values) (groups []Record, total int, err error) {
	answer, err := q.Source.Ask(q.Plan.Endpoint, contract.Aggregate, values)
	if err != nil {
		return nil, 0, err
	}
	return answer.Records, answer.Total, nil
}
