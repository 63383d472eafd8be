package metrics

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Format is the format of an answer's rows: Other, or 1 and the position in the list given to
// NewRequests. An answer without rows is Other, unless its request asked a list for rows.
type Format uint8

// Other is the format of what has no rows.
const Other Format = 0

// Identifier is the result of a check of an application identifier.
type Identifier uint8

// The results.
const (
	Valid Identifier = iota
	Missing
	Invalid
)

var identifiers = [...]string{Valid: "valid", Missing: "missing", Invalid: "invalid"}

// codings are the content codings with a series of their own.
var codings = [...]string{"identity", "gzip", "zstd"}

// codingOf returns the position of a Content-Encoding in codings.
func codingOf(name []byte) int { return max(slices.Index(codings[:], string(name)), 0) }

// codes are the statuses with a series of their own. All others share one.
var codes = [...]int{
	200, 204, 206, 302, 304, 307, 400, 403, 404, 405, 406, 408, 410, 412, 413, 414, 416, 422, 431, 500, 503, 505,
}

const otherCode = len(codes)

func codeOf(status int) int {
	if at := slices.Index(codes[:], status); at >= 0 {
		return at
	}
	return otherCode
}

func codeLabel(i int) string {
	if i == otherCode {
		return "other"
	}
	return strconv.Itoa(codes[i])
}

// classes are the classes of statuses. Status 1xx is never final.
var classes = [...]string{"2xx", "3xx", "4xx", "5xx"}

func classOf(status int) int { return min(max(status/100-2, 0), len(classes)-1) }

// endpointCounts are the counts of one endpoint.
type endpointCounts struct {
	requests  []atomic.Int64 // by code, and for each by format
	durations [len(codings) * len(classes)]Histogram
	unknown   atomic.Int64 // parameters
}

// Requests counts requests. It is a prometheus.Collector.
type Requests struct {
	names       []string
	formats     []string // by Format
	endpoints   []endpointCounts
	begun       atomic.Int64
	bytes       [len(codings)]atomic.Int64
	identifiers [len(identifiers)]atomic.Int64
}

// NewRequests returns counters for a list of endpoints and one of formats, which are label values.
func NewRequests(endpoints, formats []string) *Requests {
	r := &Requests{
		names: endpoints, formats: append([]string{"other"}, formats...),
		endpoints: make([]endpointCounts, len(endpoints)),
	}
	for i := range r.endpoints {
		r.endpoints[i].requests = make([]atomic.Int64, (otherCode+1)*len(r.formats))
	}
	return r
}

// Begin counts a request as in flight until Sent.
func (r *Requests) Begin() { r.begun.Add(1) }

// Count counts an answer. endpoint is a position in the list given to NewRequests.
func (r *Requests) Count(endpoint int, format Format, status int) {
	r.endpoints[endpoint].requests[codeOf(status)*len(r.formats)+int(format)].Add(1)
}

// Sent counts the time that an answer took, and the bytes of its body. coding is its
// Content-Encoding, empty without one.
func (r *Requests) Sent(endpoint, status int, coding []byte, took time.Duration, bytes int64) {
	code := codingOf(coding)
	r.endpoints[endpoint].durations[code*len(classes)+classOf(status)].Observe(took)
	if bytes > 0 {
		r.bytes[code].Add(bytes)
	}
}

// CountIdentifier counts the result of a check.
func (r *Requests) CountIdentifier(result Identifier) { r.identifiers[result].Add(1) }

// Identifiers returns how many checks of identifiers had a result.
func (r *Requests) Identifiers(result Identifier) int64 { return r.identifiers[result].Load() }

// CountUnknown counts parameters that an endpoint does not know.
func (r *Requests) CountUnknown(endpoint, parameters int) {
	r.endpoints[endpoint].unknown.Add(int64(parameters))
}

var (
	requestsDesc = NewDesc("hdqs_http_requests_total", "Requests of the public listener.", "endpoint", "code", "format")
	durationDesc = NewDesc("hdqs_http_request_duration_seconds",
		"Time from a request to its answer, or to the last byte of a streamed one.", "endpoint", "coding", "code")
	bytesDesc      = NewDesc("hdqs_http_response_bytes_total", "Bytes of answers without their headers.", "coding")
	inFlightDesc   = NewDesc("hdqs_http_in_flight", "Requests that are being answered.")
	unknownDesc    = NewDesc("hdqs_unknown_parameters_total", "Parameters that the endpoint does not know.", "endpoint")
	identifierDesc = NewDesc("hdqs_identifier_total", "Checks of app identifiers.", "result")
)

// Describe implements prometheus.Collector.
func (r *Requests) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		requestsDesc, durationDesc, bytesDesc, inFlightDesc, unknownDesc, identifierDesc,
	} {
		to <- desc
	}
}

// Collect implements prometheus.Collector. Of requests, durations and unknown parameters there are
// only the series that have occurred.
func (r *Requests) Collect(to chan<- prometheus.Metric) {
	sent := int64(0)
	for endpoint, name := range r.names {
		sent += r.collectEndpoint(to, &r.endpoints[endpoint], name)
	}
	// Requests end while this adds up, but begun is read after sent, so the difference is not
	// negative.
	to <- Gauge(inFlightDesc, float64(r.begun.Load()-sent))
	for i, coding := range codings {
		to <- Counter(bytesDesc, r.bytes[i].Load(), coding)
	}
	for i, result := range identifiers {
		to <- Counter(identifierDesc, r.identifiers[i].Load(), result)
	}
}

// collectEndpoint returns how many answers of an endpoint were sent.
func (r *Requests) collectEndpoint(to chan<- prometheus.Metric, e *endpointCounts, name string) (sent int64) {
	for i := range e.requests {
		if n := e.requests[i].Load(); n > 0 {
			to <- Counter(requestsDesc, n, name, codeLabel(i/len(r.formats)), r.formats[i%len(r.formats)])
		}
	}
	for i := range e.durations {
		if n := e.durations[i].count(); n > 0 {
			sent += n
			labels := []string{name, codings[i/len(classes)], classes[i%len(classes)]}
			to <- Durations(durationDesc, labels, &e.durations[i])
		}
	}
	if n := e.unknown.Load(); n > 0 {
		to <- Counter(unknownDesc, n, name)
	}
	return sent
}
