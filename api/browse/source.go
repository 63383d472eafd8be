package browse

import (
	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/api/textual"
)

// Source answers questions about one snapshot.
type Source interface {
	// Ask answers a question. The error of one that is refused is of contract.Invalid.
	Ask(q *contract.Question) (*Answer, error)

	// Keep returns what find has found the first time, as long as the snapshot is served.
	Keep(key string, find func() ([]string, error)) ([]string, error)
}

// Answer is the records of an answer.
type Answer struct {
	Records []textual.Record
	Total   int // records on all pages
	Bytes   int // of the records of rows as JSON
	Notes   say.Notes
}
