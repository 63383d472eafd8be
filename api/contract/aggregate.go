package contract

import (
	"fmt"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/internal/nearest"
)

// A request of kind Aggregate asks for figures of groups of the rows that pass its filters:
// group_by=location_code,year&measures=count,sum:events. A record has the fields of the group, then
// the measures, in the order in which they were asked for.

// The parameters of Aggregate.
const (
	groupParam   = "group_by"
	measureParam = "measures"
)

// partNames are the parts in group_by, and in records.
var partNames = [...]string{aggregate.Year: "year", aggregate.Quarter: "quarter", aggregate.Month: "month"}

// Coverage is a function besides those of package aggregate: how many of the units of
// administration have rows.
const Coverage = aggregate.Latest + 1

// CoverageName is the name of Coverage in measures.
const CoverageName = "coverage"

var funcNames = [...]string{
	aggregate.Count: "count", aggregate.Sum: "sum", aggregate.Min: "min", aggregate.Max: "max",
	aggregate.Mean: "mean", aggregate.Distinct: "distinct", aggregate.Latest: "latest", Coverage: CoverageName,
}

var groupKind = &ParamKind{
	read:  func(r *Request, p *Param) { r.Question.Groups = r.readGroups(p, r.Question.Groups) },
	write: func(q *Question) string { return strings.Join(q.GroupNames(), ",") },
}

var measureKind = &ParamKind{
	read: (*Request).readMeasures,
	write: func(q *Question) string {
		if len(q.Measures) == 1 && q.Measures[0].Func == aggregate.Count {
			return ""
		}
		return strings.Join(q.MeasureNames(), ",")
	},
}

// maxMeasures is the most measures of one request.
const maxMeasures = 32

// exampleGroup is a name that group_by and of take.
func (e *Endpoint) exampleGroup() string {
	for _, name := range [...]string{"location_code", "origin_location_code", "code"} {
		if e.HasField(name) {
			return name
		}
	}
	return e.Fields[0].Name
}

// HasPeriod reports whether records have a period.
func (e *Endpoint) HasPeriod() bool { return positionOf(e.Fields, PeriodStart) >= 0 }

// GroupNames are the names that group_by and of take, but for classes of countries.
func (e *Endpoint) GroupNames() []string {
	names := FieldNames(e.Fields)
	if e.HasPeriod() {
		names = append(names, partNames[aggregate.Year:]...)
	}
	return names
}

// readGroups appends what a list of names says to group by. A name that is repeated counts once.
func (r *Request) readGroups(p *Param, to []Group) []Group {
	names, _ := r.readNames(p)
	e := r.Scanned.plan.Endpoint
	for _, name := range names {
		g, known := e.groupOf(name)
		if !known {
			reason, choices := fmt.Sprintf("%q is no field of the records", name), e.GroupNames()
			classes, _ := classGroups(e)
			if len(nearNames(name, choices)) == 0 && len(nearNames(name, classes)) > 0 {
				choices = classes
			}
			r.fault(unknownName(p.Name, name, reason, name, choices))
			continue
		}
		if !slices.Contains(to, g) {
			to = append(to, g)
		}
	}
	return to
}

// groupOf is what a name in group_by groups by.
func (e *Endpoint) groupOf(name string) (g Group, known bool) {
	if part := slices.Index(partNames[:], name); part > 0 && e.HasPeriod() {
		return Group{Field: positionOf(e.Fields, PeriodStart), Part: aggregate.Part(part)}, true
	}
	if g.Field = positionOf(e.Fields, name); g.Field >= 0 {
		return g, true
	}
	names, groups := classGroups(e)
	if at := slices.Index(names, name); at >= 0 {
		return groups[at], true
	}
	return g, false
}

// countryPrefix is what the names of classes begin with that are of a field with codes of
// countries.
func countryPrefix(e *Endpoint, field int) (prefix string, is bool) {
	name := e.Fields[field].Name
	if e.Table == "location" {
		return "", name == "code"
	}
	if !strings.HasSuffix(name, CountryParam) {
		return "", false
	}
	return name[:len(name)-len(CountryParam)], true
}

// className is the name of a class in group_by and in records.
func className(e *Endpoint, g Group) string {
	prefix, _ := countryPrefix(e, g.Field)
	return prefix + ClassNames[g.Class]
}

// classGroups are the names of classes that group_by takes, and what they group by.
func classGroups(e *Endpoint) (names []string, groups []Group) {
	for i := range e.Fields {
		prefix, is := countryPrefix(e, i)
		for class := RegionClass; is && class <= IncomeClass; class++ {
			names, groups = append(names, prefix+ClassNames[class]), append(groups, Group{Field: i, Class: class})
		}
	}
	return names, groups
}

// readMeasures reads measures. A measure that is repeated counts once.
func (r *Request) readMeasures(p *Param) {
	texts, ok := r.readNames(p)
	r.Question.Measures = r.Question.Measures[:0]
	for _, text := range texts {
		if m, fine := r.readMeasure(p, text); fine && !slices.Contains(r.Question.Measures, m) {
			r.Question.Measures = append(r.Question.Measures, m)
		}
	}
	if ok && len(r.Question.Measures) > maxMeasures {
		issue := tooMany(p.Name, "", len(r.Question.Measures), maxMeasures,
			"List should have at most %s measures, not %s; send the rest in another request")
		issue.NullInput = true
		r.fault(issue)
	}
}

// readMeasure reads one measure: count, or a function and a field.
func (r *Request) readMeasure(p *Param, text string) (m Measure, ok bool) {
	e := r.Scanned.plan.Endpoint
	name, field, _ := strings.Cut(text, ":")
	f := slices.Index(funcNames[:], name) // 0 is no function
	alone := f >= 0 && isAlone(aggregate.Func(f))
	if f <= 0 || alone != (text == name) || !alone && field == "" {
		r.fault(notMeasure(p.Name, text, name, field))
		return m, false
	}
	m = Measure{Func: aggregate.Func(f), Field: -1}
	if m.Func == Coverage && !r.Question.mayCover() {
		r.fault(valueError(p.Name, text, "coverage is of the units of a country: it needs a list of places below "+
			"countries, and group_by="+CountryParam))
		return m, false
	}
	if alone {
		return m, true
	}
	m.Field = positionOf(e.Fields, field)
	choices := e.measured(m.Func)
	switch {
	case m.Func == aggregate.Latest && !e.HasPeriod():
		r.fault(unknownName(p.Name, text, "records have no period, so nothing is the "+name, "", nil))
	case m.Field < 0:
		r.fault(unknownName(p.Name, text, fmt.Sprintf("%q is no field of the records", field), field, choices))
	case (m.Func == aggregate.Sum || m.Func == aggregate.Mean) && e.Figure(ContractNames.Name(field)) == nil:
		r.fault(unknownName(p.Name, text, field+" is not a number, so it has no "+name, "", choices))
	default:
		return m, true
	}
	return m, false
}

// isAlone reports whether the function has no field.
func isAlone(f aggregate.Func) bool { return f == aggregate.Count || f == Coverage }

// mayCover reports whether the groups of a request are of countries whose units the list has.
func (q *Question) mayCover() bool {
	return q.plan.Endpoint.UnitLevels() > 0 && slices.ContainsFunc(q.Groups, func(g Group) bool {
		return q.plan.Endpoint.Fields[g.Field].Name == CountryParam && g.IsWhole()
	})
}

// UnitLevels is the lowest level of the units that rows of the endpoint can be about, 0 if they are
// about countries or no places.
func (e *Endpoint) UnitLevels() int {
	switch {
	case slices.Contains(e.Key, UnitColumns[2]):
		return 2
	case slices.Contains(e.Key, UnitColumns[1]):
		return 1
	}
	return 0
}

// UnitColumns are the columns with the stored codes of units, by level.
var UnitColumns = [...]string{1: "stored_admin1_code", 2: "stored_admin2_code"}

// measured are the fields that a function takes, for error texts: of sum and mean those for which
// they mean something.
func (e *Endpoint) measured(f aggregate.Func) []string {
	var names []string
	for i := range e.Fields {
		name := e.Fields[i].Name
		figure := e.Figure(ContractNames.Name(name))
		if f != aggregate.Sum && f != aggregate.Mean || figure != nil && figure.Allows(f) {
			names = append(names, name)
		}
	}
	return names
}

// Allows reports whether a function of the figure means something.
func (f *Figure) Allows(fn aggregate.Func) bool {
	switch fn {
	case aggregate.Sum:
		return f.Use == Added
	case aggregate.Mean:
		return f.Use == Added || f.Use == Averaged
	}
	return true
}

// unknownName is the issue of a name that has no meaning in a list. near is what to look for among
// the choices.
func unknownName(param, input, reason, near string, choices []string) Issue {
	meant := ""
	if names := nearNames(near, choices); len(names) > 0 {
		meant = names[0]
	}
	switch {
	case meant != "":
		reason += "; did you mean " + meant + "? Choices: "
	case len(choices) > 0:
		reason += ". Choices: "
	default:
		reason += ". There is no choice here"
	}
	issue := valueError(param, input, reason+strings.Join(choices, ", "))
	issue.Details.Meant = meant
	return issue
}

// notMeasure is the issue of a measure without a function, or with a field too many or too few.
func notMeasure(param, input, name, field string) Issue {
	const form = "Measures are count, and sum, min, max, mean, distinct or latest with a field, such as sum:FIELD"
	reason := fmt.Sprintf("%q is no measure", input)
	switch meant := nearest.Of(strings.ToLower(name), funcNames[1:]); {
	case name == funcNames[aggregate.Count], name == CoverageName:
		reason += ": " + name + " has no field"
	case slices.Contains(funcNames[1:], name): // sum, or sum:
		reason += ": " + name + " needs a field"
	case strings.ToLower(name) == "avg" || strings.ToLower(name) == "average":
		reason += "; did you mean mean:" + field + "?"
	case meant != "":
		reason += "; did you mean " + strings.TrimSuffix(meant+":"+field, ":") + "?"
	}
	if !strings.HasSuffix(reason, "?") {
		reason += "."
	}
	return valueError(param, input, reason+" "+form)
}

// groupName is the name of a group's field in group_by and in records.
func (e *Endpoint) groupName(g Group) string {
	switch {
	case g.Class != NoClass:
		return className(e, g)
	case g.Part != aggregate.Whole:
		return partNames[g.Part]
	}
	return e.Fields[g.Field].Name
}

// MeasureName is a measure as measures has it.
func (e *Endpoint) MeasureName(m Measure) string {
	if isAlone(m.Func) {
		return funcNames[m.Func]
	}
	return funcNames[m.Func] + ":" + e.Fields[m.Field].Name
}

// groupNames are the names of groups, in their order.
func (e *Endpoint) groupNames(groups []Group) (names []string) {
	for _, g := range groups {
		names = append(names, e.groupName(g))
	}
	return names
}

// groupField is the field of a record with what it is grouped by.
func (e *Endpoint) groupField(g Group) Field {
	f := e.Fields[g.Field]
	if g.Class != NoClass {
		return null(text(className(e, g), maxSlug))[0]
	}
	switch g.Part {
	case aggregate.Year:
		return Field{Name: partNames[aggregate.Year], Type: Integer, Nullable: f.Nullable}
	case aggregate.Quarter, aggregate.Month:
		return Field{Name: partNames[g.Part], Type: String, Max: len("2024-Q2"), Nullable: f.Nullable}
	}
	return f
}

// Fields of Coverage: units that have rows, and units that there are.
const (
	unitsField = "units"
	knownField = "units_known"
)

// measureFields are the fields of a record with a measure. All but counts are null if no row of the
// group has a value.
func (e *Endpoint) measureFields(m Measure) []Field {
	name := strings.Replace(e.MeasureName(m), ":", "_", 1)
	switch m.Func {
	case aggregate.Count, aggregate.Distinct:
		return integers(name)
	case aggregate.Mean:
		return null(decimals(name))
	case Coverage:
		return null(integers(unitsField, knownField))
	}
	f := e.Fields[m.Field]
	f.Name, f.Nullable = name, true
	return []Field{f}
}

// levelField is the level of a record's place.
const levelField = "admin_level"

// ShowsLevel reports whether groups have a field with the level of their rows, null if they have
// several: with Coarsest, those of countries do.
func (q *Question) ShowsLevel() bool {
	has := func(name string) bool {
		return slices.Contains(q.Groups, Group{Field: positionOf(q.plan.Endpoint.Fields, name)})
	}
	return q.Coarsest && has("location_code") && !has(levelField)
}

// AggregateFields are the fields of the records of a request of kind Aggregate.
func (q *Question) AggregateFields() []Field {
	fields := make([]Field, 0, len(q.Groups)+len(q.Measures)+1)
	for _, g := range q.Groups {
		fields = append(fields, q.plan.Endpoint.groupField(g))
	}
	if q.ShowsLevel() {
		fields = append(fields, null(integers(levelField))...)
	}
	for _, m := range q.Measures {
		fields = append(fields, q.plan.Endpoint.measureFields(m)...)
	}
	return fields
}
