package contract

import (
	"cmp"
	"slices"
	"strings"

	"hdqs/aggregate"
)

// Operations of what is computed of an endpoint's rows. They refer to the endpoint's filters as
// components: a copy of all parameters for each kind would make the description four times as
// long.

// name is the first word of the keys of the kind's texts, and of its operation ids.
func (k Kind) name() string { return cmp.Or(k.String(), "list") }

// recordNames are the names of the schemas of records, for kinds that have one of their own.
var recordNames = map[Kind]string{Aggregate: "Group", Facets: "Facet", Changes: "Change"}

// ownHeaders are the header fields that only answers of a kind have.
var ownHeaders = map[Kind]string{Aggregate: HeaderCoverage, Facets: HeaderMore, Changes: HeaderChanges}

// componentName is the name of a filter as a component. Without the word in the middle, generated
// Go would have two types of one name: of a field of a record, and of the filter.
func componentName(e *Endpoint, p *Param) string { return schemaName(e) + "_filter_" + p.Name }

// filterComponents describes the parameters that the operations of an endpoint's kinds share.
func filterComponents(e *Endpoint) Object {
	var all Object
	p := NewPlan(e, Facets) // any kind but Rows
	for i := range p.Params {
		if param := &p.Params[i]; param.Own == nil {
			all = append(all, Member{componentName(e, param), withoutChoice(e.Texts().parameter(param))})
		}
	}
	return all
}

// withoutChoice keeps the first of several forms of a parameter. Of a choice in a component,
// generated Go does not compile.
func withoutChoice(parameter Object) Object {
	for i, m := range parameter {
		schema, is := m[1].(Object)
		if is && schema[0][0] == "anyOf" {
			parameter[i][1] = schema[0][1].(array)[0]
		}
	}
	return parameter
}

// withPage are the schemas of a record and of a page of such records.
func withPage(name string, record any) Object {
	page := fill("page", struct {
		Record  string
		Maximum int
	}{name, MaxLimit})
	return Object{{name, record}, {name + "List", page}}
}

// exportContent describes the formats of exports. The first is that without output_format, which
// generated clients take.
func exportContent(e *Endpoint) (content Object) {
	for _, f := range e.ExportFormats() {
		kind, _, _ := strings.Cut(f.Type, ";")
		schema := Object{{"type", "string"}}
		switch {
		case f.Name == FormatJSON:
			data := Object{{"type", "array"}, {"items", ref("schemas", schemaName(e))}}
			schema = Object{{"type", "object"}, {"required", array{"data"}}, {"properties", Object{{"data", data}}}}
		case f.Name == FormatGeoJSON:
			schema = Object{{"type", "object"}, {"description", "A FeatureCollection of points."}}
		case f.Name == FormatNDJSON:
			schema = append(schema, Member{"description", "One JSON object a line."})
		case !strings.HasPrefix(kind, "text/"): // generated Python cannot read a text as binary
			schema = append(schema, Member{"format", "binary"})
		}
		if !slices.ContainsFunc(content, func(m Member) bool { return m[0] == kind }) {
			content = append(content, Member{kind, Object{{"schema", schema}}})
		}
	}
	return content
}

// About is what requests of a kind other than Rows ask for, in a sentence or two.
func (p *Plan) About() string { return kindTexts[p.Kind.name()+" about"] }

// ExampleQuery is a query of a kind other than Rows that has an answer. snapshot is one to compare
// with, empty without.
func (p *Plan) ExampleQuery(snapshot string) string {
	query := ""
	for i := range p.Params {
		param := &p.Params[i]
		if param.Name == SinceParam && snapshot != "" {
			query += SinceParam + "=" + snapshot + "&"
		} else if param.Required || p.Kind == Aggregate && param.List && param.Own != nil {
			query += param.Name + "=" + param.Example() + "&"
		}
	}
	return query + "limit=5"
}

// itemPattern is the form of a text in a list. A value with a comma or a backslash is possible too,
// but generated clients do not write it with the backslash that it needs.
const itemPattern = `^[^,\\]+$`

// itemSchema is the schema of a value of a list, as it is sent.
func (t Texts) itemSchema(p *Param) Object {
	s := p.schema()
	switch p.Type {
	case String:
		if p.Name == measureParam {
			return append(s, Member{"pattern", t.measurePattern()})
		}
		s = append(s, Member{"pattern", itemPattern})
	case Choice:
		s[1][1] = p.listedValues()
	}
	return s
}

// listExample is the example as JSON.
func (p *Param) listExample() array {
	var all array
	for _, text := range p.exampleList() {
		all = append(all, p.Type.json(text))
	}
	return all
}

// measurePattern is the form of a measure: there are too many for an enumeration.
func (t Texts) measurePattern() string {
	choices := []string{aggregate.Count.String()}
	if t.of.UnitLevels() > 0 {
		choices = append(choices, CoverageName)
	}
	for f := aggregate.Count + 1; f < Coverage; f++ {
		if fields := t.of.measured(f); len(fields) > 0 {
			choices = append(choices, f.String()+":("+strings.Join(fields, "|")+")")
		}
	}
	return "^(" + strings.Join(choices, "|") + ")$"
}

// How the headline figures are described: one path for the declarations and for all figures of some
// countries, and one with the name of a figure in it, since a path for each would hide the lists.
// Only figures with a further parameter have a path of their own beside it.

// Names of the schemas of headline figures.
const (
	figureSchema  = "Figure"
	figuresSchema = "FigureOrDeclaration"
	historySchema = "FigureBefore"
)

// figurePaths describes the paths of the headline figures, and the schemas of their records.
func figurePaths(s NameSet) (paths, schemas Object) {
	endpoints := FigureEndpoints[s]
	index, past := NewPlan(&endpoints[0], Figures), FigureHistories[s][0]
	past.Summary = endpoints[0].Summary
	names := HeadlineNames()
	name := Object{
		{"name", "name"},
		{"in", "path"},
		{"required", true},
		{"description", kindTexts["figures name"]},
		{"schema", Object{{"type", "string"}, {"enum", names}}},
		{"example", names[0]},
	}
	paths = Object{
		{FiguresPath, index.figureOperation("listFigures", figuresSchema, kindTexts["figures all"])},
		{FiguresPath + "/{name}", index.figureOperation("getFigure", figureSchema, kindTexts["figures one"], name)},
		{FiguresPath + "/{name}" + HistoryPath, NewPlan(&past, Figures).figureOperation(
			"getFigureHistory", historySchema, kindTexts["figures history"], name)},
	}
	for _, e := range endpoints[1:] {
		if h := e.Headline; h.Takes != "" {
			paths = append(paths, Member{e.Path, NewPlan(&e, Figures).figureOperation(
				"get"+schemaName(&e), figureSchema, kindTexts["figures one"])})
		}
	}
	texts := Object{{"description", figureTexts["request"]}} // a text, or a list of texts
	record := recordSchema(kindTexts["figures records"], headlineFields,
		func(field string) string { return figureTexts[field] }, Member{"request", texts})
	either := Object{
		{"type", "object"}, {"description", kindTexts["figures either"]}, {"additionalProperties", true},
	}
	before := recordSchema(kindTexts["figures history records"], historyFields,
		func(field string) string { return wasTexts[field] })
	return paths, slices.Concat(withPage(figureSchema, record), withPage(historySchema, before),
		withPage(figuresSchema, either))
}

// groupsPath describes the path of the groups, and the schemas of their records.
func groupsPath(s NameSet) (path Member, schemas Object) {
	const schema = "CountryGroup"
	e := &GroupsEndpoints[s][0]
	members := Object{{"description", groupTexts["members"]}, {"type", "array"}, {"items", Object{{"type", "string"}}}}
	record := recordSchema(kindTexts["groups records"], e.Fields,
		func(field string) string { return groupTexts[field] }, Member{"members", members})
	described := NewPlan(e, Figures).figureOperation("listGroups", schema, kindTexts["groups all"])
	return Member{GroupsPath, described}, withPage(schema, record)
}

// figureOperation describes requests for headline figures.
func (p *Plan) figureOperation(id, record, about string, before ...any) any {
	o := operation{
		Tag: FiguresTag, Summary: p.Endpoint.Summary, About: about, ID: id, Records: kindTexts["figures records"],
		HasDates: true, IdentifierHeader: p.Endpoint.names.IdentifierHeader(), Identifier: examples[IdentifierParam],
		Content:    Object{{JSONType, Object{{"schema", ref("schemas", record+"List")}}}},
		Parameters: before, Named: len(before) > 0,
	}
	if p.Endpoint.History {
		o.Records, o.HasDates = kindTexts["figures history records"], false
	}
	for i := range p.Params {
		o.Parameters = append(o.Parameters, p.Endpoint.Texts().parameter(&p.Params[i]))
	}
	return fill("operation", o)
}

// FiguresTag is the title of the headline figures.
const FiguresTag = "Headline figures"
