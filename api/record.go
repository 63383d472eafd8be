package api

import (
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/accesslog"
	"hdqs/api/contract"
	"hdqs/api/metrics"
	"hdqs/api/wire"
	"hdqs/index"
)

// record is what is counted of one request of the public listener. It belongs to the request's
// connection, which reuses it, so that all who take part in the answer can fill in what they know.
type record struct {
	counts   *metrics.Shard
	began    time.Duration // since processStart
	endpoint int           // position in Server.endpoints
	format   metrics.Format
	status   int
	streamed bool // the stream of its body finishes the record, once ready
	ready    bool // the answer can be sent

	conditions wire.Conditions // that the request may have

	server *Server
	line   *accesslog.Line // nil without an access log
}

// processStart is the origin of times. Reading only the monotonic clock takes half the time of
// time.Now.
var processStart = time.Now()

// recordOf returns the record of a request, nil if it did not come over HTTP.
func recordOf(ctx *fasthttp.RequestCtx) *record {
	local := wire.Local(ctx)
	if local == nil {
		return nil
	}
	rec, _ := (*local).(*record)
	return rec
}

// begin begins the record of a request.
func (s *Server) begin(ctx *fasthttp.RequestCtx) *record {
	local := wire.Local(ctx)
	if local == nil {
		return nil
	}
	rec, ok := (*local).(*record)
	if !ok {
		rec = &record{counts: s.requests.Shard(), server: s}
		if s.options.AccessLog != nil {
			rec.line = new(accesslog.Line)
		}
		*local = rec
	}
	*rec = record{counts: rec.counts, server: s, line: rec.line, began: time.Since(processStart)}
	if rec.line != nil {
		*rec.line = accesslog.Line{Query: rec.line.Query[:0], Rows: -1, Total: -1}
	}
	rec.counts.Begin()
	return rec
}

// answered counts an answer that is ready to be sent.
func (rec *record) answered(ctx *fasthttp.RequestCtx) {
	if rec == nil {
		return
	}
	rec.status = ctx.Response.StatusCode()
	rec.counts.Count(rec.endpoint, rec.format, rec.status)
	if rec.line != nil {
		rec.line.ID, rec.line.Method = ctx.Response.Header.PeekBytes(nameRequestID), ctx.Method()
	}
	if rec.ready = true; rec.streamed {
		return
	}
	bytes := 0
	if !ctx.IsHead() {
		bytes = len(ctx.Response.Body())
	}
	rec.finish(ctx.Response.Header.ContentEncoding(), int64(bytes))
}

// finish counts what is known when the whole answer is made.
func (rec *record) finish(coding []byte, bytes int64) {
	took := time.Since(processStart) - rec.began
	rec.counts.Sent(rec.endpoint, rec.status, coding, took, bytes)
	if line := rec.line; line != nil {
		line.Endpoint, line.Status, line.Coding = rec.server.endpoints[rec.endpoint], rec.status, coding
		line.Took, line.Bytes = took, bytes
		rec.server.options.AccessLog.Write(line)
	}
}

// closed is called when the stream of the body is closed. If that is before the answer could be
// sent, it is another answer that will be sent.
func (rec *record) closed(bytes int64) { rec.closedIn(nil, bytes) }

// closedIn is closed for a body in a content coding.
func (rec *record) closedIn(coding []byte, bytes int64) {
	if rec.ready {
		rec.finish(coding, bytes)
	} else {
		rec.streamed = false
	}
}

// noteConditions records which conditions the request may have.
func (rec *record) noteConditions(c wire.Conditions) {
	if rec != nil {
		rec.conditions = c
	}
}

// mayHave reports whether the request may have a condition of a kind.
func (rec *record) mayHave(c wire.Conditions) bool { return rec == nil || rec.conditions&c != 0 }

// noteRoute records which endpoint a request is for.
func (rec *record) noteRoute(r *route) {
	if rec == nil {
		return
	}
	rec.endpoint = r.endpoint
	if r.list != nil {
		rec.format = metrics.JSON
	}
}

// exportMetrics are the formats of exports that lists do not have.
var exportMetrics = map[string]metrics.Format{
	contract.FormatXLSX: metrics.XLSX, contract.FormatArrow: metrics.Arrow, contract.FormatParquet: metrics.Parquet,
}

// noteRequest records what the parameters of a list request say. A query with errors is not logged:
// it has no canonical form, and as it was sent it may contain an identifier.
func (rec *record) noteRequest(r *contract.Request, ok bool) {
	if rec == nil {
		return
	}
	if format, is := exportMetrics[r.Format]; r.Format != "" && is {
		rec.format = format
	} else if r.CSV {
		rec.format = metrics.CSV
	} else if r.GeoJSON {
		rec.format = metrics.GeoJSON
	}
	if n := r.UnknownCount(); n > 0 {
		rec.counts.CountUnknown(rec.endpoint, n)
	}
	if rec.line != nil && ok && !r.HasIdentifierValue() {
		rec.line.Query = r.AppendCanonical(rec.line.Query)
	}
}

// noteRows records the rows of an answer, and whether its body was in the cache.
func (rec *record) noteRows(p *index.Page, cache string) {
	if rec != nil && rec.line != nil {
		rec.line.Rows, rec.line.Total, rec.line.Cache = p.Rows, p.Total, cache
	}
}

// noteFile records which file of a snapshot an answer has. Both are names of ours, not what the
// request sent.
func (rec *record) noteFile(id, path string) {
	if rec != nil && rec.line != nil {
		rec.line.Query = append(append(append(rec.line.Query[:0], id...), '/'), path...)
	}
}

// noteIdentifier counts the result of a check of an identifier.
func (rec *record) noteIdentifier(result metrics.Identifier, identifier []byte) {
	if rec == nil {
		return
	}
	rec.counts.CountIdentifier(result)
	if rec.line != nil && result == metrics.Valid {
		rec.line.App = rec.server.options.AccessLog.Hash(identifier, applicationOf)
	}
}

// applicationOf returns the application of a good identifier.
func applicationOf(identifier string) string {
	name, _, _ := contract.DecodeIdentifier(identifier)
	return name
}

// countUnread counts the answer to a request that could not be read, or to a connection that was
// refused.
func (s *Server) countUnread(ctx *fasthttp.RequestCtx) {
	status := ctx.Response.StatusCode()
	s.requests.Shard().Count(otherEndpoint, metrics.Other, status)
	if s.options.AccessLog != nil {
		s.options.AccessLog.Write(&accesslog.Line{
			ID: ctx.Response.Header.PeekBytes(nameRequestID), Endpoint: s.endpoints[otherEndpoint], Status: status,
			Bytes: int64(len(ctx.Response.Body())), Rows: -1, Total: -1,
		})
	}
}
