// Package textual has records of an answer as text, for pages, search and files that the program
// makes of its own answers.
package textual

import (
	"encoding/json"
	"net/url"
	"strings"

	"hdqs/api/say"
)

// Record is a record as text: strings as they are, numbers and flags as they are written.
type Record struct {
	at     map[string]int // position of a field; the same for all records of an answer
	values []cell
	reason say.Text
}

type cell struct {
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

// Value is the value of a field, empty where Text has none.
func (r Record) Value(field string) string {
	text, _ := r.Text(field)
	return text
}

// WithReason is the record with the reason why its figure has no value.
func (r Record) WithReason(reason say.Text) Record {
	r.reason = reason
	return r
}

// Reason is why its figure has no value.
func (r Record) Reason() say.Text { return r.reason }

// Requests are the requests that a figure is made of, whose field has one or a list.
func (r Record) Requests() (all []string) {
	text := r.Value("request")
	if json.Unmarshal([]byte(text), &all) != nil || len(all) == 0 {
		return []string{text}
	}
	return all
}

// RowsQuery asks for the rows that the first of the requests of a figure adds up.
func (r Record) RowsQuery() url.Values {
	_, query, _ := strings.Cut(r.Requests()[0], "?")
	values, _ := url.ParseQuery(query)
	values.Del("group_by")
	values.Del("measures")
	return values
}

// CSVBytes is about the length of records as lines of CSV.
func CSVBytes(records []Record) (n int) {
	for _, r := range records {
		for _, v := range r.values {
			n += len(v.text) + 1
		}
		n++
	}
	return n
}

// New makes records with the given fields. write writes a value in JSON, as the renderer
// does.
func New(n int, fields []string, write func(dst []byte, record, field int) []byte) ([]Record, error) {
	at := make(map[string]int, len(fields))
	for i, name := range fields {
		at[name] = i
	}
	var buffer []byte
	ends := make([]int, 0, n*len(fields))
	for record := range n {
		for field := range fields {
			buffer = write(buffer, record, field)
			ends = append(ends, len(buffer))
		}
	}
	text, from := string(buffer), 0
	values := make([]cell, len(ends)) // of all records: a page can need fifty thousand
	for i, end := range ends {
		if err := values[i].read(text[from:end]); err != nil {
			return nil, err
		}
		from = end
	}
	all := make([]Record, n)
	for i := range all {
		all[i] = Record{at: at, values: values[i*len(fields) : (i+1)*len(fields)]}
	}
	return all, nil
}

// read reads a value in JSON. The value keeps the text.
func (v *cell) read(text string) error {
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
