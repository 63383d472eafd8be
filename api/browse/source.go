package browse

import (
	"encoding/json"
	"net/url"
	"strings"

	"hdqs/api/contract"
)

// Source answers questions about one snapshot.
type Source interface {
	// Ask answers a question to an endpoint, or to one of the paths below it, with the parameters
	// of a request. Errors in the parameters are of contract.Invalid or contract.BadDay.
	Ask(e *contract.Endpoint, kind contract.Kind, params url.Values) (*Answer, error)

	// Keep returns what find has found the first time, as long as the snapshot is served.
	Keep(key string, find func() ([]string, error)) ([]string, error)
}

// Answer is the records of an answer.
type Answer struct {
	Records []Record
	Total   int      // records on all pages
	Bytes   int      // of the records of rows as JSON
	Unknown []string // parameters that the endpoint does not have
	Hint    string   // what was probably meant

	Provisional []string // months whose figures their source can still change

	Coverage string // of a sum of places, how many units have records: units=1/189; empty if all or unknown
}

// Record is a record as text: strings as they are, numbers and flags as they are written.
type Record struct {
	at     map[string]int // position of a field; the same for all records of an answer
	values []value
}

type value struct {
	text string
	null bool
}

// Text is the value of a field; ok is false for null, and for a field that the record does not
// have.
func (r Record) Text(field string) (text string, ok bool) {
	i, known := r.at[field]
	if !known || r.values[i].null {
		return "", false
	}
	return r.values[i].text, true
}

// NewRecords makes records with the given fields. cell is a value as the renderer writes it in
// JSON.
func NewRecords(n int, fields []string, cell func(dst []byte, record, field int) []byte) ([]Record, error) {
	at := make(map[string]int, len(fields))
	for i, name := range fields {
		at[name] = i
	}
	var buffer []byte
	ends := make([]int, 0, n*len(fields))
	for record := range n {
		for field := range fields {
			buffer = cell(buffer, record, field)
			ends = append(ends, len(buffer))
		}
	}
	text, from := string(buffer), 0
	values := make([]value, len(ends)) // of all records: a page can need fifty thousand
	for i, end := range ends {
		if err := values[i].read(text[from:end]); err != nil {
			return nil, err
		}
		from = end
	}
	all := make([]Record, n)
	for i := range all {
		all[i] = Record{at, values[i*len(fields) : (i+1)*len(fields)]}
	}
	return all, nil
}

// read reads a value in JSON. The value keeps the text.
func (v *value) read(text string) error {
	switch {
	case text == "null":
		v.null = true
	case !strings.HasPrefix(text, `"`):
		v.text = text
	case strings.IndexByte(text, '\\') < 0:
		v.text = text[1 : len(text)-1]
	default:
		return json.Unmarshal([]byte(text), &v.text)
	}
	return nil
}
