package api

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/render"
)

// bodyVersion is the body of VersionPath.
const bodyVersion = `{"api_version":"` + contract.InterfaceVersion +
	`","hapi_sqlalchemy_schema_version":"` + contract.SchemaVersion + `"}`

// answerEncode makes an application identifier. Its answer contains an e-mail address, so no cache
// may store it.
func (s *Server) answerEncode(ctx *fasthttp.RequestCtx) {
	identifier, issues := contract.EncodeQuery(ctx.URI().QueryString())
	if issues != nil {
		s.answerError(ctx, &contract.Invalid{Issues: issues})
		return
	}
	faultHead.begin(ctx)
	s.setSnapshot(&ctx.Response.Header)
	ctx.SetBody(append(render.AppendJSONText([]byte(`{"encoded_app_identifier":`), identifier), '}'))
}
