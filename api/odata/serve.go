package odata

import (
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/nearest"
)

// Root is the path of the service, and begins those of all its documents.
const Root = contract.ODataRoot

// above begins the paths that are routed here: one with and one without a slash at its end could
// not both have a route.
const above = "/odata/"

// Answers say 4.0, whatever version the client has: they are the same in 4.0 and 4.01, and so one
// cached answer serves clients that take no other. Requests may be written in either.
const (
	headerVersion = "OData-Version"
	version       = "4.0"
	headerMaximum = "OData-MaxVersion"
)

// maxURI is the longest address. Power Query sends at most 2,048 characters.
const maxURI = 8 << 10

// Service answers OData requests from the lists of a server.
type Service struct {
	state *state.State
	lists *list.Lists
	mount *list.Mount // of the lists in HAPI names
	sets  []*set
	docs  [2]func() *list.PageContent // $metadata in XML and JSON
}

// New returns a service for lists whose routes are registered.
func New(l *list.Lists) *Service {
	s := &Service{state: l.State, lists: l, mount: l.MountIn(contract.HAPINames)}
	endpoints := contract.EndpointsIn(contract.HAPINames)
	for i := range endpoints {
		s.sets = append(s.sets, listSet(s.mount.Lists[list.ListKey{Endpoint: &endpoints[i], Kind: contract.Rows}]))
	}
	s.sets = append(s.sets, s.computedSets()...)
	s.docs = [2]func() *list.PageContent{
		list.MadeOnce(func() ([]byte, error) { return metadataXML(s.sets) }),
		list.MadeOnce(func() ([]byte, error) { return metadataJSON(s.sets) }),
	}
	return s
}

// AddRoutes registers the paths of the service, at the root only.
func (s *Service) AddRoutes() {
	route := list.Route{Name: Root, Handler: s.handle, MaxURI: maxURI}
	s.lists.Add(s.lists.Routes.Mounts[0], above+list.Wildcard, route)
	failed := func(ctx *fasthttp.RequestCtx, status int, body string) { write(ctx, list.FaultOfBody(status, body)) }
	s.state.FaultForms = append(s.state.FaultForms, state.FaultForm{Root: above, Write: failed})
}

func (s *Service) handle(ctx *fasthttp.RequestCtx) {
	if err := s.answer(ctx); err != nil {
		s.answerFault(ctx, err)
	}
}

func (s *Service) answer(ctx *fasthttp.RequestCtx) error {
	if s.state.Options.ODataIdentifier {
		inQuery := contract.QueryIdentifier(ctx.URI().QueryString())
		if err := s.lists.CheckIdentifier(ctx, s.mount, inQuery); err != nil {
			return err
		}
	}
	if most := string(ctx.Request.Header.Peek(headerMaximum)); most != "" && !strings.HasPrefix(most, "4.") {
		return badRequest("answers have OData version 4.0, and the client takes at most %s", list.Quoted(most))
	}
	path, isHere := strings.CutPrefix(reply.PathOf(ctx)+"/", Root)
	switch path = strings.TrimRight(path, "/"); {
	case !isHere:
		return notFound("the service is at %s", Root)
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
	a := &request{service: s, set: of, options: o, ctx: ctx, base: s.lists.BaseOf(ctx) + Root}
	a.link = a.base + of.Name + "?" + o.kept
	switch key, isKey := keyIn(rest); {
	case rest == "/$count":
		a.onlyCount = true
	case isKey:
		a.key = key
	case rest != "" && rest != "()":
		return notImplemented("%s has no parts that can be asked for: use $select", list.Quoted(path))
	}
	if of.make != nil {
		return a.answerComputed()
	}
	return a.answerRows()
}

// setOf is the set with a name.
func (s *Service) setOf(name string) (*set, error) {
	names := make([]string, len(s.sets))
	for i, of := range s.sets {
		if names[i] = of.Name; of.Name == name {
			return of, nil
		}
	}
	if near := nearest.Of(strings.ReplaceAll(strings.ToLower(name), "-", "_"), names); near != "" {
		return nil, notFound("there is no set %s; did you mean %s?", list.Quoted(name), near)
	}
	return nil, notFound("there is no set %s; the sets are %s", list.Quoted(name), strings.Join(names, ", "))
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

// policy sets what caches may do with an answer.
func (s *Service) policy(h *fasthttp.ResponseHeader, varies bool) {
	s.lists.SetPolicy(h, varies, s.state.Options.ODataIdentifier)
}

// head is the head of a document.
func (s *Service) head(contentType string) *list.PageHead {
	fields := append(s.lists.PageFields(), headerVersion, version)
	head := list.NewPageHead(contentType, reply.DataPolicy, reply.LandingKey, fields...)
	return &head
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
	s.lists.SendContent(ctx, s.head(contentType), s.docs[at]())
	if !o.form.xml && !o.form.byName {
		s.policy(&ctx.Response.Header, true)
	}
	return nil
}

// answerDocument answers with the service document.
func (s *Service) answerDocument(ctx *fasthttp.RequestCtx) error {
	o, err := readOptions(ctx, nil, "format")
	if err != nil {
		return err
	}
	body, err := serviceDocument(s.lists.BaseOf(ctx)+Root, o.form, s.sets)
	if err != nil {
		return err
	}
	s.lists.SendPage(ctx, s.head(o.form.contentType()), body)
	s.policy(&ctx.Response.Header, o.varies())
	return nil
}

// varies reports whether the answer depends on Accept or Prefer.
func (o *options) varies() bool {
	return o.preferred || !o.form.byName && (o.form.level != minimal || o.form.quoted)
}
