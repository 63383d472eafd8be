package find

import (
	"encoding/json"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/say"
	"hdqs/api/state"
)

// Query is a search.
type Query struct {
	Text          string
	Kind          string // only names of this kind; empty: all
	Offset, Limit int
	Brief         bool           // names only: no figures are read
	Language      *lang.Language // of names and of the addresses of pages
}

// Answer is what a search has found.
type Answer struct {
	Query   string   `json:"query"`
	Instead string   `json:"instead,omitempty"`  // what was searched for, as nothing has the query's words
	Left    []string `json:"left_out,omitempty"` // words of the query that nothing answers to
	Total   int      `json:"total"`
	Kinds   []Count  `json:"kinds"`
	Results []Result `json:"results"`
}

// JSON is the answer as programs get it.
func (a *Answer) JSON() []byte {
	body, err := json.Marshal(a)
	if err != nil {
		panic(err) // there are only texts and numbers
	}
	return body
}

// Count is how many results are of a kind.
type Count struct {
	Kind string `json:"kind"`
	N    int    `json:"count"`
}

// Result is a name that was found, with where to see its records.
type Result struct {
	Kind    string  `json:"kind"`
	Name    string  `json:"name"`
	Code    string  `json:"code"`
	Within  string  `json:"within,omitempty"` // the place that it is in, who provides it, or what it means
	Address string  `json:"address"`          // of a page with records
	Lists   []Link  `json:"lists,omitempty"`  // that have records of it
	Figure  *Figure `json:"figure,omitempty"`
	Before  *Before `json:"before,omitempty"` // what the figure is compared with

	Reason say.Text `json:"reason,omitzero"` // why a page answers a question, and no number

	// What the page shows, or the sum that a figure is; nil if it is not of rows of a list.
	Question *contract.Question `json:"-"`

	Headline  string   `json:"-"` // of a page of countries: the figure with a value of each
	Countries []string `json:"-"` // of a figure; none: all
	Until     string   `json:"-"` // of a figure
	Whole     bool     `json:"-"` // the search is its name, or its code
}

// Link is a page with records of a list.
type Link struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Address string `json:"address"`

	Question *contract.Question `json:"-"` // what the page shows
	InReason bool               `json:"-"` // the reason of the result has the title
}

// search is a search that is being answered.
type search struct {
	*Index
	lists    *list.Lists
	served   *state.Served
	mount    *list.Mount
	brief    bool
	language *lang.Language
	text     string            // of the search
	from     []int32           // countries that the question asks for as those that people or money come from
	written  map[string]string // its words as they are written
}

// page is an address of a page.
func (s *search) page(path string) string { return s.mount.Prefix + s.language.Path + path }

// hit is an entry that was found, in a country if the search names one besides.
type hit struct {
	key     uint64
	id      int32
	country int32
	answer  *answer // in place of an entry
}
