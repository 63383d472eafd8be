package list

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/background"
)

// InTurns does long work for a request, in turns with that for others. The work calls pause about
// every 20 microseconds; an error says that the client has closed its connection.
func InTurns(ctx *fasthttp.RequestCtx, work func(pause func() error) error) error {
	var turn background.Turn
	turn.BeginLong()
	defer turn.EndLong()
	calls := 0
	return work(func() error {
		if calls++; calls%pausesPerLook == 1 && wire.HasLeft(ctx) {
			return errClosed
		}
		turn.Pause()
		return nil
	})
}

var errClosed = &reply.Fault{
	Status: fasthttp.StatusRequestTimeout, Code: "Closed", Text: "the client has closed its connection",
}

// pausesPerLook is how many calls of pause share one look at the connection, a system call.
const pausesPerLook = 256

// pieces are a page that is rendered while it is sent, as long pages of rows are.
type pieces struct {
	tag   reply.EntityTag
	of    int
	piece func(dst []byte, i int) []byte
}

// InPieces returns a page of some pieces, each of which piece appends. Slow readers do not hold the
// whole of a long one. Its length is not known, and its tag is of what names the page: meaning.
func InPieces(
	ctx *fasthttp.RequestCtx, meaning []byte, of int, piece func(dst []byte, i int) []byte,
) (Content, error) {
	var body []byte
	n := 0
	err := InTurns(ctx, func(pause func() error) (err error) {
		for ; n < of && len(body) < MinStreamed && err == nil; n++ {
			body = piece(body, n)
			err = pause()
		}
		return err
	})
	if n == of || err != nil {
		return Made(body), err
	}
	return &pieces{reply.BodyTag(meaning), of, piece}, nil
}

func (c *pieces) tagOf() *reply.EntityTag { return &c.tag }

func (c *pieces) send(ctx *fasthttp.RequestCtx, s *state.State, coding encode.Coding) {
	parts := &PartBody{state: s, next: inParts(c.of, c.piece, coding), more: true}
	SendStream(ctx, parts, -1, coding, partMemory)
}

// inParts returns what appends the next part of a page, which is never empty.
func inParts(of int, piece func([]byte, int) []byte, coding encode.Coding) func([]byte) ([]byte, bool) {
	const part = 32 << 10
	var coded bytes.Buffer
	var stream *encode.Stream
	if coding != encode.Identity {
		stream = encode.NewStream(coding, &coded)
	}
	i := 0
	return func(dst []byte) ([]byte, bool) {
		for ; i < of && len(dst)+coded.Len() < part; i++ {
			if dst = piece(dst, i); stream != nil {
				_, _ = stream.Write(dst) // a buffer takes all
				dst = dst[:0]
			}
		}
		if stream != nil {
			if i == of {
				_ = stream.Close()
			}
			dst = append(dst, coded.Bytes()...)
			coded.Reset()
		}
		return dst, i < of
	}
}
