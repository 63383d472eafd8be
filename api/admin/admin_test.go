package admin

import (
	"errors"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/api/reply"
	"hdqs/api/state"
)

// TestAnswer asks for each path, of a replica that is ready and of one that is not.
func TestAnswer(t *testing.T) {
	for _, ready := range []bool{true, false} {
		s := &Admin{
			Ready:   func() state.Readiness { return state.Readiness{Ready: ready} },
			Metrics: func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString("metrics") },
		}
		readyStatus := fasthttp.StatusOK
		if !ready {
			readyStatus = fasthttp.StatusServiceUnavailable
		}
		for _, c := range []struct {
			method, path string
			want         error
			status       int
			has          string
		}{
			{"GET", "/", nil, 200, "off; --admin-pprof"},
			{"GET", "/healthz", nil, 200, "ok"},
			{"GET", "/readyz", nil, readyStatus, `"draining":false`},
			{"GET", "/metrics", nil, 200, "metrics"},
			{"POST", "/healthz", reply.ErrMethodNotAllowed, 200, ""},
			{"GET", "/debug/pprof/", reply.ErrNotFound, 200, ""},
			{"POST", "/nothing", reply.ErrNotFound, 200, ""},
		} {
			var ctx fasthttp.RequestCtx
			ctx.Request.Header.SetMethod(c.method)
			ctx.Request.SetRequestURI(c.path)
			err := s.Answer(&ctx)
			status, body := ctx.Response.StatusCode(), string(ctx.Response.Body())
			if !errors.Is(err, c.want) || status != c.status || !strings.Contains(body, c.has) {
				t.Errorf("%s %s: %v, %d %.100s", c.method, c.path, err, status, body)
			}
		}
	}
}
