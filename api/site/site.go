// Package site answers with pages for people and crawlers: the reference, pages of records, what is
// served and what changed.
package site

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/find"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// Site answers with pages about what its lists serve.
type Site struct {
	State  *state.State
	Lists  *list.Lists
	Finder *find.Finder
	bulk   func() string
	drawn  pictures
}

// New returns the pages about lists. bulk is the latest snapshot that has bulk files, empty without
// one.
func New(l *list.Lists, bulk func() string) *Site {
	return &Site{State: l.State, Lists: l, bulk: bulk, Finder: find.New(l)}
}

// bodyVersion is the body of VersionPath.
const bodyVersion = `{"api_version":"` + contract.InterfaceVersion +
	`","hapi_sqlalchemy_schema_version":"` + contract.SchemaVersion + `"}`

// AnswerEncode makes an application identifier. Its answer contains an e-mail address, so no cache
// may store it.
func (s *Site) AnswerEncode(ctx *fasthttp.RequestCtx) error {
	identifier, issues := contract.EncodeQuery(ctx.URI().QueryString())
	if issues != nil {
		return &contract.Invalid{Issues: issues}
	}
	reply.FaultHead.Begin(ctx)
	s.State.SetSnapshot(&ctx.Response.Header)
	ctx.SetBody(append(render.AppendJSONText([]byte(`{"encoded_app_identifier":`), identifier), '}'))
	return nil
}
