package contract

// How the headline figures are described: one path for the declarations and for all figures of some
// countries, and one with the name of a figure in it, since a path for each would hide the lists.

// Names of the schemas of headline figures.
const (
	figureSchema  = "Figure"
	figuresSchema = "FigureOrDeclaration"
)

// figurePaths describes the paths of the headline figures, and the schemas of their records.
func figurePaths(s NameSet) (paths, schemas object) {
	endpoints := FigureEndpoints(s)
	index, one := NewPlan(&endpoints[0], Figures), NewPlan(oneFigure(endpoints), Figures)
	name := object{
		{"name", "name"},
		{"in", "path"},
		{"required", true},
		{"description", kindTexts["figures name"]},
		{"schema", object{{"type", "string"}, {"enum", headlineNames()}}},
		{"example", Headlines[0].Name},
	}
	paths = object{
		{FiguresPath, index.figureOperation("listFigures", figuresSchema, kindTexts["figures all"])},
		{FiguresPath + "/{name}", one.figureOperation("getFigure", figureSchema, kindTexts["figures one"], name)},
	}
	properties, required := object{}, array{}
	for i := range headlineFields {
		f := &headlineFields[i]
		property := f.schema(figureTexts[f.Name])
		if f.Name == "request" { // a text, or a list of texts
			property = object{{"description", figureTexts[f.Name]}}
		}
		properties, required = append(properties, member{f.Name, property}), append(required, f.Name)
	}
	record := object{
		{"type", "object"},
		{"description", kindTexts["figures records"]},
		{"properties", properties},
		{"required", required},
		{"additionalProperties", false},
	}
	either := object{
		{"type", "object"}, {"description", kindTexts["figures either"]}, {"additionalProperties", true},
	}
	return paths, object{
		{figureSchema, record},
		{figureSchema + "List", listSchema(figureSchema)},
		{figuresSchema, either},
		{figuresSchema + "List", listSchema(figuresSchema)},
	}
}

// oneFigure is an endpoint with the parameters of all headline figures.
func oneFigure(endpoints []Endpoint) *Endpoint {
	e := endpoints[0]
	e.Fields = headlineFields
	for i := range Headlines {
		e.Params = append(e.Params[:len(e.Params):len(e.Params)], Headlines[i].Takes...)
	}
	return &e
}

func headlineNames() []string {
	names := make([]string, len(Headlines))
	for i := range Headlines {
		names[i] = Headlines[i].Name
	}
	return names
}

// figureOperation describes requests for headline figures.
func (p *Plan) figureOperation(id, record, about string, before ...any) any {
	o := operation{
		Tag: FiguresTag, Summary: p.Endpoint.Summary, About: about, ID: id, Records: kindTexts["figures records"],
		HasDates: true, IdentifierHeader: p.Endpoint.names.IdentifierHeader(), Identifier: examples[IdentifierParam],
		Content:    object{{JSONType, object{{"schema", ref("schemas", record+"List")}}}},
		Parameters: before, Named: len(before) > 0,
	}
	for i := range p.Params {
		o.Parameters = append(o.Parameters, p.Endpoint.parameter(&p.Params[i]))
	}
	return fill("operation", o)
}

// FiguresTag is the title of the headline figures.
const FiguresTag = "Headline figures"

// FigureMeaning is what a field of a headline figure's record means.
func FigureMeaning(field string) string { return figureTexts[field] }
