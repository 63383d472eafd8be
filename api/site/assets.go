package site

import (
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/web"
)

// assetContents are made once for all servers of the process, each when it is first requested.
var assetContents = sync.OnceValue(func() []func() *list.PageContent {
	assets := web.Assets()
	all := make([]func() *list.PageContent, len(assets))
	for i := range assets {
		all[i] = list.MadeOnce(func() ([]byte, error) { return assets[i].Body(), nil })
	}
	return all
})

// addAssets registers what the pages of a mount load. The files are the same below each mount; each
// has them, since a proxy may pass on one prefix only.
func (s *Site) addAssets(m *list.Mount) {
	fields := []string{"Cache-Control", reply.ImmutableKept, "Vary", "Accept-Encoding"}
	assets, contents := web.Assets(), assetContents()
	for i := range assets {
		a := &assets[i]
		head := list.NewPageHead(a.Type, reply.DataPolicy, reply.PageKey, fields...)
		s.Lists.Add(m, a.Path, list.Route{Name: "/static", Handler: func(ctx *fasthttp.RequestCtx) {
			s.Lists.SendContent(ctx, &head, contents[i]())
		}})
	}
}
