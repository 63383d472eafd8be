package browse

import (
	"net/url"

	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/api/textual"
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
	Records []textual.Record
	Total   int      // records on all pages
	Bytes   int      // of the records of rows as JSON
	Unknown []string // parameters that the endpoint does not have
	Hint    say.Text // what was probably meant
	Notes   say.Notes
}
