package browse

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/textual"
)

// byCountry draws a headline figure as a map and bars. The table has the other figures of the list
// that are of the same countries.
func (v *viewer) byCountry(h *contract.Headline, records []textual.Record, columns []string) (*figure, error) {
	d := drawingOf(h)
	l := v.q.Language
	x := &figure{ID: v.id, Of: h.Name, Data: data{Head: []string{nounLabel(l, "location_code")}}}
	declared := v.declared(&d)
	if err := v.choose(x, &d, declared); err != nil {
		return nil, err
	}
	all, figures, err := v.columns(x, h, columns)
	if err != nil {
		return nil, err
	}
	sortByFigure(all)
	known := slices.DeleteFunc(slices.Clone(all), func(g group) bool { return !g.known })
	if h.LeastFirst {
		slices.Reverse(known)
		copy(all, known)
	}
	endsOf(records).nameYears(l, v.q.Freshness.Loaded, known)
	isPart := func(r textual.Record) bool { return r.Value("complete") == "false" }
	if h.LeastOthers > 0 && slices.ContainsFunc(records, isPart) {
		x.Limit.Coverage = l.T("Refugees in a few countries of asylum only.")
	}
	if len(known) < 2 {
		return nil, nil
	}
	rows := v.s.asked.Copy().Add(declared)
	if x.About, err = v.q.about(rows); err != nil {
		return nil, err
	}
	x.About.Unit, x.About.Places = l.T(h.Unit), l.T("%s countries", lang.Count(len(known)))
	x.entitle(v.q, rows, named{
		what: l.T(cmp.Or(h.Each, h.Title)), each: h.Each != "", by: nounOf(l, "location_code"),
		where: v.q.whereOf(rows, x.About, true),
	})
	from, to := periodOf(records)
	x.setTime(l, from, to)
	c := &chart.Chart{ID: v.id, Title: x.Title, Unit: x.About.Unit, Language: l, Around: h.Around}
	if h.Unit == "per cent" {
		c.Full = 100
	}
	order := "%[1]s countries, most for %[2]s"
	if h.LeastFirst {
		order = "%[1]s countries, least for %[2]s"
	}
	c.Description = describe(l, measure{label: l.T(h.Title)}, l.T(order, lang.Count(len(known)), known[0].name))
	link := v.s.linker(h.Place, h.Place+contract.SeveralSuffix, "offset", rowParam)
	for i := range known {
		if !strings.Contains(known[i].value, ",") { // a list, as forms send it
			known[i].link = link(known[i].value)
		}
	}
	classes, err := v.classesOf(h, rows, known)
	if err != nil {
		return nil, err
	}
	first, isMap := known[:min(len(known), maxFirstBars)], len(known) >= chart.MapLeast
	switch {
	case isMap && v.hasMap:
		x.drawBars(c, first)
		x.Map.Elsewhere, x.Chart.Left = x.asked.link(), len(known)-len(first)
	case isMap:
		x.drawMap(c, x.world(v.q), known, classes)
		picture := x.Chart.Drawing
		c.ID += "-bars"
		x.drawBars(c, first)
		x.Chart.Drawing, x.Chart.Bars, x.Chart.Left = picture, x.Chart.Drawing, len(known)-len(first)
	default:
		x.drawBars(c, known)
	}
	x.addCountries(l, all, figures, link)
	x.addPeriods(l, records)
	_, e := contract.HeadlineOf(h.Name, v.q.Plan.Endpoint.Names())
	_, pairs, _ := v.ask(h, e)
	x.Source = strings.TrimSuffix(v.q.Base+v.q.Root+e.Path+"?"+contract.QueryOf(pairs...), "?")
	return x, nil
}

// columns reads a figure and others of the same countries, which are columns of the table.
func (v *viewer) columns(
	x *figure, h *contract.Headline, columns []string,
) (all []group, figures map[string][]group, err error) {
	l := v.q.Language
	figures = map[string][]group{}
	names := []string{h.Name}
	for _, name := range columns {
		if name != h.Name && !v.hasMap { // the table of the map has them
			names = append(names, name)
		}
	}
	for _, name := range names {
		other, found, ok, err := v.headline(name)
		if err != nil {
			return nil, nil, err
		}
		if !ok || other.Place != h.Place {
			continue
		}
		x.Data.Head = append(x.Data.Head, l.T(other.Title))
		for _, r := range found {
			f := fieldsOf(r, "location_code", "value")
			g := newGroup(l, f[0], v.nameOf(f[0]), f[1])
			if name == h.Name {
				all = append(all, g)
			}
			for len(figures[f[0]]) < len(x.Data.Head)-2 {
				figures[f[0]] = append(figures[f[0]], group{})
			}
			figures[f[0]] = append(figures[f[0]], g)
		}
	}
	return all, figures, nil
}

// addCountries adds a row to the table for each country.
func (x *figure) addCountries(
	l *lang.Language, all []group, figures map[string][]group, link func(value string) string,
) {
	x.Data.Head = append(x.Data.Head, l.T("Period"))
	for i := range all {
		row := []cell{{Text: all[i].name, Name: true}}
		if !strings.Contains(all[i].value, ",") { // a list, as forms send it
			row[0].Link = link(all[i].value)
		}
		of := figures[all[i].value]
		for k := range len(x.Data.Head) - 2 {
			g := new(group)
			if k < len(of) {
				g = &of[k]
			}
			row = append(row, g.cell())
		}
		x.Data.Rows = append(x.Data.Rows, append(row, cell{}))
		x.Data.Codes = append(x.Data.Codes, all[i].value)
	}
}

// classesOf sets the classes that the provider of a figure gives countries. It is nil if there are
// none.
func (v *viewer) classesOf(h *contract.Headline, rows *contract.Question, groups []group) (*chart.Scheme, error) {
	if h.Classes == "" {
		return nil, nil
	}
	found, _, err := v.q.groups(rows, []string{h.Place, h.Classes}, "count")
	if err != nil {
		return nil, err
	}
	class := map[string]int{}
	for _, r := range found {
		f := fieldsOf(r, h.Place, h.Classes)
		class[f[0]], _ = strconv.Atoi(f[1])
	}
	for i := range groups {
		groups[i].class = class[groups[i].value]
	}
	scheme := &chart.Scheme{Name: chart.Inform}
	for k := 1; contract.Words(h.Classes, strconv.Itoa(k)) != ""; k++ {
		scheme.Texts = append(scheme.Texts, v.q.Language.T(contract.Words(h.Classes, strconv.Itoa(k))))
	}
	return scheme, nil
}

// periodOf is the time of all records of countries that have a figure.
func periodOf(records []textual.Record) (start, end string) {
	for _, r := range records {
		f := fieldsOf(r, "period_start", "period_end", "value")
		if f[2] == "" {
			continue
		}
		if start == "" || f[0] != "" && f[0] < start {
			start = f[0]
		}
		end = max(end, f[1])
	}
	return start, end
}

// addPeriods writes the time and the coverage of the records of countries into the last column of a
// table.
func (x *figure) addPeriods(l *lang.Language, records []textual.Record) {
	byPlace := map[string]textual.Record{}
	for _, r := range records {
		byPlace[r.Value("location_code")] = r
	}
	for i, code := range x.Data.Codes {
		f := fieldsOf(byPlace[code], "period_start", "period_end", "units", "units_known", "admin_level")
		text := l.Period(f[0], f[1])
		if units := coverageText(l, f[2:]); units != "" {
			text = l.T("%[1]s, from %[2]s", text, units)
		}
		x.Data.Rows[i][len(x.Data.Head)-1] = cell{Text: text}
	}
}

// maxFirstBars is how many bars stand below a map.
const maxFirstBars = 12

// aggregate draws groups of the records that pass, nil if none does.
func (v *viewer) aggregate(d *contract.Drawing) (*figure, error) {
	e := v.q.Plan.Endpoint
	d = v.fitted(d)
	declared := v.declared(d)
	if err := v.addMonths(d, declared); err != nil {
		return nil, err
	}
	l := v.q.Language
	b := byOf(v.q, v.s, d)
	fields := slices.Clone(d.Group)
	if fields == nil {
		fields = []string{b.value}
	}
	lines := d.Lines
	if country := compared(e, v.s); country != "" && b.as == overTime && len(d.Measures) == 1 {
		lines = append([]string{country}, lines...)
	}
	fields = append(fields, lines...)
	sum := &rightSum{q: v.q, asked: v.s.asked.Copy().Add(declared), fields: fields, measures: d.Measures}
	if err := sum.read(); err != nil {
		return nil, err
	}
	x := &figure{ID: v.id, Title: l.T("%[1]s by %[2]s", l.T(d.Title), b.label)}
	x.Limit.Changing, x.Limit.Several = sum.changing, sum.several
	if err := v.choose(x, d, declared); err != nil {
		return nil, err
	}
	for _, place := range sum.left {
		x.Limit.LeftOut = append(x.Limit.LeftOut, v.nameOf(place))
	}
	if x.Refusal.Refused = sum.refused; len(x.Refusal.Refused) > 0 {
		return x, nil
	}
	x.Limit.Coverage = unitsText(l, sum.units, b.as == overTime)
	groups := v.combined(d, b, sum, lines)
	if err := v.addReports(d, b, sum, groups, lines); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(groups, func(g group) bool { return g.known }) || b.as == onCountries && len(groups) < 2 {
		return nil, nil
	}
	if b.as == overTime && slices.ContainsFunc(groups, func(g group) bool { return g.second != "" }) {
		b.fields = append(b.fields, "line")
	}
	m := v.q.measureOf(d)
	if m.declared = d.Measures; m.function != "distinct" { // of means, it is the median
		m.label = label(l, m.name)
	}
	if d.As == contract.AsPyramid {
		b.label = l.T("%[1]s and %[2]s", b.label, nounOf(l, d.Lines[0]))
	}
	if err := x.tell(v.q, sum.asked, m, b); err != nil {
		return nil, err
	}
	if len(lines) == len(d.Lines) { // of one country, or of all
		groups = x.priceUnit(l, sum, groups)
	}
	if ok, err := v.drawGroups(x, d, sum, groups, m, b); err != nil || !ok {
		return nil, err
	}
	pairs := append(declared.Pairs(), contract.SnapshotParam, "")
	if sum.kept != nil {
		pairs = append(pairs, sum.place, "", sum.place+contract.SeveralSuffix, joinList(sum.kept, ","))
	}
	if len(sum.kept) <= contract.MaxValues { // others are more than a request may name
		path := v.q.Base + v.q.Root + e.Path + "/" + contract.Aggregate.String()
		x.Source = v.s.groups(path, fields, d.Measures, pairs...)
	}
	if err := x.addSummed(v.q, sum.asked, b, fields, d.Measures[0]); err != nil {
		return nil, err
	}
	if err := x.addNational(v.q, v.s, sum.asked, fields, d.Measures[0]); err != nil {
		return nil, err
	}
	return x, nil
}

// drawGroups draws the groups of a drawing. It is not ok if there is nothing to draw.
func (v *viewer) drawGroups(
	x *figure, d *contract.Drawing, sum *rightSum, groups []group, m measure, b *by,
) (ok bool, err error) {
	if d.As == "" {
		x.draw(v.q, v.s, groups, m, b)
		return true, nil
	}
	if b.as == onCountries {
		found, _, err := v.q.groups(sum.asked, []string{b.value}, "max:"+contract.PeriodEnd)
		if err != nil {
			return false, err
		}
		at := ends{}
		for _, r := range found {
			at[r.Value(b.value)] = r.Value("max_" + contract.PeriodEnd)
		}
		at.nameYears(v.q.Language, v.q.Freshness.Loaded, groups)
	}
	return x.drawAs(v.q, d, groups, b), nil
}

// byWords is what a drawing is by, in words.
func byWords(l *lang.Language, by string) string {
	if by == "month" || by == "year" {
		return l.T(by)
	}
	return nounOf(l, by)
}

// addMonths adds the first of the newest months of the list, unless the address has a first day.
func (v *viewer) addMonths(d *contract.Drawing, filters *contract.Question) error {
	if d.Months == 0 || v.s.values.Has("start_date") {
		return nil
	}
	const start = contract.PeriodStart
	found, _, err := v.q.groups(v.s.asked.Only("end_date"), nil, "max:"+start)
	if err != nil || len(found) == 0 {
		return err
	}
	text, _ := found[0].Text("max_" + start)
	month, err := time.Parse("2006-01", text[:min(len(text), len("2006-01"))])
	if err == nil {
		filters.Keep("start_date", month.AddDate(0, 1-d.Months, 0).Format("2006-01"))
	}
	return nil
}

// combined are the groups of a drawing. Several rows of one place in it become one.
func (v *viewer) combined(d *contract.Drawing, b *by, sum *rightSum, lines []string) (groups []group) {
	fields := sum.fields
	at, isDay := slices.Index(fields, b.value), false
	if at < 0 {
		at, isDay = slices.Index(fields, contract.PeriodStart), true
	}
	seen := map[[2]string][]string{}
	index := map[[2]string]int{}
	market, markets := slices.Index(fields, "market_code"), map[string]map[string]bool{} // of each line
	for _, row := range sum.rows {
		value := row.fields[at]
		texts := v.seconds(d, b, sum, row, lines)
		if isDay {
			value = value[:min(len(value), len("2006-01"))]
		}
		for k, figure := range row.figures {
			second := v.q.Language.List(texts)
			switch {
			case len(d.Names) > 0:
				second = capital(v.q.Language.T(d.Names[k]))
			case d.As == contract.AsPyramid || d.As == contract.AsStack: // values, which no language writes otherwise
				second = strings.Join(texts, ",")
			}
			g := newGroup(v.q.Language, value, value, figure)
			switch b.as {
			case onCountries:
				g.name = v.nameOf(value)
			case onUnits:
				g.name = cmp.Or(v.q.known.named[b.value][value], v.nameOf(value))
			case overTime:
				g.second = second
			default:
				if g.name, g.code = worded(v.q.Language, b.value, value); second != "" {
					g.name += ", " + second
				}
				g.name = cmp.Or(g.name, v.q.Language.T("not given"))
				g.isOurs = isOurs(b.value, value)
			}
			if d.As != "" {
				if g.second = second; b.as == asBars {
					g.name, _ = worded(v.q.Language, b.value, value)
				}
			}
			key := [2]string{value, second}
			seen[key] = append(seen[key], figure)
			if market >= 0 {
				if markets[second] == nil {
					markets[second] = map[string]bool{}
				}
				markets[second][row.fields[market]] = true
			}
			if i, known := index[key]; known {
				groups[i] = g // the newest is the last
			} else {
				index[key] = len(groups)
				groups = append(groups, g)
			}
		}
	}
	for key, i := range index {
		if d.Within == contract.WithinMedian {
			groups[i] = newGroup(v.q.Language, key[0], key[0], medianText(seen[key]))
			groups[i].second, groups[i].units = key[1], len(markets[key[1]])
		}
	}
	return groups
}

// seconds are the values of a row in words, besides that of the groups: over time those of lines.
// If all rows are of one country, it is left out.
func (v *viewer) seconds(d *contract.Drawing, b *by, sum *rightSum, row figureRow, lines []string) (texts []string) {
	for i, field := range sum.fields {
		name := row.fields[i]
		isOther := func(r figureRow) bool { return r.fields[i] != row.fields[i] }
		switch {
		case field == "unit" && i > 0 && sum.fields[i-1] == "currency_code" && texts != nil:
			if name != "MT" { // a tonne
				name = cmp.Or(strings.ToLower(name), v.q.Language.T("unknown unit"))
			}
			texts[len(texts)-1] = v.q.Language.T("%[1]s per %[2]s", texts[len(texts)-1], name)
			continue
		case field == b.value || field == contract.PeriodStart || b.as == overTime && !slices.Contains(lines, field):
			continue
		case isCountry(field) && len(lines) != 1:
			if !slices.ContainsFunc(sum.rows, isOther) {
				continue
			}
			name = v.nameOf(name)
		case d.As == "" || d.As == contract.AsYears:
			if name, _ = worded(v.q.Language, field, name); field == "price_type" {
				name = strings.ToLower(name)
			}
			name = cmp.Or(v.q.known.named[field][row.fields[i]], name)
			if b.as == overTime && texts == nil && isOurs(field, row.fields[i]) { // a line begins with it
				name = capital(name)
			}
		}
		texts = append(texts, name)
	}
	return texts
}

// addReports notes of each point in time how many units have a record, where some have few.
func (v *viewer) addReports(d *contract.Drawing, b *by, sum *rightSum, groups []group, lines []string) error {
	if b.as != overTime || d.Within != contract.WithinLast || !sum.units.IsPart() {
		return nil
	}
	levels, _, err := v.q.groups(sum.asked, nil, "max:"+levelParam)
	if err != nil || len(levels) == 0 {
		return err
	}
	units := "admin" + levels[0].Value("max_"+levelParam) + "_code"
	found, _, err := v.q.groups(sum.asked, sum.fields, "distinct:"+units)
	if err != nil {
		return err
	}
	counted := &rightSum{fields: sum.fields}
	for _, r := range found {
		counted.rows = append(counted.rows, figureRow{fieldsOf(r, sum.fields...), fieldsOf(r, "distinct_"+units)})
	}
	slices.SortFunc(counted.rows, func(a, b figureRow) int { return slices.Compare(a.fields, b.fields) })
	for _, of := range v.combined(d, b, counted, lines) {
		for i := range groups {
			if groups[i].value == of.value && groups[i].second == of.second {
				groups[i].units, groups[i].allUnits = int(of.number), sum.units.All
			}
		}
	}
	return nil
}

// medianText is the median of the texts that are numbers.
func medianText(texts []string) string {
	var all []*big.Rat
	for _, text := range texts {
		if number, ok := new(big.Rat).SetString(text); ok {
			all = append(all, number)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return contract.Median(all).FloatString(contract.HeadlineDigits)
}
