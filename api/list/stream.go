package list

import (
	"io"
	"runtime/debug"
	"sync"

	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/index"
	"hdqs/internal/background"
)

// BodyStream is a long body that is rendered while it is written: only one part is in memory, and
// still in the CPU's cache when the kernel copies it. fasthttp closes the stream, also when the
// client disconnects. Until then the stream keeps the snapshot open.
type BodyStream struct {
	wire.WrittenBody
	Body   render.Body
	pieces func(dst []byte) (part []byte, more bool) // of what is not rows, in place of Body and list
	coding []byte                                    // of such a body
	list   *state.BoundList
	served *state.Served
	State  *state.State
	ranges []index.Range // of the body
	part   *[]byte       // that is being written, nil between two
	More   bool          // there is more after part
	record *RequestLog   // of the request; nil if it did not come over HTTP
	bytes  int64         // sent
	turn   background.Turn
}

var streams = sync.Pool{New: func() any { return new(BodyStream) }}

// parts pools the buffers of parts. A stream takes one for each part, usually the one that is still
// in the CPU's cache.
var parts = sync.Pool{New: func() any { return new([]byte) }}

// keepPart is the largest buffer that is reused.
const keepPart = 1 << 20

// partMemory is about the memory that a streamed body takes. A shorter body takes its length.
const partMemory = 640 << 10

// MinStreamed is the estimated length from which a body is streamed.
const MinStreamed = 256 << 10

// stream answers with the uncompressed rows of a page and returns the memory that they take. The
// caller keeps the scratch memory and its own reference to the snapshot.
func (s *Lists) stream(a *Reply) int {
	st := streams.Get().(*BodyStream)
	st.State, st.list = s.State, a.List
	st.ranges, a.Page.Ranges = a.Page.Ranges, st.ranges
	st.Body.Start(a.Form(a.List), st.ranges)
	st.More = true
	length := st.Body.Len() // reads the segment, which may fail
	a.Served.Refs.Add(1)    // the caller has one, so the count is not zero
	st.served = a.Served
	if st.record = LogOf(a.Ctx); st.record != nil {
		st.record.Streamed = true
	}
	a.Ctx.Response.SetBodyStream(st, length)
	return min(length, partMemory)
}

// Next renders the next part. Its rows may be wrong if the segment was quarantined meanwhile.
func (st *BodyStream) Next() error {
	st.turn.Begin()
	defer st.turn.End()
	st.part = parts.Get().(*[]byte)
	if st.pieces != nil {
		*st.part, st.More = st.pieces((*st.part)[:0])
		return nil
	}
	*st.part, st.More = st.Body.AppendPart((*st.part)[:0])
	if st.list.IsQuarantined() {
		return &reply.Refused{Table: st.list.Segment.Name()}
	}
	return nil
}

// drop returns the part's buffer.
func (st *BodyStream) drop() {
	if st.part != nil && cap(*st.part) <= keepPart {
		parts.Put(st.part)
	}
	st.part = nil
}

// WriteTo writes what is left of the body.
func (st *BodyStream) WriteTo(w io.Writer) (sent int64, err error) {
	debug.SetPanicOnFault(true)
	defer st.State.RecoverBody(st.list, &err)
	for st.part != nil || st.More {
		if st.part == nil {
			if err := st.Next(); err != nil {
				return st.bytes, err
			}
		}
		n, err := w.Write(*st.part)
		st.bytes += int64(n)
		st.drop()
		if err != nil {
			return st.bytes, err
		}
	}
	return st.bytes, nil
}

// Close releases the snapshot.
func (st *BodyStream) Close() error {
	v, s := st.served, st.State
	if s == nil {
		return nil
	}
	st.drop()
	if st.record != nil {
		st.record.ClosedIn(st.coding, st.bytes)
	}
	st.Body, st.list, st.served, st.State, st.More = render.Body{}, nil, nil, nil, false
	st.record, st.bytes, st.pieces, st.coding = nil, 0, nil, nil
	streams.Put(st)
	if v != nil {
		v.Release(s.Log)
	}
	return nil
}
