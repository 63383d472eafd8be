package list

import (
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

// RequestLog is what is counted of one request of the public listener. It belongs to the request's
// connection, which reuses it, so that all who take part in the answer can fill in what they know.
type RequestLog struct {
	counts   *metrics.Shard
	began    time.Duration // since processStart
	endpoint int           // position in Server.endpoints
	format   metrics.Format
	status   int
	Streamed bool // the stream of its body finishes the record, once ready
	ready    bool // the answer can be sent

	conditions wire.Conditions // that the request may have

	server *Lists
	line   *accesslog.Line // nil without an access log
}

// LogOf returns the record of a request, nil if it did not come over HTTP.
func LogOf(ctx *fasthttp.RequestCtx) *RequestLog {
	local := wire.Local(ctx)
	if local == nil {
		return nil
	}
	entry, _ := (*local).(*RequestLog)
	return entry
}

// Begin begins the record of a request.
func (s *Lists) Begin(ctx *fasthttp.RequestCtx) *RequestLog {
	local := wire.Local(ctx)
	if local == nil {
		return nil
	}
	entry, ok := (*local).(*RequestLog)
	if !ok {
		entry = &RequestLog{counts: s.Requests.Shard(), server: s}
		if s.Options.AccessLog != nil {
			entry.line = new(accesslog.Line)
		}
		*local = entry
	}
	*entry = RequestLog{counts: entry.counts, server: s, line: entry.line, began: time.Since(state.ProcessStart)}
	if entry.line != nil {
		*entry.line = accesslog.Line{Query: entry.line.Query[:0], Rows: -1, Total: -1}
	}
	entry.counts.Begin()
	return entry
}

// Answered counts an answer that is ready to be sent.
func (entry *RequestLog) Answered(ctx *fasthttp.RequestCtx) {
	if entry == nil {
		return
	}
	entry.status = ctx.Response.StatusCode()
	entry.counts.Count(entry.endpoint, entry.format, entry.status)
	if entry.line != nil {
		entry.line.ID, entry.line.Method = ctx.Response.Header.PeekBytes(reply.NameRequestID), ctx.Method()
	}
	if entry.ready = true; entry.Streamed {
		return
	}
	bytes := 0
	if !ctx.IsHead() {
		bytes = len(ctx.Response.Body())
	}
	entry.finish(ctx.Response.Header.ContentEncoding(), int64(bytes))
}

// finish counts what is known when the whole answer is made.
func (entry *RequestLog) finish(coding []byte, bytes int64) {
	took := time.Since(state.ProcessStart) - entry.began
	entry.counts.Sent(entry.endpoint, entry.status, coding, took, bytes)
	if line := entry.line; line != nil {
		line.Endpoint, line.Status, line.Coding = entry.server.Endpoints[entry.endpoint], entry.status, coding
		line.Took, line.Bytes = took, bytes
		entry.server.Options.AccessLog.Write(line)
	}
}

// Closed is called when the stream of the body is closed. If that is before the answer could be
// sent, it is another answer that will be sent.
func (entry *RequestLog) Closed(bytes int64) { entry.ClosedIn(nil, bytes) }

// ClosedIn is closed for a body in a content coding.
func (entry *RequestLog) ClosedIn(coding []byte, bytes int64) {
	if entry.ready {
		entry.finish(coding, bytes)
	} else {
		entry.Streamed = false
	}
}

// noteConditions records which conditions the request may have.
func (entry *RequestLog) noteConditions(c wire.Conditions) {
	if entry != nil {
		entry.conditions = c
	}
}

// mayHave reports whether the request may have a condition of a kind.
func (entry *RequestLog) mayHave(c wire.Conditions) bool {
	return entry == nil || entry.conditions&c != 0
}

// noteRoute records which endpoint a request is for.
func (entry *RequestLog) noteRoute(r *Route) {
	if entry == nil {
		return
	}
	entry.endpoint = r.endpoint
	if r.List != nil {
		entry.format = metrics.JSON
	}
}

// exportMetrics are the formats of exports that lists do not have.
var exportMetrics = map[string]metrics.Format{
	contract.FormatXLSX: metrics.XLSX, contract.FormatArrow: metrics.Arrow, contract.FormatParquet: metrics.Parquet,
}

// noteRequest records what the parameters of a list request say. A query with errors is not logged:
// it has no canonical form, and as it was sent it may contain an identifier.
func (entry *RequestLog) noteRequest(r *contract.Request, ok bool) {
	if entry == nil {
		return
	}
	if format, is := exportMetrics[r.Format]; r.Format != "" && is {
		entry.format = format
	} else if r.CSV {
		entry.format = metrics.CSV
	} else if r.GeoJSON {
		entry.format = metrics.GeoJSON
	}
	if n := r.UnknownCount(); n > 0 {
		entry.counts.CountUnknown(entry.endpoint, n)
	}
	if entry.line != nil && ok && !r.HasIdentifierValue() {
		entry.line.Query = r.AppendCanonical(entry.line.Query)
	}
}

// NoteRows records the rows of an answer, and whether its body was in the cache.
func (entry *RequestLog) NoteRows(p *index.Page, cache string) {
	if entry != nil && entry.line != nil {
		entry.line.Rows, entry.line.Total, entry.line.Cache = p.Rows, p.Total, cache
	}
}

// NoteFile records which file of a snapshot an answer has. Both are names of ours, not what the
// request sent.
func (entry *RequestLog) NoteFile(id, path string) {
	if entry != nil && entry.line != nil {
		entry.line.Query = append(append(append(entry.line.Query[:0], id...), '/'), path...)
	}
}

// noteIdentifier counts the result of a check of an identifier.
func (entry *RequestLog) noteIdentifier(result metrics.Identifier, identifier []byte) {
	if entry == nil {
		return
	}
	entry.counts.CountIdentifier(result)
	if entry.line != nil && result == metrics.Valid {
		entry.line.App = entry.server.Options.AccessLog.Hash(identifier, applicationOf)
	}
}

// applicationOf returns the application of a good identifier.
func applicationOf(identifier string) string {
	name, _, _ := contract.DecodeIdentifier(identifier)
	return name
}

// CountUnread counts the answer to a request that could not be read, or to a connection that was
// refused.
func (s *Lists) CountUnread(ctx *fasthttp.RequestCtx) {
	status := ctx.Response.StatusCode()
	s.Requests.Shard().Count(otherEndpoint, metrics.Other, status)
	if s.Options.AccessLog != nil {
		s.Options.AccessLog.Write(&accesslog.Line{
			ID: ctx.Response.Header.PeekBytes(reply.NameRequestID), Endpoint: s.Endpoints[otherEndpoint],
			Status: status,
			Bytes:  int64(len(ctx.Response.Body())), Rows: -1, Total: -1,
		})
	}
}
