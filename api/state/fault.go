package state

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/reply"
)

// FinishFault completes an error answer after its head, with an id by which the caller can report
// the request.
func (s *State) FinishFault(ctx *fasthttp.RequestCtx, err error) (status int) {
	status, body := reply.ErrorAnswer(err)
	s.SetSnapshot(&ctx.Response.Header)
	var id [2 * requestIDBytes]byte
	newRequestID(&id)
	ctx.Response.Header.SetCanonical(reply.NameRequestID, id[:])
	ctx.SetStatusCode(status)
	ctx.SetBody(body)
	return status
}

// requestIDBytes is the length of a request's id before it is written in hexadecimal digits.
const requestIDBytes = 16

// newRequestID makes a random id. It is used only to search the log.
func newRequestID(to *[2 * requestIDBytes]byte) {
	var id [requestIDBytes]byte
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	hex.Encode(to[:], id[:])
}

// SetSnapshot writes the id of the served snapshot into an answer that does not depend on it.
func (s *State) SetSnapshot(h *fasthttp.ResponseHeader) {
	if v := s.Snapshots.Current.Load(); v != nil {
		h.SetCanonical(reply.NameSnapshot, v.idField)
	}
}

// AnswerError answers with the status and body of an error, which no cache may store.
func (s *State) AnswerError(ctx *fasthttp.RequestCtx, err error) {
	h := reply.FaultHead.Begin(ctx)
	status := s.FinishFault(ctx, err)
	path := reply.TextOf(ctx.Request.Header.RequestURI())
	for i := range s.FaultForms {
		form := &s.FaultForms[i]
		rest, below := strings.CutPrefix(path, form.Root)
		if below && (rest == "" || rest[0] == '/' || rest[0] == '?') {
			form.Write(ctx, err)
		}
	}
	switch status {
	case fasthttp.StatusServiceUnavailable:
		h.SetCanonical(reply.NameRetryAfter, []byte(reply.WaitOf(err)))
	case fasthttp.StatusMethodNotAllowed:
		h.Set("Allow", contract.AllowedMethods)
	case fasthttp.StatusUnprocessableEntity:
		if fault, ok := errors.AsType[*contract.Invalid](err); ok && fault.Preferred {
			h.Set("Preference-Applied", reply.StrictHandling)
		}
	}
	if fault, ok := err.(*reply.Fault); ok && fault.Hint != "" {
		h.SetCanonical(reply.NameHint, []byte(fault.Hint))
	} else if fault == reply.ErrNotAcceptable {
		h.Set("Vary", "Accept-Encoding")
	}
}

// madeOf is the key of the id of the snapshot that an answer is made of, in a request.
type madeOf struct{}

// SetPage writes the snapshot that a page is made of, else the served one, and its purge keys.
func (s *State) SetPage(ctx *fasthttp.RequestCtx, key string) {
	h := &ctx.Response.Header
	s.SetSnapshot(h)
	if id, ok := ctx.UserValue(madeOf{}).([]byte); ok {
		h.SetCanonical(reply.NameSnapshot, id)
	}
	s.SetPageKeys(h, key)
}

// SetPageKeys sends the purge keys of a page, after the id of its snapshot.
func (s *State) SetPageKeys(h *fasthttp.ResponseHeader, key string) {
	if s.Options.SurrogateKey || s.Options.CacheTag {
		s.SendKeys(h, []byte(reply.AllKey+" "+key+" snap-"+string(h.PeekBytes(reply.NameSnapshot))))
	}
}

// SendKeys sends keys, which are given with spaces between them. Cache-Tag has commas instead.
func (s *State) SendKeys(h *fasthttp.ResponseHeader, keys []byte) {
	if s.Options.SurrogateKey {
		h.SetCanonical(reply.NameSurrogate, keys)
	}
	if s.Options.CacheTag {
		for i, c := range keys {
			if c == ' ' {
				keys[i] = ','
			}
		}
		h.SetCanonical(reply.NameCacheTag, keys)
	}
}

// LogPanic logs where a panic happened. Only messages of the Go runtime are logged: others may
// quote a request.
func (s *State) LogPanic(fault any, request string) {
	s.Panics.Add(1)
	text := "(withheld)"
	if err, ok := fault.(runtime.Error); ok {
		text = err.Error()
	}
	s.Log.Error("a request panicked", "request", request, "panic", text, "stack", string(debug.Stack()))
}

// errPanicked aborts a connection in the middle of an answer.
var errPanicked = errors.New("api: a panic while a body was rendered")

// RecoverBody is deferred, and handles a panic while a body is written, after the handler has
// returned. fasthttp would recover too, but neither count it nor log where it was. The header has
// been sent or buffered, so the answer is cut short. There is no request id to report.
func (s *State) RecoverBody(err *error) {
	if fault := recover(); fault != nil {
		s.LogPanic(fault, "")
		*err = errPanicked
	}
}

// LogFault logs an internal error of an endpoint. It quotes columns but no request.
func (s *State) LogFault(path string, err error) {
	s.Log.Error("a request failed", "endpoint", path, "error", err)
}
