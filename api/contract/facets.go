package contract

import (
	"fmt"
	"strings"
)

// A request of kind Facets asks which values fields have in the rows that pass, and in how many
// rows: of=location_code,event_type,year. The values of a field are counted as if no filter
// restricted that field itself, so that the answer shows what else could be chosen.

// ofParam is the parameter of Facets: the fields whose values are counted.
const ofParam = "of"

// MaxFacet is the most values of one field in an answer.
const MaxFacet = 200

// FacetFields is what a request of kind Facets asks for.
type FacetFields struct {
	Of []Group // in the order asked for
}

var ofKind = &ParamKind{
	read:  func(r *Request, p *Param) { r.Of = r.readGroups(p, r.Of) },
	write: func(r *Request, dst []byte) []byte { return r.plan.Endpoint.appendGroups(dst, r.Of) },
	issue: func(e *Endpoint, kind, text string) Issue {
		return Issue{
			Type: kind, Param: ofParam, NullInput: true,
			Text: text + ": the fields whose values are counted, with commas between them, of " +
				strings.Join(e.GroupNames(), ", "),
		}
	},
}

// FacetName is the name of a field whose values are counted, in requests and records.
func (r *Request) FacetName(g Group) string { return r.plan.Endpoint.groupName(g) }

// TooManyNumbers is the error of a request for the values of a field that are too many to count.
func (r *Request) TooManyNumbers(g Group, most int) *Invalid {
	name := r.FacetName(g)
	reason := fmt.Sprintf("%s has more than %d different values in these records, too many to count each; "+
		"leave it out of %s, or select fewer records by filters", name, most, ofParam)
	return &Invalid{Issues: []Issue{valueError(ofParam, name, reason)}}
}

// Restricts reports whether a parameter is a filter of the field itself: it has the field's name,
// also for several values or as one end of a range. start_date and end_date choose periods, so they
// are filters of the period's fields and parts.
func (r *Request) Restricts(param int, g Group) bool {
	p, field := &r.plan.Params[param], r.plan.Endpoint.Fields[g.Field].Name
	switch {
	case p.Type == Day:
		return field == PeriodStart || field == PeriodEnd
	case p.Op == AtLeast:
		return p.Name == field+"_min"
	case p.Op == Below:
		return p.Name == field+"_max"
	}
	return p.single() == field
}
