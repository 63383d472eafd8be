package browse

import (
	"bytes"
	"encoding/json"
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

// record is a record as text: numbers as they are written, null as nil.
type record map[string]any

// records reads the records of an answer.
func (a *Answer) records() ([]record, error) {
	var body struct {
		Data []record `json:"data"`
	}
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber()
	if err := d.Decode(&body); err != nil {
		return nil, fmt.Errorf("browse: an answer that is no list of records: %w", err)
	}
	return body.Data, nil
}

// text is a value of a record as text; ok is false for null.
func (r record) text(field string) (text string, ok bool) {
	switch v := r[field].(type) {
	case nil:
		return "", false
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	default:
		return fmt.Sprint(v), true
	}
}
