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
		encode.Identity: body, encode.Gzip: encode.AppendPage(nil, body), encode.Zstd: encode.AppendZstd(nil, body),
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

// Content is what a page sends: PageContent, Made, or pieces.
type Content interface {
	tagOf() *reply.EntityTag
	send(ctx *fasthttp.RequestCtx, s *state.State, coding encode.Coding)
}

// Send answers with a page, unless the client has the same one.
func (s *Pages) Send(ctx *fasthttp.RequestCtx, head *PageHead, c Content) error {
	coding, ok := encode.Negotiate(reply.AcceptEncoding(ctx))
	if !ok {
		return reply.ErrNotAcceptable
	}
	tag := c.tagOf().Text()
	same, err := (&reply.Validators{Tag: tag}).Check(&ctx.Request.Header, LogOf(ctx).mayHave())
	if err != nil {
		return err
	}
	chosen := head.full
	if same {
		chosen = head.bare
	}
	h := chosen.Begin(ctx)
	h.SetCanonical(reply.NameETag, tag)
	s.State.SetPage(ctx, head.Key)
	if same {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
	} else {
		c.send(ctx, s.State, coding)
	}
	return nil
}

func (c *PageContent) tagOf() *reply.EntityTag { return &c.Tag }

// send sends the page in the coding that the client prefers. Short ones are sent as they are.
func (c *PageContent) send(ctx *fasthttp.RequestCtx, _ *state.State, coding encode.Coding) {
	if len(c.bodies[encode.Identity]) <= reply.MinEncoded && !encode.RefusesIdentity(reply.AcceptEncoding(ctx)) {
		coding = encode.Identity
	}
	if coding != encode.Identity {
		ctx.Response.Header.SetContentEncoding(coding.String())
	}
	ctx.Response.SetBodyRaw(c.bodies[coding])
}

// Made is a page that was made for the request.
type Made []byte

func (c Made) tagOf() *reply.EntityTag {
	tag := reply.BodyTag(c)
	return &tag
}

func (c Made) send(ctx *fasthttp.RequestCtx, _ *state.State, coding encode.Coding) {
	var sent []byte
	if coding == encode.Gzip {
		ctx.Response.Header.Set("Content-Encoding", coding.String())
		sent = encode.AppendPage(nil, c)
	} else {
		sent = reply.Encoded(&ctx.Response.Header, nil, c, coding, true)
	}
	ctx.Response.SetBodyRaw(sent)
	wire.ChargeOther(ctx, cap(sent))
}

// BaseOf returns the address of the service for example calls: that of the options, or else the
// requested host.
func (s *Pages) BaseOf(ctx *fasthttp.RequestCtx) string {
	if s.State.Options.BaseURL != "" {
		return s.State.Options.BaseURL
	}
	return "http://" + string(ctx.Host())
}
