package reply

import (
	"bytes"
	"unsafe"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
)

// PathOf returns the path without percent encoding. It is not normalised: "/a/../b" has no route.
// An empty path is the root (RFC 9110, 4.2.3), as in "http://a?limit=1". The result is valid until
// the request has been answered.
func PathOf(ctx *fasthttp.RequestCtx) string {
	sent := ctx.Request.Header.RequestURI()
	if sent[0] != '/' {
		sent = ctx.URI().PathOriginal()
	} else { // fasthttp would parse a host from "//a/docs?://"
		sent, _, _ = bytes.Cut(sent, queryMark)
		sent, _, _ = bytes.Cut(sent, fragmentMark)
	}
	if len(sent) == 0 {
		return "/"
	}
	if bytes.IndexByte(sent, '%') >= 0 {
		sent = contract.AppendUnescaped(nil, sent, false)
	}
	return TextOf(sent)
}

var queryMark, fragmentMark = []byte{'?'}, []byte{'#'}

// TextOf returns bytes of a request as a string without copying them. It is valid until the request
// has been answered.
func TextOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// IdentifierOf returns the app identifier of a request: that of the query, or else of a header.
func IdentifierOf(ctx *fasthttp.RequestCtx, identifier []byte) []byte {
	for set := contract.ContractNames; len(identifier) == 0 && set <= contract.HAPINames; set++ {
		identifier = ctx.Request.Header.Peek(set.IdentifierHeader())
	}
	return identifier
}

// AcceptEncoding joins the values of Accept-Encoding with commas. The result is valid until the
// request has been answered.
func AcceptEncoding(ctx *fasthttp.RequestCtx) string {
	values := ctx.Request.Header.PeekAll(fasthttp.HeaderAcceptEncoding)
	switch len(values) {
	case 0:
		return ""
	case 1:
		return TextOf(values[0])
	}
	return string(bytes.Join(values, []byte(",")))
}

// Encoded appends a compressed body, or the body itself if it is too short for compression to help
// and the client accepts that.
func Encoded(h *fasthttp.ResponseHeader, dst, body []byte, coding encode.Coding, always bool) []byte {
	if coding == encode.Identity || len(body) <= MinEncoded && !always {
		return append(dst, body...)
	}
	h.Set("Content-Encoding", coding.String())
	if coding == encode.Zstd {
		return encode.AppendZstd(dst, body)
	}
	return encode.AppendGzip(dst, body)
}

// MinEncoded is the length up to which a body is sent uncompressed even if the client accepts
// compressed ones.
const MinEncoded = 1 << 10
