package browse

import (
	"net/url"
	"slices"
	"strings"

	"hdqs/api/contract"
)

// A page that refuses something has links to pages that do not. Each is asked before it is offered.

// withRecords are the links to pages that have records.
func withRecords(q *Question, links ...link) []link {
	return slices.DeleteFunc(links, func(l link) bool { return !hasRecords(q, l.Address) })
}

func hasRecords(q *Question, address string) bool {
	n, err := total(q, address)
	return err == nil && n > 0
}

// total is how many records a page has.
func total(q *Question, address string) (int, error) {
	_, query, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, err
	}
	r, err := contract.Read(q.Plan, state{values: values}.query()) // as the page does
	if err != nil {
		return 0, err
	}
	answer, err := q.Source.Ask(r.Question.Page(0, 0))
	if err != nil {
		return 0, err
	}
	return answer.Total, nil
}

// widened is the address of a page with one filter less. The newest edition of a list can then be
// of a time from which the other filters keep no record: the address is then of all times.
func widened(q *Question, s state, pairs ...string) string {
	address := s.with(pairs...)
	if e := q.Plan.Endpoint.Edition; e == nil || !e.Whole || hasRecords(q, address) {
		return address
	}
	return s.with(append(pairs, latestParam, "")...)
}
