package api

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/wire"
)

// browsePath is the prefix of the pages of records, below a mount's.
const browsePath = "/browse/"

// asker answers the questions of one page from one snapshot. The server is the caller, so it needs
// no identifier.
type asker struct {
	server *Server
	served *served
	mount  *mount
}

// Ask implements browse.Source.
func (q *asker) Ask(e *contract.Endpoint, k contract.Kind, query string) (*browse.Answer, error) {
	return q.ask(e, k, query, true)
}

// ask answers a question. If it wants values, those of computed records have no body.
func (q *asker) ask(
	e *contract.Endpoint, k contract.Kind, query string, values bool,
) (answer *browse.Answer, err error) {
	s, list := q.server, q.served.bound.lists[e.Contract().Path]
	if !q.served.acquire() {
		return nil, errNoSnapshot
	}
	defer s.endList(q.served, list, &err)
	sc := scratches.Get().(*scratch)
	defer sc.release()
	to := q.mount.lists[listKey{e, k}]
	a := &reply{
		scratch: sc, endpoint: e.Contract(), served: q.served, list: list, computation: to.computation,
		path: q.mount.prefix + to.list.Paths()[0],
	}
	answer = new(browse.Answer)
	var read func(records)
	if values {
		read = func(found records) { a.readValues(answer, found) }
	}
	if answer.Body, err = s.answerInside(a, to.list, query, read); err != nil {
		return nil, err
	}
	var hints fasthttp.ResponseHeader
	setUnknown(&hints, &sc.request)
	answer.Total, answer.Unknown = sc.page.Total, sc.request.UnknownNames()
	answer.Hint = string(hints.PeekBytes(nameHint))
	return answer, nil
}

// readValues reads the values of records, of which a page can need fifty thousand.
func (a *reply) readValues(answer *browse.Answer, found records) {
	answer.Names = contract.FieldNames(found.Fields())
	fields := len(answer.Names)
	ends := make([]int, 0, found.Len()*fields)
	buffer := a.body[:0]
	for record := range found.Len() {
		for field := range fields {
			buffer = found.AppendCell(buffer, record, field, false)
			ends = append(ends, len(buffer))
		}
	}
	a.body = buffer
	text, from := string(buffer), 0
	answer.Values = make([]browse.Value, len(ends))
	for i, end := range ends {
		answer.Values[i] = browse.NewValue(text[from:end])
		from = end
	}
}

// addBrowse registers the pages of records of a mount.
func (s *Server) addBrowse(m *mount) {
	full := newHead(s.landingFields(safe("Content-Type", htmlType, "Content-Security-Policy", scriptPolicy)...)...)
	bare := newHead(s.landingFields()...)
	endpoints, twins := contract.EndpointsIn(m.names), contract.EndpointsIn(m.twin.names)
	for i := range endpoints {
		e := &endpoints[i]
		question := browse.Question{
			Prefix: m.prefix, Plan: m.lists[listKey{e, contract.Rows}].list, Twin: m.twin.prefix + twins[i].Path,
		}
		s.add(m, browsePath+e.Name(), route{name: browsePath, handler: func(ctx *fasthttp.RequestCtx) {
			if err := s.answerBrowse(ctx, m, question, full, bare); err != nil {
				s.answerError(ctx, err)
			}
		}})
		download := m.lists[listKey{e, contract.Export}]
		download.public, download.name = true, browsePath+browse.DownloadPath[1:]
		s.add(m, browsePath+e.Name()+browse.DownloadPath, download)
	}
}

// pageWait is how long a page waits for those before it. People wait longer than programs, and on a
// busy machine a page can take a second.
const pageWait = 10 * time.Second

// newPageGate makes a gate for pages of records, of which one takes as long as a hundred short
// queries. Half of the cores are for others: if all were busy with long work, the Go runtime would
// look for new requests only every 10 ms.
func newPageGate(cores int) *wire.Gate { return wire.NewGate(max(1, cores/2), pageWait) }

// answerBrowse answers with a page of records. It waits for other pages, and takes a slot as a
// query does.
func (s *Server) answerBrowse(ctx *fasthttp.RequestCtx, m *mount, q browse.Question, full, bare head) error {
	if !s.pages.Enter(true) {
		return &Busy{Rule: ruleQueries}
	}
	defer s.pages.Leave()
	if !s.gate.Enter(true) {
		return &Busy{Rule: ruleQueries}
	}
	defer s.gate.Leave()
	return s.makeBrowse(ctx, m, q, full, bare)
}

// makeBrowse makes a page of records and sends it.
func (s *Server) makeBrowse(ctx *fasthttp.RequestCtx, m *mount, q browse.Question, full, bare head) error {
	pinned := contract.Request{Snapshot: string(ctx.QueryArgs().Peek(contract.SnapshotParam))}
	v, err := s.snapshotOf(&pinned)
	if err != nil {
		return err
	}
	defer v.release(s.log)
	e := q.Plan.Endpoint
	q.Query, q.Base = string(ctx.URI().QueryString()), s.baseOf(ctx)
	q.MaxExport = s.options.ExportRows
	ask := &asker{s, v, m}
	q.Source, q.Boundaries = ask, s.options.Boundaries
	q.License = func(dataset string) (title, address string) {
		d, _ := v.bound.snap.Manifest.Dataset(dataset)
		return d.License, webLink(d.LicenseURL)
	}
	source := v.bound.sourceOf(e.Contract())
	q.Freshness = browse.Freshness{
		Snapshot: v.id, Loaded: v.bound.snap.Manifest.SnapshotTime.UTC().Format(dayFormat),
		Period: source.Period, Updated: source.Updated, StaleSince: source.StaleSince,
	}
	q.Dataset, err = ask.linkedOf(e, q.Base)
	if err != nil {
		return err
	}
	page, clean, err := browse.New(&q)
	switch {
	case errors.Is(err, browse.ErrAddress):
		s.answerFault(ctx, fasthttp.StatusBadRequest, bodyBadRequest)
		return nil
	case err != nil:
		return err
	case clean != "":
		h := plainHead.begin(ctx)
		h.Set("Location", clean)
		h.Set("Cache-Control", noStore)
		ctx.SetStatusCode(fasthttp.StatusSeeOther)
		return nil
	}
	s.answerPage(ctx, "browse.html", page, full, bare, landingKey)
	if len(page.Wrong) > 0 {
		ctx.SetStatusCode(fasthttp.StatusUnprocessableEntity)
		ctx.Response.Header.Set("Cache-Control", noStore)
	}
	return nil
}
