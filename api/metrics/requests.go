package metrics

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
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

// buckets are the upper bounds of durations, in seconds.
var buckets = []float64{
	50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2500e-6, 5e-3, 10e-3, 25e-3, 100e-3, 250e-3, 1, 10,
}

// series is a series that exists once it has counted something. It is looked up by its labels once:
// that takes a lock and memory.
type series[T any] struct{ found atomic.Pointer[T] }

func (s *series[T]) get(find func() T) T {
	if found := s.found.Load(); found != nil {
		return *found
	}
	found := find()
	s.found.Store(&found)
	return found
}

// endpointCounts are the counts of one endpoint.
type endpointCounts struct {
	name      string
	requests  []series[prometheus.Counter] // by code, and for each by format
	durations [len(codings) * len(classes)]series[prometheus.Observer]
	unknown   series[prometheus.Counter]
}

// Requests counts requests.
type Requests struct {
	formats     []string // by Format
	endpoints   []endpointCounts
	inFlight    prometheus.Gauge
	bytes       [len(codings)]prometheus.Counter
	identifiers [len(identifiers)]prometheus.Counter

	requests, unknown *prometheus.CounterVec
	durations         *prometheus.HistogramVec
}

// NewRequests registers counters for a list of endpoints and one of formats, which are label
// values. Of requests, durations and unknown parameters there are only the series that have
// occurred.
func NewRequests(to prometheus.Registerer, endpoints, formats []string) *Requests {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	r := &Requests{
		formats: append([]string{"other"}, formats...), endpoints: make([]endpointCounts, len(endpoints)),
		requests: counters("hdqs_http_requests_total", "Requests of the public listener.",
			"endpoint", "code", "format"),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "hdqs_http_request_duration_seconds",
			Help:    "Time from a request to its answer, or to the last byte of a streamed one.",
			Buckets: buckets,
		}, []string{"endpoint", "coding", "code"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hdqs_http_in_flight", Help: "Requests that are being answered.",
		}),
		unknown: counters("hdqs_unknown_parameters_total", "Parameters that the endpoint does not know.", "endpoint"),
	}
	bytes := counters("hdqs_http_response_bytes_total", "Bytes of answers without their headers.", "coding")
	for i, coding := range codings {
		r.bytes[i] = bytes.WithLabelValues(coding)
	}
	checks := counters("hdqs_identifier_total", "Checks of app identifiers.", "result")
	for i, result := range identifiers {
		r.identifiers[i] = checks.WithLabelValues(result)
	}
	for i, name := range endpoints {
		r.endpoints[i].name = name
		r.endpoints[i].requests = make([]series[prometheus.Counter], (otherCode+1)*len(r.formats))
	}
	to.MustRegister(r.requests, r.durations, r.inFlight, r.unknown, bytes, checks)
	return r
}

// NewWaits registers the times that list queries wait for a slot.
func NewWaits(to prometheus.Registerer) prometheus.Observer {
	waits := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "hdqs_queue_wait_seconds", Help: "How long list queries waited for a slot; 0 if one was free.",
		Buckets: buckets,
	})
	to.MustRegister(waits)
	return waits
}

// Begin counts a request as in flight until Sent.
func (r *Requests) Begin() { r.inFlight.Inc() }

// Count counts an answer. endpoint is a position in the list given to NewRequests.
func (r *Requests) Count(endpoint int, format Format, status int) {
	e, code := &r.endpoints[endpoint], codeOf(status)
	e.requests[code*len(r.formats)+int(format)].get(func() prometheus.Counter {
		return r.requests.WithLabelValues(e.name, codeLabel(code), r.formats[format])
	}).Inc()
}

// Sent counts the time that an answer took, and the bytes of its body. coding is its
// Content-Encoding, empty without one.
func (r *Requests) Sent(endpoint, status int, coding []byte, took time.Duration, bytes int64) {
	e, code, class := &r.endpoints[endpoint], codingOf(coding), classOf(status)
	e.durations[code*len(classes)+class].get(func() prometheus.Observer {
		return r.durations.WithLabelValues(e.name, codings[code], classes[class])
	}).Observe(took.Seconds())
	r.bytes[code].Add(float64(max(bytes, 0)))
	r.inFlight.Dec()
}

// CountIdentifier counts the result of a check.
func (r *Requests) CountIdentifier(result Identifier) { r.identifiers[result].Inc() }

// Identifiers returns how many checks of identifiers had a result.
func (r *Requests) Identifiers(result Identifier) int64 {
	var m dto.Metric
	_ = r.identifiers[result].Write(&m) // which never fails
	return int64(m.GetCounter().GetValue())
}

// CountUnknown counts parameters that an endpoint does not know.
func (r *Requests) CountUnknown(endpoint, parameters int) {
	e := &r.endpoints[endpoint]
	e.unknown.get(func() prometheus.Counter { return r.unknown.WithLabelValues(e.name) }).Add(float64(parameters))
}
