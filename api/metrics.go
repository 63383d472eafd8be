package api

import (
	"fmt"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

// metricsType is the text format that Prometheus reads.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// metric is a family of /metrics. Its samples are counted where things happen; nothing but numbers
// and words of our own gets into them, so no caller can add a series or put a text of its own
// there.
type metric struct {
	name, kind, help string
	samples          func(s *Server, page *metricsPage)
}

// metrics are all families, in the order of the page.
var metrics = []metric{
	{"hdqs_http_requests_total", "counter", "Requests of the public listener by the status of their answer.", func(s *Server, p *metricsPage) {
		for i, status := range countedStatuses {
			p.labelled("code", strconv.Itoa(status), s.responses[i].Load())
		}
		p.labelled("code", "other", s.responses[len(countedStatuses)].Load())
	}},
	{"hdqs_shed_total", "counter", "Requests and connections for which there was no room, by the bound that was met.", func(s *Server, p *metricsPage) {
		for i := range rules {
			p.labelled("reason", rules[i].reason, s.shed[i].Load())
		}
	}},
	{"hdqs_cache_hits_total", "counter", "Bodies that were there.", func(s *Server, p *metricsPage) { p.value(s.bodies.counts().hits) }},
	{"hdqs_cache_misses_total", "counter", "Bodies that had to be made.", func(s *Server, p *metricsPage) { p.value(s.bodies.counts().misses) }},
	{"hdqs_cache_joins_total", "counter", "Requests that waited for a body in the making.", func(s *Server, p *metricsPage) {
		p.value(s.bodies.counts().joins)
	}},
	{"hdqs_cache_bytes", "gauge", "Memory of the bodies that are kept.", func(s *Server, p *metricsPage) { p.value(s.bodies.counts().bytes) }},
	{"hdqs_queries_running", "gauge", "List queries that have a slot.", func(s *Server, p *metricsPage) { p.value(int64(s.gate.Running())) }},
	{"hdqs_queries_waiting", "gauge", "List queries that wait for one.", func(s *Server, p *metricsPage) { p.value(s.gate.Waiting()) }},
	{"hdqs_http_in_flight_bytes", "gauge", "Bytes of answers that are not yet taken, with what their connections hold until then.", func(s *Server, p *metricsPage) { p.value(s.budget.Bytes()) }},
	{"hdqs_connections", "gauge", "Open connections of the public listener.", func(s *Server, p *metricsPage) {
		p.value(int64(s.callers.Count()))
	}},
	{"hdqs_snapshots_held", "gauge", "Snapshots that answer: the served one, and replaced ones for requests that name them.", func(s *Server, p *metricsPage) {
		n := s.retained.count()
		if s.current.Load() != nil {
			n++
		}
		p.value(int64(n))
	}},
	{"hdqs_snapshot_age_seconds", "gauge", "Time since the served snapshot's data was loaded; absent without one.", func(s *Server, p *metricsPage) {
		if v := s.acquire(); v != nil {
			p.value(max(0, int64(time.Since(v.bound.snap.Manifest.SnapshotTime).Seconds())))
			v.release(s.log)
		}
	}},
	{"hdqs_requests_without_identifier_total", "counter", "Requests whose identifier was missing or bad.", func(s *Server, p *metricsPage) {
		p.value(s.unidentified.Load())
	}},
	{"hdqs_connection_faults_total", "counter", "Messages of the HTTP library, mostly of requests that it could not read; the log has one a second.", func(s *Server, p *metricsPage) {
		p.value(s.faults.Count())
	}},
	{"hdqs_panics_total", "counter", "Requests that panicked.", func(s *Server, p *metricsPage) { p.value(s.panics.Load()) }},
}

// countedStatuses have a series each; any other status counts as another.
var countedStatuses = [...]int{200, 204, 304, 307, 400, 403, 404, 405, 406, 408, 410, 412, 413, 414, 422, 431, 500, 503, 505}

// count notes the status of an answer.
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

// metricsPage is the page in the making.
type metricsPage struct {
	text []byte
	name string // of the family
}

func (p *metricsPage) value(n int64) {
	p.text = fmt.Appendf(p.text, "%s %d\n", p.name, n)
}

// labelled writes a sample with a label. Labels and their values are words that need no escaping.
func (p *metricsPage) labelled(label, word string, n int64) {
	p.text = fmt.Appendf(p.text, "%s{%s=%q} %d\n", p.name, label, word, n)
}

// answerMetrics writes what the server has counted, for the admin listener.
func (s *Server) answerMetrics(ctx *fasthttp.RequestCtx) {
	var p metricsPage
	for _, m := range metrics {
		p.name = m.name
		p.text = append(p.text, "# HELP "+m.name+" "+m.help+"\n# TYPE "+m.name+" "+m.kind+"\n"...)
		m.samples(s, &p)
	}
	ctx.Response.Header.SetContentType(metricsType)
	ctx.SetBody(p.text)
}
