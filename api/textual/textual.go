// Package textual has records of an answer as text, for pages, search and files that the program
// makes of its own answers.
package textual

import (
	"unsafe"

	"hdqs/api/contract"
	"hdqs/api/say"
)

// Record is a record as text: strings as they are, numbers and flags as they are written.
type Record struct {
	Reason   say.Text           // why its figure has no value
	Requests []string           // that its figure is made of
	Rows     *contract.Question // which rows, or those of the first of several requests
	Before   *Record            // of a row that was changed: the old values of fields that differ

	at     map[string]int // position of a field; the same for all records of an answer
	values []cell
}

type cell struct {
	text  string
	known bool
}

// Text is the value of a field; ok is false for null, and for a field that the record does not
// have.
func (r Record) Text(field string) (text string, ok bool) {
	if i, has := r.at[field]; has {
		return r.values[i].text, r.values[i].known
	}
	return "", false
}

// Has reports whether the record has a field.
func (r Record) Has(field string) bool {
	_, has := r.at[field]
	return has
}

// Value is the value of a field, empty where Text has none.
func (r Record) Value(field string) string {
	text, _ := r.Text(field)
	return text
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

// Bytes is about how much memory records take.
func Bytes(records []Record) (n int64) {
	for _, r := range records {
		n += int64(unsafe.Sizeof(r))
		for _, v := range r.values {
			n += int64(unsafe.Sizeof(v)) + int64(len(v.text))
		}
	}
	return n
}

// New makes records with the given fields. write appends the text of a value; ok is false for null.
func New(n int, fields []string, write func(dst []byte, record, field int) (text []byte, ok bool)) []Record {
	at := make(map[string]int, len(fields))
	for i, name := range fields {
		at[name] = i
	}
	values := make([]cell, n*len(fields)) // of all records: a page can need fifty thousand
	ends := make([]int, len(values))
	var buffer []byte
	for i := range values {
		buffer, values[i].known = write(buffer, i/len(fields), i%len(fields))
		ends[i] = len(buffer)
	}
	text, from := string(buffer), 0
	for i, end := range ends {
		values[i].text, from = text[from:end], end
	}
	all := make([]Record, n)
	for i := range all {
		all[i] = Record{at: at, values: values[i*len(fields) : (i+1)*len(fields)]}
	}
	return all
}
