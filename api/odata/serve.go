package odata

import (
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// Root is the path of the service, and begins those of all its documents.
const Root = contract.ODataRoot

// above begins the paths that are routed here: one with and one without a slash at its end could
// not both have a route.
const above = "/odata"

// Answers say 4.0, whatever version the client has: they are the same in 4.0 and 4.01, and so one
// cached answer serves clients that take no other. Requests may be written in either.
const (
	headerVersion = "OData-Version"
	version       = "4.0"
	headerMaximum = "OData-MaxVersion"
)

// lists are what the service asks.
type lists interface {
	AnswerRows(ctx *fasthttp.RequestCtx, to list.Route, q *contract.Question, v *list.View) error
	RowOf(e *contract.Endpoint, key, missing string) (version string, row uint64, err error)
	Computed(ctx *fasthttp.RequestCtx, snapshot string, answer func(v *state.Served) error) error
	QueryAll(v *state.Served, q *contract.Question, read func(list.Valued)) error
}

// sender sends what is no rows of lists.
type sender interface {
	BaseOf(ctx *fasthttp.RequestCtx) string
	Send(ctx *fasthttp.RequestCtx, contentType string, c list.Content) error
	SetPolicy(h *fasthttp.ResponseHeader, varies bool)
}

// Service answers OData requests from lists.
type Service struct {
	lists  lists
	sender sender
	routes list.ListRoutes
	sets   []*set
	docs   [2]func() *list.PageContent // $metadata in XML and JSON
}

// Surface is the service of lists as a surface of a server.
func Surface(l *list.Lists) list.Surface {
	m := l.Routes.MountIn(contract.HAPINames)
	s := &Service{routes: m.Lists}
	of := &list.Standard{
		Lists: l, Mount: m, Root: Root, Private: l.State.Options.ODataIdentifier,
		Prepare: s.addSets, Answer: s.answer, FaultOf: faultOf, Fields: []string{headerVersion, version},
		FaultType: form{}.contentType(), FaultTexts: [3]string{`{"error":{"code":`, `,"message":`, "}}"},
	}
	s.lists, s.sender = of, of
	return of.Surface(above, above+"/"+list.Wildcard)
}

// addSets adds the sets of lists, and those that are computed.
func (s *Service) addSets() {
	s.docs = [2]func() *list.PageContent{
		list.MadeOnce(func() ([]byte, error) { return metadataXML(s.sets) }),
		list.MadeOnce(func() ([]byte, error) { return metadataJSON(s.sets) }),
	}
	endpoints := contract.EndpointsIn(contract.HAPINames)
	for i := range endpoints {
		key := contract.PlanKey{Endpoint: &endpoints[i], Kind: contract.Rows}
		s.sets = append(s.sets, listSet(s.routes[key]))
	}
	s.sets = append(s.sets, s.computedSets()...)
}

func (s *Service) answer(ctx *fasthttp.RequestCtx) error {
	if most := string(ctx.Request.Header.Peek(headerMaximum)); most != "" && !strings.HasPrefix(most, "4.") {
		return badRequest("answers have OData version 4.0, and the client takes at most %s", list.Quoted(most))
	}
	path, isHere := strings.CutPrefix(reply.PathOf(ctx)+"/", Root)
	switch path = strings.TrimRight(path, "/"); {
	case !isHere:
		return list.NotFound("the service is at %s", Root)
	case path == "":
		return s.answerDocument(ctx)
	case path == "$metadata":
		return s.answerMetadata(ctx)
	case strings.HasPrefix(path, vocabularyFolder):
		return s.answerVocabulary(ctx, path)
	case strings.HasPrefix(path, "$"):
		return notImplemented("%s is not here; ask for sets one by one", list.Quoted(path))
	case strings.HasSuffix(path, workbookEnding), path == connectionFile:
		return s.answerFile(ctx, path)
	}
	name, rest := path, ""
	if at := strings.IndexAny(path, "(/"); at >= 0 {
		name, rest = path[:at], path[at:]
	}
	of, err := s.setOf(name)
	if err != nil {
		return err
	}
	known := []string{"format", "select"}
	switch {
	case rest == "" || rest == "()":
		known = []string{"format", "select", "filter", "orderby", "top", "skip", "count", "skiptoken"}
	case rest == "/$count":
		known = []string{"format", "filter"}
	}
	o, err := readOptions(ctx, of, known...)
	if err != nil {
		return err
	}
	a := &request{service: s, of: of, options: o, ctx: ctx, base: s.sender.BaseOf(ctx)}
	a.link = a.base + of.Name + "?" + o.kept
	switch key, isKey := keyIn(rest); {
	case rest == "/$count":
		a.onlyCount = true
	case isKey:
		a.key = key
	case rest != "" && rest != "()":
		return notImplemented("%s has no parts that can be asked for: use $select", list.Quoted(path))
	}
	if of.endpoint == nil {
		return a.answerComputed()
	}
	return a.answerRows()
}

// setOf is the set with a name.
func (s *Service) setOf(name string) (*set, error) {
	return list.Named(s.sets, func(of *set) string { return of.Name }, "set", name, func(names []string) string {
		return "the sets are " + strings.Join(names, ", ")
	})
}

// keyIn is the key in the rest of a path: ('KEY') or (row_key='KEY').
func keyIn(rest string) (key string, ok bool) {
	key, ok = strings.CutPrefix(rest, "(")
	if key, closed := strings.CutSuffix(key, ")"); ok && closed {
		if value, named := strings.CutPrefix(strings.TrimSpace(key), render.RowKeyField); named {
			key = strings.TrimPrefix(strings.TrimSpace(value), "=")
		}
		key = strings.TrimSpace(key)
		if len(key) > 2 && key[0] == '\'' && key[len(key)-1] == '\'' {
			return strings.ReplaceAll(key[1:len(key)-1], "''", "'"), true
		}
	}
	return "", false
}

// answerMetadata answers with $metadata.
func (s *Service) answerMetadata(ctx *fasthttp.RequestCtx) error {
	o, err := readOptions(ctx, nil, "format")
	if err != nil {
		return err
	}
	at, contentType := 0, xmlType
	if !o.form.xml {
		at, contentType = 1, contract.JSONType
	}
	err = s.sender.Send(ctx, contentType, s.docs[at]())
	if !o.form.xml && !o.form.byName {
		s.sender.SetPolicy(&ctx.Response.Header, true)
	}
	return err
}

// answerDocument answers with the service document.
func (s *Service) answerDocument(ctx *fasthttp.RequestCtx) error {
	o, err := readOptions(ctx, nil, "format")
	if err != nil {
		return err
	}
	body, err := serviceDocument(s.sender.BaseOf(ctx), o.form, s.sets)
	if err != nil {
		return err
	}
	err = s.sender.Send(ctx, o.form.contentType(), list.Made(body))
	s.sender.SetPolicy(&ctx.Response.Header, o.varies())
	return err
}

// varies reports whether the answer depends on Accept or Prefer.
func (o *options) varies() bool {
	return o.preferred || !o.form.byName && (o.form.level != minimal || o.form.quoted)
}
