package api

import (
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/api/wire"
	"hdqs/index"
	"hdqs/internal/background"
)

// minEncoded is the length up to which a body is sent uncompressed even if the client accepts
// compressed ones.
const minEncoded = 1 << 10

// manyRows is a number of rows that is longer than minEncoded in any format: a record takes at
// least 8 bytes.
const manyRows = minEncoded / 8

// scratch is the memory of one list request, reused after it is answered.
type scratch struct {
	request contract.Request
	query   index.Query
	values  []index.Value // of the query's lists
	page    index.Page
	tag     entityTag
	text    []byte // input of the tag, then header values
	body    []byte // uncompressed bytes of a compressed body
	turn    background.Turn
	pause   func() // Pause of turn
}

var scratches = sync.Pool{New: func() any {
	sc := new(scratch)
	sc.pause = sc.turn.Pause
	return sc
}}

// maxScratchBody is the largest body buffer that is reused.
const maxScratchBody = 8 << 20

func (sc *scratch) release() {
	if cap(sc.body) > maxScratchBody {
		sc.body = nil
	}
	scratches.Put(sc)
}

// answerList answers a request for a list endpoint.
func (s *Server) answerList(ctx *fasthttp.RequestCtx, to *route) {
	err := s.list(ctx, to)
	if err == nil {
		return
	}
	if busy, ok := errors.AsType[*Busy](err); ok {
		s.shed.add(busy.Rule)
		time.Sleep(s.refusals.Delay(time.Now())) // at this point the request holds no slot, bytes or snapshot
	}
	s.answerError(ctx, err)
}

// reply is the state of an answer to a list request.
type reply struct {
	*scratch
	ctx             *fasthttp.RequestCtx
	endpoint        *contract.Endpoint // in the contract's names
	served          *served
	list            *boundList
	computation     *computation // nil for rows
	since           sinceList    // that changes are relative to
	path            string       // of the request, for answers that are a part of a page
	heads           *listHeads
	coding          encode.Coding
	refusesIdentity bool
	dictionary      *dictionary      // that the client has; nil without one
	buffer          *wire.BodyBuffer // for the body; nil: the connection's
	gate            *wire.Gate       // in which the request has a slot; nil without one
}

// list checks the cheap reasons to stop first: errors in the request, the snapshot that answers,
// and whether the client has the answer already. It returns the error to answer with.
func (s *Server) list(ctx *fasthttp.RequestCtx, to *route) (err error) {
	sc := scratches.Get().(*scratch)
	defer sc.release()
	r := &sc.request
	if r.Scan(to.list, ctx.URI().QueryString()); r.AsksExport() {
		export := to.mount.lists[listKey{to.list.Endpoint, contract.Export}]
		export.mount = to.mount
		r.Scan(export.list, ctx.URI().QueryString())
		return s.scanned(ctx, &export, sc)
	}
	return s.scanned(ctx, to, sc)
}

// scanned answers a request whose query was scanned.
func (s *Server) scanned(ctx *fasthttp.RequestCtx, to *route, sc *scratch) (err error) {
	r := &sc.request
	if !to.public {
		if err := s.checkIdentifier(ctx, to.mount, r.Identifier()); err != nil {
			return err
		}
	}
	if !ctx.IsGet() && !ctx.IsHead() {
		return errMethodNotAllowed
	}
	if err := s.parse(ctx, r); err != nil {
		s.answerError(ctx, err)
		setUnknown(&ctx.Response.Header, r)
		return nil
	}
	served, err := s.snapshotOf(r)
	if err != nil {
		return err
	}
	endpoint := to.list.Endpoint.Contract()
	list := served.bound.lists[endpoint.Path]
	defer s.endList(served, list, &err)
	if r.Since != "" && !s.holds(r.Since) {
		return s.goneSince()
	}
	publication := served.publication.Load()
	accept := acceptEncoding(ctx)
	coding, ok := encode.Negotiate(accept)
	if !ok {
		return errNotAcceptable
	}
	rec := recordOf(ctx)
	if rec.mayHave(wire.Precondition) && !preconditionHolds(&ctx.Request.Header, publication.at) {
		return errPrecondition
	}
	a := reply{
		scratch: sc, ctx: ctx, endpoint: endpoint, served: served, list: list,
		computation: to.computation, heads: publication.headsFor(list, r), coding: coding,
		refusesIdentity: encode.RefusesIdentity(accept),
	}
	if a.list.isSuspect() {
		return s.refusal(&a)
	}
	a.makeTag()
	if rec.mayHave(wire.Revalidation) && notModified(&ctx.Request.Header, sc.tag.text(), publication.at) {
		s.setValidators(a.heads.notModified.begin(ctx), &a)
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return nil
	}
	if ctx.IsHead() && coding == encode.Identity && a.computation == nil {
		_, err := s.query(&a)
		return err
	}
	if s.options.Dictionaries {
		if a.dictionary = s.findDictionary(&a, accept); a.dictionary != nil {
			defer a.dictionary.served.release(s.log)
		}
	}
	if a.request.Format != "" {
		err = s.export(&a)
	} else {
		err = s.answerBody(&a)
	}
	if a.computation != nil && isInvalid(err) {
		s.answerError(ctx, err)
		setUnknown(&ctx.Response.Header, r)
		return nil
	}
	return err
}

// answerBody answers with a cached body or one that another request is rendering. Otherwise it
// renders the body, if the limits allow another query.
func (s *Server) answerBody(a *reply) error {
	if s.budget.IsFull() {
		return &Busy{Rule: ruleBytes}
	}
	known, err := s.bodies.do(a.bodyKey(), func() (finished, error) {
		if err := s.enterGate(a); err != nil {
			return finished{}, err
		}
		defer a.leaveGate()
		return s.query(a)
	})
	if known != nil {
		wire.Send(a.ctx, &known.Shared)
		a.page.Rows, a.page.Total = known.rows, known.total
		known.setHeader(s.beginList(a))
		known.send(a.ctx)
		recordOf(a.ctx).noteRows(&a.page, "hit")
	}
	return err
}

// query finds the rows and answers with them. The result is empty if other requests cannot use it.
func (s *Server) query(a *reply) (finished, error) {
	result, err := s.render(a)
	if err == nil && a.list.isSuspect() { // found while the body was rendered, so its rows may be wrong
		a.ctx.Response.ResetBody()
		return finished{}, s.refusal(a)
	}
	return result, err
}

func (s *Server) render(a *reply) (finished, error) {
	if a.computation != nil {
		return s.answerRecords(a)
	}
	if err := a.list.find(a.scratch); err != nil {
		return finished{}, s.failed(a, err)
	}
	if err := s.makeWay(a); err != nil {
		return finished{}, err
	}
	recordOf(a.ctx).noteRows(&a.page, "miss")
	h := s.beginList(a)
	if a.ctx.IsHead() && a.coding == encode.Identity && a.list.segment != nil {
		// The length of an uncompressed body is known before it is rendered. Compressed ones are
		// rendered as for GET, and cached, but for those below.
		h.SetContentLength(a.list.form(a.scratch).Length(a.page.Ranges))
		return finished{}, nil
	}
	if a.ctx.IsHead() && a.coding == encode.Gzip && a.inPieces() {
		// Rows that are encoded now may be copied when GET comes, which changes the length.
		h.SetContentEncoding(a.coding.String())
		h.SetContentLength(-1)
		return finished{}, nil
	}
	if a.coding == encode.Identity && a.list.segment != nil &&
		a.list.form(a.scratch).SizeHint(a.page.Rows) >= minStreamed {
		wire.ChargeOther(a.ctx, s.stream(a))
		return finished{}, nil
	}
	coding := encode.Dcz
	memory, ok := s.writeDelta(a)
	if !ok {
		memory = a.writeBody()
		coding = a.codingSent()
	}
	wire.Charge(a.ctx, memory)
	return finished{body: a.ctx.Response.Body(), coding: coding, rows: a.page.Rows, total: a.page.Total}, nil
}

// codingSent is the coding of the body that was written: short ones are sent as they are.
func (a *reply) codingSent() encode.Coding {
	if len(a.ctx.Response.Header.ContentEncoding()) == 0 {
		return encode.Identity
	}
	return a.coding
}

// parse parses the parameters. Unknown ones are errors if the client or the server is strict.
func (s *Server) parse(ctx *fasthttp.RequestCtx, r *contract.Request) error {
	err := r.Parse()
	recordOf(ctx).noteRequest(r, err == nil)
	if err != nil {
		return err
	}
	if !r.HasUnknown() {
		return nil
	}
	if preferred := prefersStrict(&ctx.Request.Header); preferred || s.options.Strict {
		return r.UnknownFaults(preferred, hintOf)
	}
	return nil
}

// snapshotOf acquires the snapshot that must answer.
func (s *Server) snapshotOf(r *contract.Request) (*served, error) {
	if r.Snapshot == "" {
		if v := s.acquire(); v != nil {
			return v, nil
		}
		return nil, errNoSnapshot
	}
	if v := s.acquirePinned(r.Snapshot); v != nil {
		return v, nil
	}
	if id := s.currentID(); id != "" {
		return nil, &Gone{Current: id}
	}
	return nil, errNoSnapshot
}

// makeTag computes the tag of the answer from the table's content and the canonical query, so that
// it is known before any work and is the same in every process. The snapshot that a request names
// is not part of it, since it does not change the answer. Whether the table is stale is: not all
// caches update the header of an answer that they keep after a 304, and none removes a field.
func (a *reply) makeTag() {
	a.text = append(a.text[:0], a.list.named[a.request.Names()].tag[:]...)
	if stale := a.heads.stale; stale != "" {
		a.text = append(append(append(a.text, '\n'), stale...), '\n') // no query has line ends
	}
	if c := a.computation; c != nil {
		a.text = append(append(append(a.text, '\n'), c.kind.String()...), ' ', c.version, '\n')
	}
	a.text = a.request.AppendCanonical(a.text)
	a.tag = newEntityTag(sha256.Sum256(a.text))
}

// setValidators writes the header fields that successful answers and 304s share.
func (s *Server) setValidators(h *fasthttp.ResponseHeader, a *reply) {
	h.SetCanonical(nameETag, a.tag.text())
	setUnknown(h, &a.request)
	if s.options.SurrogateKey || s.options.CacheTag {
		s.setListKeys(h, a)
	}
}

// beginList writes the header of a successful answer, with the row counts and links of its page.
func (s *Server) beginList(a *reply) *fasthttp.ResponseHeader {
	var h *fasthttp.ResponseHeader
	if a.request.CSV || a.request.GeoJSON || a.request.Format != "" {
		from := &a.heads.csv
		if a.request.GeoJSON {
			from = &a.heads.points
		}
		h = from.begin(a.ctx)
		name := a.request.FileName(a.served.date)
		a.text = append(append(append(a.text[:0], `attachment; filename="`...), name...), `"; filename*=UTF-8''`...)
		a.text = append(a.text, name...)
		h.SetCanonical(nameDisposition, a.text)
	} else {
		h = a.heads.json.begin(a.ctx)
	}
	a.text = strconv.AppendInt(a.text[:0], int64(a.page.Total), 10)
	h.SetCanonical(nameTotal, a.text)
	a.text = strconv.AppendInt(a.text[:0], int64(a.page.Rows), 10)
	h.SetCanonical(nameResult, a.text)
	if a.text = appendLinks(a.text[:0], &a.request, a.page.Total); len(a.text) > 0 {
		h.SetCanonical(nameLink, a.text)
	}
	if s.offersDictionaries(a) {
		s.setDictionary(h, a)
	}
	s.setValidators(h, a)
	return h
}

// writeBody renders the body, directly into the answer's buffer unless it must be complete before
// it is compressed. It returns the memory of the buffer, which may be more than the length of the
// body.
func (a *reply) writeBody() int {
	h := &a.ctx.Response.Header
	pieces := a.inPieces()
	buffer := a.buffer
	if buffer == nil {
		buffer = wire.Buffer(a.ctx, pieces || a.page.Rows >= manyRows)
	}
	dst := buffer.Bytes[:0]
	switch {
	case a.coding == encode.Identity:
		dst = a.list.append(dst, a.scratch)
	case pieces:
		h.SetContentEncoding(a.coding.String())
		dst = a.appendCoded(dst)
	default:
		a.body = a.list.append(a.body[:0], a.scratch)
		dst = encoded(h, dst, a.body, a.coding, a.refusesIdentity)
	}
	buffer.Bytes = dst
	a.ctx.Response.SetBodyRaw(dst)
	return cap(dst)
}

// inPieces reports whether the encoder makes the body from its pieces: one that is longer than
// minEncoded, of more rows than it takes at a time. For fewer rows the library is about as fast.
func (a *reply) inPieces() bool {
	if a.coding == encode.Identity || a.list.segment == nil || a.page.Rows <= encode.BatchRows {
		return false
	}
	many := manyRows
	if a.request.Fields != nil {
		many = minEncoded / 2 // a line of CSV with one field can be only its end
	}
	return a.page.Rows >= many || a.list.form(a.scratch).Length(a.page.Ranges) > minEncoded
}

// find queries the index and fills the page.
func (l *boundList) find(sc *scratch) error {
	sc.page.Ranges, sc.page.Rows, sc.page.Total = sc.page.Ranges[:0], 0, 0
	if l.index == nil {
		return nil
	}
	l.setQuery(sc)
	return l.index.Select(&sc.query, &sc.page)
}

// setQuery sets the query to what the request asks for. Its filters are in the request's order.
func (l *boundList) setQuery(sc *scratch) {
	sc.values = l.fillQuery(&sc.query, &sc.request, sc.values[:0])
}

// fillQuery sets a query to what a request asks for. It appends the values of lists to values, to
// which the query refers.
func (l *boundList) fillQuery(q *index.Query, r *contract.Request, values []index.Value) []index.Value {
	q.Limit, q.Offset, q.Latest, q.Filters = r.Limit, r.Offset, r.Latest, q.Filters[:0]
	for i := range r.Filters {
		f := l.filters[r.Filters[i].Param]
		f.Value = index.Value(r.Filters[i].Value)
		if several := r.Filters[i].Values; several != nil {
			from := len(values)
			for _, v := range several {
				values = append(values, index.Value(v))
			}
			f.Values = values[from:]
		}
		q.Filters = append(q.Filters, f)
	}
	return values
}

// append renders the page.
func (l *boundList) append(dst []byte, sc *scratch) []byte {
	switch {
	case l.segment == nil && sc.request.CSV:
		return append(append(dst, strings.Join(contract.FieldNames(sc.request.AnswerFields()), ",")...), "\r\n"...)
	case l.segment == nil && sc.request.GeoJSON:
		return append(dst, emptyPoints...)
	case l.segment == nil:
		return append(dst, emptyJSON...)
	}
	return l.form(sc).Append(dst, sc.page.Ranges)
}

// form returns the renderer of the requested format, in the names of the request's path.
func (l *boundList) form(sc *scratch) *render.Form {
	r := l.named[sc.request.Names()].renderer
	form := r.JSON()
	switch {
	case sc.request.CSV:
		form = r.CSV()
	case sc.request.GeoJSON:
		form = r.Points()
	}
	if sc.request.Fields != nil {
		return r.Subset(form, sc.request.Fields)
	}
	return form
}
