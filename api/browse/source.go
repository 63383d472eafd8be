package browse

import (
	"errors"
	"strings"

	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
	"hdqs/api/textual"
)

// Source answers questions about one snapshot.
type Source interface {
	// Ask answers a question. The error of one that is refused is of contract.Invalid.
	Ask(q *contract.Question) (*Answer, error)
}

// Answer is the records of an answer.
type Answer struct {
	Records []textual.Record
	Total   int // records on all pages
	Bytes   int // of the records of rows as JSON
	Notes   say.Notes
}

// Question is what a page is made from.
type Question struct {
	lang.Head
	Base        string // address of the service, without the prefix
	Plan        *contract.Plan
	Counterpart string // path of the endpoint in the other names
	Query       string // of the page's address
	Freshness   Freshness
	Source      Source
	MaxExport   int // most records of a download

	Dataset any // describes all records of the endpoint; a page has it as JSON-LD

	// Boundaries are what maps have in place of the built-in countries, nil if nothing is.
	Boundaries *boundary.Set

	// License returns the licence of a dataset and the address of its text, empty if not known.
	License func(dataset string) (title, address string)

	AllFigures bool // tables of figures have all groups

	known known
}

// known is what one page has asked for.
type known struct {
	countries []Country
	groups    []Country                    // of countries, by slug
	named     map[string]map[string]string // names of codes, by field
	resources map[string]resource
	abouts    map[string]*about
	trials    map[string]*trial
}

// Country is a country for suggestions, with its name in the language of the page and in English.
type Country struct{ Code, Name, English string }

// Problems are the errors in the parameters of a question.
func Problems(err error) (all []contract.Issue, ok bool) {
	if invalid, ok := errors.AsType[*contract.Invalid](err); ok {
		return invalid.Issues, true
	}
	if day, ok := errors.AsType[*contract.BadDay](err); ok {
		return []contract.Issue{{Param: day.Param, Text: day.Text()}}, true
	}
	return nil, false
}

// messages are what issues say.
func messages(issues []contract.Issue) (all []say.Text) {
	for _, issue := range issues {
		all = append(all, issue.Message())
	}
	return all
}

// Freshness is the age of the records. A text is empty if it is not known.
type Freshness struct {
	Snapshot, Loaded, Period, Updated, StaleSince string
}

// Newest is the month of the newest records. Where their periods end after the load, as those of
// projects do, it is that in which their source was changed.
func (f Freshness) Newest(l *lang.Language) string {
	_, end, _ := strings.Cut(f.Period, "/")
	if end == ".." {
		end = f.Updated
	}
	if end == "" {
		return ""
	}
	return shortPeriod(l, end+"T00:00:00", end+"T00:00:00")
}

// groups asks for measures of the rows of a question, by the fields that a group has in common.
// There can be more groups in total than an answer has.
func (q *Question) groups(
	rows *contract.Question, fields []string, measures ...string,
) (groups []textual.Record, total int, err error) {
	answer, err := q.Source.Ask(rows.As(contract.Aggregate).GroupBy(fields...).Measure(measures...))
	if err != nil {
		return nil, 0, err
	}
	return answer.Records, answer.Total, nil
}

// fieldsOf are fields of a record; one without a value is empty.
func fieldsOf(r textual.Record, names ...string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = r.Value(name)
	}
	return all
}
