package metrics

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Format is the format of an answer's rows.
type Format uint8

// The formats. An answer without rows is Other, unless its request asked a list for rows.
const (
	Other Format = iota
	JSON
	NDJSON
	CSV
	GeoJSON
	XLSX
	Arrow
	Parquet
)

var formats = [...]string{
	Other: "other", JSON: "json", NDJSON: "ndjson", CSV: "csv", GeoJSON: "geojson", XLSX: "xlsx", Arrow: "arrow",
	Parquet: "parquet",
}

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
func codingOf(name []byte) int {
	switch string(name) {
	case "gzip":
		return 1
	case "zstd":
		return 2
	}
	return 0
}

// codes are the statuses with a series of their own. All others share one.
var codes = [...]int{
	200, 204, 206, 302, 304, 307, 400, 403, 404, 405, 406, 408, 410, 412, 413, 414, 416, 422, 431, 500, 503, 505,
}

const otherCode = len(codes)

func codeOf(status int) int {
	for i, code := range codes {
		if code == status {
			return i
		}
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

// endpointCounts are the counts of one endpoint in one shard.
type endpointCounts struct {
	requests  [(otherCode + 1) * len(formats)]atomic.Int64
	durations [len(codings) * len(classes)]Histogram
	unknown   atomic.Int64 // parameters
}

// Shard has a part of the counts.
type Shard struct {
	endpoints   []endpointCounts
	begun       atomic.Int64
	bytes       [len(codings)]atomic.Int64
	identifiers [len(identifiers)]atomic.Int64
	_           [64]byte // the next shard has other cache lines
}

// Begin counts a request as in flight until Sent.
func (s *Shard) Begin() { s.begun.Add(1) }

// Count counts an answer. endpoint is a position in the list given to NewRequests.
func (s *Shard) Count(endpoint int, format Format, status int) {
	s.endpoints[endpoint].requests[codeOf(status)*len(formats)+int(format)].Add(1)
}

// Sent counts the time that an answer took, and the bytes of its body. coding is its
// Content-Encoding, empty without one.
func (s *Shard) Sent(endpoint, status int, coding []byte, took time.Duration, bytes int64) {
	code := codingOf(coding)
	s.endpoints[endpoint].durations[code*len(classes)+classOf(status)].Observe(took)
	if bytes > 0 {
		s.bytes[code].Add(bytes)
	}
}

// CountIdentifier counts the result of a check.
func (s *Shard) CountIdentifier(result Identifier) { s.identifiers[result].Add(1) }

// CountUnknown counts parameters that an endpoint does not know.
func (s *Shard) CountUnknown(endpoint, parameters int) {
	s.endpoints[endpoint].unknown.Add(int64(parameters))
}

// Requests counts requests. It is a prometheus.Collector.
type Requests struct {
	endpoints []string
	shards    []Shard
	next      atomic.Uint64
}

// maxShards limits the memory of the counters, which is about 80 KB for each shard.
const maxShards = 16

// NewRequests returns counters for a list of endpoints, which are label values.
func NewRequests(endpoints []string) *Requests {
	r := &Requests{endpoints: endpoints, shards: make([]Shard, min(runtime.GOMAXPROCS(0), maxShards))}
	for i := range r.shards {
		r.shards[i].endpoints = make([]endpointCounts, len(endpoints))
	}
	return r
}

// Shard returns a shard, another one at each call.
func (r *Requests) Shard() *Shard { return &r.shards[r.next.Add(1)%uint64(len(r.shards))] }

// Identifiers returns how many checks of identifiers had a result.
func (r *Requests) Identifiers(result Identifier) int64 {
	return r.sum(func(s *Shard) *atomic.Int64 { return &s.identifiers[result] })
}

// sum adds up one counter over the shards.
func (r *Requests) sum(counter func(*Shard) *atomic.Int64) (total int64) {
	for i := range r.shards {
		total += counter(&r.shards[i]).Load()
	}
	return total
}

var (
	requestsDesc = prometheus.NewDesc("hdqs_http_requests_total",
		"Requests of the public listener.", []string{"endpoint", "code", "format"}, nil)
	durationDesc = prometheus.NewDesc("hdqs_http_request_duration_seconds",
		"Time from a request to its answer, of a streamed answer to its last byte.",
		[]string{"endpoint", "coding", "code"}, nil)
	bytesDesc = prometheus.NewDesc("hdqs_http_response_bytes_total",
		"Bytes of answers without their headers.", []string{"coding"}, nil)
	inFlightDesc = prometheus.NewDesc("hdqs_http_in_flight", "Requests that are being answered.", nil, nil)
	unknownDesc  = prometheus.NewDesc("hdqs_unknown_parameters_total",
		"Parameters that the endpoint does not know.", []string{"endpoint"}, nil)
	identifierDesc = prometheus.NewDesc("hdqs_identifier_total",
		"Checks of application identifiers by their result.", []string{"result"}, nil)
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
	for endpoint, name := range r.endpoints {
		sent += r.collectEndpoint(to, endpoint, name)
	}
	// Requests end while this adds up, but begun is read after sent, so the difference is not
	// negative.
	begun := r.sum(func(s *Shard) *atomic.Int64 { return &s.begun })
	to <- Gauge(inFlightDesc, float64(begun-sent))
	for i, coding := range codings {
		to <- Counter(bytesDesc, r.sum(func(s *Shard) *atomic.Int64 { return &s.bytes[i] }), coding)
	}
	for i, result := range identifiers {
		to <- Counter(identifierDesc, r.Identifiers(Identifier(i)), result)
	}
}

// collectEndpoint returns how many answers of an endpoint were sent.
func (r *Requests) collectEndpoint(to chan<- prometheus.Metric, endpoint int, name string) (sent int64) {
	for code := range otherCode + 1 {
		for format, word := range formats {
			at := code*len(formats) + format
			if n := r.sum(func(s *Shard) *atomic.Int64 { return &s.endpoints[endpoint].requests[at] }); n > 0 {
				to <- Counter(requestsDesc, n, name, codeLabel(code), word)
			}
		}
	}
	for coding, word := range codings {
		for class, code := range classes {
			var all Sums
			for i := range r.shards {
				all.Add(&r.shards[i].endpoints[endpoint].durations[coding*len(classes)+class])
			}
			if n := all.count(); n > 0 {
				sent += n
				to <- all.Metric(durationDesc, name, word, code)
			}
		}
	}
	if n := r.sum(func(s *Shard) *atomic.Int64 { return &s.endpoints[endpoint].unknown }); n > 0 {
		to <- Counter(unknownDesc, n, name)
	}
	return sent
}
