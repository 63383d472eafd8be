package reply

import (
	"errors"
	"strconv"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/wire"
)

// Fault is an error with a text of its own, which is the detail of its answer.
type Fault struct {
	Status int
	Text   string
	Code   string // for answers that have one; empty for the name of the status
	Wait   string // seconds after which a request may succeed; empty if that is not known
	Hint   string // what to do instead, in a header field; may be empty
}

// WithHint is the same error with a hint.
func (f *Fault) WithHint(hint string) *Fault {
	other := *f
	other.Hint = hint
	return &other
}

func (f *Fault) Error() string { return f.Text }

// Errors with a fixed answer. Their texts are part of the contract.
var (
	ErrBadRequest          = fault(fasthttp.StatusBadRequest, "Bad Request")
	ErrNotFound            = fault(fasthttp.StatusNotFound, "Not Found")
	ErrMethodNotAllowed    = fault(fasthttp.StatusMethodNotAllowed, "Method Not Allowed")
	ErrNotAcceptable       = fault(fasthttp.StatusNotAcceptable, "Not Acceptable: accept identity, gzip or zstd")
	ErrTimeout             = fault(fasthttp.StatusRequestTimeout, "Request Timeout")
	errPrecondition        = fault(fasthttp.StatusPreconditionFailed, "Precondition Failed")
	ErrNoSuchRange         = fault(fasthttp.StatusRequestedRangeNotSatisfiable, "Range Not Satisfiable")
	ErrVersionNotSupported = fault(fasthttp.StatusHTTPVersionNotSupported, "HTTP Version Not Supported: send HTTP/1.1")
	ErrBulkGone            = fault(fasthttp.StatusGone, "The bulk files of this snapshot are not kept any longer")
	ErrTooLarge            = fault(fasthttp.StatusRequestEntityTooLarge,
		"Content Too Large: a body has at most 1 KiB, 32 KiB at /mcp")
	ErrHeadersTooLarge = fault(fasthttp.StatusRequestHeaderFieldsTooLarge,
		"Request Header Fields Too Large: at most 64 KiB with the address")
	ErrURITooLong = fault(fasthttp.StatusRequestURITooLong, "URI Too Long: at most 48 KiB, "+
		"8 KiB for OData and features, 2 KiB for pages and files; send fewer or shorter values")
	ErrPartOfLatest = fault(fasthttp.StatusBadRequest, "Parts of a file are read from /bulk/ID/, "+
		"not from /bulk/latest/: another snapshot may come between two parts")
	ErrNoBulkFile = unavailable(retryRefused, "This file cannot be read at the moment")
	ErrNoSnapshot = unavailable(retryAfter, "No snapshot is loaded yet")
)

func fault(status int, text string) *Fault { return &Fault{Status: status, Text: text} }

func unavailable(wait []byte, text string) *Fault {
	return &Fault{Status: fasthttp.StatusServiceUnavailable, Text: text, Wait: string(wait)}
}

// ErrInternal is an error of the server itself.
var ErrInternal = errors.New("api: a request failed")

// bodyInternal is the body of any error that is not the caller's.
const bodyInternal = `{"error_sample_list":[],"error":"` + internal + `"}`

const internal = "Internal Server Error. Response data is invalid."

// Gone is the error of a request that names a snapshot that is not retained (any more), to answer
// or, with Since, to compare with. Current is the snapshot to begin again with.
type Gone struct {
	Current string
	Since   bool
}

func (e *Gone) Error() string { return "api: the snapshot is not retained; current is " + e.Current }

// Detail is the text of the answer: what is gone, and where to begin again.
func (e *Gone) Detail() string {
	if e.Since {
		return "The snapshot in since is not held any more; read the list again, from the current one"
	}
	return "The snapshot is not held any more; begin again with the current one"
}

// Busy is the error of a request or a connection that a limit refuses. Rule is the limit.
type Busy struct{ Rule string }

func (e *Busy) Error() string { return "api: too much at once: " + e.Rule }

// The limits on requests. Package wire has those on connections.
const (
	RuleQueries = "queries at once"
	RuleBytes   = "bytes of answers in flight"
	RuleExports = "exports at once"
	RuleClient  = "exports of one client"
)

// Rules lists all limits, with their label values in metrics.
var Rules = [...]struct{ Rule, Reason string }{
	{RuleQueries, "queries"},
	{RuleBytes, "bytes"},
	{RuleExports, "exports"},
	{RuleClient, "client"},
	{wire.RuleConnections, "connections"},
	{wire.RuleAddress, "address"},
	{wire.RuleRequests, "requests"},
}

// ShedCounts counts refusals, by position in rules.
type ShedCounts [len(Rules)]atomic.Int64

// Add counts a refusal by a rule.
func (c *ShedCounts) Add(rule string) {
	for i := range Rules {
		if Rules[i].Rule == rule {
			c[i].Add(1)
		}
	}
}

// usualIssues is the length of most bodies of a 422.
const usualIssues = 256

// ErrorAnswer returns the status and body for any error.
func ErrorAnswer(err error) (status int, body []byte) {
	if e, ok := errors.AsType[*contract.Invalid](err); ok {
		return fasthttp.StatusUnprocessableEntity, appendIssues(make([]byte, 0, usualIssues), e.Issues)
	}
	status, texts := textsOf(err)
	if status == fasthttp.StatusInternalServerError {
		return status, []byte(bodyInternal)
	}
	return status, jsonTexts(texts...)
}

// textsOf returns the status of an error, and the members of its answer as name, text, name, text.
func textsOf(err error) (status int, texts []string) {
	if e, ok := errors.AsType[*Fault](err); ok {
		return e.Status, []string{"detail", e.Text}
	}
	if e, ok := errors.AsType[*contract.BadDay](err); ok {
		return fasthttp.StatusBadRequest, []string{"detail", e.Error()}
	}
	if e, ok := errors.AsType[*contract.Forbidden](err); ok {
		return fasthttp.StatusForbidden, []string{"error", e.Text, "hint", e.Hint}
	}
	if e, ok := errors.AsType[*Gone](err); ok {
		return fasthttp.StatusGone, []string{"detail", e.Detail(), "snapshot", e.Current}
	}
	if e, ok := errors.AsType[*Busy](err); ok {
		const detail = "Too much is asked at once; try again after Retry-After"
		return fasthttp.StatusServiceUnavailable, []string{"detail", detail, "rule", e.Rule}
	}
	return fasthttp.StatusInternalServerError, []string{"error", internal}
}

// FaultOf returns an error as one text, for answers in other forms than that of lists.
func FaultOf(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	status, texts := textsOf(err)
	f := &Fault{Status: status, Text: texts[1]}
	if len(texts) > 2 {
		f.Text += ": " + texts[3]
	}
	return f
}

// WaitOf is after how many seconds a request that has failed may succeed, empty if that is not
// known.
func WaitOf(err error) string {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Wait
	}
	if _, busy := errors.AsType[*Busy](err); busy {
		return string(retryAfter)
	}
	return ""
}

// IsRefusal reports whether an error is an answer of its own, and no fault of the server.
func IsRefusal(err error) bool {
	_, gone := errors.AsType[*Gone](err)
	return gone
}

// jsonTexts returns a JSON object of strings, given as key, value, key, value.
func jsonTexts(pairs ...string) []byte {
	body := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(render.AppendJSONText(body, pairs[i]), ':')
		body = render.AppendJSONText(body, pairs[i+1])
	}
	return append(body, '}')
}

// appendIssues writes the body of a 422.
func appendIssues(dst []byte, issues []contract.Issue) []byte {
	dst = append(dst, `{"detail":[`...)
	for i := range issues {
		issue := &issues[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = render.AppendJSONText(append(dst, `{"type":`...), issue.Type)
		dst = render.AppendJSONText(append(dst, `,"loc":["query",`...), issue.Param)
		detail := issue.Detail()
		if detail.Part != "" {
			dst = render.AppendJSONText(append(dst, ','), detail.Part)
		}
		dst = render.AppendJSONText(append(dst, `],"msg":`...), issue.Message().String())
		if issue.NullInput {
			dst = append(dst, `,"input":null`...)
		} else {
			dst = render.AppendJSONText(append(dst, `,"input":`...), issue.Input)
		}
		if detail.Key != "" {
			dst = append(render.AppendJSONText(append(dst, `,"ctx":{`...), detail.Key), ':')
			if detail.Text != "" {
				dst = render.AppendJSONText(dst, detail.Text)
			} else {
				dst = strconv.AppendInt(dst, int64(detail.Number), 10)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}

// IsInvalid reports whether an error is the caller's.
func IsInvalid(err error) bool {
	_, is := errors.AsType[*contract.Invalid](err)
	return is
}
