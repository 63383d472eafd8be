package ogc

import (
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
)

// Root is the path of the service, and begins those of all its documents.
const Root = "/ogc/"

// conformance is what the service keeps to, whole.
var conformance = []string{
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/html",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30",
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables",
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
