package list

import (
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/accesslog"
	"hdqs/api/contract"
	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/index"
)

// Requests is what all requests have in common: what is refused before they are routed, what is
// counted of them, and what follows a panic.
type Requests struct {
	State  *state.State
	routes *Routes
}

// RefuseMalformed answers a request that other servers may interpret differently, and closes its
// connection.
func (s *Requests) RefuseMalformed(ctx *fasthttp.RequestCtx) bool {
	malformed, conditions := wire.Inspect(&ctx.Request.Header)
	if rec := LogOf(ctx); rec != nil {
		rec.conditions = conditions
	}
	if !malformed {
		return false
	}
	s.State.AnswerError(ctx, reply.ErrBadRequest)
	ctx.SetConnectionClose()
	wire.CutShort(ctx.Conn())
	return true
}

// Recovered turns a panic into a 500. The connection is closed, since the state of the request is
// unknown.
func (s *Requests) Recovered(ctx *fasthttp.RequestCtx) {
	if fault := recover(); fault != nil {
		ctx.Response.Reset()
		s.State.AnswerError(ctx, reply.ErrInternal)
		s.State.LogPanic(fault, string(ctx.Response.Header.Peek(reply.HeaderRequestID)))
		ctx.SetConnectionClose()
	}
}

// RequestLog is what is counted of one request of the public listener. It belongs to the request's
// connection, which reuses it, so that all who take part in the answer can fill in what they know.
type RequestLog struct {
	began    time.Duration // since ProcessStart
	endpoint int           // position in Routes.Endpoints
	format   metrics.Format
	status   int
	Streamed bool // the stream of its body finishes the record, once ready
	ready    bool // the answer can be sent

	conditions wire.Conditions // that the request may have

	server *Requests
	line   *accesslog.Line // nil without an access log
}

// LogOf returns the record of a request, nil if it did not come over HTTP.
func LogOf(ctx *fasthttp.RequestCtx) *RequestLog {
	local := wire.Local(ctx)
	if local == nil {
		return nil
	}
	rec, _ := (*local).(*RequestLog)
	return rec
}

// Begin begins the record of a request.
func (s *Requests) Begin(ctx *fasthttp.RequestCtx) *RequestLog {
	local := wire.Local(ctx)
	if local == nil {
		return nil
	}
	rec, ok := (*local).(*RequestLog)
	if !ok {
		rec = &RequestLog{server: s}
		if s.State.Options.AccessLog != nil {
			rec.line = new(accesslog.Line)
		}
		*local = rec
	}
	*rec = RequestLog{server: s, line: rec.line, began: time.Since(state.ProcessStart)}
	if rec.line != nil {
		*rec.line = accesslog.Line{Query: rec.line.Query[:0], Rows: -1, Total: -1}
	}
	rec.server.State.Requests.Begin()
	return rec
}

// Answered counts an answer that is ready to be sent.
func (rec *RequestLog) Answered(ctx *fasthttp.RequestCtx) {
	if rec == nil {
		return
	}
	rec.status = ctx.Response.StatusCode()
	rec.server.State.Requests.Count(rec.endpoint, rec.format, rec.status)
	if rec.line != nil {
		rec.line.ID, rec.line.Method = ctx.Response.Header.PeekBytes(reply.NameRequestID), ctx.Method()
	}
	if rec.ready = true; rec.Streamed {
		return
	}
	bytes := 0
	if !ctx.IsHead() {
		bytes = len(ctx.Response.Body())
	}
	rec.finish(ctx.Response.Header.ContentEncoding(), int64(bytes))
}

// finish counts what is known when the whole answer is made.
func (rec *RequestLog) finish(coding []byte, bytes int64) {
	took := time.Since(state.ProcessStart) - rec.began
	rec.server.State.Requests.Sent(rec.endpoint, rec.status, coding, took, bytes)
	if line := rec.line; line != nil {
		line.Endpoint, line.Status, line.Coding = rec.server.routes.Endpoints[rec.endpoint], rec.status, coding
		line.Took, line.Bytes = took, bytes
		rec.server.State.Options.AccessLog.Write(line)
	}
}

// closed is called when the stream of the body is closed. If that is before the answer could be
// sent, it is another answer that will be sent.
func (rec *RequestLog) closed(coding []byte, bytes int64) {
	if rec.ready {
		rec.finish(coding, bytes)
	} else {
		rec.Streamed = false
	}
}

// mayHave are the kinds of conditions that the request may have.
func (rec *RequestLog) mayHave() wire.Conditions {
	if rec == nil {
		return wire.AllConditions
	}
	return rec.conditions
}

// noteRoute records which endpoint a request is for.
func (rec *RequestLog) noteRoute(r *Route) {
	if rec == nil {
		return
	}
	rec.endpoint = r.endpoint
	if r.List != nil {
		rec.format = formatNamed(contract.FormatJSON)
	}
}

var formatNames = contract.ExportFormatNames()

// formatNamed returns a format as metrics count it: Other without such a name.
func formatNamed(name string) metrics.Format {
	return metrics.Format(slices.Index(formatNames, name) + 1)
}

// noteRequest records what the parameters of a list request say. A query with errors is not logged:
// it has no canonical form, and as it was sent it may contain an identifier.
func (rec *RequestLog) noteRequest(r *contract.Request, ok bool) {
	if rec == nil {
		return
	}
	if format := r.Question.Format; format != contract.FormatJSON { // noteRoute begins with that
		rec.format = formatNamed(format)
	}
	if n := r.Scanned.UnknownCount(); n > 0 {
		rec.server.State.Requests.CountUnknown(rec.endpoint, n)
	}
	if rec.line != nil && ok && !r.HasIdentifierValue() {
		rec.line.Query = r.AppendCanonical(rec.line.Query)
	}
}

// NoteRows records the rows of an answer, and whether its body was in the cache.
func (rec *RequestLog) NoteRows(p *index.Page, cache string) {
	if rec != nil && rec.line != nil {
		rec.line.Rows, rec.line.Total, rec.line.Cache = p.Rows, p.Total, cache
	}
}

// NoteFile records which file of a snapshot an answer has. Both are names of ours, not what the
// request sent.
func (rec *RequestLog) NoteFile(id, path string) {
	if rec != nil && rec.line != nil {
		rec.line.Query = append(append(append(rec.line.Query[:0], id...), '/'), path...)
	}
}

// noteIdentifier counts the result of a check of an identifier.
func (rec *RequestLog) noteIdentifier(result metrics.Identifier, identifier []byte) {
	if rec == nil {
		return
	}
	rec.server.State.Requests.CountIdentifier(result)
	if rec.line != nil && result == metrics.Valid {
		rec.line.App = rec.server.State.Options.AccessLog.Hash(identifier, func(text string) string {
			name, _, _ := contract.DecodeIdentifier(text)
			return name
		})
	}
}

// CountUnread counts the answer to a request that could not be read, or to a connection that was
// refused.
func (s *Requests) CountUnread(ctx *fasthttp.RequestCtx) {
	status := ctx.Response.StatusCode()
	s.State.Requests.Count(otherEndpoint, metrics.Other, status)
	if s.State.Options.AccessLog != nil {
		s.State.Options.AccessLog.Write(&accesslog.Line{
			ID: ctx.Response.Header.PeekBytes(reply.NameRequestID), Endpoint: s.routes.Endpoints[otherEndpoint],
			Status: status,
			Bytes:  int64(len(ctx.Response.Body())), Rows: -1, Total: -1,
		})
	}
}
