package judge

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// fittingEndpoint draws an endpoint that fits, if a few tries find one.
func (m *maker) fittingEndpoint(fits func(*endpoint) bool) *endpoint {
	e := m.endpoint()
	for tries := 0; !fits(e) && tries < 100; tries++ {
		e = m.endpoint()
	}
	return e
}

// sometimes adds a parameter with one of some values to so many requests of a hundred.
func (m *maker) sometimes(percent int, pairs []pair, name string, values ...string) []pair {
	if m.chance(percent) {
		pairs = append(pairs, pair{name, pick(m, values)})
	}
	return pairs
}

// someFields draws a list of up to most different fields.
func (m *maker) someFields(e *endpoint, most int) string {
	return strings.Join(someNames(m.rng, fieldNames(e), most), ",")
}

// filters draws up to most filters of rows that are near each other, so that some answers are not
// empty, and about half of them as lists.
func (m *maker) filters(e *endpoint, most int) []pair {
	var pairs []pair
	row := m.anyRow(e)
	for range m.rng.IntN(most + 1) {
		p := pick(m, e.Params)
		if hasList(p) && m.chance(45) {
			pairs = append(pairs, pair{p.Name + listSuffix, m.listOf(e, p, row)})
			continue
		}
		pairs = append(pairs, pair{p.Name, m.fitting(p, row)})
	}
	return pairs
}

// listOf draws a list with a value that fits the row, as it is sent.
func (m *maker) listOf(e *endpoint, p *param, r row) string {
	count := 1 + m.rng.IntN(4)
	if m.chance(10) {
		count = 1 + m.rng.IntN(200)
	}
	values := make([]string, 0, count)
	for i := range count {
		from := r
		if i > 0 {
			from = m.anyRow(e)
		}
		value := m.fitting(p, from)
		if value == "" && m.chance(95) {
			value = "none"
		}
		if p.Match == "ilike" || strings.HasPrefix(p.Match, "icontains") {
			value = escapedPattern(value)
		} else {
			value = strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(value)
		}
		values = append(values, value)
	}
	m.rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	return strings.Join(values, ",")
}

// escapedPattern makes the commas of a pattern literal, and a lone backslash at its end.
func escapedPattern(value string) string {
	var b strings.Builder
	runes := []rune(value)
	for i := 0; i < len(runes); i++ {
		switch {
		case runes[i] == '\\' && i+1 < len(runes):
			b.WriteRune(runes[i])
			i++
		case runes[i] == ',' || runes[i] == '\\':
			b.WriteByte('\\')
		}
		b.WriteRune(runes[i])
	}
	return b.String()
}

// severalValues is a request with at least one list. Some of them are wrong.
func (m *maker) severalValues() request {
	e := m.endpoint()
	pairs := m.filters(e, 2)
	p := pick(m, e.Params)
	for tries := 0; !hasList(p) && tries < 20; tries++ {
		p = pick(m, e.Params)
	}
	name := p.Name + listSuffix
	switch value := m.listOf(e, p, m.anyRow(e)); {
	case m.chance(3):
		pairs = append(pairs, pair{name, ""})
	case m.chance(3):
		pairs = append(pairs, pair{name, value + ","})
	case m.chance(3):
		pairs = append(pairs, pair{name, strings.Repeat("a,", 200) + "b"})
	case m.chance(3) && p.MaxLength != nil:
		pairs = append(pairs, pair{name, value + "," + strings.Repeat("y", *p.MaxLength+1)})
	case m.chance(4):
		_, odd := m.values(e, p)
		pairs = append(pairs, pair{name, pick(m, odd)})
	case m.chance(5) && p.Type == "string": // a list in the place of one value
		pairs = append(pairs, pair{p.Name, "AFG,SDN"})
	case m.chance(15): // united
		pairs = append(pairs, pair{name, value}, pair{name, m.listOf(e, p, m.anyRow(e))})
	default:
		pairs = append(pairs, pair{name, value})
	}
	return m.list(e, pairs)
}

// someNames draws up to most different names.
func someNames(rng *rand.Rand, names []string, most int) []string {
	names = slices.Clone(names)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:1+rng.IntN(min(most, len(names)))]
}

func fieldNames(e *endpoint) []string {
	names := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		names[i] = f.Name
	}
	return names
}

func (m *maker) fewerFields() request {
	e := m.endpoint()
	pairs := m.filters(e, 2)
	names := someNames(m.rng, fieldNames(e), 12)
	switch {
	case m.chance(4):
		names = append(names, pick(m, []string{"nothing", "Location_code", "stored_admin1_code", "admin2_ref", "*"}))
	case m.chance(2):
		names = []string{""}
	case m.chance(5): // twice the same
		names = append(names, names[0])
	}
	if m.chance(20) {
		pairs = append(pairs, pair{"fields", names[0]})
		names = names[min(1, len(names)-1):]
	}
	pairs = append(pairs, pair{"fields", strings.Join(names, ",")})
	return m.list(e, m.sometimes(30, pairs, "output_format", formatsOf(e, "")...))
}

func (m *maker) newestOnly() request {
	e := m.fittingEndpoint(func(e *endpoint) bool { return e.series != nil })
	pairs := m.filters(e, 3)
	if row := m.anyRow(e); m.chance(40) && e.param("end_date") != nil { // as it was known then
		pairs = append(pairs, pair{"end_date", m.fitting(e.param("end_date"), row)})
	}
	value := pick(m, []string{"true", "true", "edition", "edition", "1", "Yes", "false"})
	if m.chance(3) {
		value = pick(m, []string{"", "maybe", "2"})
	}
	pairs = m.someLevels(e, append(pairs, pair{"latest", value}))
	return m.list(e, m.sometimes(20, pairs, "fields", m.someFields(e, 6)))
}

// formatted is a request for rows in a format, of an endpoint that fits.
func (m *maker) formatted(format string, fits func(*endpoint) bool) request {
	e := m.fittingEndpoint(fits)
	return m.list(e, append(m.filters(e, 3), pair{"output_format", format}))
}

// someLevels adds, to about half of the requests, that the coarsest places are kept, and to some
// that only rows are kept which count everybody.
func (m *maker) someLevels(e *endpoint, pairs []pair) []pair {
	if e.param("admin_level") != nil && m.chance(50) {
		pairs = append(pairs, pair{"admin_level", "coarsest"})
	}
	if everybodyFields[lastPart(e.Path)] != nil && m.chance(30) || m.chance(1) {
		pairs = append(pairs, pair{"everybody", pick(m, []string{"true", "true", "true", "0", "some"})})
	}
	return pairs
}

// computed makes a request for the computed list at a path below, with a page that is mostly short.
func (m *maker) computed(e *endpoint, name string, pairs []pair) request {
	limit := 10000
	if m.chance(40) {
		limit = m.rng.IntN(30)
	}
	pairs = append(pairs, pair{"limit", strconv.Itoa(limit)})
	r := m.list(e, m.sometimes(20, pairs, "offset", strconv.Itoa(m.rng.IntN(20))))
	r.Path = e.Path + "/" + name + strings.TrimPrefix(r.Path, e.Path)
	return r
}

func groupNames(e *endpoint) []string {
	names := fieldNames(e)
	if e.field(periodStart) != nil {
		names = append(names, periodParts...)
	}
	return names
}

// aggregated is a request for figures. Half of them keep apart what must not be added up, so that
// they are answered.
func (m *maker) aggregated() request {
	withFigures := m.chance(60)
	e := m.fittingEndpoint(func(e *endpoint) bool { return !withFigures || e.Group != "metadata" })
	pairs := m.filters(e, 3)
	var groups []string
	if m.chance(80) {
		groups = someNames(m.rng, groupNames(e), 3)
	}
	if m.chance(60) {
		groups, pairs = m.keepApart(e, groups, pairs)
	}
	var measures []string
	for range 1 + m.rng.IntN(4) {
		measures = append(measures, m.measure(e))
	}
	switch {
	case m.chance(2):
		groups = append(groups, pick(m, []string{"nothing", "week", "Year"}))
	case m.chance(2):
		measures = append(measures, pick(m, []string{"nothing", "sum", "count:", "sum:nothing", "avg:population", ""}))
	case m.chance(4):
		measures = append(measures, measures[0])
	}
	if len(groups) > 0 {
		pairs = append(pairs, pair{"group_by", strings.Join(groups, ",")})
	}
	pairs = m.sometimes(96, pairs, "measures", strings.Join(measures, ","))
	pairs = m.sometimes(15, pairs, "latest", "true", "edition")
	return m.computed(e, "aggregate", m.someLevels(e, pairs))
}

// keepApart groups by, or filters by one value of, each field whose values must not be added up.
func (m *maker) keepApart(e *endpoint, groups []string, pairs []pair) ([]string, []pair) {
	row, law, name := m.anyRow(e), m.w.contract.Sums, lastPart(e.Path)
	for _, f := range e.Fields {
		if f.Name != "admin_level" && !slices.Contains(law.Overlapping[name], f.Name) &&
			!slices.Contains(law.Alike[name], f.Name) && law.Totals[f.Name] == nil &&
			(f.Name != periodStart || !slices.Contains(law.Stocks, name)) {
			continue
		}
		p := e.param(f.Name)
		switch value, _ := row.at(f.Name).(string); {
		case m.chance(8): // forgotten
		case f.Name == periodStart && m.chance(50):
			pairs = append(pairs, pair{"latest", pick(m, []string{"true", "edition"})})
		case f.Name == "admin_level" && m.chance(40):
			pairs = append(pairs, pair{f.Name, "coarsest"})
		case p != nil && value != "" && m.chance(50):
			pairs = append(pairs, pair{f.Name, value})
		case !slices.Contains(groups, f.Name):
			groups = append(groups, f.Name)
		}
	}
	return groups, pairs
}

// measure draws a figure, mostly of a number.
func (m *maker) measure(e *endpoint) string {
	function := pick(m, []string{"count", "sum", "sum", "sum", "min", "max", "mean", "distinct", "latest"})
	if function == "count" {
		return function
	}
	f := pick(m, e.Fields)
	if function != "sum" && function != "mean" || m.chance(5) {
		return function + ":" + f.Name
	}
	law := m.w.contract.Sums
	var fit []string
	for _, f := range e.Fields {
		if slices.Contains(law.Additive, f.Name) || function == "mean" && slices.Contains(law.Averaged, f.Name) {
			fit = append(fit, f.Name)
		}
	}
	if len(fit) == 0 {
		return "count"
	}
	return function + ":" + pick(m, fit)
}

func (m *maker) counted() request {
	e := m.endpoint()
	pairs := m.filters(e, 3)
	names := someNames(m.rng, groupNames(e), 5)
	switch {
	case m.chance(3):
		names = append(names, "nothing")
	case m.chance(3):
		names = append(names, names[0])
	}
	pairs = m.sometimes(98, pairs, "of", strings.Join(names, ","))
	pairs = m.sometimes(15, pairs, "latest", "true", "edition")
	return m.computed(e, "facets", m.someLevels(e, pairs))
}

func (m *maker) changed() request {
	e := m.endpoint()
	pairs := m.filters(e, 2)
	since := m.w.since
	switch {
	case m.chance(2):
		since = pick(m, []string{"", "a b", "é", strings.Repeat("x", 129)})
	case m.chance(2):
		since = "nothing"
	}
	pairs = m.sometimes(98, pairs, "since", since)
	pairs = m.sometimes(25, pairs, "fields", m.someFields(e, 6))
	pairs = m.sometimes(25, pairs, "latest", "true", "edition")
	pairs = append(m.someLevels(e, pairs), pair{"output_format", "json"})
	return m.computed(e, "changes", pairs)
}
