package list

import (
	"crypto/sha256"
	"errors"
	"math"
	"strconv"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/index"
	"hdqs/internal/background"
)

// manyRows is a number of rows that is longer than MinEncoded in any format: a record takes at
// least 8 bytes.
const manyRows = reply.MinEncoded / 8

// Scratch is the memory of one list request, reused after it is answered.
type Scratch struct {
	Request contract.Request
	Query   index.Query
	Page    index.Page
	tag     reply.EntityTag
	text    []byte // input of the tag, then header values
	Body    []byte // uncompressed bytes of a compressed body
	turn    background.Turn
	Pause   func() // Pause of turn
	view    *View  // nil for lists as they are
	reply   Reply  // that is being made
}

// scratches pools the memory of requests.
var scratches = sync.Pool{New: func() any {
	sc := new(Scratch)
	sc.Pause = sc.turn.Pause
	return sc
}}

// maxScratchBody is the largest body buffer that is reused.
const maxScratchBody = 8 << 20

// Release gives the memory back for another request.
func (sc *Scratch) Release() {
	if cap(sc.Body) > maxScratchBody {
		sc.Body = nil
	}
	sc.view, sc.reply = nil, Reply{}
	scratches.Put(sc)
}

// Reply is the state of an answer to a list request.
type Reply struct {
	*Scratch
	Ctx             *fasthttp.RequestCtx
	Endpoint        *contract.Endpoint // in the contract's names
	Served          *state.Served
	List            *state.BoundList
	RecordSource    *RecordSource // nil for rows
	Since           sinceList     // that changes are relative to
	Path            string        // of the request, for answers that are a part of a page
	heads           *state.ListHeads
	Coding          encode.Coding
	refusesIdentity bool
	InParts         bool // a part is wanted, and may be sent (parts.go)
	provisional     *state.Provisional
	buffer          *wire.BodyBuffer // for the body; nil: the connection's
	gate            *wire.Gate       // in which the request has a slot; nil without one
	HasTurn         bool             // the computation may pause
}

// AnswerList answers a request for a list endpoint. It checks the cheap reasons to stop first:
// errors in the request, the snapshot that answers, and whether the client has the answer already.
// It returns the error to answer with.
func (s *Lists) AnswerList(ctx *fasthttp.RequestCtx, to *Route) (err error) {
	sc := scratches.Get().(*Scratch)
	defer sc.Release()
	r := &sc.Request
	plan := to.List()
	if kind := r.Scanned.Scan(plan, ctx.URI().QueryString()); kind != plan.Kind {
		other := to.Mount.Lists[contract.PlanKey{Endpoint: plan.Endpoint, Kind: kind}]
		other.Mount = to.Mount
		r.Scanned.As(other.List())
		return s.scanned(ctx, &other, sc)
	}
	return s.scanned(ctx, to, sc)
}

// scanned answers a request whose query was scanned, or the question of a view.
func (s *Lists) scanned(ctx *fasthttp.RequestCtx, to *Route, sc *Scratch) (err error) {
	r := &sc.Request
	if !to.Public {
		if err := s.Identifiers.Check(ctx, to.Mount, r.Scanned.Identifier()); err != nil {
			return err
		}
	}
	if !ctx.IsGet() && !ctx.IsHead() {
		return reply.ErrMethodNotAllowed
	}
	if sc.view != nil {
		LogOf(ctx).noteRequest(r, true)
	} else if err := s.parse(ctx, r); err != nil {
		s.answerInvalid(ctx, r, err)
		return nil
	}
	served, err := s.acquireFor(sc)
	if err != nil {
		return err
	}
	defer served.Release(s.State.Log)
	if err := contract.Resolve(&r.Question, served.Bound.Groups); err != nil {
		s.answerInvalid(ctx, r, err)
		return nil
	}
	endpoint := to.List().Endpoint.Contract()
	list := served.Bound.Lists[endpoint.List()]
	if r.Question.Since != "" && !s.State.Snapshots.Holds(r.Question.Since) {
		return s.goneSince()
	}
	publication := served.Publication.Load()
	accept := reply.AcceptEncoding(ctx)
	coding, ok := encode.Negotiate(accept)
	if !ok {
		return reply.ErrNotAcceptable
	}
	if r.Scanned.Kind() == contract.Export && !r.Question.ExportFormat().Text && !encode.RefusesIdentity(accept) {
		coding = encode.Identity // compressed already, or sent faster as it is
	}
	a := &sc.reply
	*a = Reply{
		Scratch: sc, Ctx: ctx, Endpoint: endpoint, Served: served, List: list,
		RecordSource: to.RecordSource, heads: publication.HeadsFor(list, r), Coding: coding,
		refusesIdentity: encode.RefusesIdentity(accept),
	}
	if err := s.makeTag(a); err != nil {
		return err
	}
	may := LogOf(ctx).mayHave()
	validators := reply.Validators{Tag: sc.tag.Text(), Strong: a.strongTag(), Published: publication.At}
	if same, err := validators.Check(&ctx.Request.Header, may); err != nil {
		return err
	} else if same {
		s.Heads.answerSame(a)
		return nil
	}
	if may&wire.InRange != 0 && sc.view == nil {
		a.findPart(s)
	}
	if ctx.IsHead() {
		defer a.tellNoLength()
	}
	switch {
	case r.Scanned.Kind() == contract.Export:
		err = a.RecordSource.Answer(a)
	case ctx.IsHead() && coding == encode.Identity && a.RecordSource == nil && !sc.isWritten():
		_, err = s.render(a) // only counts, which takes no slot
	default:
		err = s.answerBody(a)
	}
	if err == nil && a.InParts {
		s.sendPart(a)
	}
	if a.RecordSource != nil && reply.IsInvalid(err) {
		s.answerInvalid(ctx, r, err)
		return nil
	}
	return err
}

// answerInvalid answers a request with wrong parameters.
func (s *Lists) answerInvalid(ctx *fasthttp.RequestCtx, r *contract.Request, err error) {
	s.State.AnswerError(ctx, err)
	reply.SetUnknown(&ctx.Response.Header, r)
}

// Heads writes the headers of answers to list requests.
type Heads struct{ State *state.State }

// answerSame answers that the client has the body already.
func (s *Heads) answerSame(a *Reply) {
	h := a.heads.NotModified.Begin(a.Ctx)
	if a.view != nil {
		a.view.Finish(h)
	}
	s.setValidators(h, a)
	a.Ctx.SetStatusCode(fasthttp.StatusNotModified)
}

// tellNoLength sets the length of an empty file, which fasthttp leaves out for HEAD.
func (a *Reply) tellNoLength() {
	r := &a.Ctx.Response
	if r.StatusCode() == fasthttp.StatusOK && a.IsEmptyFile() && !r.IsBodyStream() && len(r.Body()) == 0 {
		r.Header.SetContentLength(0)
	}
}

// answerBody answers with a cached body or one that another request is rendering. Otherwise it
// renders the body, if the limits allow another query.
func (s *Lists) answerBody(a *Reply) error {
	if err := s.Admission.checkBytes(); err != nil {
		return err
	}
	known, err := s.Bodies.do(bodyKey{a.tag, a.Coding, a.refusesIdentity}, func() (Finished, error) {
		if err := s.Admission.enterGate(a); err != nil {
			return Finished{}, err
		}
		defer a.leaveGate()
		if err := s.Admission.checkBytes(); err != nil { // again, since a request may have waited for others
			return Finished{}, err
		}
		return s.render(a)
	})
	if known != nil {
		wire.Send(a.Ctx, &known.Shared)
		a.Page.Rows, a.Page.Total = known.Rows, known.Total
		known.setHeader(s.Heads.Begin(a))
		if known.coding != encode.Identity {
			a.Ctx.Response.Header.SetContentEncoding(known.coding.String())
		}
		a.Ctx.Response.SetBodyRaw(known.Body) // the response does not own its bytes
		LogOf(a.Ctx).NoteRows(&a.Page, "hit")
	}
	return err
}

// render finds the rows and answers with them. The result has no body if other requests cannot use
// it.
func (s *Lists) render(a *Reply) (own Finished, err error) {
	if a.RecordSource != nil {
		return s.answerRecords(a)
	}
	if err := a.Find(a.List); err != nil {
		return own, s.Failed(a, err)
	}
	if err := s.Admission.moveToSlowGate(a); err != nil {
		return own, err
	}
	LogOf(a.Ctx).NoteRows(&a.Page, "miss")
	h := s.Heads.Begin(a)
	if a.provisional.Any() {
		own.provisional = a.provisional.Months(a.provisionalOnPage())
	}
	own.header = hintHeader(NameHints(&a.Request.Question, a.Served.Bound, a.List, a.Page.Total))
	own.setHeader(h)
	isPlain := a.Coding == encode.Identity && a.List.Segment != nil && !a.isWritten()
	switch pieces := a.inPieces(); {
	case a.Ctx.IsHead() && isPlain:
		// The length of an uncompressed body is known before it is rendered. Compressed ones are
		// rendered as for GET, and cached, but for those below.
		if !a.IsEmptyFile() {
			h.SetContentLength(a.Form(a.List).Length(a.Page.Ranges))
		}
	case a.Ctx.IsHead() && pieces:
		// In gzip, rows or blocks that are encoded now may be copied when GET comes, which changes
		// the length. In zstd, the length is known only after the page is compressed.
		h.SetContentEncoding(a.Coding.String())
		h.SetContentLength(-1)
	case isPlain && !a.InParts && a.Form(a.List).SizeHint(a.Page.Rows) >= MinStreamed:
		s.stream(a)
	case pieces:
		h.SetContentEncoding(a.Coding.String())
		a.sendBody(&own, true, true, a.appendCoded)
	default:
		a.sendBody(&own, a.Page.Rows >= manyRows, false, a.appendRows)
	}
	return own, nil
}

// appendRows renders the rows of the page.
func (a *Reply) appendRows(dst []byte) []byte { return a.Append(dst, a.List) }

// provisionalOnPage are the months of provisional rows of the page.
func (a *Reply) provisionalOnPage() (months uint64) {
	for _, r := range a.Page.Ranges {
		months = a.provisional.Add(months, r)
	}
	return months
}

// ProvisionalMonths are the months of all provisional rows that pass.
func (a *Reply) ProvisionalMonths() ([]string, error) {
	if !a.provisional.Any() {
		return nil, nil
	}
	passing, err := a.List.Passing(&a.Query)
	if err != nil {
		return nil, err
	}
	var months uint64
	for r := range passing.Rows(0, math.MaxInt) {
		months = a.provisional.Add(months, r)
	}
	return a.provisional.Names(months), nil
}

// parse parses the parameters. Unknown ones are errors if the client or the server is strict. So
// are those near a known one in requests that the contract does not have: a sum of all rows would
// be taken for that of some.
func (s *Lists) parse(ctx *fasthttp.RequestCtx, r *contract.Request) error {
	err := r.Parse()
	LogOf(ctx).noteRequest(r, err == nil)
	if err != nil {
		return err
	}
	if r.Scanned.UnknownCount() == 0 {
		return nil
	}
	preferred := reply.PrefersStrict(&ctx.Request.Header)
	isStrict := preferred || s.State.Options.Strict
	if !isStrict && r.Scanned.Kind() == contract.Rows {
		return nil
	}
	if faults := r.UnknownFaults(isStrict, reply.Meant); faults.Issues != nil {
		faults.Preferred = preferred
		return faults
	}
	return nil
}

// makeTag computes the tag of the answer from the table's content and the canonical query, so that
// it is known before any work and is the same in every process. The snapshot that a request names
// is not part of it, since it does not change the answer. Whether the table is stale is: not all
// caches update the header of an answer that they keep after a 304, and none removes a field.
func (s *Lists) makeTag(a *Reply) (err error) {
	if a.provisional, err = s.State.ProvisionalOf(a.Served.Bound, a.Endpoint, a.List); err != nil {
		return err
	}
	a.text = append(a.text[:0], a.List.Named[a.Request.Scanned.Names()].Tag[:]...)
	if stale := a.heads.Stale; stale != "" {
		a.text = append(append(append(a.text, '\n'), stale...), '\n') // no query has line ends
	}
	if a.provisional.Any() { // the table of resources changed, and not the list's
		a.text = append(append(append(a.text, '\n'), a.provisional.Tag...), '\n')
	}
	if c := a.RecordSource; c != nil {
		a.text = append(append(append(a.text, '\n'), c.Kind.String()...), ' ', c.Version, '\n')
		if c.Seed != nil {
			a.text = c.Seed(a.text, a.Endpoint, a.Served.Bound)
		}
	}
	if groups := a.Request.Question.GroupsDigest(); groups != "" {
		a.text = append(append(append(a.text, '\n'), groups...), '\n')
	}
	a.text = a.Request.AppendCanonical(a.text)
	if a.view != nil {
		a.text = append(append(a.text, '\n'), a.view.Key...)
	}
	a.tag = reply.NewEntityTag(sha256.Sum256(a.text))
	return nil
}

// setValidators writes the header fields that successful answers and 304s share.
func (s *Heads) setValidators(h *fasthttp.ResponseHeader, a *Reply) {
	tag := a.tag.Text()
	if strong := a.strongTag(); strong != nil {
		tag = strong
	}
	h.SetCanonical(reply.NameETag, tag)
	reply.SetUnknown(h, &a.Request)
	if s.State.Options.SurrogateKey || s.State.Options.CacheTag {
		s.setListKeys(h, a)
	}
}

// Begin writes the header of a successful answer, with the row counts and links of its page.
func (s *Heads) Begin(a *Reply) *fasthttp.ResponseHeader {
	heads := &a.heads.Whole
	if a.strongTag() != nil && a.CanBeInParts() {
		heads = &a.heads.InParts
	}
	r := &a.Request
	h := heads.Of(r.Question.Format).Begin(a.Ctx)
	if r.Question.Format != contract.FormatJSON || r.Scanned.Kind() == contract.Export {
		name := r.FileName(a.Served.Date)
		a.text = append(append(append(a.text[:0], `attachment; filename="`...), name...), `"; filename*=UTF-8''`...)
		a.text = append(a.text, name...)
		h.SetCanonical(reply.NameDisposition, a.text)
	}
	if a.view != nil {
		a.view.Finish(h)
	}
	a.text = strconv.AppendInt(a.text[:0], int64(a.Page.Total), 10)
	h.SetCanonical(reply.NameTotal, a.text)
	a.text = strconv.AppendInt(a.text[:0], int64(a.Page.Rows), 10)
	h.SetCanonical(reply.NameResult, a.text)
	if a.text = reply.AppendLinks(a.text[:0], r, a.Page.Total); len(a.text) > 0 && a.view == nil {
		h.SetCanonical(reply.NameLink, a.text)
	}
	s.setValidators(h, a)
	return h
}

// Find queries the index and fills the page.
func (sc *Scratch) Find(l *state.BoundList) error {
	sc.Page.Ranges, sc.Page.Rows, sc.Page.Total = sc.Page.Ranges[:0], 0, 0
	if l.Index == nil {
		return nil
	}
	sc.SetQuery(l)
	if sc.view != nil && sc.view.Choose != nil {
		return sc.view.Choose(l, &sc.Query, &sc.Page)
	}
	if q := &sc.Query; sc.view != nil && sc.view.PlacesFirst && !q.Latest && !q.Edition && !q.Coarsest {
		return sc.findPlacesFirst(l)
	}
	return l.Index.Select(&sc.Query, &sc.Page)
}

// SetQuery sets the query to what the request asks for. Its filters are in the request's order.
func (sc *Scratch) SetQuery(l *state.BoundList) {
	l.FillQuery(&sc.Query, &sc.Request.Question)
	if sc.view != nil {
		sc.Query.Filters = append(sc.Query.Filters, sc.view.Filters...)
	}
}

// setListKeys writes the keys of a list.
func (s *Heads) setListKeys(h *fasthttp.ResponseHeader, a *Reply) {
	pinned := a.Request.Scanned.Snapshot != ""
	keys := append(a.text[:0], reply.AllKey...)
	if !pinned {
		keys = append(append(keys, " ep-"...), a.Endpoint.Name()...)
	}
	keys = append(append(keys, ' '), reply.VersionKey(a.List.Version)...)
	keys = append(append(keys, " snap-"...), a.Served.Id...)
	if code := a.Request.Location(); code != "" && !pinned {
		keys = append(append(keys, " loc-"...), code...)
	}
	a.text = keys
	s.State.SendKeys(h, keys)
}

// Failed logs why a query failed, unless that is the caller's fault, and returns the error.
func (s *Lists) Failed(a *Reply, err error) error {
	if _, is := errors.AsType[*reply.Fault](err); !is && !reply.IsInvalid(err) && !reply.IsRefusal(err) {
		s.State.LogFault(a.Endpoint.Path, err)
	}
	return err
}
