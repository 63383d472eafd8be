package ogc

import (
	"errors"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
)

func invalid(format string, args ...any) *reply.Fault {
	f := list.Faultf(fasthttp.StatusBadRequest, format, args...)
	f.Code = "InvalidParameterValue"
	return f
}

// faultOf is an error of parameters as a fault.
func faultOf(err error) *reply.Fault {
	if wrong, is := errors.AsType[*contract.Invalid](err); is {
		first := &wrong.Issues[0]
		return invalid("%s is %s: %s", first.Param, list.Quoted(first.Input), first.Message())
	}
	if day, is := errors.AsType[*contract.BadDay](err); is {
		return invalid("%s is no date; want YYYY, YYYY-MM or YYYY-MM-DD", day.Param)
	}
	return nil
}
