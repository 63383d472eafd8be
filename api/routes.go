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

// maxGuessed is the longest unknown path for which a similar route is sought, in bytes.
const maxGuessed = 128

// nearest returns the route with the smallest edit distance from a path, empty if all differ in
// half of the path or more.
func (s *Server) nearest(path string) string {
	if len(path) > maxGuessed {
		return ""
	}
	best, least := "", len(path)/2+1
	for _, route := range s.paths {
		if d := distance(path, route); d < least {
			best, least = route, d
		}
	}
	return best
}

// distance returns the edit distance of two texts, in bytes.
func distance(a, b string) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := min(row[j], row[j+1]) + 1
			if a[i] == b[j] {
				next = min(next, corner)
			} else {
				next = min(next, corner+1)
			}
			corner, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
