package list

import (
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
	"hdqs/api/reply"
)

// PageContent is made when the page is first requested, so that a start does not wait for it.
type PageContent struct {
	bodies map[encode.Coding][]byte
	Tag    reply.EntityTag
}

// MadeOnce returns the page that write writes. An error is a bug: what pages are made of is ours.
func MadeOnce(write func() ([]byte, error)) func() *PageContent {
	return sync.OnceValue(func() *PageContent {
		body, err := write()
		if err != nil {
			panic(err)
		}
		return NewContent(body)
	})
}

// NewContent compresses a body once for each coding.
func NewContent(body []byte) *PageContent {
	return &PageContent{map[encode.Coding][]byte{
		encode.Identity: body, encode.Gzip: encode.AppendGzip(nil, body), encode.Zstd: encode.AppendZstd(nil, body),
	}, reply.BodyTag(body)}
}

// PageFields are the header fields of pages.
func (s *Lists) PageFields(more ...string) []string {
	fields := append(more, "Cache-Control", s.Options.Freshness.Field(), "Vary", "Accept-Encoding")
	if cdn := s.Options.Freshness.CDN; cdn != "" {
		fields = append(fields, "CDN-Cache-Control", cdn)
	}
	return fields
}

// Send answers with the body in a coding; short ones are sent as they are.
func (c *PageContent) Send(ctx *fasthttp.RequestCtx, coding encode.Coding) {
	if len(c.bodies[encode.Identity]) <= reply.MinEncoded && !encode.RefusesIdentity(reply.AcceptEncoding(ctx)) {
		coding = encode.Identity
	}
	if coding != encode.Identity {
		ctx.Response.Header.SetContentEncoding(coding.String())
	}
	ctx.Response.SetBodyRaw(c.bodies[coding])
}

// BeginPage writes the header of a page and chooses its coding. ok is false if the answer is
// complete: there is no such coding, a precondition does not hold, or the client has the page.
func (s *Lists) BeginPage(
	ctx *fasthttp.RequestCtx, full, bare reply.Head, tag *reply.EntityTag, key string,
) (coding encode.Coding, ok bool) {
	if coding, ok = encode.Negotiate(reply.AcceptEncoding(ctx)); !ok {
		s.AnswerError(ctx, reply.ErrNotAcceptable)
		return coding, false
	}
	if !reply.PreconditionHolds(&ctx.Request.Header, nil, time.Time{}) {
		s.AnswerError(ctx, reply.ErrPrecondition)
		return coding, false
	}
	same := reply.NotModified(&ctx.Request.Header, tag.Text(), time.Time{})
	if same {
		full = bare
	}
	h := full.Begin(ctx)
	if same {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
	}
	s.SetSnapshot(h)
	h.SetCanonical(reply.NameETag, tag.Text())
	s.SetPageKeys(h, key)
	return coding, !same
}

// BaseOf returns the address of the service for example calls: that of the options, or else the
// requested host.
func (s *Lists) BaseOf(ctx *fasthttp.RequestCtx) string {
	if s.Options.BaseURL != "" {
		return s.Options.BaseURL
	}
	return "http://" + string(ctx.Host())
}
