package list

import (
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
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

// PageHead is the head of a page: of the page itself, and of the answer to a client that has it.
type PageHead struct {
	full, bare reply.Head
	Key        string // by which the page is purged
}

// NewPageHead returns the head of a page that caches keep as the fields say.
func NewPageHead(contentType, policy, key string, fields ...string) PageHead {
	safe := reply.Safe("Content-Type", contentType, "Content-Security-Policy", policy)
	return PageHead{reply.NewHead(append(safe, fields...)...), reply.NewHead(fields...), key}
}

// Pages sends what is not rows of a list.
type Pages struct{ State *state.State }

// Fields say how long caches keep a page that is the same for all requested hosts.
func (s *Pages) Fields() []string {
	fields := []string{"Cache-Control", s.State.Options.Freshness.Field(), "Vary", "Accept-Encoding"}
	if cdn := s.State.Options.Freshness.CDN; cdn != "" {
		fields = append(fields, "CDN-Cache-Control", cdn)
	}
	return fields
}

// SendContent answers with a page that is kept in each coding. Short ones are sent as they are.
func (s *Pages) SendContent(ctx *fasthttp.RequestCtx, head *PageHead, c *PageContent) error {
	coding, same, err := s.begin(ctx, head, &c.Tag)
	if same || err != nil {
		return err
	}
	if len(c.bodies[encode.Identity]) <= reply.MinEncoded && !encode.RefusesIdentity(reply.AcceptEncoding(ctx)) {
		coding = encode.Identity
	}
	if coding != encode.Identity {
		ctx.Response.Header.SetContentEncoding(coding.String())
	}
	ctx.Response.SetBodyRaw(c.bodies[coding])
	return nil
}

// SendPage answers with a page that was rendered for the request.
func (s *Pages) SendPage(ctx *fasthttp.RequestCtx, head *PageHead, body []byte) error {
	tag := reply.BodyTag(body)
	coding, same, err := s.begin(ctx, head, &tag)
	if same || err != nil {
		return err
	}
	sent := reply.Encoded(&ctx.Response.Header, nil, body, coding, true)
	ctx.Response.SetBodyRaw(sent)
	wire.ChargeOther(ctx, cap(sent))
	return nil
}

// begin writes the header of a page and chooses its coding. The answer is complete if the client
// has the same page.
func (s *Pages) begin(
	ctx *fasthttp.RequestCtx, head *PageHead, tag *reply.EntityTag,
) (coding encode.Coding, same bool, err error) {
	coding, ok := encode.Negotiate(reply.AcceptEncoding(ctx))
	if !ok {
		return coding, false, reply.ErrNotAcceptable
	}
	same, err = (&reply.Validators{Tag: tag.Text()}).Check(&ctx.Request.Header, LogOf(ctx).mayHave())
	if err != nil {
		return coding, false, err
	}
	chosen := head.full
	if same {
		chosen = head.bare
	}
	h := chosen.Begin(ctx)
	if same {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
	}
	s.State.SetSnapshot(h)
	h.SetCanonical(reply.NameETag, tag.Text())
	s.State.SetPageKeys(h, head.Key)
	return coding, same, nil
}

// BaseOf returns the address of the service for example calls: that of the options, or else the
// requested host.
func (s *Pages) BaseOf(ctx *fasthttp.RequestCtx) string {
	if s.State.Options.BaseURL != "" {
		return s.State.Options.BaseURL
	}
	return "http://" + string(ctx.Host())
}
