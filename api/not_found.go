package api

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/ogc"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/nearest"
)

// answerUnknown answers a path without a route: with a redirect if the path has a route without its
// trailing slashes, or is a prefix without its slash; otherwise with 404.
func (s *Server) answerUnknown(ctx *fasthttp.RequestCtx, path string) error {
	short := strings.TrimRight(path, "/")
	if path == s.Site.RootOf(path) {
		short = path + "/"
	}
	handler := s.Lists.Routes.HandlerOf(short)
	if path == ogc.Root && handler != nil {
		handler(ctx) // QGIS follows no redirect to a path without a host
		return nil
	}
	if len(short) == len(path) || handler == nil {
		near, hint := s.meantPath(path)
		if s.Site.WantsPage(ctx, path) {
			return s.Site.AnswerMissing(ctx, path, near)
		}
		h := reply.NotFoundHead.Begin(ctx)
		s.State.FinishFault(ctx, reply.ErrNotFound) // the contract has no more in it
		if near != "" {
			h.Set("Link", "<"+near+`>; rel="related"`)
		}
		if hint != "" {
			h.Set(contract.HeaderHint, hint)
		}
		return nil
	}
	if query := ctx.URI().QueryString(); len(query) > 0 {
		short += "?" + string(query)
	}
	s.State.SetSnapshot(reply.Redirect(ctx, fasthttp.StatusTemporaryRedirect, short))
	return nil
}

// listsByName are the positions of endpoints by the last part of their paths, in both sets of names
// and both versions: conflict-event is conflict-events.
var listsByName = sync.OnceValue(func() map[string]int {
	all := map[string]int{}
	for set := range contract.NameSet(state.NameSets) {
		endpoints := contract.EndpointsIn(set)
		for i := range endpoints {
			for _, p := range endpoints[i].Paths() {
				all[path.Base(p)] = i
			}
		}
	}
	return all
})

// meantPath returns the path that a path without a route probably means, and a hint at it for paths
// of lists. Both are empty if there is none.
func (s *Server) meantPath(sent string) (near, hint string) {
	given := sent
	// A base address that ends in a slash gives two.
	if sent = path.Clean(sent); sent != given && s.Lists.Routes.HandlerOf(sent) != nil {
		return sent, "did you mean " + sent + "?"
	}
	m := s.Lists.Routes.MountOf(sent)
	rest, isList := strings.CutPrefix(sent[len(m.Prefix):], "/api/")
	if !isList {
		return s.nearestPath(sent), ""
	}
	if moved := contract.HAPIPrefix + sent; contract.IsV1(sent) && s.Lists.Routes.HandlerOf(moved) != nil {
		return moved, "version 1 is at " + moved
	}
	name, kind := path.Base(rest), ""
	if slices.Contains(s.Lists.Routes.ComputedKinds(), name) {
		name, kind = path.Base(path.Dir(rest)), "/"+name
	}
	lists := listsByName()
	i, known := lists[name]
	if !known {
		i, known = lists[nearest.Of(name, slices.Sorted(maps.Keys(lists)))]
	}
	if known {
		near = m.Prefix + contract.EndpointsIn(m.Names)[i].Path + kind
	}
	if near == "" || near == sent || s.Lists.Routes.HandlerOf(near) == nil {
		if near = s.nearestPath(sent); nearest.Of(path.Base(sent), []string{path.Base(near)}) == "" {
			return near, "no such path; " + m.Prefix + contract.IndexPaths[m.Names][0] + " lists them"
		}
	}
	return near, "did you mean " + near + "?"
}

// nearestPath returns the path with a route that was probably meant, empty if none is near. What is
// computed of an endpoint's rows is looked for in two steps, so that a path is not compared with
// every such path of every endpoint.
func (s *Server) nearestPath(path string) string {
	m := s.Lists.Routes.MountOf(path)
	if at := strings.LastIndexByte(path, '/'); at > 0 && len(s.Lists.Routes.RecordSources) > 0 {
		kind := nearest.Of(path[at+1:], s.Lists.Routes.ComputedKinds())
		endpoint := path[:at]
		if kind != "" && s.Lists.Routes.HandlerOf(endpoint) == nil {
			endpoint = nearest.Of(endpoint, m.Paths)
		}
		meant := endpoint + "/" + kind
		isAsDeep := strings.Count(meant, "/") == strings.Count(path, "/")
		if kind != "" && isAsDeep && s.Lists.Routes.HandlerOf(meant) != nil {
			return meant
		}
	}
	return nearest.Of(path, m.Paths)
}
