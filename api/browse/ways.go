package browse

import "hdqs/api/contract"

// A page that refuses something has links to pages that do not. Each is asked before it is offered.

// way is a page that is offered.
type way struct {
	text string
	at   state
}

// withRecords are the links to pages that have records.
func withRecords(q *Question, ways ...way) (links []link) {
	for _, w := range ways {
		if hasRecords(q, w.at) {
			links = append(links, link{w.text, w.at.link()})
		}
	}
	return links
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
