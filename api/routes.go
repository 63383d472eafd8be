package api

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/render"
)

// Paths beside the list endpoints.
const (
	encodePath  = "/api/v2/encode_app_identifier"
	versionPath = "/api/v2/util/version"
)

// Versions that the service tells. SchemaVersion is that of the tables the records were designed with.
const (
	InterfaceVersion = "0.9.13"
	SchemaVersion    = "0.9.17"
)

const bodyVersion = `{"api_version":"` + InterfaceVersion + `","hapi_sqlalchemy_schema_version":"` + SchemaVersion + `"}`

// answerEncode makes an application identifier. Its answer holds a mail address, so nothing keeps it.
func (s *Server) answerEncode(ctx *fasthttp.RequestCtx) {
	var application, email rawValue
	eachPair(ctx.URI().QueryString(), func(name, encoded []byte) {
		switch {
		case nameIs(name, "application"):
			application = rawValue{given: true, encoded: encoded}
		case nameIs(name, "email"):
			email = rawValue{given: true, encoded: encoded}
		}
	})
	identifier, issues := encodeGiven(application, email)
	if issues != nil {
		s.answerError(ctx, &Invalid{Issues: issues})
		return
	}
	faultHead.begin(ctx)
	s.tellSnapshot(&ctx.Response.Header)
	ctx.SetBody(append(render.AppendJSONText([]byte(`{"encoded_app_identifier":`), identifier), '}'))
}

// encodeGiven also tells parameters that are missing.
func encodeGiven(application, email rawValue) (identifier string, issues []Issue) {
	identifier, issues = EncodeIdentifier(string(appendDecoded(nil, application.encoded)), string(appendDecoded(nil, email.encoded)))
	for i, issue := range issues {
		if issue.Param == "application" && !application.given || issue.Param == "email" && !email.given {
			issues[i] = missing(issue.Param)
		}
	}
	return identifier, issues
}

// farthest is the longest unknown path for which a route is sought, in bytes.
const farthest = 128

// nearest is the route that differs least from a path, empty when none is at all like it.
func (s *Server) nearest(path string) string {
	if len(path) > farthest {
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

// distance is how many bytes must be added, dropped or exchanged to make one text of the other.
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
