package api

import (
	"errors"
	"io"
	"runtime/debug"
	"sync"

	"hdqs/api/render"
	"hdqs/index"
	"hdqs/internal/background"
)

// bodyStream is a long body that is rendered while it is written: only one part is in memory, and
// still in the CPU's cache when the kernel copies it. fasthttp closes the stream, also when the
// client disconnects. Until then the stream keeps the snapshot open.
type bodyStream struct {
	body   render.Body
	list   *boundList
	served *served
	server *Server
	ranges []index.Range // of the body
	part   *[]byte       // rendered and not yet written; nil when all is written
	sent   int           // of part
	more   bool          // there is more after part
	record *record       // of the request; nil if it did not come over HTTP
	bytes  int64         // sent
	turn   background.Turn
}

var streams = sync.Pool{New: func() any { return new(bodyStream) }}

// parts pools the buffers of parts. A stream takes one for each part, usually the one that is still
// in the CPU's cache.
var parts = sync.Pool{New: func() any { return new([]byte) }}

// keepPart is the largest buffer that is reused.
const keepPart = 1 << 20

// partMemory is about the memory that a streamed body takes. A shorter body takes its length.
const partMemory = 640 << 10

// minStreamed is the estimated length from which a body is streamed.
const minStreamed = 256 << 10

// stream answers with the uncompressed rows of a page and returns the memory that they take. The
// caller keeps the scratch memory and its own reference to the snapshot.
func (s *Server) stream(a *reply) int {
	st := streams.Get().(*bodyStream)
	st.server, st.list = s, a.list
	st.ranges, a.page.Ranges = a.page.Ranges, st.ranges
	st.body.Start(a.list.form(a.scratch), st.ranges)
	st.more = true
	length := st.body.Len() // reads the segment, which may fail
	a.served.refs.Add(1)    // the caller has one, so the count is not zero
	st.served = a.served
	if st.record = recordOf(a.ctx); st.record != nil {
		st.record.streamed = true
	}
	a.ctx.Response.SetBodyStream(st, length)
	return min(length, partMemory)
}

// next renders the next part. Its rows may be wrong if the segment became suspect meanwhile.
func (st *bodyStream) next() error {
	st.turn.Begin()
	defer st.turn.End()
	st.part, st.sent = parts.Get().(*[]byte), 0
	*st.part, st.more = st.body.AppendPart((*st.part)[:0])
	if st.list.isSuspect() {
		return &Refused{Table: st.list.segment.Name()}
	}
	return nil
}

// took records that n more bytes of the part were written.
func (st *bodyStream) took(n int) {
	st.bytes += int64(n)
	if st.sent += n; st.sent == len(*st.part) {
		st.drop()
	}
}

// drop returns the part's buffer.
func (st *bodyStream) drop() {
	if st.part != nil && cap(*st.part) <= keepPart {
		parts.Put(st.part)
	}
	st.part = nil
}

// errPanicked aborts a connection in the middle of an answer.
var errPanicked = errors.New("api: a panic while a body was rendered")

// recoverBody handles a panic while a body of a list is written, after the handler has returned.
// fasthttp would recover too, but neither count it nor log where it was. The header has been sent
// or buffered, so the answer is cut short. There is no request id to report.
func (s *Server) recoverBody(list *boundList, err *error) {
	switch fault := recover(); {
	case fault == nil:
	case s.wasFault(list, fault):
		*err = &Refused{Table: list.segment.Name()}
	default:
		s.checkAfterPanic(list)
		s.logPanic(fault, "")
		*err = errPanicked
	}
}

// WriteTo writes what is left of the body.
func (st *bodyStream) WriteTo(w io.Writer) (total int64, err error) {
	debug.SetPanicOnFault(true)
	defer st.server.recoverBody(st.list, &err)
	for st.part != nil || st.more {
		if st.part == nil {
			if err := st.next(); err != nil {
				return total, err
			}
		}
		n, err := w.Write((*st.part)[st.sent:])
		st.took(n)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// Read implements io.Reader for callers that do not use WriterTo.
func (st *bodyStream) Read(p []byte) (n int, err error) {
	debug.SetPanicOnFault(true)
	defer st.server.recoverBody(st.list, &err)
	if st.part == nil {
		if !st.more {
			return 0, io.EOF
		}
		if err := st.next(); err != nil {
			return 0, err
		}
	}
	n = copy(p, (*st.part)[st.sent:])
	st.took(n)
	return n, nil
}

// Close releases the snapshot.
func (st *bodyStream) Close() error {
	v, s := st.served, st.server
	if v == nil {
		return nil
	}
	st.drop()
	if st.record != nil {
		st.record.closed(st.bytes)
	}
	st.body, st.list, st.served, st.server, st.more = render.Body{}, nil, nil, nil, false
	st.record, st.bytes = nil, 0
	streams.Put(st)
	v.release(s.log)
	return nil
}
