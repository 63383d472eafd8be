package contract

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// Object is a JSON object whose members keep their order, so that records are described in the
// order in which they are sent.
type Object []Member

// Member is a key, which is a text, and its value.
type Member = [2]any

// MarshalJSON writes the members in order.
func (o Object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			text = append(text, ',')
		}
		value, err := json.Marshal(m[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m[0], err)
		}
		text = append(fmt.Appendf(text, "%q:", m[0]), value...)
	}
	return append(text, '}'), nil
}

// array is a JSON array.
type array []any

func ref(kind, name string) Object { return Object{{"$ref", "#/components/" + kind + "/" + name}} }

// DescriptionOfAll is the path of the description in HAPI names that has all paths: some programs
// make a tool of each, so the usual one has only those of the public service.
const DescriptionOfAll = "/openapi-all.json"

//go:embed openapi.json.tmpl
var openAPIText string

// openAPITemplate is the description, and by the names of kinds the schemas of their records.
var openAPITemplate = template.Must(template.New("").Funcs(template.FuncMap{
	"json": func(value any) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	},
	"members": func(o Object) (string, error) {
		text, err := o.MarshalJSON()
		return strings.TrimPrefix(strings.TrimSuffix(string(text), "}"), "{"), err
	},
}).Parse(openAPIText))

// openAPI is what the template fills in.
type openAPI struct {
	Version, Server                                string
	About                                          string // what to add about the paths
	All                                            bool   // the description has all paths
	AllPaths                                       string // where the description of all is; empty without its address
	Tags                                           array
	Paths, Schemas, Parameters                     Object
	EncodePath, EncodeID, VersionPath, VersionID   string
	MinApplication, MaxApplication, MaxIdentifier  int
	EmailPattern, AllowedMethods, IdentifierHeader string
}

// Description is the interface description, OpenAPI 3.1, in the names of a set, for paths below a
// prefix, which is empty at the root, with the kinds of requests that are served besides those for
// rows. Without any it has the paths of the public service alone, and says where the others are. It
// is derived from the endpoint literals, so it is the same for every snapshot. base is the address
// of the service, which clients need that are made from a saved file; empty if it is not known.
func Description(s NameSet, base, prefix string, kinds ...Kind) ([]byte, error) {
	d := openAPI{
		Version: InterfaceVersion, Server: cmp.Or(base+prefix, "/"), Tags: tags(kinds), All: len(kinds) > 0,
		EncodePath: EncodePath, EncodeID: "encodeAppIdentifier", VersionPath: VersionPath, VersionID: "getVersion",
		MinApplication: minApplication, MaxApplication: maxApplication, MaxIdentifier: maxIdentifier,
		EmailPattern: emailPattern, AllowedMethods: AllowedMethods, IdentifierHeader: s.IdentifierHeader(),
	}
	if s == HAPINames { // as in the public service
		d.EncodeID = "get_encoded_identifier_api_v2_encode_app_identifier_get"
		d.VersionID = "get_version_api_v2_util_version_get"
	}
	if !d.All {
		all := base + prefix + DescriptionOfAll
		d.About = " This describes the paths of the public service; " + all +
			" also has sums, counts, changes and exports of whole lists."
		if base != "" { // the field takes whole addresses only
			d.AllPaths = all
		}
	}
	endpoints := EndpointsIn(s)
	for i := range endpoints {
		e := &endpoints[i]
		name := schemaName(e)
		record := recordSchema(e.Summary, e.Fields, e.Texts().Meaning)
		d.Schemas = append(d.Schemas, withPage(name, record)...)
		for _, k := range append([]Kind{Rows}, kinds...) {
			p := NewPlan(e, k)
			d.Paths = append(d.Paths, Member{p.Paths()[0], p.operation(d.All)})
		}
		if d.All {
			d.Parameters = append(d.Parameters, filterComponents(e)...)
		}
	}
	for _, k := range kinds {
		if name := recordNames[k]; name != "" {
			record := fill(k.String(), kindTexts[k.name()+" records"])
			d.Schemas = append(d.Schemas, withPage(name, record)...)
		}
	}
	if d.All {
		paths, schemas := figurePaths(s)
		d.Paths, d.Schemas = append(d.Paths, paths...), append(d.Schemas, schemas...)
		path, schemas := groupsPath(s)
		d.Paths, d.Schemas = append(d.Paths, path), append(d.Schemas, schemas...)
	}
	return json.Marshal(fill("", d))
}

// fill fills in a part of the template.
func fill(name string, data any) json.RawMessage {
	var text bytes.Buffer
	if err := openAPITemplate.ExecuteTemplate(&text, name, data); err != nil {
		panic(err) // the data does not come from a request
	}
	return text.Bytes()
}

// tags are the groups of operations. The description of a group of lists names these.
func tags(kinds []Kind) (all array) {
	tag := func(name string, about ...string) {
		all = append(all, Object{{"name", name}, {"description", strings.Join(about, "; ") + "."}})
	}
	var lists []string
	for i := range Endpoints {
		lists = append(lists, Endpoints[i].Summary)
		if i+1 == len(Endpoints) || Endpoints[i+1].Group() != Endpoints[i].Group() {
			tag(Endpoints[i].Texts().GroupTitle(), lists...)
			lists = nil
		}
	}
	if len(kinds) > 0 {
		tag(FiguresTag, "The figures that people ask for most, each with the request that it is made of")
	}
	tag("Utility", "Application identifiers", "Versions")
	return all
}

// schemaName is the endpoint's name in capitals: conflict-events is ConflictEvents.
func schemaName(e *Endpoint) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(e.Name(), func(c rune) bool { return c == '-' || c == '_' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// operation is what the template fills in for the requests of a plan.
type operation struct {
	Tag, Summary, About, ID, Records, OwnHeader, IdentifierHeader, Identifier string

	Parameters  array
	HasDates    bool
	Provisional bool
	Named       bool // the path has a name, so it may not be found
	Content     Object
}

// operation describes the plan's requests, with the filters of version 1 or without.
func (p *Plan) operation(earlier bool) json.RawMessage {
	e, kind := p.Endpoint, p.Kind.name()
	o := operation{
		Tag: e.Texts().GroupTitle(), Summary: e.Summary + ": " + kindTexts[kind+" summary"], ID: kind + schemaName(e),
		Records: kindTexts[kind+" records"], HasDates: p.start >= 0, OwnHeader: ownHeaders[p.Kind],
		Provisional:      e.Provisional != Never && (p.Kind == Rows || p.Kind == Aggregate),
		IdentifierHeader: e.names.IdentifierHeader(), Identifier: examples[IdentifierParam],
	}
	for i := range p.Params {
		param := &p.Params[i]
		ofExport := p.Kind == Export && (param.Name == "limit" || param.Name == formatParam)
		if p.Kind != Rows && param.Own == nil && !ofExport { // it is the endpoint's component
			o.Parameters = append(o.Parameters, ref("parameters", componentName(e, param)))
		} else if earlier || !param.Earlier {
			o.Parameters = append(o.Parameters, e.Texts().parameter(param))
		}
	}
	// Only JSON is declared. With a second type, generated clients give callers "list or text", and
	// typed languages refuse to compile that.
	list := ref("schemas", cmp.Or(recordNames[p.Kind], schemaName(e))+"List")
	o.Content = Object{{JSONType, Object{{"schema", list}}}}
	about := []string{p.About()}
	switch p.Kind {
	case Rows:
		o.ID, o.Summary = cmp.Or(e.operation, o.ID), e.Summary
		about = []string{e.Note, e.Texts().AddingUp(), "The order of records is fixed."}
		if e.HasPoints() {
			o.Records += " With output_format=geojson they come as application/geo+json, a FeatureCollection of points."
		}
	case Aggregate:
		about = append(about, e.Texts().SumRules()...)
	case Export:
		o.Content = exportContent(e)
	}
	if p.Kind != Rows && p.Kind != Export {
		o.Records += " With output_format=csv they come as text/csv instead."
	}
	o.About = Sentences(about...)
	return fill("operation", o)
}

func (t Texts) parameter(p *Param) Object {
	described := Object{
		{"name", p.Name}, {"in", "query"}, {"required", p.Required}, {"description", t.About(p)},
	}
	if p.List {
		items := Object{{"type", "array"}, {"items", t.itemSchema(p)}, {"minItems", 1}, {"maxItems", MaxValues}}
		return append(described, Object{
			{"style", "form"}, {"explode", false}, {"schema", items}, {"example", p.listExample()},
		}...)
	}
	example := p.Type.json(p.Example())
	if p.Enum == latestModes {
		example = Boolean.json(p.Example())
	}
	return append(described, Object{{"schema", p.schema()}, {"example", example}}...)
}

func (t Type) json(text string) any {
	switch t {
	case Integer, Number, Exact:
		return json.Number(text)
	case Boolean:
		return text == "true"
	}
	return text
}

// Patterns of text parameters, which include the lengths of months. An empty start_date is not a
// filter. Times in timePattern are those that clients write; more forms are accepted.
const (
	yearPattern = `(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8])`
	leapDay     = `([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29`
	clock       = `T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]`
	wholeDay    = `(` + yearPattern +
		`-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|` + leapDay + `)`
	dayPattern   = `^(` + yearPattern + `(-(0[1-9]|1[0-2]))?|` + wholeDay + `(` + clock + `)?)?$`
	timePattern  = `^` + wholeDay + `(` + clock + `(\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?)?$`
	exactPattern = `^[+-]?(\d+\.?\d*|\.\d+)$`
)

func (t Type) schema(e *Enum, limit int) Object {
	s := Object{{"type", "string"}}
	switch t {
	case Choice:
		s = append(s, Member{"enum", e.Values})
	case Integer:
		s = Object{{"type", "integer"}}
	case Number:
		s = Object{{"type", "number"}}
	case Boolean:
		s = Object{{"type", "boolean"}}
	case Day:
		s = append(s, Member{"pattern", dayPattern})
	case URI:
		s = append(s, Object{{"format", "uri"}, {"minLength", 1}, {"maxLength", maxURIField}}...)
	}
	if limit > 0 {
		s = append(s, Member{"maxLength", limit})
	}
	return s
}

func (p *Param) schema() Object {
	text, s := Object{{"type", "string"}}, p.Type.schema(p.Enum, p.Max)
	switch {
	case p.Type == Exact:
		s = Object{{"anyOf", array{Number.schema(nil, 0), append(text, Member{"pattern", exactPattern})}}}
	case p.Type == DateTime:
		s = append(s, Member{"pattern", timePattern})
	case p.Enum == latestModes:
		s = Object{{"anyOf", array{Boolean.schema(nil, 0), append(text, Member{"enum", array{LatestEdition}})}}}
	case p.Name == SinceParam:
		s = slices.Insert(s, 1, Member{"pattern", snapshotPattern})
	}
	if p.Floor != nil {
		s = append(s, Member{"minimum", *p.Floor})
	}
	if p.Ceiling != nil {
		s = append(s, Member{"maximum", *p.Ceiling})
	}
	if p.Default != "" {
		s = append(s, Member{"default", p.Type.json(p.Default)})
	}
	return s
}

// recordSchema describes records with some fields. Of those whose schema does not follow from their
// declaration, it is among others.
func recordSchema(about string, fields []Field, meaning func(field string) string, others ...Member) Object {
	properties, required := make(Object, len(fields)), make(array, len(fields))
	for i := range fields {
		f := &fields[i]
		properties[i], required[i] = Member{f.Name, f.schema(meaning(f.Name))}, f.Name
		for _, other := range others {
			if other[0] == f.Name {
				properties[i] = other
			}
		}
	}
	return Object{
		{"type", "object"},
		{"description", about},
		{"properties", properties},
		{"required", required},
		{"additionalProperties", false},
	}
}

func (f *Field) schema(meaning string) Object {
	s := f.Type.schema(f.Enum, f.Max)
	if f.Type == DateTime {
		// Not format date-time: RFC 3339 requires a zone, which records do not have (contract
		// section 9).
		s = append(s, Member{"pattern", dateTimePattern})
	}
	if f.Nullable {
		s = Object{{"anyOf", array{s, Object{{"type", "null"}}}}}
	}
	return append(s, Member{"description", meaning})
}

// maxURIField is the longest URI of a record.
const maxURIField = 2083

// emailPattern matches no address that the contract's section 2 refuses. It does not describe all
// that are accepted: other letters and a display name are missing.
const emailPattern = `^[A-Za-z0-9_]{1,30}([.+-][A-Za-z0-9_]{1,10}){0,2}@([A-Za-z0-9]{1,25}` +
	`(-[A-Za-z0-9]{1,25})?\.){1,3}(org|com|net|int|info|edu|[a-z]{2})$`

// dateTimePattern is the form of times in records.
const dateTimePattern = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{6})?$`
