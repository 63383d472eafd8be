package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// object is a JSON object whose keys keep their order, so that records are described in the order
// in which they are sent.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.key, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// array is a JSON array.
type array []any

func ref(kind, name string) object { return object{{"$ref", "#/components/" + kind + "/" + name}} }

// DescriptionOfAll is the path of the description in HAPI names that has all paths: some programs
// make a tool of each, so the usual one has only those of the public service.
const DescriptionOfAll = "/openapi-all.json"

// Description is the interface description, OpenAPI 3.1, in the names of a set, for paths below a
// prefix, which is empty at the root, with the kinds of requests that are served besides those for
// rows. Without any it has the paths of the public service alone, and says where the others are. It
// is derived from the endpoint literals, so it is the same for every snapshot.
func Description(s NameSet, prefix string, kinds ...Kind) ([]byte, error) {
	var paths, schemas, parameters, more object
	about := ""
	if len(kinds) == 0 {
		about = " This describes the paths of the public service; " + prefix + DescriptionOfAll +
			" also has sums, counts, changes and exports of whole lists."
		more = object{{"externalDocs", object{
			{"description", "All paths"}, {"url", prefix + DescriptionOfAll},
		}}}
	}
	endpoints := EndpointsIn(s)
	for i := range endpoints {
		e := &endpoints[i]
		paths = append(paths, member{e.Path, object{{"get", operation(e, len(kinds) > 0)}}})
		name := schemaName(e)
		schemas = append(schemas, member{name, recordSchema(e)}, member{name + "List", listSchema(name)})
		for _, k := range kinds {
			paths = append(paths, member{NewPlan(e, k).Paths()[0], object{{"get", computedOperation(e, k)}}})
		}
		if len(kinds) > 0 {
			parameters = append(parameters, filterComponents(e)...)
		}
	}
	schemas = append(schemas, kindSchemas(kinds)...)
	paths = append(paths, otherPaths(s)...)
	return json.Marshal(append(object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "Humanitarian Data Query Service"},
			{"version", InterfaceVersion},
			{"description", "Records of humanitarian data by place and time, as JSON or CSV. Lists come in a fixed " +
				"order; page through them with limit and offset. Header X-Total-Count tells how many records pass " +
				"the filters. Every request names its application. Where the operator offers them, whole tables are " +
				"Parquet and CSV files that /bulk/latest/manifest.json lists, without paging and identifier." + about},
		}},
		{"servers", array{object{{"url", cmp.Or(prefix, "/")}}}},
		{"tags", tags()},
		{"paths", paths},
		{"components", object{
			{"schemas", append(schemas, errorSchemas()...)},
			{"parameters", parameters},
			{"responses", errorResponses()},
			{"headers", headerDescriptions()},
			{"securitySchemes", object{
				{"AppIdentifierQuery", object{{"type", "apiKey"}, {"in", "query"}, {"name", IdentifierParam}}},
				{"AppIdentifierHeader", object{
					{"type", "apiKey"},
					{"in", "header"},
					{"name", s.IdentifierHeader()},
				}},
			}},
		}},
	}, more...))
}

// listHeaders refers to the header fields that all lists have.
func listHeaders() object {
	var all object
	for _, m := range headerDescriptions() {
		if m.key != HeaderMore && m.key != HeaderChanges {
			all = append(all, member{m.key, ref("headers", m.key)})
		}
	}
	return all
}

// headerDescriptions describes the header fields of a list that callers use.
func headerDescriptions() object {
	describe := func(about string, required bool, schema object) object {
		return object{{"description", about}, {"required", required}, {"schema", schema}}
	}
	text, count := object{{"type", "string"}}, object{{"type", "integer"}, {"minimum", 0}}
	return object{
		{HeaderTotal, describe("How many records pass the filters, before limit and offset.", true, count)},
		{HeaderResult, describe("How many records this answer has.", true, count)},
		{HeaderSnapshot, describe("The snapshot that answered. With snapshot=ID in the query the same one answers "+
			"again, for as long as it is held.", true, text)},
		{HeaderUpdated, describe("The day (UTC) on which the newest source of the records was changed. Not sent where "+
			"that is not known.", false, object{{"type", "string"}, {"format", "date"}})},
		{HeaderStale, describe("Sent only if a newer form of a source could not be read, so that records are from an "+
			"older one: 'since=' and the day (UTC) on which that was found.", false,
			object{{"type", "string"}, {"pattern", `^since=\d{4}-\d{2}-\d{2}$`}})},
		{"ETag", describe("Send it as If-None-Match to get 304 for as long as the answer is the same, also after new "+
			"data of other kinds.", true, text)},
		{"Link", describe("Neighbouring pages: next, prev, first, last; none for a query longer than about 2,000 "+
			"characters. Add the application identifier to them, or send it in the header.", false, text)},
		{HeaderUnknown, describe("Parameters of the query that this endpoint does not have, and ignored; "+
			"'(withheld)' stands for those that are no names. "+
			"With 'Prefer: handling=strict' they are refused.", false, text)},
		{HeaderMore, describe("How many values of a field were left out, beyond the 200 most frequent: "+
			"'location_code=12'.", false, text)},
		{HeaderChanges, describe("How many records there are of each kind, on all pages: 'added=1, removed=2, "+
			"changed=3'.", true, object{{"type", "string"}, {"pattern", `^added=\d+, removed=\d+, changed=\d+$`}})},
		{HeaderHint, describe("What was probably meant, such as the right name of an unknown parameter.", false, text)},
	}
}

func tags() array {
	var all array
	seen := map[string]bool{}
	for i := range Endpoints {
		if group := Endpoints[i].Group(); !seen[group] {
			seen[group] = true
			all = append(all, object{{"name", groupTitles[group]}})
		}
	}
	return append(all, object{{"name", "Utility"}})
}

// schemaName is the endpoint's name in capitals: conflict-events is ConflictEvents.
func schemaName(e *Endpoint) string {
	var b strings.Builder
	for part := range strings.SplitSeq(e.Name(), "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// operation describes a list, with the filters of version 1 or without.
func operation(e *Endpoint, earlier bool) object {
	p := NewPlan(e, Rows)
	parameters := make(array, 0, len(p.Params)+1)
	for i := range p.Params {
		if earlier || !p.Params[i].Earlier {
			parameters = append(parameters, parameter(e, &p.Params[i]))
		}
	}
	parameters = append(parameters, identifierParameter(e))
	// Only JSON is declared. With a second type, generated clients give callers "list or text", and
	// typed languages refuse to compile that.
	records := "The records of the page. With output_format=csv they come as text/csv instead: UTF-8, a " +
		"header line with the names of the fields, lines that end in CR LF, null as an empty cell."
	if e.HasPoints() {
		records += " With output_format=geojson they come as application/geo+json, a FeatureCollection of points."
	}
	return object{
		{"tags", array{e.GroupTitle()}},
		{"summary", e.Summary},
		{"description", sentences(e.Note, e.AddingUp(), "The order of records is fixed.")},
		{"operationId", cmp.Or(e.operation, "list"+schemaName(e))},
		{"parameters", parameters},
		{"responses", p.responses(object{
			{"description", records},
			{"headers", listHeaders()},
			{"content", object{{JSONType, object{{"schema", ref("schemas", schemaName(e)+"List")}}}}},
		})},
		{"security", identifierSecurity},
	}
}

// identifierSecurity is either form of the application identifier.
var identifierSecurity = array{
	object{{"AppIdentifierQuery", array{}}}, object{{"AppIdentifierHeader", array{}}},
}

func identifierParameter(e *Endpoint) object {
	return object{
		{"name", e.names.IdentifierHeader()},
		{"in", "header"},
		{"required", false},
		{"description", "The application identifier, where the query has none."},
		{"schema", object{{"type", "string"}}},
		{"example", examples[IdentifierParam]},
	}
}

// responses are all answers to the plan's requests.
func (p *Plan) responses(found object) object {
	responses := object{{"200", found}}
	if p.start >= 0 {
		responses = append(responses, member{"400", ref("responses", "BadDate")})
	}
	for _, fault := range []struct{ status, name string }{
		{"403", "Forbidden"},
		{"405", "MethodNotAllowed"},
		{"406", "NotAcceptable"},
		{"410", "Gone"},
		{"412", "PreconditionFailed"},
		{"414", "TooLong"},
		{"422", "Invalid"},
		{"500", "Internal"},
		{"503", "Unavailable"},
	} {
		responses = append(responses, member{fault.status, ref("responses", fault.name)})
	}
	return responses
}

func parameter(e *Endpoint, p *Param) object {
	if p.List {
		return object{
			{"name", p.Name},
			{"in", "query"},
			{"required", p.Required},
			{"description", e.About(p)},
			{"style", "form"},
			{"explode", false},
			{"schema", object{{"type", "array"}, {"items", e.itemSchema(p)}, {"minItems", 1}, {"maxItems", MaxValues}}},
			{"example", p.listExample()},
		}
	}
	return object{
		{"name", p.Name},
		{"in", "query"},
		{"required", p.Required},
		{"description", e.About(p)},
		{"schema", p.schema()},
		{"example", typedExample(p)},
	}
}

// typedExample is the example as JSON of the parameter's type.
func typedExample(p *Param) any {
	text := p.Example()
	switch p.Type {
	case Integer, Number, Exact:
		return json.Number(text)
	case Boolean:
		return text == "true"
	}
	return text
}

// Patterns of text parameters. dayPattern includes the lengths of months. An empty value is not a
// filter.
const (
	yearPattern = `(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8])`
	leapDay     = `([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29`
	clock       = `(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])?`
	dayPattern  = `^(` + yearPattern + `(-(0[1-9]|1[0-2]))?|(` + yearPattern +
		`-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|` + leapDay + `)` +
		clock + `)?$`
	exactPattern = `^[+-]?(\d+\.?\d*|\.\d+)$`
)

func (p *Param) schema() object {
	var s object
	switch p.Type {
	case Choice:
		s = object{{"type", "string"}, {"enum", p.Enum.Values}}
	case Integer:
		s = object{{"type", "integer"}}
	case Number:
		s = object{{"type", "number"}}
	case Exact:
		s = object{{"anyOf", array{object{{"type", "number"}}, object{{"type", "string"}, {"pattern", exactPattern}}}}}
	case Boolean:
		s = object{{"type", "boolean"}}
	case DateTime:
		s = object{{"anyOf", array{
			object{{"type", "string"}, {"format", "date-time"}}, object{{"type", "string"}, {"format", "date"}},
		}}}
	case Day:
		s = object{{"type", "string"}, {"pattern", dayPattern}}
	default:
		s = object{{"type", "string"}}
		if p.Name == SinceParam {
			s = append(s, member{"pattern", snapshotPattern})
		}
	}
	if p.Max > 0 {
		s = append(s, member{"maxLength", p.Max})
	}
	if p.Floor != nil {
		s = append(s, member{"minimum", *p.Floor})
	}
	if p.Ceiling != nil {
		s = append(s, member{"maximum", *p.Ceiling})
	}
	switch {
	case p.Default == "":
	case p.Type == Integer:
		s = append(s, member{"default", json.Number(p.Default)})
	default:
		s = append(s, member{"default", p.Default})
	}
	return s
}

func recordSchema(e *Endpoint) object {
	properties, required := make(object, len(e.Fields)), make(array, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		properties[i], required[i] = member{f.Name, f.schema(e.Meaning(f.Name))}, f.Name
	}
	return object{
		{"type", "object"},
		{"description", e.Summary},
		{"properties", properties},
		{"required", required},
		{"additionalProperties", false},
	}
}

// sentences joins the texts that are not empty.
func sentences(texts ...string) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	return strings.Join(texts, " ")
}

func (f *Field) schema(meaning string) object {
	var s object
	switch f.Type {
	case Choice:
		s = object{{"type", "string"}, {"enum", f.Enum.Values}}
	case Integer:
		s = object{{"type", "integer"}}
	case Number:
		s = object{{"type", "number"}}
	case Boolean:
		s = object{{"type", "boolean"}}
	case DateTime:
		// Not format date-time: RFC 3339 requires a zone, which records do not have (contract
		// section 9).
		s = object{
			{"type", "string"},
			{"pattern", dateTimePattern},
		}
	case URI:
		s = object{{"type", "string"}, {"format", "uri"}, {"minLength", 1}, {"maxLength", maxURIField}}
	default:
		s = object{{"type", "string"}}
		if f.Max > 0 {
			s = append(s, member{"maxLength", f.Max})
		}
	}
	if f.Nullable {
		s = object{{"anyOf", array{s, object{{"type", "null"}}}}}
	}
	return append(s, member{"description", meaning})
}

// maxURIField is the longest URI of a record.
const maxURIField = 2083

// emailPattern matches no address that the contract's section 2 refuses. It does not describe all
// that are accepted: other letters and a display name are missing.
const emailPattern = `^[A-Za-z0-9_]{1,30}([.+-][A-Za-z0-9_]{1,10}){0,2}@([A-Za-z0-9]{1,25}` +
	`(-[A-Za-z0-9]{1,25})?\.){1,3}(org|com|net|int|info|edu|[a-z]{2})$`

// dateTimePattern is the form of times in records.
const dateTimePattern = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{6})?$`

func otherPaths(s NameSet) object {
	encode, version := "encodeAppIdentifier", "getVersion"
	if s == HAPINames { // as in the public service
		encode = "get_encoded_identifier_api_v2_encode_app_identifier_get"
		version = "get_version_api_v2_util_version_get"
	}
	words := func(name, about, example string, schema object) object {
		return object{
			{"name", name},
			{"in", "query"},
			{"required", true},
			{"description", about},
			{"schema", schema},
			{"example", example},
		}
	}
	answer := func(about string, properties object) object {
		var required array
		for _, m := range properties {
			required = append(required, m.key)
		}
		return object{{"description", about}, {"content", object{{JSONType, object{{"schema", object{
			{"type", "object"}, {"properties", properties}, {"required", required},
		}}}}}}}
	}
	text := object{{"type", "string"}}
	return object{
		{EncodePath, object{{"get", object{
			{"tags", array{"Utility"}},
			{"summary", "Make an application identifier"},
			{"operationId", encode},
			{"parameters", array{
				words("application", "Name of your application.", "my-app",
					object{{"type", "string"}, {"minLength", minApplication}, {"maxLength", maxApplication}}),
				words("email", "Where to reach you.", "me@example.org",
					object{{"type", "string"}, {"pattern", emailPattern}, {"maxLength", maxIdentifier}}),
			}},
			{"responses", object{
				{"200", answer("The identifier.", object{{"encoded_app_identifier", text}})},
				{"405", ref("responses", "MethodNotAllowed")},
				{"422", ref("responses", "Invalid")},
				{"500", ref("responses", "Internal")},
			}},
		}}}},
		{VersionPath, object{{"get", object{
			{"tags", array{"Utility"}},
			{"summary", "Versions of the interface and of the tables behind it"},
			{"operationId", version},
			{"responses", object{
				{"200", answer("The versions.",
					object{{"api_version", text}, {"hapi_sqlalchemy_schema_version", text}})},
				{"405", ref("responses", "MethodNotAllowed")},
				{"500", ref("responses", "Internal")},
			}},
		}}}},
	}
}
