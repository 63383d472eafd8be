package odata

import (
	"errors"
	"fmt"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/reply"
)

// fault is an error that is the caller's: its status and what is wrong in words.
type fault struct {
	status  int
	code    string
	message string
}

func (f *fault) Error() string { return "odata: " + f.message }

func badRequest(format string, args ...any) *fault {
	return &fault{fasthttp.StatusBadRequest, "BadRequest", fmt.Sprintf(format, args...)}
}

// notImplemented is a part of OData that is not here.
func notImplemented(format string, args ...any) *fault {
	return &fault{fasthttp.StatusNotImplemented, "NotImplemented", fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *fault {
	return &fault{fasthttp.StatusNotFound, "NotFound", fmt.Sprintf(format, args...)}
}

// goneText says what to do when the snapshot of a refresh is no longer held.
const goneText = "The data was replaced since the first page, and what this page would be of is not held any " +
	"longer. Begin again with the first page: a page of the new data would mix two states."

// faultOf is an error as an answer says it.
func faultOf(err error) *fault {
	if f, is := errors.AsType[*fault](err); is {
		return f
	}
	status, body := reply.ErrorAnswer(err)
	f := &fault{status: status, code: "Error", message: string(body)}
	if invalid, is := errors.AsType[*contract.Invalid](err); is {
		f.status, f.code, f.message = fasthttp.StatusNotImplemented, "NotImplemented", ""
		for _, issue := range invalid.Issues {
			f.message += issue.Text + " "
		}
	}
	if _, is := errors.AsType[*reply.Gone](err); is {
		f.code, f.message = "Gone", goneText
	}
	return f
}

// answerFault answers with an error in the form of OData. Headers, pace and counts of refusals are
// those of lists.
func (s *Service) answerFault(ctx *fasthttp.RequestCtx, err error) {
	s.Lists.AnswerFailed(ctx, err)
	f := faultOf(err)
	body := render.AppendJSONText([]byte(`{"error":{"code":`), f.code)
	body = render.AppendJSONText(append(body, `,"message":`...), f.message)
	ctx.SetStatusCode(f.status)
	ctx.SetBody(append(body, "}}"...))
	h := &ctx.Response.Header
	h.Set(headerVersion, version)
	h.SetContentType(contract.JSONType + ";odata.metadata=minimal")
}
