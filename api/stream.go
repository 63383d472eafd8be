package api

import (
	"io"
	"log/slog"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/render"
	"hdqs/index"
)

// bodyStream is a long body that is rendered while it is written: a part of it is in memory, and still in the cache when the kernel takes it. The
// HTTP library closes it, also when the client goes away, and until then it keeps the snapshot open.
type bodyStream struct {
	body   render.Body
	served *served
	log    *slog.Logger
	ranges []index.Range // of the body
	part   []byte
	sent   int  // of part
	more   bool // behind part
}

var streams = sync.Pool{New: func() any { return new(bodyStream) }}

// keepPart is the largest buffer worth keeping for the next stream.
const keepPart = 1 << 20

// partMemory is about what a body in parts holds in memory.
const partMemory = 192 << 10

// leastStreamed is the length from which on a body is worth streaming, by the form's guess.
const leastStreamed = 256 << 10

// stream answers with the rows of a page as they are. The caller goes on to own sc and its own reference to the snapshot.
func (s *Server) stream(ctx *fasthttp.RequestCtx, sc *scratch, f *render.Form, v *served) {
	st := streams.Get().(*bodyStream)
	v.refs.Add(1) // the caller has one, so there is one to add to
	st.served, st.log = v, s.log
	st.ranges, sc.page.Ranges = sc.page.Ranges, st.ranges
	st.body.Start(f, st.ranges)
	st.part, st.sent, st.more = st.part[:0], 0, true
	ctx.Response.SetBodyStream(st, st.body.Len())
}

// next renders the next part.
func (st *bodyStream) next() {
	st.part, st.more = st.body.AppendPart(st.part[:0])
	st.sent = 0
}

// WriteTo writes what is left of the body.
func (st *bodyStream) WriteTo(w io.Writer) (int64, error) {
	total := int64(0)
	for {
		n, err := w.Write(st.part[st.sent:])
		st.sent += n
		total += int64(n)
		if err != nil || !st.more {
			return total, err
		}
		st.next()
	}
}

// Read is for those who cannot be written to.
func (st *bodyStream) Read(p []byte) (int, error) {
	if st.sent == len(st.part) {
		if !st.more {
			return 0, io.EOF
		}
		st.next()
	}
	n := copy(p, st.part[st.sent:])
	st.sent += n
	return n, nil
}

// Close lets go of the snapshot.
func (st *bodyStream) Close() error {
	v, log := st.served, st.log
	if v == nil {
		return nil
	}
	st.body, st.served, st.log = render.Body{}, nil, nil
	if cap(st.part) > keepPart {
		st.part = nil
	}
	streams.Put(st)
	v.release(log)
	return nil
}
