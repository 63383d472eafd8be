package browse

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
	"hdqs/api/textual"
)

// group is a figure of a group.
type group struct {
	value, name string // name is the value as people read it
	code        string // the value, where the name says it in words
	second      string // value of the second field over time
	lat, lon    float64
	placed      bool   // has a place on the map
	text, exact string // exact is empty if it is the text
	sent        string // the figure as the interface writes it
	number      float64
	known       bool // has a figure
	isApart     bool // is no part of what the others are parts of
	units       int  // that have a record, of allUnits; 0 where that is not known
	allUnits    int
	class       int    // by the provider of the figures, from 1 on
	link        string // to the records
}

func groupsOf(q *Question, records []textual.Record, b *by, field string) []group {
	l := q.Language
	all := make([]group, len(records))
	for i, r := range records {
		value, name, code := r.Value(b.fields[0]), "", ""
		switch {
		case b.as == onCountries:
			name = q.nameOf(value)
		case b.each:
			name = q.joined(r, b.fields)
		case b.as == asBars && len(b.fields) == 1:
			name, code = worded(l, b.fields[0], value)
		case b.as != overTime:
			name, _ = r.Text(b.fields[1])
		}
		if b.as == asBars && len(b.fields) > 2 && !b.each {
			name = cmp.Or(name, l.T("not given")) + ", " + q.nameOf(r.Value(b.fields[2]))
		}
		g := newGroup(l, value, name, r.Value(field))
		if g.code = code; b.as == overTime && len(b.fields) > 1 {
			g.second, _ = r.Text(b.fields[1])
		}
		if b.as == onPoints {
			g.lat, g.lon, g.placed = placeOf(r, b.fields[2], b.fields[3])
		}
		all[i] = g
	}
	return all
}

// newGroup is a group with its figure as the interface writes it, empty without one.
func newGroup(l *lang.Language, value, name, text string) group {
	g := group{value: value, name: cmp.Or(name, value, l.T("not given")), sent: text, known: text != ""}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		g.number = number
		g.text, g.exact = rounded(l, text)
	}
	return g
}

// placeOf reads a place. Without one, or with one that is not on the globe, ok is false.
func placeOf(r textual.Record, latField, lonField string) (lat, lon float64, ok bool) {
	lat, err := strconv.ParseFloat(r.Value(latField), 64)
	lon, err2 := strconv.ParseFloat(r.Value(lonField), 64)
	return lat, lon, err == nil && err2 == nil && math.Abs(lat) <= 90 && math.Abs(lon) <= 180
}

func (x *figure) draw(q *Question, s state, groups []group, m measure, b *by) {
	if len(groups) == 0 {
		return
	}
	l := q.Language
	c := &chart.Chart{
		ID: cmp.Or(x.ID, "figure"), Title: x.Title, Unit: unitOf(l, q.Plan.Endpoint, m), Language: l,
	}
	if x.About != nil {
		c.Unit, c.Around = x.About.Unit, x.around
	}
	x.Data.Head = []string{capital(b.label), m.label}
	if b.as == overTime {
		x.drawTime(q, c, s, groups, m, b)
		return
	}
	if b.as != asBars || !isEnum(q.Plan.Endpoint, b.value) {
		sortByFigure(groups)
	}
	apart(q, groups, b)
	what := map[drawing]string{
		onCountries: "%[1]s countries, most for %[2]s", onUnits: "%[1]s units, most for %[2]s",
		onPoints: "%[1]s places, most for %[2]s", asBars: "%[1]s groups",
	}[b.as]
	c.Description = describe(l, m, l.T(what, lang.Count(len(groups)), groups[0].name))
	filter := b.fields[0]
	links := isFilter(q.Plan, filter)
	link := s.linker(filter, filter+contract.SeveralSuffix, "offset", rowParam)
	for i := range groups {
		g := &groups[i]
		isList := isCountry(filter) && strings.Contains(g.value, ",") // as forms send it
		if links && g.value != "" && !contract.IsPlaceholder(g.value) && !isList {
			g.link = link(q.Plan.Param(filter).Exactly(g.value))
		}
	}
	switch b.as {
	case onCountries:
		x.drawMap(c, x.world(q), groups, nil)
	case onUnits:
		layer := q.Boundaries.Units(b.level, codesOf(groups))
		if layer == nil {
			x.Map.Unmapped = q.Boundaries.Source
			x.drawBars(c, groups)
			break
		}
		x.Map.Boundaries = q.Boundaries.Source
		x.drawMap(c, layer, groups, nil)
	case onPoints:
		x.drawPoints(q, c, groups, m)
	default:
		x.drawBars(c, groups)
	}
	listed := groups
	if !q.AllFigures {
		listed = groups[:min(len(groups), maxFigures)]
	}
	x.Data.Unlisted = len(groups) - len(listed)
	for i := range listed {
		g := &listed[i]
		name := cell{Text: g.name, Code: g.code, Name: true}
		if g.link != "" {
			name.Link, name.About = g.link, l.T("Records of %s", g.name)
		}
		x.Data.Rows = append(x.Data.Rows, []cell{name, g.cell()})
		if b.as != asBars || len(b.fields) > 1 {
			x.Data.Codes = append(x.Data.Codes, g.value)
		}
	}
}

// world is the map of countries. It notes whose boundaries it has.
func (x *figure) world(q *Question) *chart.Layer {
	if q.Boundaries != nil && q.Boundaries.Countries != nil {
		x.Map.Boundaries = q.Boundaries.Source
		return q.Boundaries.Countries
	}
	x.Map.Boundaries = chart.WorldSource(q.Language)
	return chart.World()
}

// cell is the figure in a table.
func (g *group) cell() cell {
	if !g.known {
		return cell{Text: "–", Number: true, Null: true}
	}
	return cell{Text: g.text, Exact: g.exact, Number: true}
}

var newestDrawn = map[string]string{
	"month": "The newest %[1]s of %[2]s months are shown.",
	"year":  "The newest %[1]s of %[2]s years are shown.",
}

// drawTime draws lines over time: one, or one for each value of the second field. Of months it
// draws the newest, unless the address says which or all.
func (x *figure) drawTime(q *Question, c *chart.Chart, s state, groups []group, m measure, b *by) {
	l := c.Language
	codes := secondsOf(groups, len(b.fields) < 2 || b.fields[1] != "line")
	names := slices.Clone(codes)
	for i, code := range codes {
		names[i] = q.nameOf(code)
	}
	if len(b.fields) > 1 {
		x.Data.Head = headOf(capital(l.T(b.value)), names, m.label)
	}
	labels := axis(groups, b.value)
	most := maxLabels
	if b.value == "month" && !s.values.Has(spanParam) && !s.values.Has("start_date") && !s.values.Has("end_date") {
		most = newestMonths
	}
	if all := len(labels); all > most {
		x.Chart.Cut = append(x.Chart.Cut, l.T(newestDrawn[b.value], lang.Count(most), lang.Count(all)))
		if most < maxLabels {
			from := l.T("The whole period, from %s on", labels[max(0, all-maxLabels)])
			x.Chart.Whole = link{from, s.with(spanParam, "all")}
		}
		labels = labels[all-most:]
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
	fewest := say.Coverage{Have: math.MaxInt}
	for i := range groups {
		if g := &groups[i]; g.allUnits > 0 && g.units < fewest.Have && slices.Contains(labels, g.value) {
			fewest = say.Coverage{Have: g.units, All: g.allUnits}
		}
		at[[2]string{groups[i].value, groups[i].second}] = &groups[i]
	}
	if fewest.All > 0 { // of what is drawn, not of what is cut off
		x.Limit.Coverage = unitsText(l, fewest, true)
	}
	series := make([]chart.Series, min(len(names), maxPanels))
	for n, name := range names[:len(series)] {
		series[n].Name = name
		for _, label := range labels {
			p := chart.Point{}
			if g := at[[2]string{label, codes[n]}]; g != nil {
				p = chart.Point{Value: g.number, Text: g.text, Known: g.known, Changing: x.isChanging(label)}
				if p.Part = 2*g.units < g.allUnits; p.Part {
					p.Text = l.T("%[1]s (%[2]s of %[3]s provinces or districts reported)", p.Text,
						l.Number(strconv.Itoa(g.units)), l.Number(strconv.Itoa(g.allUnits)))
				}
			}
			series[n].Points = append(series[n].Points, p)
		}
		if name != "" && len(series) <= chart.Together {
			x.Chart.Lines = append(x.Chart.Lines, seriesKey{chart.Class(n), name})
		}
	}
	span := ""
	if len(labels) > 0 {
		span = l.T("%s to %s", labels[0], labels[len(labels)-1])
	}
	if len(b.fields) > 1 {
		span += l.T(", a line each for %s", strings.Join(names[:len(series)], ", "))
	}
	if len(x.Limit.Changing) > 0 {
		const text = "Dashed: the source can still change the figures of %s."
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

func (x *figure) drawBars(c *chart.Chart, groups []group) {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return !g.known })
	drawn := groups[:min(len(groups), maxBars)]
	x.Chart.Left, x.Chart.AllBars = len(groups)-len(drawn), make([]chart.Bar, len(drawn))
	x.Chart.Groups = len(groups)
	for i, g := range drawn {
		x.Chart.AllBars[i] = chart.Bar{Name: g.name, Value: g.number, Text: g.text, Apart: g.isApart}
	}
	x.Chart.Drawing = chart.Bars(c, x.Chart.AllBars)
	if len(drawn) > framedBars {
		x.Chart.Few = chart.Bars(c, x.Chart.AllBars[:framedBars])
	}
}

// drawMap draws a map, or bars where too few areas have a figure for one.
func (x *figure) drawMap(c *chart.Chart, layer *chart.Layer, groups []group, classes *chart.Scheme) {
	var areas []chart.Area
	for _, g := range groups {
		if g.known {
			areas = append(areas, chart.Area{
				Code: g.value, Name: g.name, Value: g.number, Text: g.text, Class: g.class, Link: g.link,
			})
		}
	}
	if len(areas) < chart.MapLeast {
		x.Map.Boundaries = ""
		x.drawBars(c, groups)
		return
	}
	var missing []chart.Area
	x.Map.Blank = true
	x.Chart.Drawing, x.Chart.Legend, missing = chart.Map(c, layer, areas, classes)
	x.Chart.Key = x.key(c)
	x.Map.Unseen = lang.Count(len(missing))
	texts := make([]string, min(len(missing), maxLeftOut))
	for i := range texts {
		texts[i] = missing[i].Name + " " + missing[i].Text
	}
	if more := len(missing) - len(texts); more > 0 {
		texts = append(texts, c.Language.T("%s more", lang.Count(more)))
	}
	x.Map.Missing = c.Language.List(texts)
}

// key is what the classes of a map are of: the unit and the time.
func (x *figure) key(c *chart.Chart) string {
	if x.when == "" {
		return c.Unit
	}
	return c.Language.T("%[1]s, %[2]s", c.Unit, x.when)
}

// drawPoints draws marks at places. Counts of several places can be added up; means cannot.
func (x *figure) drawPoints(q *Question, c *chart.Chart, groups []group, m measure) {
	world := x.world(q)
	var places []chart.Place
	for i := range groups {
		g := &groups[i]
		if !g.placed || !g.known {
			x.Map.Placeless++
			continue
		}
		places = append(places, chart.Place{Name: g.name, Lat: g.lat, Lon: g.lon, Value: g.number, Text: g.text})
	}
	if len(places) == 0 {
		return
	}
	var total func([]*chart.Place) (float64, string)
	if m.function != "mean" {
		total = func(places []*chart.Place) (sum float64, text string) {
			for _, p := range places {
				sum += p.Value
			}
			text, _ = rounded(q.Language, strconv.FormatFloat(sum, 'f', -1, 64))
			return sum, text
		}
	}
	x.Chart.Drawing, x.Chart.Legend = chart.Points(c, world, places, total)
	x.Chart.Key = x.key(c)
}

// describe is a chart in words.
func describe(l *lang.Language, m measure, what string) string {
	return l.T("%[1]s: %[2]s. The table below has all figures.", m.label, what)
}

// capital is a text that begins with a capital letter.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// sortByFigure puts the greatest figures first, and groups without a figure last.
func sortByFigure(groups []group) {
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(knownFirst(a.known, b.known), cmp.Compare(b.number, a.number), strings.Compare(a.name, b.name),
			strings.Compare(a.value, b.value), cmp.Compare(a.lat, b.lat))
	})
}

// isEnum reports whether the values of a field have an order of their own.
func isEnum(e *contract.Endpoint, name string) bool {
	return slices.ContainsFunc(e.Fields, func(f contract.Field) bool {
		return f.Name == name && (f.Type == contract.Choice || isNumber(&f))
	})
}

// allOf is the value that a field has in records of all together, such as the sector of people in
// need of any sector; empty if a list has none. Organisations have that sector as one of theirs.
func allOf(e *contract.Endpoint, field string) string {
	if d := e.Dimension(field); d != nil {
		return d.Keep
	}
	return ""
}

// apart puts the figure over all sectors, which is no sector, before those of sectors, and says
// what it counts.
func apart(q *Question, groups []group, b *by) {
	all := allOf(q.Plan.Endpoint, b.value)
	at := slices.IndexFunc(groups, func(g group) bool { return g.value == all })
	if b.value != "sector_name" && b.value != "sector_code" || all == "" || at < 0 {
		return
	}
	g := groups[at]
	g.name, g.isApart = q.Language.T("All sectors (each person once)"), true
	copy(groups[1:at+1], groups[:at])
	groups[0] = g
}

func codesOf(groups []group) []string {
	codes := make([]string, 0, len(groups))
	for i := range groups {
		codes = append(codes, groups[i].value)
	}
	return codes
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
