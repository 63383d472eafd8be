package list

import (
	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/say"
	"hdqs/api/state"
)

// Query answers a question about a snapshot as below a mount, and gives the records to read. They
// are valid until read returns. A page has a slot already, so that no limit is checked here; for
// others see Pass.
func (s *Lists) Query(
	v *state.Served, m *Mount, q *contract.Question, read func(*Reply, Records) error,
) (err error) {
	if !v.Acquire() {
		return reply.ErrNoSnapshot
	}
	endpoint := q.Endpoint().Contract()
	table := v.Bound.Lists[endpoint.List()]
	defer v.Release(s.State.Log)
	sc := scratches.Get().(*Scratch)
	defer sc.Release()
	a := &Reply{
		Scratch: sc, Endpoint: endpoint, Served: v, List: table, RecordSource: s.Routes.sources[q.Plan().Kind],
		Path: m.Prefix + q.Plan().Paths()[0],
	}
	a.Request.Ask(q)
	if err := contract.Resolve(&a.Request.Question, v.Bound.Groups); err != nil {
		return err
	}
	if m.TakesTurns && a.RecordSource != nil && a.RecordSource.Long {
		a.turn.BeginLong()
		defer a.turn.EndLong()
		a.HasTurn = true
	}
	if a.Request.Question.Since != "" {
		if err := s.openSince(a); err != nil {
			return err
		}
		defer a.Since.served.Release(s.State.Log)
	}
	if a.provisional, err = s.State.ProvisionalOf(v.Bound, endpoint, table); err != nil {
		return s.Failed(a, err)
	}
	found, err := s.recordsOf(a)
	if err == nil {
		err = read(a, found)
	}
	if err != nil {
		return s.Failed(a, err)
	}
	return nil
}

// recordsOf finds the rows of a question, or computes its records.
func (s *Lists) recordsOf(a *Reply) (Records, error) {
	if a.RecordSource != nil {
		found, err := a.RecordSource.Compute(s, a)
		if err == nil {
			a.Page.Rows, a.Page.Total = found.Len(), found.Total()
		}
		return found, err
	}
	if err := a.Find(a.List); err != nil {
		return nil, err
	}
	return newRowRecords(a)
}

// rowRecords are the rows of a page.
type rowRecords struct {
	a      *Reply
	fields []contract.Field
	values []*render.Values // by field; nil without the table
	rows   []uint32
}

func newRowRecords(a *Reply) (Records, error) {
	r := &rowRecords{a: a, fields: a.Request.Question.AnswerFields()}
	for i := range r.fields {
		values, err := a.List.Values(r.fields[i].Column())
		if err != nil {
			return nil, err
		}
		r.values = append(r.values, values)
	}
	for _, run := range a.Page.Ranges {
		for row := run.From; row < run.To; row++ {
			r.rows = append(r.rows, row)
		}
	}
	return r, nil
}

func (r *rowRecords) Fields() []contract.Field { return r.fields }
func (r *rowRecords) Len() int                 { return len(r.rows) }
func (r *rowRecords) Total() int               { return r.a.Page.Total }

// Notes implements Records.
func (r *rowRecords) Notes() (notes say.Notes) {
	if r.a.provisional.Any() {
		notes.Provisional = r.a.provisional.Names(r.a.provisionalOnPage())
	}
	notes.Hints = NameHints(&r.a.Request.Question, r.a.Served.Bound, r.a.List, r.Total())
	return notes
}

func (r *rowRecords) AppendCell(dst []byte, record, field int, csv bool) []byte {
	return r.values[field].AppendRow(dst, r.rows[record], csv)
}

// AppendText appends a value as text.
func (r *rowRecords) AppendText(dst []byte, record, field int) (text []byte, ok bool) {
	return r.values[field].AppendText(dst, r.rows[record])
}
