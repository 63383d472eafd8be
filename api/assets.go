package api

import (
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/web"
)

// assetContents are made once for all servers of the process, each when it is first requested.
var assetContents = sync.OnceValue(func() []func() *pageContent {
	assets := web.Assets()
	all := make([]func() *pageContent, len(assets))
	for i := range assets {
		all[i] = madeOnce(func() ([]byte, error) { return assets[i].Body(), nil })
	}
	return all
})

// addAssets registers what the pages of a mount load. The files are the same below each mount; each
// has them, since a proxy may pass on one prefix only.
func (s *Server) addAssets(m *mount) {
	fields := []string{"Cache-Control", immutableKept, "Vary", "Accept-Encoding"}
	bare := newHead(fields...)
	assets, contents := web.Assets(), assetContents()
	for i := range assets {
		a := &assets[i]
		full := newHead(append(fields, safe("Content-Type", a.Type, "Content-Security-Policy", dataPolicy)...)...)
		s.add(m, a.Path, route{name: "/static", handler: func(ctx *fasthttp.RequestCtx) {
			made := contents[i]()
			if coding, ok := s.beginPage(ctx, full, bare, &made.tag, pageKey); ok {
				made.send(ctx, coding)
			}
		}})
	}
}
