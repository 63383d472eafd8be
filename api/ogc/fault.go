package ogc

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
	status     int
	code, text string
}

func (f *fault) Error() string { return "ogc: " + f.text }

func invalid(format string, args ...any) *fault {
	return &fault{fasthttp.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *fault {
	return &fault{fasthttp.StatusNotFound, "NotFound", fmt.Sprintf(format, args...)}
}

// quoted is a text of a request as messages show it.
func quoted(text string) string {
	if len(text) > 80 {
		text = text[:80] + "..."
	}
	return fmt.Sprintf("%q", text)
}

// goneText says what to do when the state of the data of a page is no longer held.
const goneText = "The data was replaced since the first page, and what this page would be of is not held any longer. " +
	"Begin again with the first page: a page of the new data would mix two states."

// faultOf is an error as an answer says it.
func faultOf(err error) *fault {
	if f, is := errors.AsType[*fault](err); is {
		return f
	}
	if wrong, is := errors.AsType[*contract.Invalid](err); is {
		first := &wrong.Issues[0]
		return invalid("%s is %s: %s", first.Param, quoted(first.Input), first.Text)
	}
	if day, is := errors.AsType[*contract.BadDay](err); is {
		return invalid("%s is no date; want YYYY, YYYY-MM or YYYY-MM-DD", day.Param)
	}
	status, body := reply.ErrorAnswer(err)
	if _, is := errors.AsType[*reply.Gone](err); is {
		return &fault{status, "Gone", goneText}
	}
	return &fault{status, "Error", string(body)}
}

// answerFault answers with an error. Headers, pace and counts of refusals are those of lists.
func (s *Service) answerFault(ctx *fasthttp.RequestCtx, err error) {
	s.AnswerFailed(ctx, err)
	f := faultOf(err)
	body := render.AppendJSONText([]byte(`{"code":`), f.code)
	body = append(render.AppendJSONText(append(body, `,"description":`...), f.text), '}')
	ctx.SetStatusCode(f.status)
	ctx.SetBody(body)
	ctx.Response.Header.SetContentType(jsonType)
}
