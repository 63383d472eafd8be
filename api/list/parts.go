package list

import (
	"cmp"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// Parts of lists and of short exports: engines read a file by its length and then parts of it. A
// part is cut from the whole body, which is made for each: it is short, and the same bytes each
// time. Compressed bodies have no parts, since they depend on what is stored of their rows.

// MaxPartRows is how many records an export may have of which parts are sent: some megabytes.
const MaxPartRows = 20_000

// CanBeInParts reports whether parts of the answer are sent, once its rows are counted.
func (a *Reply) CanBeInParts() bool {
	return a.Request.Scanned.Kind() != contract.Export || a.Page.Rows <= MaxPartRows
}

// strongTag is the tag of the answer if that is strong, nil otherwise.
func (a *Reply) strongTag() []byte {
	if a.Coding != encode.Identity || a.view != nil {
		return nil
	}
	return a.tag.Strong()
}

// findPart finds out whether a part is wanted and may be sent. Programs that read parts mostly send
// no condition. After a swap that changed the table, parts of both contents would look like one
// file, or the length that was read before would cut the new one: rows would be wrong or missing.
// So until the replaced snapshot is gone they get the whole body, which such programs refuse.
func (a *Reply) findPart(s *Lists) {
	request := &a.Ctx.Request.Header
	if a.Coding != encode.Identity || len(request.Peek(fasthttp.HeaderRange)) == 0 || !a.Ctx.IsGet() {
		return
	}
	changed := time.Since(a.List.Replaced) < cmp.Or(s.State.Options.KeepPrevious, state.KeepPrevious)
	a.InParts = !changed || a.Request.Scanned.Snapshot != "" || len(request.Peek(fasthttp.HeaderIfRange)) > 0 ||
		len(request.Peek(fasthttp.HeaderIfMatch)) > 0
}

// sendPart sends the part that is wanted of the body that was made. Several parts are not sent: the
// whole is an answer too.
func (s *Lists) sendPart(a *Reply) {
	response := &a.Ctx.Response
	if response.StatusCode() != fasthttp.StatusOK || response.IsBodyStream() {
		return
	}
	body := response.Body()
	length := int64(len(body))
	part, result := reply.PartFor(a.Ctx, a.tag.Strong(), length)
	switch {
	case result == reply.PartOfBody:
		response.SetBodyRaw(body[part.First:part.End])
	case result == reply.NoSuchPart && length > 0:
		s.State.AnswerError(a.Ctx, reply.ErrNoSuchRange)
	default:
		return
	}
	reply.SetPart(a.Ctx, part, result, length)
	response.Header.Set("Access-Control-Expose-Headers", reply.ExposedOfFiles)
}
