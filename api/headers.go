package api

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
	csvType  = "text/csv; charset=utf-8"
	htmlType = "text/html; charset=utf-8"
	geoType  = "application/geo+json"

	headerRequestID = "X-Request-Id"

	exposedHeaders = "Content-Disposition, ETag, Link, Retry-After, X-Data-Stale, X-Data-Updated, X-Hint, " +
		"X-Request-Id, X-Result-Count, X-Snapshot-Id, X-Total-Count, X-Unknown-Params"
	preflightSeconds = "86400"

	noStore         = "no-store"
	unknownPathKept = "max-age=60" // of a 404: a popular page may have a mistyped link
	immutableKept   = "public, max-age=31536000, immutable"
	dataPolicy      = "default-src 'none'"
)

// preflightHeaders are the header fields that pages of other origins may send.
var preflightHeaders = contract.ContractNames.IdentifierHeader() + ", " + contract.HAPINames.IdentifierHeader() +
	", If-None-Match, If-Modified-Since, If-Range, Prefer, Range"

// Header names in canonical form, which are set without conversion.
var (
	nameETag        = []byte("Etag")
	nameLink        = []byte("Link")
	nameTotal       = []byte(contract.HeaderTotal)
	nameResult      = []byte(contract.HeaderResult)
	nameSnapshot    = []byte(contract.HeaderSnapshot)
	nameUnknown     = []byte(contract.HeaderUnknown)
	nameHint        = []byte(contract.HeaderHint)
	nameSurrogate   = []byte("Surrogate-Key")
	nameCacheTag    = []byte("Cache-Tag")
	nameDisposition = []byte("Content-Disposition")
	nameRequestID   = []byte(headerRequestID)
	nameRetryAfter  = []byte("Retry-After")

	retryAfter   = []byte("1")
	retryRefused = []byte("5") // most damage is repaired at once
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

// field returns the value of Cache-Control.
func (f *Freshness) field() string {
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

// head is the start of an answer: all header fields that do not depend on the request, ready to be
// copied.
type head struct{ fields *fasthttp.ResponseHeader }

// newHead makes a head of fields, given as name, value, name, value. All heads allow pages of other
// origins to read the answer, since it does not depend on the caller.
func newHead(fields ...string) head {
	h := new(fasthttp.ResponseHeader)
	h.SetNoDefaultContentType(true)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
	for i := 0; i < len(fields); i += 2 {
		h.Set(fields[i], fields[i+1])
	}
	return head{h}
}

// safe returns the security fields of answers with a body, followed by more.
func safe(fields ...string) []string {
	return append([]string{
		"X-Content-Type-Options", "nosniff",
		"Referrer-Policy", "no-referrer",
		"Content-Security-Policy", dataPolicy,
	}, fields...)
}

// begin sets the head of an answer, replacing all fields that it had.
func (h head) begin(ctx *fasthttp.RequestCtx) *fasthttp.ResponseHeader {
	h.fields.CopyTo(&ctx.Response.Header)
	return &ctx.Response.Header
}

// Heads that depend neither on options nor on the snapshot.
var (
	plainHead    = newHead(safe()...)
	faultHead    = newHead(safe("Cache-Control", noStore, "Content-Type", contract.JSONType)...)
	notFoundHead = newHead(safe("Cache-Control", unknownPathKept, "Content-Type", contract.JSONType)...)

	// optionsHead is the answer to a preflight request. It is the same for all callers, so an edge
	// may cache it.
	optionsHead = newHead(
		"Allow", contract.AllowedMethods,
		"Access-Control-Allow-Methods", contract.AllowedMethods,
		"Access-Control-Allow-Headers", preflightHeaders,
		"Access-Control-Max-Age", preflightSeconds,
		"Cache-Control", "public, max-age="+preflightSeconds,
	)
)

// listHeads is the heads of the lists of one table of a snapshot.
type listHeads struct {
	json, csv, points, notModified head
	stale                          string // X-Data-Stale of all of them, empty if they do not have it
}

// newListHeads makes the heads for a table with a source, of a snapshot published at a given time,
// zero if unknown.
func newListHeads(cacheControl, vary, cdn, id string, at time.Time, source sourceFields) listHeads {
	shared := []string{"Cache-Control", cacheControl, "Vary", vary, contract.HeaderSnapshot, id}
	if cdn != "" {
		shared = append(shared, "CDN-Cache-Control", cdn)
	}
	if !at.IsZero() {
		shared = append(shared, "Last-Modified", string(fasthttp.AppendHTTPDate(nil, at)))
	}
	if source.updated != "" {
		shared = append(shared, contract.HeaderUpdated, source.updated)
	}
	if source.stale != "" {
		shared = append(shared, contract.HeaderStale, source.stale)
	}
	body := append(safe("Accept-Ranges", "none"), shared...)
	return listHeads{
		json:        newHead(append(body, "Content-Type", contract.JSONType)...),
		csv:         newHead(append(body, "Content-Type", csvType)...),
		points:      newHead(append(body, "Content-Type", geoType)...),
		notModified: newHead(shared...),
		stale:       source.stale,
	}
}
