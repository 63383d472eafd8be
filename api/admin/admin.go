package admin

import (
	"encoding/json"
	"strings"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/pprofhandler"

	"hdqs/api/contract"
	"hdqs/api/reply"
)

// Answer answers a request. It returns the error to answer with.
func (s *Admin) Answer(ctx *fasthttp.RequestCtx) error {
	reply.FaultHead.Begin(ctx)
	path := string(ctx.Path())
	answer := AdminPaths[path]
	if s.Profiles && strings.HasPrefix(path, pprofPath) {
		answer = answerProfile
	}
	switch {
	case answer == nil:
		return reply.ErrNotFound
	case !ctx.IsGet() && !ctx.IsHead():
		return reply.ErrMethodNotAllowed
	}
	return answer(s, ctx)
}

// AdminPaths are the paths of the admin listener, besides those of profiles.
var AdminPaths = map[string]func(*Admin, *fasthttp.RequestCtx) error{
	"/": (*Admin).answerIndex, "/healthz": answerAlive, "/readyz": (*Admin).answerReadiness,
	"/metrics": (*Admin).answerMetrics,
}

func (s *Admin) answerMetrics(ctx *fasthttp.RequestCtx) error {
	s.Metrics(ctx)
	return nil
}

func answerAlive(_ *Admin, ctx *fasthttp.RequestCtx) error {
	ctx.Response.Header.SetContentType("text/plain; charset=utf-8")
	ctx.SetBodyString("ok\n")
	return nil
}

// pprofPath begins the paths of Go's profiles.
const pprofPath = "/debug/pprof/"

func answerProfile(_ *Admin, ctx *fasthttp.RequestCtx) error {
	if string(ctx.Path()) == pprofPath {
		ctx.URI().SetPath(strings.TrimRight(pprofPath, "/")) // where the library has its index
	}
	pprofhandler.PprofHandler(ctx)
	return nil
}

func (s *Admin) answerIndex(ctx *fasthttp.RequestCtx) error {
	profiles := "off; --admin-pprof turns them on"
	if s.Profiles {
		profiles = "CPU, memory and goroutines of the process"
	}
	ctx.Response.Header.SetContentType(reply.HtmlType)
	ctx.SetBodyString(`<!doctype html><html lang="en"><meta charset="utf-8"><title>hdqs admin</title>
<h1>hdqs admin</h1>
<p>Keep this listener private.</p>
<dl>
<dt><a href="/healthz">/healthz</a><dd>200 while the process runs
<dt><a href="/readyz">/readyz</a><dd>200 when this replica should get traffic, else 503;
JSON with the snapshot, its age, its tables, stale sources and the last poll of the store
<dt><a href="/metrics">/metrics</a><dd>metrics for Prometheus
<dt><a href="/debug/pprof/">/debug/pprof/</a><dd>profiles: ` + profiles + `
</dl>
`)
	return nil
}

// answerReadiness answers whether this replica should get traffic: it serves a snapshot and is not
// about to end. The age of the data is not a criterion, since all replicas would become unready at
// once.
func (s *Admin) answerReadiness(ctx *fasthttp.RequestCtx) error {
	r := s.Ready()
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if !r.Ready {
		ctx.SetStatusCode(fasthttp.StatusServiceUnavailable)
	}
	ctx.Response.Header.SetContentType(contract.JSONType)
	ctx.SetBody(append(body, '\n'))
	return nil
}
