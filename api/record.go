package api

import (
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/metrics"
	"hdqs/api/wire"
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
		rec = &record{counts: s.requests.Shard()}
		*local = rec
	}
	*rec = record{counts: rec.counts, began: time.Since(processStart)}
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
	rec.counts.Sent(rec.endpoint, rec.status, coding, time.Since(processStart)-rec.began, bytes)
}

// closed is called when the stream of the body is closed. If that is before the answer could be
// sent, it is another answer that will be sent.
func (rec *record) closed(bytes int64) {
	if rec.ready {
		rec.finish(nil, bytes)
	} else {
		rec.streamed = false
	}
}

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

// noteRequest records what the parameters of a list request say.
func (rec *record) noteRequest(r *contract.Request) {
	if rec == nil {
		return
	}
	if r.CSV {
		rec.format = metrics.CSV
	}
	if n := r.UnknownCount(); n > 0 {
		rec.counts.CountUnknown(rec.endpoint, n)
	}
}

// noteIdentifier counts the result of a check of an identifier.
func (rec *record) noteIdentifier(result metrics.Identifier) {
	if rec != nil {
		rec.counts.CountIdentifier(result)
	}
}

// countUnread counts the answer to a request that could not be read, or to a connection that was
// refused.
func (s *Server) countUnread(ctx *fasthttp.RequestCtx) {
	s.requests.Shard().Count(otherEndpoint, metrics.Other, ctx.Response.StatusCode())
}
