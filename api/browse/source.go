package browse

import (
	"encoding/json"
	"fmt"
	"strings"

	"hdqs/api/contract"
)

// Source answers questions about one snapshot.
type Source interface {
	// Ask answers a query to an endpoint, or to one of the paths below it, as a request would be
	// answered. Errors in the query are of contract.Invalid or contract.BadDay.
	Ask(e *contract.Endpoint, kind contract.Kind, query string) (*Answer, error)
}

// Answer is an answer: in JSON, or as values.
type Answer struct {
	Body    []byte   // nil if there are names
	Names   []string // of the fields of each record
	Values  []Value  // of the first record, of the second, and so on
	Total   int      // records on all pages
	Unknown []string // parameters that the endpoint does not have
	Hint    string   // what was probably meant
}

// record is a record as text: strings as they are, numbers and flags as they are written.
type record struct {
	at     map[string]int // position of a field; the same for all records of an answer
	values []Value
}

// Value is a value as text: strings as they are, numbers and flags as they are written.
type Value struct {
	text string
	null bool
}

// NewValue reads a value that the renderer wrote as JSON. The value keeps the text.
func NewValue(text string) (v Value) {
	switch {
	case text == "null":
		return Value{null: true}
	case len(text) < 2 || text[0] != '"':
		return Value{text: text}
	case strings.IndexByte(text, '\\') < 0:
		return Value{text: text[1 : len(text)-1]}
	}
	if err := json.Unmarshal([]byte(text), &v.text); err != nil {
		panic("browse: the renderer wrote " + text)
	}
	return v
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
	if n := len(a.Names); n > 0 {
		at := make(map[string]int, n)
		for i, name := range a.Names {
			at[name] = i
		}
		all := make([]record, len(a.Values)/n)
		for i := range all {
			all[i] = record{at, a.Values[i*n : (i+1)*n : (i+1)*n]}
		}
		return all, nil
	}
	s := scanner{text: string(a.Body)}
	all, err := s.records()
	if err != nil {
		return nil, fmt.Errorf("browse: an answer that is no list of records, at byte %d: %w", s.at, err)
	}
	return all, nil
}
