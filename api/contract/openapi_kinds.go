package contract

import (
	"slices"
	"strings"
)

// Operations of what is computed of an endpoint's rows. They refer to the endpoint's filters as
// components: a copy of all parameters for each kind would make the description four times as
// long.

// kindText is what the description says about the operations of a kind.
type kindText struct {
	verb    string // of operation ids
	summary string // after that of the endpoint
	about   string
	records string // of the answer
	schema  string // name of the records' schema
}

var kindTexts = map[Kind]kindText{
	Aggregate: {
		"aggregate", "figures of groups",
		"Figures of the records that pass the filters, added up by group_by. A sum that would count the same people " +
			"or money twice is refused with 422, with the request to make instead.",
		"One record a group: the fields of group_by, then the measures, such as count and sum_events.", "Group",
	},
	Facets: {
		"facets", "values with counts",
		"How many of the records that pass the filters have each value of the fields in of, the most frequent " +
			"first. The filter of a field itself is set aside for its own values.",
		"One record a field and value.", "Facet",
	},
	Changes: {
		"changes", "what changed",
		"Records that pass the filters and were added, removed or changed since another snapshot.",
		"One record a change: what happened, the fields of the record, and those of before that differ.",
		"Change",
	},
	Export: {
		"export", "all records in one file",
		"All records that pass the filters, in one answer that is sent while it is made. X-Total-Count and " +
			"X-Result-Count come before it. If it cannot be completed, the connection is closed without the last " +
			"chunk, so that clients report an error and take no part for the whole.",
		"The records as a file in the format of output_format.", "",
	},
}

// componentName is the name of a filter as a component. Without the word in the middle, generated
// Go would have two types of one name: of a field of a record, and of the filter.
func componentName(e *Endpoint, p *Param) string { return schemaName(e) + "_filter_" + p.Name }

// filterComponents describes the parameters that the operations of an endpoint's kinds share.
func filterComponents(e *Endpoint) object {
	var all object
	p := NewPlan(e, Facets) // any kind but Rows
	for i := range p.Params {
		if param := &p.Params[i]; param.Own == nil {
			all = append(all, member{componentName(e, param), withoutChoice(parameter(e, param))})
		}
	}
	return all
}

// withoutChoice keeps the first of several forms of a parameter. Of a choice in a component,
// generated Go does not compile.
func withoutChoice(parameter object) object {
	for i, m := range parameter {
		schema, is := m.value.(object)
		if is && schema[0].key == "anyOf" {
			parameter[i].value = schema[0].value.(array)[0]
		}
	}
	return parameter
}

// kindSchemas describes the records of kinds.
func kindSchemas(kinds []Kind) object {
	var all object
	for _, k := range kinds {
		name := kindTexts[k].schema
		if name == "" {
			continue
		}
		all = append(all, member{name, kindSchema(k)}, member{name + "List", listSchema(name)})
	}
	return all
}

// kindSchema describes a record. A field that may be of several types is described without one:
// typed languages have no good form for such a choice.
func kindSchema(k Kind) object {
	about := kindTexts[k].records
	switch k {
	case Aggregate:
		return object{{"type", "object"}, {"description", about}, {"additionalProperties", true}}
	case Changes:
		return object{
			{"type", "object"},
			{"description", about},
			{"properties", object{
				{changeField, object{
					{"type", "string"},
					{"enum", changeKinds.Values},
					{"description", "What happened to the record since then."},
				}},
				{wasField, object{{"description", "Of a changed record, the fields that differ with their values of " +
					"then; null for others."}}},
			}},
			{"required", array{changeField, wasField}},
			{"additionalProperties", true},
		}
	}
	return object{
		{"type", "object"},
		{"description", about},
		{"properties", object{
			{"field", object{{"type", "string"}, {"description", "The name in of."}}},
			{"value", object{{"description", "A value of the field, as it is in the records: text, number, true or " +
				"false, or null."}}},
			{"count", object{
				{"type", "integer"},
				{"minimum", 0},
				{"description", "How many records have it."},
			}},
		}},
		{"required", array{"field", "value", "count"}},
		{"additionalProperties", false},
	}
}

// listSchema describes a page of records.
func listSchema(record string) object {
	return object{
		{"type", "object"},
		{"required", array{"data"}},
		{"additionalProperties", false},
		{"properties", object{{"data", object{
			{"type", "array"}, {"maxItems", MaxLimit}, {"items", ref("schemas", record)},
		}}}},
	}
}

// computedOperation describes requests of a kind other than Rows.
func computedOperation(e *Endpoint, k Kind) object {
	p, text := NewPlan(e, k), kindTexts[k]
	parameters := array{}
	for i := range p.Params {
		param := &p.Params[i]
		if param.Own != nil || k == Export && (param.Name == "limit" || param.Name == formatParam) { // others than a list's
			parameters = append(parameters, parameter(e, param))
		} else {
			parameters = append(parameters, ref("parameters", componentName(e, param)))
		}
	}
	about := text.about
	if k == Aggregate {
		about = sentences(append([]string{about}, e.SumRules()...)...)
	}
	headers, content := listHeaders(), object{{JSONType, object{{"schema", ref("schemas", text.schema+"List")}}}}
	note := " With output_format=csv they come as text/csv instead."
	if k == Export {
		note, content = "", exportContent(e)
	}
	switch k {
	case Facets:
		headers = append(headers, member{HeaderMore, ref("headers", HeaderMore)})
	case Changes:
		headers = append(headers, member{HeaderChanges, ref("headers", HeaderChanges)})
	}
	return object{
		{"tags", array{e.GroupTitle()}},
		{"summary", e.Summary + ": " + text.summary},
		{"description", about},
		{"operationId", text.verb + schemaName(e)},
		{"parameters", append(parameters, identifierParameter(e))},
		{"responses", p.responses(object{
			{"description", text.records + note},
			{"headers", headers},
			{"content", content},
		})},
		{"security", identifierSecurity},
	}
}

// exportContent describes the formats of exports. The first is that without output_format, which
// generated clients take.
func exportContent(e *Endpoint) (content object) {
	for _, f := range e.ExportFormats() {
		kind, _, _ := strings.Cut(f.Type, ";")
		schema := object{{"type", "string"}}
		switch {
		case f.Name == FormatJSON:
			schema = object{
				{"type", "object"},
				{"required", array{"data"}},
				{"properties", object{{"data", object{
					{"type", "array"}, {"items", ref("schemas", schemaName(e))},
				}}}},
			}
		case f.Name == FormatGeoJSON:
			schema = object{{"type", "object"}, {"description", "A FeatureCollection of points."}}
		case !strings.HasPrefix(kind, "text/"): // generated Python cannot read a text as binary
			schema = append(schema, member{"format", "binary"})
		}
		if !content.has(kind) {
			content = append(content, member{kind, object{{"schema", schema}}})
		}
	}
	return content
}

// About is what requests of a kind other than Rows ask for, in a sentence or two.
func (p *Plan) About() string { return kindTexts[p.Kind].about }

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

// has reports whether the object has a key.
func (o object) has(key string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.key == key })
}
