package site

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/reply"
)

// bodyVersion is the body of VersionPath.
const bodyVersion = `{"api_version":"` + contract.InterfaceVersion +
	`","hapi_sqlalchemy_schema_version":"` + contract.SchemaVersion + `"}`

// AnswerEncode makes an application identifier. Its answer contains an e-mail address, so no cache
// may store it.
func (s *Site) AnswerEncode(ctx *fasthttp.RequestCtx) {
	identifier, issues := contract.EncodeQuery(ctx.URI().QueryString())
	if issues != nil {
		s.State.AnswerError(ctx, &contract.Invalid{Issues: issues})
		return
	}
	reply.FaultHead.Begin(ctx)
	s.State.SetSnapshot(&ctx.Response.Header)
	ctx.SetBody(append(render.AppendJSONText([]byte(`{"encoded_app_identifier":`), identifier), '}'))
}
