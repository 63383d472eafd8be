package api

import (
	"errors"
	"io"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/render"
	"hdqs/index"
)

// bodyStream is a long body that is rendered while it is written: a part of it is in memory, and
// still in the cache when the kernel takes it. The HTTP library closes it, also when the client
// goes away, and until then it keeps the snapshot open.
type bodyStream struct {
	body   render.Body
	served *served
	server *Server
	ranges []index.Range // of the body
	part   *[]byte       // what was rendered and not yet taken; nil when all was
	sent   int           // of part
	more   bool          // behind part
}

var streams = sync.Pool{New: func() any { return new(bodyStream) }}

// parts are the buffers of parts. A stream takes one for each part, and so most of the time the one
// that is still in the cache, whoever had it.
var parts = sync.Pool{New: func() any { return new([]byte) }}

// keepPart is the largest buffer worth keeping for the next part.
const keepPart = 1 << 20

// partMemory is about what a body in parts holds in memory.
const partMemory = 192 << 10

// minStreamed is the length from which on a body is worth streaming, by the form's guess.
const minStreamed = 256 << 10

// stream answers with the rows of a page as they are. The caller goes on to own sc and its own
// reference to the snapshot.
func (s *Server) stream(ctx *fasthttp.RequestCtx, sc *scratch, f *render.Form, v *served) {
	st := streams.Get().(*bodyStream)
	v.refs.Add(1) // the caller has one, so there is one to add to
	st.served, st.server = v, s
	st.ranges, sc.page.Ranges = sc.page.Ranges, st.ranges
	st.body.Start(f, st.ranges)
	st.more = true
	ctx.Response.SetBodyStream(st, st.body.Len())
}

// next renders the next part.
func (st *bodyStream) next() {
	st.part, st.sent = parts.Get().(*[]byte), 0
	*st.part, st.more = st.body.AppendPart((*st.part)[:0])
}

// took notes that n more bytes of the part were taken.
func (st *bodyStream) took(n int) {
	if st.sent += n; st.sent == len(*st.part) {
		st.drop()
	}
}

// drop gives the part's buffer away.
func (st *bodyStream) drop() {
	if st.part != nil && cap(*st.part) <= keepPart {
		parts.Put(st.part)
	}
	st.part = nil
}

// errPanicked ends a connection in the middle of an answer.
var errPanicked = errors.New("api: a panic while a body was rendered")

// recovered is what Server.recovered is to a handler, of which nothing is left when the library
// writes a body. The library would recover too, but neither count nor tell where it was. The header
// has gone or is in a buffer, so the answer is cut short; it has no name by which the caller could
// tell us of it.
func (st *bodyStream) recovered(err *error) {
	if fault := recover(); fault != nil {
		st.server.logPanic(fault, "")
		*err = errPanicked
	}
}

// WriteTo writes what is left of the body.
func (st *bodyStream) WriteTo(w io.Writer) (total int64, err error) {
	defer st.recovered(&err)
	for st.part != nil || st.more {
		if st.part == nil {
			st.next()
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

// Read is for those who cannot be written to.
func (st *bodyStream) Read(p []byte) (n int, err error) {
	defer st.recovered(&err)
	if st.part == nil {
		if !st.more {
			return 0, io.EOF
		}
		st.next()
	}
	n = copy(p, (*st.part)[st.sent:])
	st.took(n)
	return n, nil
}

// Close lets go of the snapshot.
func (st *bodyStream) Close() error {
	v, s := st.served, st.server
	if v == nil {
		return nil
	}
	st.drop()
	st.body, st.served, st.server, st.more = render.Body{}, nil, nil, false
	streams.Put(st)
	v.release(s.log)
	return nil
}
