package browse

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
)

var newestDrawn = map[string]string{
	"month": "The newest %[1]s of %[2]s months are shown.",
	"year":  "The newest %[1]s of %[2]s years are shown.",
}

// drawTime draws lines over time: one, or one for each value of the second field. Of months it
// draws the newest, unless the address says which or all.
func (x *figure) drawTime(q *Question, c *chart.Chart, s state, groups []group, m measure, b *by) {
	l := c.Language
	all := axis(groups, b.value)
	most := maxLabels
	if b.value == "month" && !s.values.Has(spanParam) && !s.values.Has("start_date") && !s.values.Has("end_date") {
		most = newestMonths
	}
	labels := fromFirst(all[max(0, len(all)-most):], groups)
	drawn := slices.DeleteFunc(slices.Clone(groups), func(g group) bool { // a line needs a figure
		return g.value != "" && !slices.Contains(labels, g.value)
	})
	codes := secondsOf(drawn, len(b.fields) < 2 || b.fields[1] != "line")
	names := slices.Clone(codes)
	for i, code := range codes {
		names[i] = q.nameOf(code)
	}
	if len(b.fields) > 1 {
		x.Data.Head = headOf(capital(l.T(b.value)), names, m.label)
	}
	if len(all) > most {
		x.since = labels[0]
		x.Chart.Cut = append(x.Chart.Cut, l.T(newestDrawn[b.value], lang.Count(len(labels)), lang.Count(len(all))))
		if most < maxLabels {
			from := l.T("The whole period, from %s on", all[max(0, len(all)-maxLabels)])
			x.Chart.Whole = link{from, s.with(spanParam, "all")}
		}
	}
	if from, to := timeOf(labels, groups); from != "" && x.About != nil {
		x.setWhen(l, shortPeriod(l, from, to), l.Period(from, to))
		c.Title = cmp.Or(x.Title, c.Title)
	}
	if all := len(names); all > maxPanels {
		const text = "The %[1]s with the greatest figures of %[2]s are drawn. The table has all."
		x.Chart.Cut = append(x.Chart.Cut, l.T(text, lang.Count(maxPanels), lang.Count(all)))
	}
	at := make(map[[2]string]*group, len(groups))
	for i := range groups {
		at[[2]string{groups[i].value, groups[i].second}] = &groups[i]
	}
	x.addFewest(l, labels, groups)
	series := make([]chart.Series, min(len(names), maxPanels))
	for n, name := range names[:len(series)] {
		series[n].Name = name
		for _, label := range labels {
			p := chart.Point{}
			if g := at[[2]string{label, codes[n]}]; g != nil {
				p = chart.Point{Value: g.number, Text: g.text, Known: g.known, Changing: x.isChanging(label)}
				if p.Part = g.isFew(); p.Part {
					p.Text = l.T("%[1]s (%[2]s of %[3]s provinces or districts reported)", p.Text,
						l.Number(strconv.Itoa(g.units)), l.Number(strconv.Itoa(g.allUnits)))
				}
			}
			series[n].Points = append(series[n].Points, p)
		}
		if name != "" && len(series) <= chart.Together {
			x.Chart.Lines = append(x.Chart.Lines, seriesKey{chart.Class(n), name, series[n].IsLine()})
		}
	}
	span := ""
	if len(labels) > 0 {
		span = l.T("%s to %s", labels[0], labels[len(labels)-1])
	}
	if each := l.List(names[:len(series)]); len(b.fields) > 1 && each != "" {
		span += l.T(", a line each for %s", each)
	}
	if len(x.Limit.Changing) > 0 {
		text := "Dashed: the source can still change the figures of %s."
		if q.Plan.Endpoint.Provisional == contract.NotFinal {
			text = "Dashed: the figures of %s are forecasts, or the source can still change them."
		}
		x.Chart.Cut = append(x.Chart.Cut, l.T(text, l.List(x.Limit.Changing)))
	}
	c.Description = strings.Join(append([]string{describe(l, m, span)}, x.Chart.Cut...), " ")
	if len(series) > chart.Together {
		x.Chart.Drawing = chart.Panels(c, labels, series)
	} else {
		x.Chart.Drawing, x.Chart.OverTime = chart.Lines(c, labels, series), len(labels) >= chart.FewLabels
	}
	x.Data.Times, x.Data.Rows = true, x.timeRows(l, labels, codes, at)
}

// addFewest says how few units reported at some time that is drawn.
func (x *figure) addFewest(l *lang.Language, labels []string, groups []group) {
	var least *group
	for i := range groups {
		g := &groups[i]
		if g.allUnits > 0 && (least == nil || g.units < least.units) && slices.Contains(labels, g.value) {
			least = g
		}
	}
	switch {
	case least == nil:
	case least.isFew():
		const text = "Hollow: fewer than half of the provinces or districts reported, at the least %[1]s of %[2]s; " +
			"do not compare these with the others."
		x.Limit.Coverage = l.T(text, l.Number(strconv.Itoa(least.units)), l.Number(strconv.Itoa(least.allUnits)))
	default:
		x.Limit.Coverage = unitsText(l, say.Coverage{Have: least.units, All: least.allUnits}, true)
	}
}

// isFew reports whether the figure is of fewer than half of the units.
func (g *group) isFew() bool { return 2*g.units < g.allUnits }

// headOf is the head of a table over time. A series without a name has that of the measure.
func headOf(first string, names []string, measure string) []string {
	head := []string{first}
	for _, name := range names {
		head = append(head, cmp.Or(name, measure))
	}
	return head
}

// timeRows are the rows of the table of figures over time.
func (x *figure) timeRows(l *lang.Language, labels, codes []string, at map[[2]string]*group) (rows [][]cell) {
	for _, label := range append(labels, "") {
		row := []cell{{Text: label}}
		if label == "" {
			row[0].Text = l.T("not given")
		} else if x.isChanging(label) {
			row[0].Code = l.T("can change")
		}
		some := false
		for _, code := range codes {
			g := at[[2]string{label, code}]
			if some = some || g != nil; g == nil {
				g = new(group)
			}
			row = append(row, g.cell())
		}
		if some {
			rows = append(rows, row)
		}
	}
	return rows
}

// isChanging reports whether a month or year has figures that can still change.
func (x *figure) isChanging(label string) bool {
	return slices.ContainsFunc(x.Limit.Changing, func(month string) bool { return strings.HasPrefix(month, label) })
}

// secondsOf are the second values of groups. If they are more than can be drawn, those with the
// greatest figures are first. Words are in the order of the groups, so that a line has the same
// look in each language.
func secondsOf(groups []group, areCodes bool) (codes []string) {
	greatest := map[string]float64{}
	for i := range groups {
		if !slices.Contains(codes, groups[i].second) {
			codes = append(codes, groups[i].second)
		}
		greatest[groups[i].second] = max(greatest[groups[i].second], groups[i].number)
	}
	if areCodes {
		slices.Sort(codes)
	}
	if len(codes) > maxPanels {
		slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(greatest[b], greatest[a]) })
	}
	return codes
}

// fromFirst are the months or years of a drawing from the first on that has a figure.
func fromFirst(labels []string, groups []group) []string {
	known := map[string]bool{}
	for i := range groups {
		known[groups[i].value] = known[groups[i].value] || groups[i].known
	}
	return labels[max(0, slices.IndexFunc(labels, func(label string) bool { return known[label] })):]
}

// axis is every month or year between the first and the last of the groups, which are in order.
func axis(groups []group, by string) (labels []string) {
	first, last := "", ""
	for i := range groups {
		if groups[i].value == "" {
			continue
		}
		if first == "" {
			first = groups[i].value
		}
		last = groups[i].value
	}
	form, months := "2006-01", 1
	if by == "year" {
		form, months = "2006", 12
	}
	at, err := time.Parse(form, first)
	end, failed := time.Parse(form, last)
	for ; err == nil && failed == nil && !at.After(end); at = at.AddDate(0, months, 0) {
		labels = append(labels, at.Format(form))
	}
	return labels
}

// Line is figures of a place by month or year.
type Line struct {
	Name   string
	Values map[string]float64
}

// Lines draws a headline figure of several places over time, for each 1,000 people of some years.
func Lines(l *lang.Language, h *contract.Headline, unit, people string, lines []Line) *figure {
	var groups []group
	var names []string
	for _, line := range lines {
		names = append(names, line.Name)
		for _, at := range slices.Sorted(maps.Keys(line.Values)) {
			g := newGroup(l, at, at, strconv.FormatFloat(line.Values[at], 'f', 9, 64))
			g.second = line.Name
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int { return strings.Compare(a.value, b.value) })
	x := &figure{ID: "lines", About: &about{Unit: unit}}
	x.sentence = Sentence(l, l.List(names), l.T("%[1]s by %[2]s", l.T(h.Title), l.T(h.Series)), "")
	c := &chart.Chart{ID: x.ID, Title: x.sentence, Unit: unit, Language: l}
	b := &by{value: h.Series, label: l.T(h.Series), as: overTime, fields: []string{h.Series, "line"}}
	x.drawTime(&Question{Head: lang.Head{Language: l}}, c, state{}, groups, measure{label: l.T(h.Title)}, b)
	x.Second, x.About = l.T("%[1]s; %[2]s", unit, l.T("population of %s", people)), nil
	return x
}
