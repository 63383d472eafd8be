package browse

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/index"
)

// facet is the values of a field among the records that pass all other filters, with counts.
type facet struct {
	Field, Label string
	Values       []facetValue
	More         int    // values that are not listed
	All          string // the page that lists them
	all          []facetValue
}

type facetValue struct {
	Value, Label string
	Code         string // the value, where the label says it in words
	Count        string
	Chosen       bool
	Link         string // to the page with the value chosen, or without it
	Add          string // to the page with the value beside those that are chosen
}

// shownValues is how many values of a facet the page lists.
const shownValues = 12

// facetFields are the fields of which an endpoint's page counts values: enumerations, countries,
// levels, short lists of codes, and years. Units of the first level are counted within a country.
func facetFields(p *contract.Plan, s state) []string {
	var fields []string
	for i := range p.Endpoint.Fields {
		f := &p.Endpoint.Fields[i]
		switch {
		case f.Type == contract.Choice, f.Type == contract.Boolean,
			strings.HasSuffix(f.Name, "location_code"), f.Name == "admin_level", f.Name == "sector_code",
			f.Name == "org_type_code", f.Name == "category", f.Name == "assessment_type", f.Name == "age_range",
			f.Name == "currency_code", f.Name == "appeal_type", f.Name == "format",
			f.Name == "admin1_code" && s.values.Get("location_code") != "":
			fields = append(fields, f.Name)
		}
	}
	if len(p.Endpoint.Series()) > 0 {
		fields = append(fields, "year")
	}
	return fields
}

// ask counts the values of fields.
func askFacets(q *Question, s state) ([]facet, error) {
	fields := facetFields(q.Plan, s)
	if len(fields) == 0 {
		return nil, nil
	}
	answer, err := q.Source.Ask(s.asked.As(contract.Facets).GroupBy(fields...))
	if err != nil {
		return nil, err
	}
	byField := map[string]*facet{}
	facets := make([]facet, len(fields))
	for i, field := range fields {
		facets[i] = facet{Field: field, Label: nounLabel(q.Language, field)}
		byField[field] = &facets[i]
	}
	for _, r := range answer.Records {
		field := r.Value("field")
		f := byField[field]
		if f == nil {
			continue
		}
		text, known := r.Text("value")
		n, _ := strconv.Atoi(r.Value("count"))
		v := facetValue{Value: text, Count: Count(n)}
		v.Label, v.Code = alone(q.Language, field, text)
		if name := q.known.named[field][text]; name != "" {
			v.Label = name
		}
		switch {
		case !known:
			v.Label = capital(q.Language.T("not given"))
		case text == "":
			v.Label = capital(q.Language.T("none")) // a filter cannot ask for it
		case contract.IsPlaceholder(text): // a filter also finds records of whole countries
			v.Label = capital(q.Language.T("not known"))
		default:
			chosen, to, add := toggle(q.Plan, s, field, q.Plan.Param(field).Exactly(text))
			if v.Chosen, v.Add = chosen, add; chosen {
				several := len(chosenOf(s, field)) > 1
				at := widened(q, s, to...)
				if several && !hasRecords(q, at) {
					at = widened(q, s, valuesPairs(field)...) // the others have none
				}
				v.Link = at.link()
			} else if to != nil {
				v.Link = s.with(to...)
			}
		}
		f.all = append(f.all, v)
	}
	for i := range facets {
		facets[i].cut(s)
		if err := facets[i].recount(q, s); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(facets, func(f facet) bool { return len(f.all) == 0 }), nil
}

// cut chooses the values that the page lists: the newest years, else the most frequent values, and
// those that are chosen; ages in their order. Of the field that the address says it lists all.
func (f *facet) cut(s state) {
	switch strings.TrimPrefix(f.Field, "ipc_") {
	case "year": // the newest first, without gaps
		slices.SortFunc(f.all, func(a, b facetValue) int { return strings.Compare(b.Value, a.Value) })
	case "age_range":
		slices.SortFunc(f.all, func(a, b facetValue) int {
			return cmp.Or(cmp.Compare(youngest(a.Value), youngest(b.Value)), strings.Compare(a.Value, b.Value))
		})
	}
	for i, v := range f.all {
		if i < shownValues || v.Chosen || s.values.Get(moreParam) == f.Field {
			f.Values = append(f.Values, v)
		}
	}
	if f.More = len(f.all) - len(f.Values); f.More > 0 {
		f.All = s.with(moreParam, f.Field) + "#count-" + f.Field
	}
}

// youngest is the first age of a range, such as 5-9 or 80+, below all for what is no range.
func youngest(ages string) int {
	digits := len(ages) - len(strings.TrimLeft(ages, "0123456789"))
	n, err := strconv.Atoi(ages[:digits])
	if err != nil {
		return -1
	}
	return n
}

// recount counts what the filter for a value finds, where that can be more than the records with
// it: those of periods that only touch a year, and of texts that have the value as a part.
func (f *facet) recount(q *Question, s state) error {
	p := q.Plan.Param(f.Field)
	if f.Field != "year" && (p == nil || p.Op != index.Contains) {
		return nil
	}
	for i := range f.Values {
		v := &f.Values[i]
		if v.Link == "" && !v.Chosen { // no filter finds it
			continue
		}
		chosen := []string{"start_date", v.Value, "end_date", v.Value}
		if p != nil {
			chosen = []string{f.Field, p.Exactly(v.Value), f.Field + contract.SeveralSuffix, ""}
		}
		n, err := total(q, s.set(chosen...))
		if err != nil {
			return err
		}
		if p != nil && v.Count != Count(n) {
			v.Label, v.Code = q.Language.T("%s, all", v.Label), ""
		}
		v.Count = Count(n)
	}
	return nil
}

// toggle returns whether a value is chosen, the parameters of the page with the other choice, and
// the address of the page with the value beside those that are chosen. There are none where the
// endpoint has no filter for it.
func toggle(p *contract.Plan, s state, field, value string) (chosen bool, to []string, add string) {
	if field == "year" {
		if chosen = s.values.Get("start_date") == value && s.values.Get("end_date") == value; chosen {
			value = ""
		}
		return chosen, []string{"start_date", value, "end_date", value}, ""
	}
	if !isFilter(p, field) {
		return false, nil, ""
	}
	list := field + contract.SeveralSuffix
	all := chosenOf(s, field)
	at, chosen := slices.BinarySearch(all, value)
	switch {
	case chosen:
		return true, valuesPairs(field, slices.Delete(all, at, at+1)...), ""
	case len(all) > 0 && isFilter(p, list) && s.values.Get(field) != contract.Coarsest:
		add = s.with(valuesPairs(field, append(all, value)...)...)
	}
	return false, valuesPairs(field, value), add
}

// distinct is how many values occur among the records that pass all filters, the field's own too.
func (f *facet) distinct(s state) []string {
	own := chosenOf(s, f.Field)
	var all []string
	for _, v := range f.all {
		if len(own) == 0 || slices.Contains(own, v.Value) {
			all = append(all, v.Value)
		}
	}
	return all
}
