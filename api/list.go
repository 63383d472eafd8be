package api

import (
	"crypto/sha256"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/index"
)

// minEncoded is the longest body that is sent as it is even when the client takes compressed ones.
const minEncoded = 1 << 10

// surelyLong is how many rows are longer than minEncoded in any format: no line of a record is below 8 bytes.
const surelyLong = minEncoded / 8

// scratch is the memory of one list request. It is used again when the request is answered.
type scratch struct {
	request request
	page    index.Page
	tag     entityTag
	text    []byte // what tags are made of, then header values
	body    []byte // plain bytes of a body that is sent compressed
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// keepBody is the largest body buffer worth keeping for the next request.
const keepBody = 8 << 20

func (sc *scratch) release() {
	if cap(sc.body) > keepBody {
		sc.body = nil
	}
	scratches.Put(sc)
}

// answerList answers one list endpoint, the cheap reasons to stop first: what the request says, which snapshot answers, whether the client has the
// answer already, whether there is room for another query.
func (s *Server) answerList(ctx *fasthttp.RequestCtx, p *plan) {
	err := s.list(ctx, p)
	if err == nil {
		return
	}
	if busy := (*Busy)(nil); errors.As(err, &busy) {
		s.shed.add(busy.Rule)
		time.Sleep(s.refusals.next(time.Now())) // here, where nothing is held any more that others wait for
	}
	s.answerError(ctx, err)
}

// list is answerList less the answers of most errors.
func (s *Server) list(ctx *fasthttp.RequestCtx, p *plan) error {
	sc := scratches.Get().(*scratch)
	defer sc.release()
	r := &sc.request
	if err := s.read(ctx, p, r); err != nil {
		s.answerError(ctx, err)
		r.tellUnknown(&ctx.Response.Header)
		return nil
	}
	served, err := s.snapshotOf(r)
	if err != nil {
		return err
	}
	defer served.release(s.log)
	told := served.told.Load()
	heads := &told.heads
	if r.pin != "" {
		heads = &told.pinned
	}
	accept := acceptEncoding(ctx)
	coding, ok := encode.Negotiate(accept)
	if !ok {
		return errNotAcceptable
	}
	if !holds(&ctx.Request.Header, told.published) {
		return errPrecondition
	}
	list := served.bound.lists[p.endpoint.Path]
	sc.identify(p, list)
	if notModified(&ctx.Request.Header, sc.tag.text(), told.published) {
		h := heads.notModified.begin(ctx)
		s.mark(h, sc, p, list, served)
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return nil
	}
	refusesIdentity := encode.RefusesIdentity(accept)
	var result *finished // what others wait for
	if !ctx.IsHead() {
		known, making, err := s.enter(ctx, bodyKey{sc.tag, coding, refusesIdentity})
		if err != nil {
			return err
		}
		if known != nil {
			sc.page.Rows, sc.page.Total = known.rows, known.total
			h := sc.beginList(ctx, p, heads, served)
			s.mark(h, sc, p, list, served)
			known.send(ctx, coding)
			return nil
		}
		var busy error // there is no room for those either who wait for the same
		defer func() { s.bodies.leave(making, result, busy) }()
		if !s.gate.enter(sc.request.query.Limit >= surelyLong) {
			busy = &Busy{Rule: ruleQueries}
			return busy
		}
		defer s.gate.leave()
	}
	if err := list.find(sc); err != nil {
		s.logFault(p.endpoint.Path, err)
		return err
	}
	h := sc.beginList(ctx, p, heads, served)
	s.mark(h, sc, p, list, served)
	if ctx.IsHead() && sc.page.Rows >= surelyLong {
		// What GET would send, less what only the body tells: its length.
		if coding != encode.Identity {
			h.SetContentEncoding(coding.String())
		}
		return nil
	}
	if coding == encode.Identity && list.renderer != nil && list.form(sc).SizeHint(sc.page.Rows) >= leastStreamed {
		s.stream(ctx, sc, list.form(sc), served)
		s.flight.chargeOthers(ctx, partMemory)
		return nil
	}
	s.flight.charge(ctx, sc.writeBody(ctx, list, coding, refusesIdentity))
	result = &finished{body: ctx.Response.Body(), coded: len(h.ContentEncoding()) > 0, rows: sc.page.Rows, total: sc.page.Total}
	return nil
}

// read reads the query string, and with it the wish for no unknown parameter.
func (s *Server) read(ctx *fasthttp.RequestCtx, p *plan, r *request) error {
	if err := r.read(p, ctx.URI().QueryString()); err != nil {
		return err
	}
	if len(r.unknown) == 0 {
		return nil
	}
	if wished := wantsStrict(&ctx.Request.Header); wished || s.options.Strict {
		return r.unknownFaults(wished)
	}
	return nil
}

// snapshotOf takes a reference to the snapshot that is to answer.
func (s *Server) snapshotOf(r *request) (*served, error) {
	if r.pin == "" {
		if v := s.acquire(); v != nil {
			return v, nil
		}
		return nil, errNoSnapshot
	}
	if v := s.acquirePinned(r.pin); v != nil {
		return v, nil
	}
	if id := s.currentID(); id != "" {
		return nil, &Gone{Current: id}
	}
	return nil, errNoSnapshot
}

// identify makes the tag of the answer: from the table's content and the canonical query, so that it is known before any work and the same in every
// process. A pin is no part of it, since the answer is the same without.
func (sc *scratch) identify(p *plan, list *boundList) {
	r := &sc.request
	sc.text = append(sc.text[:0], list.tag[:]...)
	sc.text = r.appendCanonical(sc.text, p, r.query.Limit, r.query.Offset, false)
	sc.tag = newEntityTag(sha256.Sum256(sc.text))
}

// mark writes what successes with and without a body have in common.
func (s *Server) mark(h *fasthttp.ResponseHeader, sc *scratch, p *plan, list *boundList, v *served) {
	h.SetCanonical(nameETag, sc.tag.text())
	sc.request.tellUnknown(h)
	if s.options.SurrogateKey || s.options.CacheTag {
		s.tellKeys(h, sc, p, list, v)
	}
}

// beginList begins a success with what the page tells of itself.
func (sc *scratch) beginList(ctx *fasthttp.RequestCtx, p *plan, heads *listHeads, v *served) *fasthttp.ResponseHeader {
	var h *fasthttp.ResponseHeader
	if sc.request.csv {
		h = heads.csv.begin(ctx)
		name := fileName(p, &sc.request, v.date)
		sc.text = append(append(append(sc.text[:0], `attachment; filename="`...), name...), `"; filename*=UTF-8''`...)
		sc.text = append(sc.text, name...)
		h.SetCanonical(nameDisposition, sc.text)
	} else {
		h = heads.json.begin(ctx)
	}
	sc.text = strconv.AppendInt(sc.text[:0], int64(sc.page.Total), 10)
	h.SetCanonical(nameTotal, sc.text)
	sc.text = strconv.AppendInt(sc.text[:0], int64(sc.page.Rows), 10)
	h.SetCanonical(nameResult, sc.text)
	if sc.text = sc.appendLinks(sc.text[:0], p); len(sc.text) > 0 {
		h.SetCanonical(nameLink, sc.text)
	}
	return h
}

// writeBody makes the body. It goes straight into the answer's buffer unless it must be seen before it is compressed. The memory of the buffer is
// told, which may be more than the body's.
func (sc *scratch) writeBody(ctx *fasthttp.RequestCtx, list *boundList, coding encode.Coding, refusesIdentity bool) int {
	h := &ctx.Response.Header
	buffer := bodyFor(ctx, sc.page.Rows)
	dst := buffer.bytes[:0]
	switch {
	case coding == encode.Identity:
		dst = list.append(dst, sc)
	case list.renderer != nil && sc.page.Rows >= surelyLong:
		h.SetContentEncoding(coding.String())
		dst = list.form(sc).AppendCoded(dst, coding, sc.page.Ranges)
	default:
		sc.body = list.append(sc.body[:0], sc)
		dst = encoded(h, dst, sc.body, coding, refusesIdentity)
	}
	buffer.bytes = dst
	ctx.Response.SetBodyRaw(dst)
	return cap(dst)
}

// find fills the page.
func (l *boundList) find(sc *scratch) error {
	sc.page.Ranges, sc.page.Rows, sc.page.Total = sc.page.Ranges[:0], 0, 0
	if l.index == nil {
		return nil
	}
	return l.index.Select(&sc.request.query, &sc.page)
}

// append writes the page's bytes.
func (l *boundList) append(dst []byte, sc *scratch) []byte {
	switch {
	case l.renderer == nil && sc.request.csv:
		return append(dst, l.emptyCSV...)
	case l.renderer == nil:
		return append(dst, emptyJSON...)
	}
	return l.form(sc).Append(dst, sc.page.Ranges)
}

// form is the renderer's of the format asked for.
func (l *boundList) form(sc *scratch) *render.Form {
	if sc.request.csv {
		return l.renderer.CSV()
	}
	return l.renderer.JSON()
}
