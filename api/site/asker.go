package site

import (
	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/api/textual"
)

// asker answers the questions of one page from one snapshot. The server is the caller, so it needs
// no identifier.
type asker struct {
	server *Site
	served *state.Served
	mount  *list.Mount
}

// Ask implements browse.Source.
func (q *asker) Ask(asked *contract.Question) (*browse.Answer, error) {
	switch asked.Plan().Kind {
	case contract.Aggregate, contract.Facets, contract.Figures:
		return q.remembered(asked)
	}
	return q.answer(asked)
}

// Answers with groups and figures are kept for pages that ask the same again, at most so many
// bytes: a page asks for up to forty, since it offers only what can be drawn.
const maxAnswers = 8 << 20

// askedBefore is a question for groups or figures of a snapshot.
type askedBefore struct {
	snapshot, text, apart string
	plan                  *contract.Plan
	offset                uint64
}

// outcome is an answer, or the refusal of a question.
type outcome struct {
	answer  *browse.Answer
	refusal error
}

// remembered answers as before where the same was asked of the snapshot. Nobody may change an
// answer.
func (q *asker) remembered(asked *contract.Question) (*browse.Answer, error) {
	key := askedBefore{q.served.Id, asked.Text(), asked.Apart, asked.Plan(), asked.Offset}
	if known, ok := q.server.answers.Get(key); ok {
		return known.answer, known.refusal
	}
	answer, err := q.answer(asked)
	size := int64(len(key.text) + emptyAnswer)
	if _, isRefusal := browse.Problems(err); err != nil && !isRefusal {
		return nil, err
	} else if err == nil {
		size += textual.Bytes(answer.Records)
	}
	q.server.answers.Put(key, outcome{answer, err}, size)
	return answer, err
}

// emptyAnswer is about how many bytes an answer without records takes, and one with the reasons of
// a refusal.
const emptyAnswer = 1 << 10

func (q *asker) answer(asked *contract.Question) (*browse.Answer, error) {
	if asked.Plan().Kind == contract.Aggregate { // a page says what a drawing lacks in its own words
		asked = asked.Copy()
		asked.Unhinted = true
	}
	answer := new(browse.Answer)
	err := q.server.Lists.Query(q.served, q.mount, asked, func(a *list.Reply, found list.Records) error {
		answer.Records = list.TextsOf(found)
		if asked.Plan().Kind == contract.Rows && found.Len() > 0 {
			answer.Bytes = a.Form(a.List).Length(a.Page.Ranges)
		}
		answer.Total = found.Total()
		answer.Notes = found.Notes()
		return nil
	})
	return answer, err
}
