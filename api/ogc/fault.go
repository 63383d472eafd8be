package ogc

import (
	"errors"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
)

func invalid(format string, args ...any) *list.Fault {
	return list.Faultf(fasthttp.StatusBadRequest, "InvalidParameterValue", format, args...)
}

func notFound(format string, args ...any) *list.Fault {
	return list.Faultf(fasthttp.StatusNotFound, "NotFound", format, args...)
}

// faultOf is an error as an answer says it.
func faultOf(err error) *list.Fault {
	if wrong, is := errors.AsType[*contract.Invalid](err); is {
		first := &wrong.Issues[0]
		return invalid("%s is %s: %s", first.Param, list.Quoted(first.Input), first.Message())
	}
	if day, is := errors.AsType[*contract.BadDay](err); is {
		return invalid("%s is no date; want YYYY, YYYY-MM or YYYY-MM-DD", day.Param)
	}
	return list.FaultOf(err)
}

// answerFault answers with an error. Headers, pace and counts of refusals are those of lists.
func (s *Service) answerFault(ctx *fasthttp.RequestCtx, err error) {
	s.lists.AnswerFailed(ctx, err)
	write(ctx, faultOf(err))
}

// write writes an error.
func write(ctx *fasthttp.RequestCtx, f *list.Fault) {
	body := render.AppendJSONText([]byte(`{"code":`), f.Code)
	body = append(render.AppendJSONText(append(body, `,"description":`...), f.Text), '}')
	ctx.SetStatusCode(f.Status)
	ctx.SetBody(body)
	ctx.Response.Header.SetContentType(jsonType)
}
