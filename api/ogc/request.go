package ogc

import (
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// Types of answers.
const (
	htmlType    = "text/html; charset=utf-8"
	jsonType    = contract.JSONType
	geoJSONType = "application/geo+json"
	openAPIType = "application/vnd.oai.openapi+json;version=3.0"
	schemaType  = "application/schema+json"
)

// queryablesRel is the relation of the link to what a collection can be filtered by.
const queryablesRel = "http://www.opengis.net/def/rel/ogc/1.0/queryables"

// lists are what the service asks.
type lists interface {
	AnswerRows(ctx *fasthttp.RequestCtx, to list.Route, q *contract.Question, v *list.View) error
	RowOf(e *contract.Endpoint, key, missing string) (version string, row uint64, err error)
	Computed(ctx *fasthttp.RequestCtx, snapshot string, answer func(v *state.Served) error) error
	Within(ctx *fasthttp.RequestCtx, snapshot string, do func(v *state.Served) error) error
	QueryAll(v *state.Served, q *contract.Question, read func(list.Valued)) error
}

// sender sends what is no rows of lists.
type sender interface {
	BaseOf(ctx *fasthttp.RequestCtx) string
	Described(work func() error) error
	Send(ctx *fasthttp.RequestCtx, contentType string, c list.Content) error
	SetPolicy(h *fasthttp.ResponseHeader, varies bool)
}

// Service answers requests for features from lists.
type Service struct {
	lists       lists
	sender      sender
	routes      list.ListRoutes
	boundaries  *boundary.Set
	version     string // of the boundaries
	collections []*collection
}

type object = map[string]any

// link is a link as JSON has it.
type link struct {
	Rel   string `json:"rel"`
	Type  string `json:"type"`
	Title string `json:"title,omitempty"`
	Href  string `json:"href"`
}

// request is a request for a document.
type request struct {
	service *Service
	ctx     *fasthttp.RequestCtx
	base    string     // of the service, with a slash at its end
	path    string     // below it
	sent    url.Values // parameters, without that of the form and the identifier
	html    bool
	named   bool             // the form is in the address, and not only in Accept
	own     contract.Request // for the rows of a list
}

// readQuery reads the parameters.
func (a *request) readQuery() (err error) {
	if a.sent, err = url.ParseQuery(string(a.ctx.URI().QueryString())); err != nil {
		return invalid("the query cannot be read: %v", err)
	}
	for name, values := range a.sent {
		if len(values) > 1 {
			return invalid("the parameter %s is given twice", list.Quoted(name))
		}
	}
	accept := string(a.ctx.Request.Header.Peek(fasthttp.HeaderAccept))
	a.html = strings.Contains(accept, "text/html") && !strings.Contains(accept, "json")
	if form := a.sent.Get("f"); a.sent.Has("f") {
		if a.html, a.named = form == "html", true; form != "json" && form != "html" {
			return invalid("f is %s; want json or html", list.Quoted(form))
		}
	}
	a.sent.Del("f")
	a.sent.Del(contract.IdentifierParam)
	return nil
}

// at is the address of a document.
func (a *request) at(path string) string { return strings.TrimSuffix(a.base+path, "/") }

// addressWith is the address of this document with its parameters and others.
func (a *request) addressWith(pairs ...string) string {
	query := maps.Clone(a.sent)
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	return a.at((&url.URL{Path: a.path}).EscapedPath()) + "?" + query.Encode()
}

// links are those of a document to itself, and to its other form.
func (a *request) links(contentType string) []link {
	self := link{"self", contentType, "this document", a.addressWith("f", "json")}
	other := link{"alternate", "text/html", "this document as a page", a.addressWith("f", "html")}
	if a.html {
		self, other = other, self
		self.Rel, other.Rel = "self", "alternate"
	}
	return []link{self, other}
}

// send answers with a document, in the form that was asked for.
func (a *request) send(doc any, contentType string, p page) error {
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return a.sendBody(body, contentType, p)
}

func (a *request) sendBody(body []byte, contentType string, p page) error {
	if a.html {
		var err error
		if body, err = p.render(body, a.at("")); err != nil {
			return err
		}
		contentType = htmlType
	}
	err := a.service.sender.Send(a.ctx, contentType, list.Made(body))
	a.policy(&a.ctx.Response.Header)
	return err
}

// policy sets what caches may do with an answer.
func (a *request) policy(h *fasthttp.ResponseHeader) {
	a.service.sender.SetPolicy(h, a.html && !a.named)
}

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
