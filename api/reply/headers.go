package reply

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
)

// Header names and values that all answers of a kind share.
const (
	CsvType   = "text/csv; charset=utf-8"
	HtmlType  = "text/html; charset=utf-8"
	GeoType   = "application/geo+json"
	LinesType = "application/x-ndjson"

	HeaderRequestID = "X-Request-Id"

	ExposedHeaders = "Content-Disposition, ETag, Link, Retry-After, X-Data-Provisional, X-Data-Stale, " +
		"X-Data-Updated, X-Hint, X-Request-Id, X-Result-Count, X-Snapshot-Id, X-Total-Count, X-Unknown-Params"
	preflightSeconds = "86400"

	NoStore         = "no-store"
	unknownPathKept = "max-age=60" // of a 404: a popular page may have a mistyped link
	ImmutableKept   = "public, max-age=31536000, immutable"
	DataPolicy      = "default-src 'none'"
)

// preflightHeaders are the header fields that pages of other origins may send.
var preflightHeaders = contract.ContractNames.IdentifierHeader() + ", " + contract.HAPINames.IdentifierHeader() +
	", Cache-Control, Content-Type, If-Modified-Since, If-None-Match, If-Range, OData-MaxVersion, OData-Version" +
	", Pragma, Prefer, Range, X-Requested-With"

// Header names in canonical form, which are set without conversion.
var (
	NameETag        = []byte("Etag")
	NameLink        = []byte("Link")
	NameTotal       = []byte(contract.HeaderTotal)
	NameProvisional = []byte(contract.HeaderProvisional)
	NameResult      = []byte(contract.HeaderResult)
	NameSnapshot    = []byte(contract.HeaderSnapshot)
	nameUnknown     = []byte(contract.HeaderUnknown)
	NameHint        = []byte(contract.HeaderHint)
	NameSurrogate   = []byte("Surrogate-Key")
	NameCacheTag    = []byte("Cache-Tag")
	NameDisposition = []byte("Content-Disposition")
	NameRequestID   = []byte(HeaderRequestID)
	NameRetryAfter  = []byte("Retry-After")

	retryAfter   = []byte("1")
	retryRefused = []byte("5") // of a bulk file, which may be put back soon
)

// Freshness is how long caches may use a successful answer. Zero durations are the defaults: 1
// minute, 1 hour, 1 day, 7 days. A negative duration is zero.
type Freshness struct {
	MaxAge               time.Duration // of browsers
	SharedMaxAge         time.Duration // of shared caches
	StaleWhileRevalidate time.Duration // how long a stale answer may be used while a fresh one is fetched
	StaleIfError         time.Duration // how long a stale answer may be used while the service is down

	// CDN is the value of CDN-Cache-Control on successful answers, for edges that need other times
	// than those in Cache-Control. Empty omits the field.
	CDN string
}

// Field returns the value of Cache-Control.
func (f *Freshness) Field() string {
	text := "public"
	for _, d := range []struct {
		name        string
		given, zero time.Duration
	}{
		{"max-age", f.MaxAge, time.Minute},
		{"s-maxage", f.SharedMaxAge, time.Hour},
		{"stale-while-revalidate", f.StaleWhileRevalidate, 24 * time.Hour},
		{"stale-if-error", f.StaleIfError, 7 * 24 * time.Hour},
	} {
		if length := max(0, cmp.Or(d.given, d.zero)); length > 0 || strings.HasSuffix(d.name, "age") {
			text += ", " + d.name + "=" + strconv.FormatInt(int64(length/time.Second), 10)
		}
	}
	return text
}

// Head is the start of an answer: all header fields that do not depend on the request, ready to be
// copied.
type Head struct{ fields *fasthttp.ResponseHeader }

// NewHead makes a head of fields, given as name, value, name, value. All heads allow pages of other
// origins to read the answer, since it does not depend on the caller.
func NewHead(fields ...string) Head {
	h := new(fasthttp.ResponseHeader)
	h.SetNoDefaultContentType(true)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", ExposedHeaders)
	for i := 0; i < len(fields); i += 2 {
		h.Set(fields[i], fields[i+1])
	}
	return Head{h}
}

// Safe returns the security fields of answers with a body, followed by more.
func Safe(fields ...string) []string {
	return append([]string{
		"X-Content-Type-Options", "nosniff",
		"Referrer-Policy", "no-referrer",
		"Content-Security-Policy", DataPolicy,
	}, fields...)
}

// Begin sets the head of an answer, replacing all fields that it had.
func (h Head) Begin(ctx *fasthttp.RequestCtx) *fasthttp.ResponseHeader {
	h.fields.CopyTo(&ctx.Response.Header)
	return &ctx.Response.Header
}

// Redirect answers with another address, which no cache keeps.
func Redirect(ctx *fasthttp.RequestCtx, status int, to string) *fasthttp.ResponseHeader {
	h := plainHead.Begin(ctx)
	h.Set("Location", to)
	h.Set("Cache-Control", NoStore)
	ctx.SetStatusCode(status)
	return h
}

// Heads that depend neither on options nor on the snapshot.
var (
	plainHead    = NewHead(Safe()...)
	FaultHead    = NewHead(Safe("Cache-Control", NoStore, "Content-Type", contract.JSONType)...)
	NotFoundHead = NewHead(Safe("Cache-Control", unknownPathKept, "Content-Type", contract.JSONType)...)

	// OptionsHead is the answer to a preflight request. It is the same for all callers, so an edge
	// may cache it.
	OptionsHead = NewHead(
		"Allow", contract.AllowedMethods,
		"Access-Control-Allow-Methods", contract.AllowedMethods,
		"Access-Control-Allow-Headers", preflightHeaders,
		"Access-Control-Max-Age", preflightSeconds,
		"Cache-Control", "public, max-age="+preflightSeconds,
	)
)

// ExposedOfFiles are the header fields of files that pages of other origins may read.
const ExposedOfFiles = ExposedHeaders + ", Accept-Ranges, Content-Length, Content-Range"

// Exposed adds the field by which browsers may read an answer's own fields. Only answers that have
// some need it. X-Hint and X-Data-Provisional are exposed anyway.
func Exposed(own ...HeaderField) []HeaderField {
	names := ExposedHeaders
	for _, f := range own {
		if f.Name != contract.HeaderHint && f.Name != contract.HeaderProvisional {
			names += ", " + f.Name
		}
	}
	if names == ExposedHeaders {
		return own
	}
	return append(own, HeaderField{Name: "Access-Control-Expose-Headers", Value: names})
}
