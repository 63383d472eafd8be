package figures

import (
	"errors"
	"slices"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/say"
)

// FacetsSource answers which values fields have in the rows that pass, and in how many rows.
var FacetsSource = &list.RecordSource{Kind: contract.Facets, Version: '1', Compute: findFacets}

// facetFields are the fields of a record. A value is of the type of its field.
var facetFields = []contract.Field{
	{Name: "field", Type: contract.String},
	{Name: "value", Type: contract.String, Nullable: true},
	{Name: "count", Type: contract.Integer},
}

// facetCounts are the counts of one field.
type facetCounts struct {
	name   string
	counts *aggregate.Result
}

// findFacets counts the values of the fields that a request asks for. A header field lists how many
// values were left out; only then browsers need to know it.
func findFacets(_ *list.Lists, a *list.Reply) (list.Records, error) {
	found := &table{fields: facetFields}
	if a.List.Segment == nil {
		return found, nil
	}
	a.SetQuery(a.List)
	adds, err := a.List.Adder(a.Endpoint)
	if err != nil {
		return nil, err
	}
	counts, err := countFacets(a, adds.Table)
	if err != nil {
		return nil, err
	}
	for _, f := range counts {
		top := f.counts.Top(contract.MaxFacet)
		for _, value := range top {
			n := aggregate.Value{Kind: aggregate.Int, Int: int64(f.counts.Rows(value))}
			found.records = append(found.records, []any{textOf(f.name), f.counts.Group(value, 0), n})
		}
		if left := f.counts.Len() - len(top); left > 0 {
			found.notes.Left = append(found.notes.Left, say.Left{Field: f.name, Values: left})
		}
	}
	found.from, found.n = pageOf(&a.Request.Question, len(found.records))
	return found, nil
}

// countFacets counts the values of each field. Fields that are restricted by the same filters of
// their own are counted together, since the same rows count for them.
func countFacets(a *list.Reply, table *aggregate.Table) ([]facetCounts, error) {
	r := &a.Request
	all := make([]facetCounts, len(r.Question.Of))
	own := make([][]int, len(r.Question.Of))   // filters of the field itself
	levels := make([]bool, len(r.Question.Of)) // the field is the level, of whose filter Coarsest is a value
	for i, f := range r.Question.Of {
		levels[i] = r.Scanned.Plan().Endpoint.Fields[f.Field].Name == levelColumn
		for k := range r.Question.Filters {
			if r.Question.Restricts(r.Question.Filters[k].Param, f) {
				own[i] = append(own[i], k)
			}
		}
	}
	for i := range r.Question.Of {
		if all[i].counts != nil {
			continue
		}
		query := a.Query
		query.Filters = nil
		query.Coarsest = query.Coarsest && !levels[i]
		for k := range a.Query.Filters {
			if !slices.Contains(own[i], k) {
				query.Filters = append(query.Filters, a.Query.Filters[k])
			}
		}
		var same []int
		var by []aggregate.Group
		for k := i; k < len(r.Question.Of); k++ {
			if slices.Equal(own[i], own[k]) && levels[i] == levels[k] {
				same = append(same, k)
				by = append(by, aggregate.Group{
					Column: a.Endpoint.Fields[r.Question.Of[k].Field].Column(), Part: r.Question.Of[k].Part,
					Classes: r.Question.Classes(r.Question.Of[k]),
				})
			}
		}
		counts, err := table.Count(&query, by...)
		if many, ok := errors.AsType[*aggregate.TooManyValues](err); ok {
			k := slices.IndexFunc(by, func(b aggregate.Group) bool { return b.Column == many.Column })
			return nil, r.Question.TooManyNumbers(r.Question.Of[same[k]], many.Max)
		}
		if err != nil {
			return nil, err
		}
		for n, k := range same {
			all[k] = facetCounts{r.Question.FacetName(r.Question.Of[k]), counts[n]}
		}
	}
	return all, nil
}
