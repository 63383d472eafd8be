package list

import (
	"io"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/index"
	"hdqs/internal/background"
)

// Body is what a long answer sends. It is made or read while it is sent.
type Body interface {
	io.WriterTo // once, after the handler of the request has returned
	io.Closer   // afterwards, also where nothing was written
}

// Stream sends a body. fasthttp writes and closes it, also when the client disconnects.
type Stream struct {
	wire.WrittenBody
	Body   Body
	record *RequestLog // of the request; nil if it did not come over HTTP
	coding []byte
	bytes  int64 // sent
}

var streams = sync.Pool{New: func() any { return new(Stream) }}

// SendStream answers with a body of a length, negative if that is not known. It takes some memory
// until it is sent.
func SendStream(ctx *fasthttp.RequestCtx, body Body, length int, coding encode.Coding, memory int) {
	st := streams.Get().(*Stream)
	st.Body, st.record = body, LogOf(ctx)
	if st.record != nil {
		st.record.Streamed = true
	}
	if coding != encode.Identity {
		st.coding = []byte(coding.String())
		ctx.Response.Header.SetContentEncodingBytes(st.coding)
	}
	ctx.Response.SetBodyStream(st, length)
	wire.ChargeOther(ctx, memory)
}

// WriteTo writes what is left of the body.
func (st *Stream) WriteTo(w io.Writer) (sent int64, err error) {
	st.bytes, err = st.Body.WriteTo(w)
	return st.bytes, err
}

// Close closes the body, and counts the answer.
func (st *Stream) Close() error {
	if st.Body == nil {
		return nil
	}
	if st.record != nil {
		st.record.closed(st.coding, st.bytes)
	}
	err := st.Body.Close()
	*st = Stream{}
	streams.Put(st)
	return err
}

// PartBody is a body that is rendered in parts: only one of them is in memory, and still in the
// CPU's cache when the kernel copies it. One of rows keeps the snapshot open.
type PartBody struct {
	Rows   render.Body
	ranges []index.Range // of Rows
	next   func(dst []byte) (part []byte, more bool)
	served *state.Served // nil for what is not rows
	state  *state.State
	part   *[]byte // that is being written, nil between two
	more   bool    // there is more after part
	turn   background.Turn
}

var rowBodies = sync.Pool{New: func() any {
	b := new(PartBody)
	b.next = b.Rows.AppendPart
	return b
}}

// parts pools the buffers of parts. A body takes one for each part, usually the one that is still
// in the CPU's cache.
var parts = sync.Pool{New: func() any { return new([]byte) }}

// keepPart is the largest buffer that is reused.
const keepPart = 1 << 20

// partMemory is about the memory that a body in parts takes. A shorter body takes its length.
const partMemory = 640 << 10

// MinStreamed is the estimated length from which a body is streamed.
const MinStreamed = 256 << 10

// stream answers with the uncompressed rows of a page. The caller keeps the scratch memory and its
// own reference to the snapshot.
func (s *Lists) stream(a *Reply) {
	b := rowBodies.Get().(*PartBody)
	b.state, b.more = s.State, true
	b.ranges, a.Page.Ranges = a.Page.Ranges, b.ranges
	b.Rows.Start(a.Form(a.List), b.ranges)
	length := b.Rows.Len()
	a.Served.Refs.Add(1) // the caller has one, so the count is not zero
	b.served = a.Served
	SendStream(a.Ctx, b, length, encode.Identity, min(length, partMemory))
}

// Next renders the next part.
func (b *PartBody) Next() {
	b.turn.Begin()
	defer b.turn.End()
	b.part = parts.Get().(*[]byte)
	*b.part, b.more = b.next((*b.part)[:0])
}

// drop returns the part's buffer.
func (b *PartBody) drop() {
	if b.part != nil && cap(*b.part) <= keepPart {
		parts.Put(b.part)
	}
	b.part = nil
}

// WriteTo writes what is left of the body.
func (b *PartBody) WriteTo(w io.Writer) (sent int64, err error) {
	defer b.state.RecoverBody(&err)
	for b.part != nil || b.more {
		if b.part == nil {
			b.Next()
		}
		n, err := w.Write(*b.part)
		sent += int64(n)
		b.drop()
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// Close releases the snapshot.
func (b *PartBody) Close() error {
	b.drop()
	if v := b.served; v != nil {
		v.Release(b.state.Log)
		b.Rows, b.served, b.more = render.Body{}, nil, false
		rowBodies.Put(b)
	}
	return nil
}
