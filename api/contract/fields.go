package contract

import (
	"fmt"
	"slices"
	"strings"

	"hdqs/api/say"
	"hdqs/index"
	"hdqs/internal/nearest"
)

// FieldsParam selects fields of the records: they come in the record's order, whatever the order in
// the request. It names the columns of the answer, so where CSV has more of them than the record
// (CSVFields), those can be selected in CSV only.
const FieldsParam = "fields"

var fieldsKind = &ParamKind{
	read: (*Request).readFields,
	write: func(q *Question) string {
		if q.Fields == nil {
			return ""
		}
		return strings.Join(FieldNames(q.AnswerFields()), ",")
	},
}

// IsDay reports whether the times of a column are days: the ends of the period of a record.
func IsDay(column string) bool { return column == PeriodStart || column == PeriodEnd }

// FieldNames are the names of fields.
func FieldNames(fields []Field) []string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return names
}

// AllFields are the fields of the answer's records without FieldsParam.
func (q *Question) AllFields() []Field {
	if q.InCSV() {
		return q.plan.Endpoint.CSVFields()
	}
	return q.plan.Endpoint.Fields
}

// AnswerFields are the fields of the answer's records.
func (q *Question) AnswerFields() []Field {
	all := q.AllFields()
	if q.Fields == nil {
		return all
	}
	some := make([]Field, len(q.Fields))
	for i, at := range q.Fields {
		some[i] = all[at]
	}
	return some
}

// readFields reads the names of fields, of either set. All of them are as good as none.
func (r *Request) readFields(p *Param) {
	names, ok := r.readNames(p)
	all, faults := r.Question.AllFields(), 0
	r.Question.fields = r.Question.fields[:0]
	for _, name := range names {
		at := positionOf(all, name)
		if at >= 0 {
			r.Question.fields = append(r.Question.fields, at)
		} else if faults++; faults <= maxListFaults {
			r.fault(noField(p.Name, name, all))
		}
	}
	slices.Sort(r.Question.fields)
	r.Question.fields = slices.Compact(r.Question.fields)
	if ok && faults == 0 && len(r.Question.fields) < len(all) {
		r.Question.Fields = r.Question.fields
	}
}

// maxNear is how many names an error proposes.
const maxNear = 3

// noField is the issue of a name that is no field: with the near ones, or all if none is near.
func noField(param, name string, fields []Field) Issue {
	names := FieldNames(fields)
	reason := "there is no such field; "
	if near := nearNames(name, names); len(near) > 0 {
		reason += "near ones: " + strings.Join(near, ", ")
	} else {
		reason += "the fields are " + strings.Join(names, ", ")
	}
	return valueError(param, name, reason)
}

// nearNames returns the names of fields that are near a text, which may be meant in either set.
func nearNames(text string, names []string) (near []string) {
	own, both := map[string]string{}, slices.Clone(names)
	for _, name := range names {
		for s := ContractNames; s <= HAPINames; s++ {
			if other := s.Name(name); other != name {
				own[other] = name
				both = append(both, other)
			}
		}
	}
	for _, name := range nearest.Several(strings.ToLower(text), both, 2*maxNear) {
		if at, other := own[name]; other {
			name = at
		}
		if len(near) < maxNear && !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	return near
}

// A request of kind Facets asks which values fields have in the rows that pass, and in how many
// rows: of=location_code,event_type,year. The values of a field are counted as if no filter
// restricted that field itself, so that the answer shows what else could be chosen.

// ofParam is the parameter of Facets: the fields whose values are counted.
const ofParam = "of"

// MaxFacet is the most values of one field in an answer.
const MaxFacet = 200

var ofKind = &ParamKind{
	read:  func(r *Request, p *Param) { r.Question.Of = r.readGroups(p, r.Question.Of) },
	write: func(q *Question) string { return strings.Join(q.plan.Endpoint.groupNames(q.Of), ",") },
	issue: func(e *Endpoint, kind, text string) Issue {
		return Issue{
			Type: kind, Param: ofParam, NullInput: true,
			Text: say.Of("%s: the fields whose values are counted, with commas between them, of %s", text,
				strings.Join(e.GroupNames(), ", ")),
		}
	},
}

// FacetName is the name of a field whose values are counted, in requests and records.
func (q *Question) FacetName(g Group) string { return q.plan.Endpoint.groupName(g) }

// TooManyNumbers is the error of a request for the values of a field that are too many to count.
func (q *Question) TooManyNumbers(g Group, most int) *Invalid {
	name := q.FacetName(g)
	reason := fmt.Sprintf("%s has more than %d different values in these records, too many to count each; "+
		"leave it out of %s, or select fewer records by filters", name, most, ofParam)
	return &Invalid{Issues: []Issue{valueError(ofParam, name, reason)}}
}

// Restricts reports whether a parameter is a filter of the field itself: it has the field's name,
// also for several values or as one end of a range. start_date and end_date choose periods, so they
// are filters of the period's fields and parts.
func (q *Question) Restricts(param int, g Group) bool {
	p, field := &q.plan.Params[param], q.plan.Endpoint.Fields[g.Field].Name
	switch {
	case p.Grouped || g.Class != NoClass:
		return false
	case p.Type == Day:
		return field == PeriodStart || field == PeriodEnd
	case p.Op == index.AtLeast:
		return p.Name == field+"_min"
	case p.Op == index.Below:
		return p.Name == field+"_max"
	}
	return p.single() == field
}
