package odata

import (
	"errors"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
)

func badRequest(format string, args ...any) *list.Fault {
	return list.Faultf(fasthttp.StatusBadRequest, "BadRequest", format, args...)
}

// notImplemented is a part of OData that is not here.
func notImplemented(format string, args ...any) *list.Fault {
	return list.Faultf(fasthttp.StatusNotImplemented, "NotImplemented", format, args...)
}

func notFound(format string, args ...any) *list.Fault {
	return list.Faultf(fasthttp.StatusNotFound, "NotFound", format, args...)
}

// faultOf is an error as an answer says it.
func faultOf(err error) *list.Fault {
	invalid, is := errors.AsType[*contract.Invalid](err)
	if !is {
		return list.FaultOf(err)
	}
	text := ""
	for _, issue := range invalid.Issues {
		text += issue.Message().String() + " "
	}
	return notImplemented("%s", text)
}

// answerFault answers with an error in the form of OData. Headers, pace and counts of refusals are
// those of lists.
func (s *Service) answerFault(ctx *fasthttp.RequestCtx, err error) {
	s.lists.AnswerFailed(ctx, err)
	write(ctx, faultOf(err))
}

// write writes an error.
func write(ctx *fasthttp.RequestCtx, f *list.Fault) {
	body := render.AppendJSONText([]byte(`{"error":{"code":`), f.Code)
	body = render.AppendJSONText(append(body, `,"message":`...), f.Text)
	ctx.SetStatusCode(f.Status)
	ctx.SetBody(append(body, "}}"...))
	h := &ctx.Response.Header
	h.Set(headerVersion, version)
	h.SetContentType(contract.JSONType + ";odata.metadata=minimal")
}
