package figures

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/index"
)

// FacetsSource answers which values fields have in the rows that pass, and in how many rows.
var FacetsSource = &list.RecordSource{Kind: contract.Facets, Version: '1', Compute: findFacets}

// facetFields are the fields of a record. A value is of the type of its field.
var facetFields = []contract.Field{
	{Name: "field", Type: contract.String},
	{Name: "value", Type: contract.String, Nullable: true},
	{Name: "count", Type: contract.Integer},
}

// facetRecords are the records of a request for facets: one for each value of a field.
type facetRecords struct {
	page  []facetRecord
	total int
	more  []string // name=values that were left out
}

type facetRecord struct {
	facet *facetCounts
	value int // number in the counts
}

// facetCounts are the counts of one field.
type facetCounts struct {
	name   string
	counts *index.Counts
	values *render.Values
}

func (f *facetRecords) Fields() []contract.Field { return facetFields }
func (f *facetRecords) Total() int               { return f.total }
func (f *facetRecords) Len() int                 { return len(f.page) }

// Header lists how many values were left out. Only then browsers need to know the field.
func (f *facetRecords) Header() []reply.HeaderField {
	if len(f.more) == 0 {
		return nil
	}
	return []reply.HeaderField{
		{Name: contract.HeaderMore, Value: strings.Join(f.more, ", ")},
		{Name: "Access-Control-Expose-Headers", Value: reply.ExposedHeaders + ", " + contract.HeaderMore},
	}
}

// AppendCell appends a value of a record.
func (f *facetRecords) AppendCell(dst []byte, record, field int, csv bool) []byte {
	r := f.page[record]
	switch field {
	case 0:
		return render.AppendText(dst, r.facet.name, csv)
	case 1:
		return r.facet.appendValue(dst, r.value, csv)
	}
	return strconv.AppendInt(dst, int64(r.facet.counts.Rows(r.value)), 10)
}

// appendValue appends value i as records of rows have it.
func (f *facetCounts) appendValue(dst []byte, i int, csv bool) []byte {
	c := f.counts
	if c.IsNull(i) {
		return render.AppendNull(dst, csv)
	}
	switch c.Part {
	case index.Year:
		return strconv.AppendInt(dst, c.Int(i), 10)
	case index.Quarter:
		return render.AppendText(dst, fmt.Sprintf("%04d-Q%d", c.Int(i)/4, c.Int(i)%4+1), csv)
	case index.Month:
		return render.AppendText(dst, fmt.Sprintf("%04d-%02d", c.Int(i)/12, c.Int(i)%12+1), csv)
	}
	if code, coded := c.Code(i); coded {
		return f.values.AppendCode(dst, code, csv)
	}
	return f.values.AppendAt(dst, c.Position(i), csv)
}

// indexParts are what of a value is counted.
var indexParts = [...]index.Part{
	contract.Whole: index.Whole, contract.Year: index.Year,
	contract.Quarter: index.Quarter, contract.Month: index.Month,
}

// facets counts the values of the fields that a request asks for.
func findFacets(s *list.Lists, a *list.Reply) (list.Records, error) {
	found := new(facetRecords)
	if a.List.Segment == nil {
		return found, nil
	}
	a.SetQuery(a.List)
	counts, err := countFacets(a)
	if err != nil {
		return nil, err
	}
	var all []facetRecord
	for i := range counts {
		f := &counts[i]
		top := f.counts.Top(contract.MaxFacet)
		for _, value := range top {
			all = append(all, facetRecord{f, value})
		}
		if more := f.counts.Len() - len(top); more > 0 {
			found.more = append(found.more, f.name+"="+strconv.Itoa(more))
		}
	}
	found.total = len(all)
	from := int(min(a.Request.Offset, uint64(len(all))))
	found.page = all[from : from+min(a.Request.Limit, len(all)-from)]
	return found, nil
}

// countFacets counts the values of each field. Fields that are restricted by the same filters of
// their own are counted together, since the same rows count for them.
func countFacets(a *list.Reply) ([]facetCounts, error) {
	r := &a.Request
	all := make([]facetCounts, len(r.Of))
	own := make([][]int, len(r.Of)) // filters of the field itself
	for i, f := range r.Of {
		for k := range r.Filters {
			if r.Restricts(r.Filters[k].Param, f) {
				own[i] = append(own[i], k)
			}
		}
	}
	for i := range r.Of {
		if all[i].counts != nil {
			continue
		}
		query := a.Query
		query.Filters = nil
		for k := range a.Query.Filters {
			if !slices.Contains(own[i], k) {
				query.Filters = append(query.Filters, a.Query.Filters[k])
			}
		}
		var same []int
		var by []index.By
		for k := i; k < len(r.Of); k++ {
			if slices.Equal(own[i], own[k]) {
				same = append(same, k)
				by = append(by, index.By{
					Column: a.Endpoint.Fields[r.Of[k].Field].Column(), Part: indexParts[r.Of[k].Part],
				})
			}
		}
		counts, err := a.List.Index.Counts(&query, by...)
		if many, ok := errors.AsType[*index.ManyNumbers](err); ok {
			k := slices.IndexFunc(by, func(b index.By) bool { return b.Column == many.Column })
			return nil, r.TooManyNumbers(r.Of[same[k]], index.MaxNumbers)
		}
		if err != nil {
			return nil, err
		}
		for n, k := range same {
			all[k] = facetCounts{r.FacetName(r.Of[k]), &counts[n], render.NewValues(counts[n].Column)}
		}
	}
	return all, nil
}
