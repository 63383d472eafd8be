package ogc

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// Root is the path of the service, and begins those of all its documents.
const Root = "/ogc/"

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

// conformance is what the service keeps to, whole.
var conformance = []string{
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/html",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30",
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables",
}

// lists are what the service asks.
type lists interface {
	AnswerRows(ctx *fasthttp.RequestCtx, to list.Route, q *contract.Question, v *list.View) error
	RowOf(e *contract.Endpoint, key, missing string) (version string, row uint64, err error)
	Computed(snapshot string, answer func(v *state.Served) error) error
	Within(snapshot string, do func(v *state.Served) error) error
	QueryAll(v *state.Served, to *list.Route, q *contract.Question, read func(list.Valued)) error
	Once(v *state.Served, key any, make func() (any, error)) (any, error)
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
	routes      map[list.ListKey]list.Route
	boundaries  *boundary.Set
	version     string // of the boundaries
	collections []*collection
}

// Surface is the service of lists as a surface of a server.
func Surface(l *list.Lists) list.Surface {
	m := l.Routes.MountIn(contract.HAPINames)
	s := &Service{boundaries: l.State.Options.Boundaries, routes: m.Lists}
	of := &list.Standard{
		Lists: l, Mount: m, Root: Root, Private: l.State.Options.OGCIdentifier,
		Prepare: s.addCollections, Answer: s.answer, FaultOf: faultOf, FaultType: jsonType,
		FaultTexts: [3]string{`{"code":`, `,"description":`, "}"},
	}
	s.lists, s.sender = of, of
	above := strings.TrimSuffix(Root, "/")
	return of.Surface(above, above, Root+list.Wildcard)
}

// addCollections adds those of lists, and of areas.
func (s *Service) addCollections() {
	s.addLists()
	if s.boundaries != nil {
		s.version = versionOf(s.boundaries)
		s.addAreas()
	}
}

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

func (s *Service) answer(ctx *fasthttp.RequestCtx) error {
	path := strings.TrimSuffix(strings.TrimPrefix(reply.PathOf(ctx)+"/", Root), "/")
	a := &request{service: s, ctx: ctx, base: s.sender.BaseOf(ctx), path: path}
	if err := a.readQuery(); err != nil {
		return err
	}
	parts := strings.Split(path, "/")
	if len(parts) == 3 && parts[0] == "collections" && parts[2] == "items" {
		c, err := s.collectionOf(parts[1])
		if err != nil {
			return err
		}
		return a.answerItems(c)
	}
	for name := range a.sent {
		return invalid("there is no parameter %s here; this address takes f only", list.Quoted(name))
	}
	switch {
	case path == "":
		return a.answerLanding()
	case path == "conformance":
		return a.send(object{"conformsTo": conformance, "links": a.links(jsonType)}, jsonType,
			page{Title: "Conformance", About: "What the service keeps to."})
	case path == "api":
		return a.send(s.description(a.base), openAPIType, page{Title: "Description of the interface (OpenAPI 3.0)"})
	case path == "collections":
		return s.sender.Described(a.answerCollections)
	case len(parts) < 2 || parts[0] != "collections":
		return list.NotFound("there is no %s here; begin at %s", list.Quoted(path), Root)
	}
	c, err := s.collectionOf(parts[1])
	switch {
	case err != nil:
		return err
	case len(parts) == 2:
		return s.sender.Described(func() error {
			described := a.describe(c)
			links := described["links"].([]link)
			return a.send(described, jsonType, page{Title: c.title, About: c.about, Entries: links})
		})
	case len(parts) == 3 && parts[2] == "queryables":
		return a.send(c.queryables(a.base), schemaType, page{Title: c.title + ": what it can be filtered by"})
	case len(parts) == 4 && parts[2] == "items":
		return a.answerItem(c, parts[3])
	}
	return list.NotFound("there is no %s; of a collection there are items and queryables", list.Quoted(path))
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

func (a *request) answerLanding() error {
	const title = "Humanitarian data on the map"
	about := "Places with humanitarian data, as OGC API - Features: markets, and where the operator has given " +
		"boundaries, countries and their units with headline figures."
	links := append(
		a.links(jsonType),
		link{"service-desc", openAPIType, "description of the interface", a.at("api")},
		link{"service-doc", "text/html", "description of the interface as a page", a.at("api?f=html")},
		link{"conformance", jsonType, "what the service keeps to", a.at("conformance")},
		link{"data", jsonType, "collections", a.at("collections")},
	)
	doc := object{"title": title, "description": about, "links": links}
	return a.send(doc, jsonType, page{Title: title, About: about, Entries: links})
}

func (a *request) answerCollections() error {
	links := a.links(jsonType)
	var all []any
	entries := slices.Clone(links)
	for _, c := range a.service.collections {
		all = append(all, a.describe(c))
		entries = append(entries, link{Title: c.title, Href: a.at("collections/" + c.id + "?f=html")})
	}
	doc := object{"links": links, "collections": all}
	return a.send(doc, jsonType, page{Title: "Collections", Entries: entries})
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

// collectionOf is the collection with an id.
func (s *Service) collectionOf(id string) (*collection, error) {
	return list.Named(s.collections, func(c *collection) string { return c.id }, "collection", id,
		func(ids []string) string {
			if s.boundaries == nil {
				return "there are " + strings.Join(ids, " and ") +
					". Areas need boundaries, which the operator gives with --boundaries"
			}
			return "see " + Root + "collections"
		})
}
