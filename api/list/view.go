package list

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/index"
)

// View is another way to ask for rows of a list, and another text around them. All else is as with
// lists: limits, validators, compression, what is kept and counted.
type View struct {
	Version string         // of the table that must answer; empty for the current one
	Filters []index.Filter // besides those of the request
	Key     []byte         // what the answer depends on besides the table and the page
	Fields  []int          // positions in the form of entities, ascending; nil for all
	Points  bool           // rows are features, not entities

	// PlacesFirst are the rows that have a place, and then those that have none: programs for maps
	// take the type of a layer from its first features. Requests for the newest rows keep their
	// order, since what is newest depends on all rows that pass.
	PlacesFirst bool

	// Choose, if set, fills the page in place of the index: with rows of those that pass the query,
	// in any order.
	Choose func(l *state.BoundList, q *index.Query, page *index.Page) error

	Around func(sc *Scratch, l *state.BoundList) (head, tail []byte) // of the rows
	Write  func(dst []byte, sc *Scratch, l *state.BoundList) []byte  // the body; nil for entities
	Finish func(h *fasthttp.ResponseHeader)                          // sets header fields of its own

	form *render.Form // of the rows that were found, between their text
}

// Answer answers a question about rows through a view. It returns the error to answer with.
func (s *Lists) Answer(ctx *fasthttp.RequestCtx, to *Route, q *contract.Question, v *View) error {
	sc := scratches.Get().(*Scratch)
	defer sc.Release()
	sc.view = v
	sc.Request.AskWhole(q)
	return s.scanned(ctx, to, sc)
}

// acquireFor takes a reference to the snapshot that must answer.
func (s *Lists) acquireFor(sc *Scratch) (*state.Served, error) {
	if sc.view == nil || sc.view.Version == "" {
		return s.State.Snapshots.AcquireFor(sc.Request.Scanned.Snapshot)
	}
	list := sc.Request.Scanned.Plan().Endpoint.Contract().List()
	if v := s.State.Snapshots.AcquireVersion(list, sc.view.Version); v != nil {
		return v, nil
	}
	if current := s.State.Snapshots.CurrentID(); current != "" {
		return nil, &reply.Gone{Current: current}
	}
	return nil, reply.ErrNoSnapshot
}

// hasPlace are filters of rows that have a place, and then of those that have none.
var hasPlace = func() (either [2][]index.Filter) {
	columns := []string{contract.LatField, contract.LonField}
	has := &index.Test{Key: "has", Float: func(float64) bool { return true }}
	hasNot := &index.Test{Key: "has not", Null: true, Float: func(float64) bool { return false }}
	for i := range columns {
		either[0] = append(either[0], index.Filter{Columns: columns[i : i+1], Op: index.Tested, Test: has})
	}
	either[1] = []index.Filter{{Columns: columns, Op: index.Tested, Test: hasNot}}
	return either
}()

// findPlacesFirst fills the page with rows that have a place, and then with others.
func (sc *Scratch) findPlacesFirst(l *state.BoundList) error {
	var found index.Page
	q, filters := &sc.Query, sc.Query.Filters
	for _, place := range hasPlace {
		q.Filters = append(filters[:len(filters):len(filters)], place...)
		if err := l.Index.Select(q, &sc.Page); err != nil {
			return err
		}
		found.Ranges = append(found.Ranges, sc.Page.Ranges...)
		found.Rows, found.Total = found.Rows+sc.Page.Rows, found.Total+sc.Page.Total
		q.Limit -= sc.Page.Rows
		q.Offset -= min(q.Offset, uint64(sc.Page.Total))
	}
	sc.Page = found
	return nil
}

// isWritten reports whether a view writes the body itself.
func (sc *Scratch) isWritten() bool { return sc.view != nil && sc.view.Write != nil }

// viewForm is the form of a view's rows.
func (sc *Scratch) viewForm(r *render.Renderer, l *state.BoundList) *render.Form {
	if sc.view.form != nil {
		return sc.view.form
	}
	form := r.Entities()
	if sc.view.Points {
		form = r.Features()
	}
	if sc.view.Fields != nil {
		form = r.Subset(form, sc.view.Fields)
	}
	sc.view.form = form.Framed(sc.view.Around(sc, l))
	return sc.view.form
}

// RowsOf are the rows that a view found, one by one, and their ids.
func RowsOf(sc *Scratch, l *state.BoundList) (Records, []uint32, error) {
	if l.Segment == nil {
		return &rowRecords{a: &Reply{Scratch: sc}}, nil, nil
	}
	found, err := newRowRecords(&Reply{Scratch: sc, List: l})
	if err != nil {
		return nil, nil, err
	}
	return found, found.(*rowRecords).rows, nil
}
