package browse

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/textual"
)

// group is a figure of a group.
type group struct {
	value, name string   // name is the value as people read it
	place       string   // what the name begins with, where it has a year or several values
	after       []string // the rest of such a name
	isOurs      bool     // the name is in our words, so that a line begins with a capital letter
	code        string   // the value, where the name says it in words
	second      string   // value of the second field over time
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
		var words []string
		switch {
		case b.as == onCountries:
			name = q.nameOf(value)
		case b.each && b.as != overTime:
			words = q.wordsOf(r, b.fields)
			name = joined(words)
		case b.as == asBars && len(b.fields) == 1:
			name, code = worded(l, b.fields[0], value)
		case b.as != overTime:
			name, _ = r.Text(b.fields[1])
		}
		if b.as == asBars && len(b.fields) > 2 && !b.each {
			name = cmp.Or(name, l.T("not given")) + ", " + q.nameOf(r.Value(b.fields[2]))
		}
		g := newGroup(l, value, name, r.Value(field))
		if len(words) > 1 {
			g.place, g.after = words[0], words[1:]
		}
		g.isOurs = b.as == asBars && isOurs(b.fields[0], value)
		if g.code = code; b.as == overTime && len(b.fields) > 1 {
			if g.second, _ = r.Text(b.fields[1]); b.each {
				g.second = capital(joined(q.wordsOf(r, b.lines())))
			}
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
		name := cell{Text: g.name, Code: g.code, Name: true, Ours: g.isOurs}
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

func (x *figure) drawBars(c *chart.Chart, groups []group) {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return !g.known })
	bars := make([]chart.Bar, min(len(groups), maxBars))
	for i, g := range groups[:len(bars)] {
		name := cmp.Or(g.place, g.name)
		if g.isOurs {
			name = capital(name)
		}
		bars[i] = chart.Bar{Name: name, After: g.after, Value: g.number, Text: g.text, Apart: g.isApart}
	}
	x.Chart.Drawing, x.Chart.Groups, x.Chart.Left = chart.Bars(c, bars), len(groups), len(groups)-len(bars)
}

// drawMap draws a map, or bars where too few areas have a figure for one.
func (x *figure) drawMap(c *chart.Chart, layer *chart.Layer, groups []group, classes *chart.Scheme) {
	var areas []chart.Area
	placeless := ""
	for _, g := range groups {
		switch {
		case g.known && g.value == "":
			placeless = g.text
		case g.known:
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
	x.Map.Blank, x.Map.Placeless = true, placeless
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
	placeless := 0
	for i := range groups {
		g := &groups[i]
		if !g.placed || !g.known {
			placeless++
			continue
		}
		places = append(places, chart.Place{Name: g.name, Lat: g.lat, Lon: g.lon, Value: g.number, Text: g.text})
	}
	if len(places) == 0 {
		return
	}
	if placeless > 0 {
		x.Map.Placeless = Count(placeless)
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
	if text == "" {
		return ""
	}
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
