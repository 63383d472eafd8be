package api

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"hdqs/api/render"
)

// Fixed bodies. Their texts are part of the contract.
const (
	bodyNotFound            = `{"detail":"Not Found"}`
	bodyMethodNotAllowed    = `{"detail":"Method Not Allowed"}`
	bodyInternal            = `{"error_sample_list":[],"error":"Internal Server Error. Response data is invalid."}`
	bodyUnavailable         = `{"detail":"No snapshot is loaded yet"}`
	bodyURITooLong          = `{"detail":"URI Too Long"}`
	bodyHeadersTooLarge     = `{"detail":"Request Header Fields Too Large"}`
	bodyTooLarge            = `{"detail":"Content Too Large"}`
	bodyBadRequest          = `{"detail":"Bad Request"}`
	bodyTimeout             = `{"detail":"Request Timeout"}`
	bodyVersionNotSupported = `{"detail":"HTTP Version Not Supported"}`
	bodyNotAcceptable       = `{"detail":"Not Acceptable"}`
	bodyPreconditionFailed  = `{"detail":"Precondition Failed"}`
)

// Errors of the server itself. A request's faults are *Invalid, *BadDay and *Forbidden.
var (
	errNoSnapshot    = errors.New("api: no snapshot is loaded")
	errNotAcceptable = errors.New("api: no coding that the client accepts")
	errPrecondition  = errors.New("api: the answer is not the one that the client asks for")
)

// Issue is one fault of one parameter.
type Issue struct {
	Type  string
	Param string
	Part  string // what a parameter that may be two things was read as; mostly empty
	Text  string
	Input string
	Miss  bool // Input is null: the parameter is absent, or its value is not told

	// Ctx is a key of context and its value, an integer or a text. Key "" stands for none.
	CtxKey  string
	CtxInt  int
	CtxText string
}

// Invalid is a request with parameters that break their rules: all of them, in order.
type Invalid struct {
	Issues []Issue
	Wished bool // they are faults because the client has asked for strict handling
}

func (e *Invalid) Error() string {
	return fmt.Sprintf("api: %d invalid parameters, first %s: %s", len(e.Issues), e.Issues[0].Param, e.Issues[0].Text)
}

// BadDay is a start_date or end_date that is none. It hides all other faults.
type BadDay struct{ Param string }

func (e *BadDay) Error() string {
	return "Invalid " + e.Param + " format. Use YYYY, YYYY-MM, YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS"
}

// Gone is a request for a snapshot that is not held, or not any more. Current is the one to begin again with.
type Gone struct{ Current string }

func (e *Gone) Error() string { return "api: the snapshot is not held; current is " + e.Current }

// Busy is a request or a connection for which there is no room. It tells which bound was met.
type Busy struct{ Rule string }

func (e *Busy) Error() string { return "api: too much at once: " + e.Rule }

// The bounds of Busy.
const (
	ruleQueries     = "queries at once"
	ruleBytes       = "bytes of answers in flight"
	ruleConnections = "connections"
	ruleAddress     = "connections of one address"
)

// rules are all of them, with the words that tell them apart in the metrics.
var rules = [...]struct{ rule, reason string }{
	{ruleQueries, "queries"}, {ruleBytes, "bytes"}, {ruleConnections, "connections"}, {ruleAddress, "address"},
}

// shedCounts count what was turned away, each bound in the place of its rule.
type shedCounts [len(rules)]atomic.Int64

func (c *shedCounts) add(rule string) {
	for i := range rules {
		if rules[i].rule == rule {
			c[i].Add(1)
		}
	}
}

// Forbidden is a request whose identifier is missing or bad.
type Forbidden struct{ Text, Hint string }

func (e *Forbidden) Error() string { return e.Text }

func missing(param string) Issue {
	return Issue{Type: "missing", Param: param, Text: "Field required", Miss: true}
}

func tooLong(param, input string, limit int) Issue {
	return Issue{
		Type: "string_too_long", Param: param, Text: "String should have at most " + strconv.Itoa(limit) + " characters",
		Input: input, CtxKey: "max_length", CtxInt: limit,
	}
}

func tooShortText(param, input string, limit int) Issue {
	return Issue{
		Type: "string_too_short", Param: param, Text: "String should have at least " + strconv.Itoa(limit) + " characters",
		Input: input, CtxKey: "min_length", CtxInt: limit,
	}
}

func notInteger(param, input string) Issue {
	return Issue{
		Type: "int_parsing", Param: param, Input: input,
		Text: "Input should be a valid integer, unable to parse string as an integer",
	}
}

func tooSmall(param, input string, floor int) Issue {
	return Issue{
		Type: "greater_than_equal", Param: param, Text: "Input should be greater than or equal to " + strconv.Itoa(floor),
		Input: input, CtxKey: "ge", CtxInt: floor,
	}
}

func tooGreat(param, input string, ceiling int) Issue {
	return Issue{
		Type: "less_than_equal", Param: param, Text: "Input should be less than or equal to " + strconv.Itoa(ceiling),
		Input: input, CtxKey: "le", CtxInt: ceiling,
	}
}

func notNumber(param, input string) Issue {
	return Issue{
		Type: "float_parsing", Param: param, Input: input,
		Text: "Input should be a valid number, unable to parse string as a number",
	}
}

func notDecimal(param, input string, fault decimalFault) Issue {
	if fault == decimalInfinite {
		return Issue{Type: "finite_number", Param: param, Text: "Input should be a finite number", Input: input}
	}
	return Issue{Type: "decimal_parsing", Param: param, Text: "Input should be a valid decimal", Input: input}
}

func notBoolean(param, input string) Issue {
	return Issue{
		Type: "bool_parsing", Param: param, Input: input,
		Text: "Input should be a valid boolean, unable to interpret input",
	}
}

func notInEnum(param, input string, e *Enum) Issue {
	return Issue{
		Type: "enum", Param: param, Text: "Input should be " + e.expected, Input: input, CtxKey: "expected", CtxText: e.expected,
	}
}

// notMoment is two issues: a date-time parameter may be either of two things, and each reading says why it failed.
func notMoment(param, input string, fault momentFault) []Issue {
	return []Issue{
		{
			Type: "datetime_from_date_parsing", Param: param, Part: "datetime", Input: input,
			Text: "Input should be a valid datetime or date, " + fault.dateTime, CtxKey: "error", CtxText: fault.dateTime,
		},
		{
			Type: "date_from_datetime_parsing", Param: param, Part: "date", Input: input,
			Text: "Input should be a valid date or datetime, " + fault.date, CtxKey: "error", CtxText: fault.date,
		},
	}
}

func notEmail(param, input, reason string) Issue {
	return Issue{
		Type: "value_error", Param: param, Text: "value is not a valid email address: " + reason,
		Input: input, CtxKey: "reason", CtxText: reason,
	}
}

// answered is an error that is the request's, or its moment's. It knows its answer.
type answered interface {
	error
	answer() (status int, body []byte)
}

func (e *Invalid) answer() (int, []byte) {
	return fasthttp.StatusUnprocessableEntity, appendIssues(nil, e.Issues)
}

func (e *BadDay) answer() (int, []byte) {
	return fasthttp.StatusBadRequest, append(render.AppendJSONText([]byte(`{"detail":`), e.Error()), '}')
}

func (e *Forbidden) answer() (int, []byte) {
	body := render.AppendJSONText([]byte(`{"error":`), e.Text)
	body = render.AppendJSONText(append(body, `,"hint":`...), e.Hint)
	return fasthttp.StatusForbidden, append(body, '}')
}

func (e *Gone) answer() (int, []byte) {
	body := render.AppendJSONText([]byte(`{"detail":"The snapshot is not held any more; begin again with the current one","snapshot":`), e.Current)
	return fasthttp.StatusGone, append(body, '}')
}

func (e *Busy) answer() (int, []byte) {
	body := render.AppendJSONText([]byte(`{"detail":"Too much is asked at once; try again after Retry-After","rule":`), e.Rule)
	return fasthttp.StatusServiceUnavailable, append(body, '}')
}

// errorAnswer is the status and body of any error.
func errorAnswer(err error) (status int, body []byte) {
	var known answered
	switch {
	case errors.As(err, &known):
		return known.answer()
	case errors.Is(err, errNoSnapshot):
		return fasthttp.StatusServiceUnavailable, []byte(bodyUnavailable)
	case errors.Is(err, errNotAcceptable):
		return fasthttp.StatusNotAcceptable, []byte(bodyNotAcceptable)
	case errors.Is(err, errPrecondition):
		return fasthttp.StatusPreconditionFailed, []byte(bodyPreconditionFailed)
	}
	return fasthttp.StatusInternalServerError, []byte(bodyInternal)
}

// appendIssues writes the body of a 422, keys in the order of the wire.
func appendIssues(dst []byte, issues []Issue) []byte {
	dst = append(dst, `{"detail":[`...)
	for i, issue := range issues {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = render.AppendJSONText(append(dst, `{"type":`...), issue.Type)
		dst = render.AppendJSONText(append(dst, `,"loc":["query",`...), issue.Param)
		if issue.Part != "" {
			dst = render.AppendJSONText(append(dst, ','), issue.Part)
		}
		dst = render.AppendJSONText(append(dst, `],"msg":`...), issue.Text)
		if issue.Miss {
			dst = append(dst, `,"input":null`...)
		} else {
			dst = render.AppendJSONText(append(dst, `,"input":`...), issue.Input)
		}
		if issue.CtxKey != "" {
			dst = append(render.AppendJSONText(append(dst, `,"ctx":{`...), issue.CtxKey), ':')
			if issue.CtxText != "" {
				dst = render.AppendJSONText(dst, issue.CtxText)
			} else {
				dst = strconv.AppendInt(dst, int64(issue.CtxInt), 10)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}
