package browse

import (
	"slices"
	"strings"

	"hdqs/api/contract"
)

// A page that refuses something has links to pages that do not. Each is asked before it is offered.

// way is a page that is offered.
type way struct {
	text string
	at   state
}

// withRecords are the links to pages that have records, each page once.
func withRecords(q *Question, ways ...way) (links []link) {
	for _, w := range ways {
		to := w.at.link()
		if !slices.ContainsFunc(links, func(l link) bool { return l.Address == to }) && hasRecords(q, w.at) {
			links = append(links, link{w.text, to})
		}
	}
	return links
}

// elsewhere is where there are records, of a page without any: the values of the fields by which
// the page filters, among the records that pass its other filters. Where those leave none, it is
// among all records of the places of the page, else of its times, else of the list; it is wider
// then. facets are those of the page.
func elsewhere(q *Question, s state, facets []facet) (found []facet, wider bool, err error) {
	isFiltered := func(field string) bool {
		if field == "year" {
			return s.values.Has("start_date") || s.values.Has("end_date")
		}
		name := strings.TrimSuffix(field, "_code") + "_name"
		return len(chosenOf(s, field)) > 0 || s.values.Has(name)
	}
	kept := []func(name string) bool{isPlace, isTime, func(string) bool { return false }}
	for i := 0; ; i++ {
		for _, f := range facets {
			f.Values = slices.DeleteFunc(f.Values, func(v facetValue) bool { return v.Link == "" || v.Chosen })
			if isFiltered(f.Field) && len(f.Values) > 0 {
				found = append(found, f)
			}
		}
		if len(found) > 0 || i == len(kept) {
			return found, i > 0, nil
		}
		at := s.only(func(name string) bool { return name == contract.SnapshotParam || kept[i](name) })
		if facets, err = askFacets(q, at); err != nil {
			return nil, false, err
		}
	}
}

func hasRecords(q *Question, at state) bool {
	n, err := total(q, at)
	return err == nil && n > 0
}

// total is how many records a page has.
func total(q *Question, at state) (int, error) {
	r, err := contract.Read(q.Plan, at.query()) // as the page does
	if err != nil {
		return 0, err
	}
	answer, err := q.Source.Ask(r.Question.Page(0, 0))
	if err != nil {
		return 0, err
	}
	return answer.Total, nil
}

// widened is the page with one filter less. The newest edition of a list can then be of a time from
// which the other filters keep no record: the page is then of all times.
func widened(q *Question, s state, pairs ...string) state {
	at := s.set(pairs...)
	if e := q.Plan.Endpoint.Edition; e == nil || !e.Whole || hasRecords(q, at) {
		return at
	}
	return s.set(append(pairs, latestParam, "")...)
}
