package api

import (
	"github.com/valyala/fasthttp"
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

func answerVersion(ctx *fasthttp.RequestCtx) {
	ctx.Response.Header.SetContentType(jsonType)
	ctx.SetBodyString(bodyVersion)
}

// answerEncode makes an application identifier. Its answer holds a mail address, so nothing keeps it.
func answerEncode(ctx *fasthttp.RequestCtx) {
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
		answerError(ctx, &Invalid{Issues: issues})
		return
	}
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.Response.Header.SetContentType(jsonType)
	ctx.SetBody(append(appendJSONString([]byte(`{"encoded_app_identifier":`), identifier), '}'))
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
