package api

import (
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/find"
	"hdqs/api/list"
	"hdqs/api/mcp"
	"hdqs/api/reply"
	"hdqs/api/site"
	"hdqs/api/state"
	"hdqs/api/wire"
)

// NewAgents returns what answers agents from the snapshot that is served. version is that of the
// program.
func (s *Server) NewAgents(version string) *mcp.Server {
	m := s.Lists.Routes.MountIn(contract.ContractNames)
	own := *m
	own.TakesTurns = true
	return mcp.New(mcp.Options{
		Lists: s.Lists, Mount: &own, Version: version, Log: s.State.Log,
		Sources: func(v *state.Served, name string) *state.Sources {
			return site.SourcesOf(s.State, m, v, name)
		},
		Find: func(v *state.Served, q find.Query) (*find.Answer, error) {
			return s.Site.Finder.Find(v, m, site.SuggestionsOf(q))
		},
		Page: func(path string) []byte { return s.Answer(fasthttp.MethodGet, m.Prefix+path, nil).Body },
	})
}

// Messages of agents have a tenth of the time of their slots: others wait for what the library of
// the protocol does with each, and for the collection of its garbage, wherever its tool runs. Each
// counts as a little longer than it took, for its garbage.
const (
	agentParts  = 10
	garbageTime = 3 * time.Millisecond
)

// addAgents registers the path of agents. Messages have slots of their own, so that people do not
// wait for a flood of them.
func (s *Server) addAgents(m *list.Mount) {
	answer := s.NewAgents(s.State.Options.Version).Handler(s.Lists.Pages.BaseOf)
	limited := func(ctx *fasthttp.RequestCtx) error {
		if !s.Lists.Admission.Agents.Enter(true) {
			return &reply.Busy{Rule: reply.RuleQueries}
		}
		began := time.Now()
		defer func() { s.Lists.Admission.Agents.LeaveLater(time.Since(began)+garbageTime, agentParts) }()
		reply.FaultHead.Begin(ctx)
		s.State.SetSnapshot(&ctx.Response.Header)
		answer(ctx)
		ctx.Response.Header.Set("Cache-Control", reply.NoStore)
		wire.Charge(ctx, len(ctx.Response.Body()))
		return nil
	}
	s.Lists.Routes.Add(m, mcp.Path, list.Route{Name: mcp.Path, Post: true, Answer: func(
		ctx *fasthttp.RequestCtx,
	) error {
		h := &ctx.Request.Header
		if why := mcp.Foreign(string(h.Host()), string(h.Peek("Origin")), s.State.Options.BaseURL); why != "" {
			return &reply.Fault{Status: fasthttp.StatusForbidden, Text: "Forbidden: " + why}
		}
		return s.Lists.Admission.Pass(func() error { return limited(ctx) })
	}})
}

// mostBody is the longest body of any request.
func (s *Server) mostBody() int {
	if s.State.Options.Agents {
		return mcp.MaxBody
	}
	return maxBody
}

// limitBody lets messages of agents be longer than other requests.
func (s *Server) limitBody(h *fasthttp.RequestHeader) (c fasthttp.RequestConfig) {
	most := maxBody
	if s.State.Options.Agents && string(h.RequestURI()) == mcp.Path {
		most, c.MaxRequestBodySize = mcp.MaxBody, mcp.MaxBody
	}
	wire.LimitExpectation(most)(h)
	return c
}
