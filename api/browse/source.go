package browse

import (
	"fmt"

	"hdqs/api/contract"
)

// Source answers questions about one snapshot.
type Source interface {
	// Ask answers a query to an endpoint, or to one of the paths below it, as a request would be
	// answered. Errors in the query are of contract.Invalid or contract.BadDay.
	Ask(e *contract.Endpoint, kind contract.Kind, query string) (*Answer, error)
}

// Answer is an answer in JSON.
type Answer struct {
	Body    []byte
	Total   int      // records on all pages
	Unknown []string // parameters that the endpoint does not have
	Hint    string   // what was probably meant
}

// record is a record as text: strings as they are, numbers and flags as they are written.
type record struct {
	at     map[string]int // position of a field; the same for all records of an answer
	values []value
}

type value struct {
	text string
	null bool
}

// text is a value of a record as text; ok is false for null.
func (r record) text(field string) (text string, ok bool) {
	i, known := r.at[field]
	if !known || r.values[i].null {
		return "", false
	}
	return r.values[i].text, true
}

// records reads the records of an answer.
func (a *Answer) records() ([]record, error) {
	s := scanner{text: string(a.Body)}
	all, err := s.records()
	if err != nil {
		return nil, fmt.Errorf("browse: an answer that is no list of records, at byte %d: %w", s.at, err)
	}
	return all, nil
}
