package odata

import (
	"errors"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
)

func badRequest(format string, args ...any) *reply.Fault {
	return list.Faultf(fasthttp.StatusBadRequest, format, args...)
}

// notImplemented is a part of OData that is not here.
func notImplemented(format string, args ...any) *reply.Fault {
	return list.Faultf(fasthttp.StatusNotImplemented, format, args...)
}

// faultOf is an error of filters as a fault.
func faultOf(err error) *reply.Fault {
	invalid, is := errors.AsType[*contract.Invalid](err)
	if !is {
		return nil
	}
	text, made := "", notImplemented
	for _, issue := range invalid.Issues {
		text += issue.Message().String() + " "
		if contract.IsGroupParam(issue.Param) { // no such group
			made = badRequest
		}
	}
	return made("%s", text)
}
