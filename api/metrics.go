package api

import (
	"fmt"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

// metricsType is the text format that Prometheus reads.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// countedStatuses are the statuses with a series of their own. All others share one.
var countedStatuses = [...]int{
	200, 204, 304, 307, 400, 403, 404, 405, 406, 408, 410, 412, 413, 414, 422, 431, 500, 503, 505,
}

// count counts the status of an answer.
func (s *Server) count(ctx *fasthttp.RequestCtx) {
	status := ctx.Response.StatusCode()
	for i, counted := range countedStatuses {
		if counted == status {
			s.responses[i].Add(1)
			return
		}
	}
	s.responses[len(countedStatuses)].Add(1)
}

// metricsText builds the text of /metrics from numbers and fixed words only, so that no caller can
// add a series or a text.
type metricsText struct {
	text []byte
	name string // of the family
}

// family begins a family of samples.
func (m *metricsText) family(name, kind, help string) {
	m.name = name
	m.text = append(m.text, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+kind+"\n"...)
}

// labelled writes a sample with one label. Label and value need no escaping.
func (m *metricsText) labelled(label, word string, n int64) {
	m.text = fmt.Appendf(m.text, "%s{%s=%q} %d\n", m.name, label, word, n)
}

// value writes the only sample of a family.
func (m *metricsText) value(n int64) { m.text = fmt.Appendf(m.text, "%s %d\n", m.name, n) }

func (m *metricsText) counter(name, help string, n int64) {
	m.family(name, "counter", help)
	m.value(n)
}

func (m *metricsText) gauge(name, help string, n int64) {
	m.family(name, "gauge", help)
	m.value(n)
}

// answerMetrics answers with all metrics.
func (s *Server) answerMetrics(ctx *fasthttp.RequestCtx) {
	var m metricsText
	m.family("hdqs_http_requests_total", "counter", "Requests of the public listener by the status of their answer.")
	for i, status := range countedStatuses {
		m.labelled("code", strconv.Itoa(status), s.responses[i].Load())
	}
	m.labelled("code", "other", s.responses[len(countedStatuses)].Load())
	m.family("hdqs_shed_total", "counter",
		"Requests and connections that were refused, by the limit that was reached.")
	for i := range rules {
		m.labelled("reason", rules[i].reason, s.shed[i].Load())
	}
	cached := s.bodies.counts()
	m.counter("hdqs_cache_hits_total", "Bodies found in the cache.", cached.hits)
	m.counter("hdqs_cache_misses_total", "Bodies that were made.", cached.misses)
	m.counter("hdqs_cache_joins_total", "Requests that waited for a body that another request made.", cached.joins)
	m.gauge("hdqs_cache_bytes", "Memory of the cached bodies.", cached.bytes)
	m.gauge("hdqs_queries_running", "List queries that run.", int64(s.gate.Running()))
	m.gauge("hdqs_queries_waiting", "List queries that wait for a slot.", s.gate.Waiting())
	m.gauge("hdqs_http_in_flight_bytes",
		"Bytes of answers that clients have not taken yet, with the memory of their connections.", s.budget.Bytes())
	m.gauge("hdqs_connections", "Open connections of the public listener.", int64(s.callers.Count()))
	s.snapshotMetrics(&m)
	m.counter("hdqs_requests_without_identifier_total",
		"Requests whose application identifier was missing or bad.", s.unidentified.Load())
	m.counter("hdqs_connection_faults_total", "Messages of the HTTP library, "+
		"mostly about requests that it could not read; at most one a second is logged.", s.faults.Count())
	m.counter("hdqs_panics_total", "Requests that panicked.", s.panics.Load())
	ctx.Response.Header.SetContentType(metricsType)
	ctx.SetBody(m.text)
}

func (s *Server) snapshotMetrics(m *metricsText) {
	n := int64(s.retained.count())
	if s.current.Load() != nil {
		n++
	}
	m.gauge("hdqs_snapshots_held",
		"Snapshots that answer: the current one, and replaced ones for requests that name them.", n)
	m.family("hdqs_snapshot_age_seconds", "gauge",
		"Time since the served snapshot's data was loaded; absent without one.")
	if v := s.acquire(); v != nil {
		m.value(max(0, int64(time.Since(v.bound.snap.Manifest.SnapshotTime).Seconds())))
		v.release(s.log)
	}
}
