package browse

import (
	"html/template"
	"slices"
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
	Legend        []chart.Shade
	Missing       string // areas that the map does not have
	Head          []string
	Rows          [][]cell
	Left          int      // groups that are not drawn
	Refused       []string // why there is no figure
	Links         []link   // what to choose instead
	Source        string   // the same figures as a request
	Map           bool
}

// maxBars is how many bars a page draws, and maxLabels how many points in time.
const (
	maxBars   = 30
	maxLabels = 600
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

// bysOf are what figures can be drawn by: time, countries, enumerations and short lists.
func bysOf(e *contract.Endpoint) []option {
	var all []option
	if len(e.Series()) > 0 {
		all = append(all, option{Value: "month", Label: "month"}, option{Value: "year", Label: "year"})
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		switch {
		case strings.HasSuffix(f.Name, "location_code"):
			text := strings.ToLower(strings.TrimSuffix(label(f.Name), " code")) + " (map)"
			all = append(all, option{Value: f.Name, Label: text})
		case f.Type == contract.Choice, f.Name == "admin_level", f.Name == "sector_name", f.Name == "admin1_name",
			f.Name == "appeal_type", f.Name == "category", f.Name == "age_range", f.Name == "org_acronym":
			all = append(all, option{Value: f.Name, Label: strings.ToLower(label(f.Name))})
		}
	}
	return all
}

// drawFigure asks for the figure of a page and draws it.
func drawFigure(q *Question, s state, countries []Country) (*figure, error) {
	e := q.Plan.Endpoint
	measures, bys := measuresOf(e), bysOf(e)
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
		if other.Value == s.values.Get(byParam) {
			by = other
		}
	}
	x := &figure{Title: m.label + " by " + by.Label, Map: strings.HasSuffix(by.Value, "location_code")}
	for _, other := range measures {
		x.Measures = append(x.Measures, option{other.name, other.label, other == m})
	}
	for _, other := range bys {
		x.Bys = append(x.Bys, option{other.Value, other.Label, other == by})
	}
	for _, pair := range pairs(s.copy(measureParam, byParam)) {
		x.Keep = append(x.Keep, option{Label: pair[0], Value: pair[1]})
	}
	values := s.filters()
	values.Set("group_by", by.Value)
	values.Set("measures", m.request())
	values.Set("limit", strconv.Itoa(contract.MaxLimit))
	x.Source = address(q.Base+q.Prefix+e.Path+"/aggregate", values)
	answer, err := q.Source.Ask(e, contract.Aggregate, values.Encode())
	if issues, isWrong := problems(err); isWrong {
		for _, issue := range issues {
			x.Refused = append(x.Refused, issue.Text)
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
	x.draw(q, s, groupsOf(records, by.Value, m.field(), countries), m, by)
	return x, nil
}

// group is a figure of a group.
type group struct {
	value, name string // name is the value as people read it
	text        string
	number      float64
	known       bool // has a figure
}

// groupsOf reads the groups of an answer.
func groupsOf(records []record, by, field string, countries []Country) []group {
	names := map[string]string{}
	if strings.HasSuffix(by, "location_code") {
		for _, c := range countries {
			names[c.Code] = c.Name
		}
	}
	all := make([]group, len(records))
	for i, r := range records {
		g := &all[i]
		g.value, _ = r.text(by)
		if g.name = names[g.value]; g.name == "" {
			g.name = g.value
		}
		if g.name == "" {
			g.name = "not given"
		}
		var text string
		if text, g.known = r.text(field); g.known {
			g.number, _ = strconv.ParseFloat(text, 64)
			g.text = grouped(text)
		}
	}
	return all
}

func (x *figure) draw(q *Question, s state, groups []group, m measure, by option) {
	c := &chart.Chart{ID: "figure", Title: x.Title}
	x.Head = []string{strings.ToUpper(by.Label[:1]) + strings.TrimSuffix(by.Label[1:], " (map)"), m.label}
	switch {
	case len(groups) == 0:
		return
	case by.Value == "month" || by.Value == "year":
		c.Description = describe(groups, m, "from "+groups[0].value+" to "+groups[len(groups)-1].value)
		labels, points := overTime(groups, by.Value)
		x.Drawing = chart.Lines(c, labels, []chart.Series{{Points: points}})
	case x.Map:
		sortByFigure(groups)
		c.Description = describe(groups, m, "of "+count(len(groups))+" countries, most for "+groups[0].name)
		x.drawMap(c, groups)
	default:
		if !isEnum(q.Plan.Endpoint, by.Value) {
			sortByFigure(groups)
		}
		drawn := groups[:min(len(groups), maxBars)]
		x.Left = len(groups) - len(drawn)
		c.Description = describe(groups, m, "of "+count(len(groups))+" groups")
		bars := make([]chart.Bar, len(drawn))
		for i, g := range drawn {
			bars[i] = chart.Bar{Name: g.name, Value: g.number, Text: g.text}
		}
		x.Drawing = chart.Bars(c, bars)
	}
	for _, g := range groups[:min(len(groups), maxLabels)] {
		text := cell{Text: g.text, Number: true}
		if !g.known {
			text = cell{Text: "–", Number: true, Null: true}
		}
		name := cell{Text: g.name, Name: true}
		if isFilter(q.Plan, by.Value) && g.value != "" {
			name.Link = s.with(by.Value, g.value, by.Value+contract.SeveralSuffix, "")
		}
		x.Rows = append(x.Rows, []cell{name, text})
	}
}

// drawMap draws a map of countries.
func (x *figure) drawMap(c *chart.Chart, groups []group) {
	var areas []chart.Area
	for _, g := range groups {
		if !g.known {
			continue
		}
		areas = append(areas, chart.Area{Code: g.value, Name: g.name, Value: g.number, Text: g.text})
	}
	var missing []chart.Area
	x.Drawing, x.Legend, missing = chart.Countries(c, areas)
	texts := make([]string, len(missing))
	for i, a := range missing {
		texts[i] = a.Name + " " + a.Text
	}
	x.Missing = strings.Join(texts, ", ")
}

// describe is a chart in words.
func describe(groups []group, m measure, what string) string {
	return m.label + " " + what + ". The table below has all figures."
}

func sortByFigure(groups []group) {
	slices.SortStableFunc(groups, func(a, b group) int {
		switch {
		case a.number > b.number:
			return -1
		case a.number < b.number:
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
}

// isEnum reports whether the values of a field have an order of their own.
func isEnum(e *contract.Endpoint, name string) bool {
	return slices.ContainsFunc(e.Fields, func(f contract.Field) bool {
		return f.Name == name && (f.Type == contract.Choice || isNumber(&f))
	})
}

// overTime puts figures on an axis that has every month or year between the first and the last.
func overTime(groups []group, by string) (labels []string, points []chart.Point) {
	known := map[string]group{}
	first, last := "", ""
	for _, g := range groups {
		if g.value == "" {
			continue
		}
		known[g.value] = g
		if first == "" {
			first = g.value
		}
		last = g.value
	}
	for at := first; at != "" && at <= last && len(labels) < maxLabels; at = after(at, by) {
		g, ok := known[at]
		labels = append(labels, at)
		points = append(points, chart.Point{Value: g.number, Text: g.text, Known: ok && g.known})
	}
	return labels, points
}

// after is the month or year after another.
func after(at, by string) string {
	if by == "year" {
		year, err := strconv.Atoi(at)
		if err != nil {
			return ""
		}
		return strconv.Itoa(year + 1)
	}
	yearText, monthText, _ := strings.Cut(at, "-")
	year, err := strconv.Atoi(yearText)
	month, err2 := strconv.Atoi(monthText)
	if err != nil || err2 != nil {
		return ""
	}
	if month++; month > 12 {
		year, month = year+1, 1
	}
	return strconv.Itoa(year) + "-" + string(rune('0'+month/10)) + string(rune('0'+month%10))
}
