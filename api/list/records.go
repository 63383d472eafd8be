package list

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/api/textual"
)

// Records is a computed answer: one page of records that are not rows of the table.
type Records interface {
	render.Records
	Fields() []contract.Field // of each record, in order
	Total() int               // of all pages
	Notes() say.Notes
}

// TextsOf are the records of a page as text: strings and times as they are, others as in JSON.
func TextsOf(found Records) []textual.Record {
	var write func(dst []byte, record, field int) (text []byte, ok bool)
	switch from := found.(type) {
	case Valued:
		write = func(dst []byte, record, field int) (text []byte, ok bool) {
			switch v := from.Value(record, field); v.Kind {
			case aggregate.Null, aggregate.Differ:
				return dst, false
			case aggregate.Text:
				return append(dst, v.Text...), true
			case aggregate.Time:
				return render.AppendTimeText(dst, v.Int), true
			}
			return found.AppendCell(dst, record, field, false), true
		}
	case interface {
		AppendText(dst []byte, record, field int) (text []byte, ok bool)
	}: // of rows
		write = from.AppendText
	}
	all := textual.New(found.Len(), contract.FieldNames(found.Fields()), write)
	if more, ok := found.(interface {
		Describe(record int, r *textual.Record)
	}); ok {
		for i := range all {
			more.Describe(i, &all[i])
		}
	}
	return all
}

// RecordSource is how requests of a kind are answered.
type RecordSource struct {
	Kind contract.Kind

	// Version is part of the entity tags. Increment it when answers change that depend on the same
	// rows and query, so that caches drop old ones.
	Version byte

	// Long sources take turns as long pages do, one for each core at a time. That bounds what they
	// hold in memory too: an aggregate of 100,000 groups can take 30 MB.
	Long bool

	// Compute finds the records of a request. An error that is *contract.Invalid is the caller's.
	// The table may be missing (a.List.Segment is nil).
	Compute func(s *Lists, a *Reply) (Records, error)

	// Seed, if set, appends what entity tags depend on besides the list's table and the query.
	Seed func(dst []byte, e *contract.Endpoint, b *state.Bound) []byte

	// Answer answers a request that asks for a file, and is set instead of Compute.
	Answer func(a *Reply) error
}

// answerRecords computes the records of a request and answers with them.
func (s *Lists) answerRecords(a *Reply) (result Finished, err error) {
	if a.Request.Question.Since != "" {
		if err := s.openSince(a); err != nil {
			return Finished{}, err
		}
		defer a.Since.served.Release(s.State.Log)
	}
	if a.RecordSource.Long {
		a.turn.BeginLong()
		defer a.turn.EndLong()
		a.HasTurn = true
	}
	found, err := a.RecordSource.Compute(s, a)
	if err != nil {
		return Finished{}, s.Failed(a, err)
	}
	a.Page.Rows, a.Page.Total = found.Len(), found.Total()
	LogOf(a.Ctx).NoteRows(&a.Page, "miss")
	notes := found.Notes()
	result.header = headerOf(&notes)
	if a.HasTurn {
		found = pausing{found, a.Pause}
	}
	result.setHeader(s.Heads.Begin(a))
	a.sendBody(&result, a.Page.Rows >= manyRows, false, func(dst []byte) []byte { return a.appendRecords(dst, found) })
	return result, nil
}

// Requested is the path of the request.
func (a *Reply) Requested() string {
	if a.Ctx == nil {
		return a.Path
	}
	return string(a.Ctx.Path())
}

// appendRecords renders the computed records of an answer.
func (a *Reply) appendRecords(dst []byte, found Records) []byte {
	if a.IsEmptyFile() {
		return dst
	}
	return render.AppendRecords(dst, contract.FieldNames(found.Fields()), found, a.Request.Question.InCSV())
}

// pausing are records whose rendering pauses.
type pausing struct {
	Records
	pause func()
}

// AppendCell implements render.Records.
func (p pausing) AppendCell(dst []byte, record, field int, csv bool) []byte {
	if field == 0 {
		p.pause()
	}
	return p.Records.AppendCell(dst, record, field, csv)
}

// setHeader sets the header fields of the answer's own.
func (f *Finished) setHeader(h *fasthttp.ResponseHeader) {
	if len(f.provisional) > 0 {
		h.SetCanonical(reply.NameProvisional, f.provisional)
	}
	for _, own := range f.header {
		// There may be hints already, at what the request may have meant.
		if others := h.Peek(own.Name); own.Name == contract.HeaderHint && len(others) > 0 {
			own.Value = string(others) + betweenHints + own.Value
		}
		h.Set(own.Name, own.Value)
	}
}

// headerOf has notes as header fields. Browsers need to know only the names of those that there
// are: X-Hint and X-Data-Provisional are exposed anyway.
func headerOf(n *say.Notes) (fields []reply.HeaderField) {
	fields = hintHeader(n.Hints)
	add := func(name, value string) { fields = append(fields, reply.HeaderField{Name: name, Value: value}) }
	if len(n.Provisional) > 0 {
		add(contract.HeaderProvisional, strings.Join(n.Provisional, ", "))
	}
	if coverage := n.CoverageText(); coverage != "" {
		add(contract.HeaderCoverage, coverage)
	}
	var more []string
	for _, left := range n.Left {
		more = append(more, left.Field+"="+strconv.Itoa(left.Values))
	}
	if len(more) > 0 {
		add(contract.HeaderMore, strings.Join(more, ", "))
	}
	if c := n.Changes; c != nil {
		add(contract.HeaderChanges, fmt.Sprintf("added=%d, removed=%d, changed=%d", c.Added, c.Removed, c.Changed))
	}
	return reply.Exposed(fields...)
}

// sinceList is the list of a request in the snapshot that it names in since.
type sinceList struct {
	served *state.Served
	List   *state.BoundList
}

// goneSince is the error of a request whose snapshot in since is not held.
func (s *Lists) goneSince() error {
	return &reply.Gone{Current: s.State.Snapshots.CurrentID(), Since: true}
}

// openSince acquires the list to compare with.
func (s *Lists) openSince(a *Reply) error {
	v := s.State.Snapshots.AcquirePinned(a.Request.Question.Since)
	if v == nil {
		return s.goneSince()
	}
	a.Since = sinceList{v, v.Bound.Lists[a.Endpoint.Path]}
	return nil
}
