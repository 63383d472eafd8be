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
	"hdqs/api/textual"
)

// drawAs draws groups with two values each in a way of its own that the declaration of a drawing
// names. It reports whether there is something to draw.
func (x *figure) drawAs(q *Question, d *contract.Drawing, groups []group, b *by) bool {
	groups = slices.DeleteFunc(groups, func(g group) bool { return !g.known || isAny(g.value) })
	c := &chart.Chart{ID: x.ID, Title: x.Title, Unit: x.About.Unit, Language: q.Language}
	x.Data.Head = []string{capital(b.label)}
	switch d.As {
	case contract.AsStack:
		return x.drawStack(q, c, groups)
	case contract.AsPyramid:
		return x.drawPyramid(q, c, groups)
	case contract.AsYears:
		return x.drawYears(c, groups)
	}
	return false
}

// byTwo are groups by their first and second values, and what those are, in the order of groups.
func byTwo(groups []group) (at map[[2]string]*group, firsts, seconds []string) {
	at = map[[2]string]*group{}
	for i := range groups {
		g := &groups[i]
		at[[2]string{g.value, g.second}] = g
		if !slices.Contains(firsts, g.value) {
			firsts = append(firsts, g.value)
		}
		if !slices.Contains(seconds, g.second) {
			seconds = append(seconds, g.second)
		}
	}
	return at, firsts, seconds
}

// add adds a row to the table of figures.
func (x *figure) add(name string, of ...*group) {
	row := []cell{{Text: name, Name: true}}
	for _, g := range of {
		if g == nil {
			g = new(group)
		}
		row = append(row, g.cell())
	}
	x.Data.Rows = append(x.Data.Rows, row)
}

// phases are the phases of acute food insecurity, and crisis the first that is a crisis.
var phases = []string{"1", "2", "3", "4", "5"}

const crisis = 2

// drawStack draws a bar for each place with the shares of the phases in their colours, the place
// with the greatest share in crisis first.
func (x *figure) drawStack(q *Question, c *chart.Chart, groups []group) bool {
	l := q.Language
	at, places, _ := byTwo(groups)
	var bars []chart.Bar
	shares := map[string]float64{}
	for n, phase := range phases {
		text, _ := worded(l, "classification_phase", phase)
		text = l.T("%[1]s (phase %[2]s)", text, phase)
		x.Data.Head = append(x.Data.Head, capital(text))
		x.Chart.Legend = append(x.Chart.Legend, chart.Shade{Class: "m" + strconv.Itoa(n+1), Text: capital(text)})
	}
	for _, place := range places {
		total, worse, named := 0.0, 0.0, new(group)
		of := make([]*group, len(phases))
		for n, phase := range phases {
			if of[n] = at[[2]string{place, phase}]; of[n] == nil {
				continue
			}
			total += of[n].number
			if named = of[n]; n >= crisis {
				worse += of[n].number
			}
		}
		if total == 0 {
			continue
		}
		percent := func(v float64) string { return l.Number(strconv.FormatFloat(v/total*100, 'f', 1, 64)) }
		bar := chart.Bar{Name: cmp.Or(named.place, named.name), After: named.after, Value: 100}
		bar.Text = l.T("%[1]s %% of %[2]s", percent(worse), l.Rounded(strconv.FormatFloat(total, 'f', 0, 64)))
		for n := range phases {
			v, text := 0.0, ""
			if of[n] != nil {
				v = of[n].number / total * 100
				text = l.T("%[1]s: %[2]s", x.Chart.Legend[n].Text, of[n].text+" ("+percent(of[n].number)+" %)")
			}
			bar.Parts, bar.Texts = append(bar.Parts, v), append(bar.Texts, text)
		}
		shares[bar.Name] = worse / total
		bars = append(bars, bar)
		x.add(named.name, of...)
	}
	slices.SortStableFunc(bars, func(a, b chart.Bar) int { return cmp.Compare(shares[b.Name], shares[a.Name]) })
	c.Description = describe(l, measure{label: x.sentence}, l.T("%[1]s groups", lang.Count(len(bars))))
	drawn := bars[:min(len(bars), maxBars)]
	x.Chart.Left, x.Chart.Groups = len(bars)-len(drawn), len(bars)
	x.Chart.Drawing = chart.Bars(c, drawn)
	x.Chart.Drawing.Class += " " + chart.Phases
	x.Chart.Key = l.T("Of the people analysed; the figure is the share in crisis or worse (phases 3 to 5)")
	return len(bars) > 0
}

// drawPyramid draws women and men by age.
func (x *figure) drawPyramid(q *Question, c *chart.Chart, groups []group) bool {
	l := q.Language
	at, ages, genders := byTwo(groups)
	if len(ages) < 2 || !slices.Contains(genders, "f") || !slices.Contains(genders, "m") {
		return false
	}
	slices.SortStableFunc(ages, func(a, b string) int { return cmp.Compare(ageOf(a), ageOf(b)) })
	side := func(g *group) chart.Point {
		if g == nil {
			return chart.Point{}
		}
		return chart.Point{Value: g.number, Text: g.text, Known: true}
	}
	female, _ := worded(l, "gender", "f")
	male, _ := worded(l, "gender", "m")
	x.Data.Head = append(x.Data.Head, capital(female), capital(male))
	var all []chart.Sides
	for _, age := range ages {
		f, m := at[[2]string{age, "f"}], at[[2]string{age, "m"}]
		all = append(all, chart.Sides{Name: age, Left: side(f), Right: side(m)})
		x.add(age, f, m)
	}
	if _, last, _ := strings.Cut(ages[len(ages)-1], "-"); last != "" {
		x.Chart.Cut = append(x.Chart.Cut, l.T("There are no figures of people older than %s years.", last))
	}
	c.Description = describe(l, measure{label: x.sentence}, l.T("%[1]s groups", lang.Count(len(ages))))
	x.Chart.Drawing = chart.Pyramid(c, capital(female), capital(male), all)
	return true
}

// ageOf is where an age range begins.
func ageOf(text string) int {
	digits := strings.TrimLeft(text, "<>")
	if i := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = digits[:i]
	}
	age, err := strconv.Atoi(digits)
	if err != nil {
		return 1000 // not known: above all
	}
	return age
}

// drawYears draws the newest year beside the year before, month by month. It draws nothing of
// several series, each of which would need two lines.
func (x *figure) drawYears(c *chart.Chart, groups []group) bool {
	l := c.Language
	if len(groups) == 0 {
		return false
	}
	newest := slices.MaxFunc(groups, func(a, b group) int { return strings.Compare(a.value, b.value) })
	at, _, kinds := byTwo(groups)
	year, err := strconv.Atoi(newest.value[:min(len(newest.value), len("2006"))])
	if err != nil || len(kinds) > 1 {
		return false
	}
	var labels []string
	series := []chart.Series{{Name: strconv.Itoa(year)}, {Name: strconv.Itoa(year - 1)}}
	for month := time.January; month <= time.December; month++ {
		labels = append(labels, l.T(month.String()))
		var of []*group
		for n := range series {
			g := at[[2]string{series[n].Name + "-" + strconv.Itoa(100 + int(month))[1:], newest.second}]
			p := chart.Point{}
			if g != nil {
				p = chart.Point{Value: g.number, Text: g.text, Known: true, Changing: x.isChanging(g.value)}
			}
			series[n].Points, of = append(series[n].Points, p), append(of, g)
		}
		if of[0] != nil || of[1] != nil {
			x.add(l.T(month.String()), of...)
		}
	}
	isKnown := func(p chart.Point) bool { return p.Known }
	if !slices.ContainsFunc(series[1].Points, isKnown) {
		return false
	}
	for n := range series {
		x.Data.Head = append(x.Data.Head, series[n].Name)
		x.Chart.Lines = append(x.Chart.Lines, seriesKey{chart.Class(n), series[n].Name, true})
	}
	x.setTime(l, series[1].Name+"-01-01T00:00:00", series[0].Name+"-12-31T23:59:59")
	c.Title, c.Description = x.Title, describe(l, measure{label: x.sentence}, series[1].Name+", "+series[0].Name)
	x.Chart.Drawing = chart.Lines(c, labels, series)
	return true
}

// ends are when the figures of places end, as the interface writes it.
type ends map[string]string

// endsOf are the ends of the figures in records of a headline figure.
func endsOf(records []textual.Record) ends {
	at := ends{}
	for _, r := range records {
		if f := fieldsOf(r, "location_code", "period_end", "value"); f[1] != "" && f[2] != "" {
			at[f[0]] = f[1]
		}
	}
	return at
}

// OneTime reports whether headline figures of countries are of times less than a year apart, so
// that they can be added up.
func OneTime(records []textual.Record) bool { return endsOf(records).areOneTime() }

// areOneTime reports whether the figures are of times less than a year apart, so that they can be
// added up.
func (at ends) areOneTime() bool {
	all := slices.Sorted(maps.Values(at))
	if len(all) == 0 {
		return true
	}
	const day = len(time.DateOnly)
	from, err := time.Parse(time.DateOnly, all[0][:min(len(all[0]), day)])
	to, failed := time.Parse(time.DateOnly, all[len(all)-1][:min(len(all[len(all)-1]), day)])
	return err != nil || failed != nil || !to.After(from.AddDate(1, 0, 0))
}

// nameYears writes the year of its figure behind the name of each place, where figures are of times
// more than a year apart.
func (at ends) nameYears(l *lang.Language, on string, groups []group) {
	if at.areOneTime() {
		return
	}
	for i := range groups {
		if end := min(at[groups[i].value], on); len(end) > len("2006") { // projects end later
			year := end[:len("2006")]
			groups[i].place, groups[i].after = groups[i].name, []string{year}
			groups[i].name = l.T("%[1]s, %[2]s", groups[i].place, year)
		}
	}
}

// priceUnit says in which currency, per what and of how many markets prices are. Prices of other
// kinds, of which there are fewer, have no place on the same axis: they are named.
func (x *figure) priceUnit(l *lang.Language, sum *rightSum, groups []group) []group {
	if !slices.Contains(sum.fields, "market_code") || len(groups) == 0 {
		return groups
	}
	counts, kinds := map[string]int{}, []string(nil)
	for i := range groups {
		if counts[groups[i].second]++; counts[groups[i].second] == 1 {
			kinds = append(kinds, groups[i].second)
		}
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	if len(kinds) > 1 {
		x.Chart.Cut = append(x.Chart.Cut, l.T("Not drawn, since they are of another kind: %s.", l.List(kinds[1:])))
	}
	groups = slices.DeleteFunc(groups, func(g group) bool { return g.second != kinds[0] })
	x.About.Unit = l.T("%[2]s, median of %[1]s markets", lang.Count(groups[0].units), kinds[0])
	x.setTime(l, x.About.from, x.About.to)
	for i := range groups {
		groups[i].second = ""
	}
	return groups
}
