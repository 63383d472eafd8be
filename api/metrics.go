package api

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/metrics"
)

// newDesc describes a family of metrics.
func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	shedDesc = newDesc("hdqs_http_shed_total",
		"Requests and connections that were refused, by the limit that was reached.", "reason")
	waitDesc = newDesc("hdqs_queue_wait_seconds",
		"How long list queries waited for a slot; 0 if one was free.")
	hitsDesc    = newDesc("hdqs_body_cache_hits_total", "Bodies found in the cache.")
	missesDesc  = newDesc("hdqs_body_cache_misses_total", "Bodies that were made.")
	joinsDesc   = newDesc("hdqs_body_cache_joins_total", "Requests that waited for a body that another request made.")
	cachedDesc  = newDesc("hdqs_body_cache_bytes", "Memory of the cached bodies.")
	runningDesc = newDesc("hdqs_queries_running", "List queries that run.")
	waitingDesc = newDesc("hdqs_queries_waiting", "List queries that wait for a slot.")
	exportsDesc = newDesc("hdqs_exports_running", "Exports and downloads that are being sent.")
	endedDesc   = newDesc("hdqs_exports_total",
		"Exports and downloads that ended, by outcome: sent to the end, failed, the client was too slow (timeout) "+
			"or went away (disconnected).", "outcome")
	budgetDesc = newDesc("hdqs_http_in_flight_bytes",
		"Bytes of answers that clients have not taken yet, with the memory of their connections.")
	connectionsDesc = newDesc("hdqs_http_connections", "Open connections of the public listener.")
	faultsDesc      = newDesc("hdqs_connection_faults_total", "Messages of the HTTP library, "+
		"mostly about requests that it could not read; at most one a second is logged.")
	logDroppedDesc = newDesc("hdqs_access_log_dropped_total",
		"Lines of the access log that were dropped, since too many waited or writing failed.")
	panicsDesc = newDesc("hdqs_panics_total", "Requests that panicked.")
	heldDesc   = newDesc("hdqs_snapshots_held",
		"Snapshots that answer: the current one, and replaced ones for requests that name them.")
	infoDesc      = newDesc("hdqs_snapshot_info", "The served snapshot; always 1.", "id", "schema")
	publishedDesc = newDesc("hdqs_snapshot_published_timestamp_seconds",
		"When the channel was moved to the served snapshot.")
	ageDesc  = newDesc("hdqs_snapshot_age_seconds", "Time since the data of the served snapshot was loaded.")
	rowsDesc = newDesc("hdqs_table_rows", "Rows of a table of the served snapshot.", "table")
	liveDesc = newDesc("hdqs_publish_to_live_seconds",
		"Time from the publication of the served snapshot, or from the start of the process if that was later, "+
			"until it was served.")
	updatedDesc = newDesc("hdqs_source_updated_timestamp_seconds",
		"When the newest source of a table of the served snapshot was changed.", "table")
	staleDesc = newDesc("hdqs_source_stale",
		"Whether the load could not use the present form of a table's source, and kept an older one.", "table")
	bytesDesc = newDesc("hdqs_table_bytes", "Length of the segment of a table of the served snapshot.", "table")

	damageDesc = newDesc("hdqs_segment_faults_total",
		"Times that bytes of a served segment could not be read (fault) or had another checksum (checksum), "+
			"or that its file was written to (write).", "kind")
	refusedDesc = newDesc("hdqs_table_refused",
		"Whether the table is refused, since its segment may be damaged: 1 or 0.", "table")
	passesDesc   = newDesc("hdqs_scrub_passes_total", "Times that all served segments were checked in the background.")
	scrubbedDesc = newDesc("hdqs_scrub_bytes_total", "Bytes of segments that were checked in the background.")
	lastPassDesc = newDesc("hdqs_scrub_last_pass_timestamp_seconds",
		"When all served segments were last checked; 0 before the first time.")

	madeDesc = newDesc("hdqs_made_bytes",
		"Memory of what was made for answers from the served snapshot: fragments, stored blocks, "+
			"lengths of rows, lists for searching.")
)

// collector collects what the server counts itself. What changes with each request is in
// metrics.Requests.
type collector struct{ server *Server }

// Describe implements prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		shedDesc, waitDesc, hitsDesc, missesDesc, joinsDesc, cachedDesc, runningDesc, waitingDesc,
		exportsDesc, endedDesc, budgetDesc,
		connectionsDesc, faultsDesc, panicsDesc, heldDesc, logDroppedDesc, infoDesc, publishedDesc, ageDesc,
		rowsDesc, bytesDesc, liveDesc, updatedDesc, staleDesc,
		damageDesc, refusedDesc, passesDesc, scrubbedDesc, lastPassDesc,
		madeDesc,
		droppedDesc, swapsRefusedDesc, limitDesc,
	} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	s := c.server
	for i := range rules {
		to <- metrics.Counter(shedDesc, s.shed[i].Load(), rules[i].reason)
	}
	var waits metrics.Sums
	waits.Add(s.gate.Waits())
	waits.Add(s.long.Waits())
	to <- waits.Metric(waitDesc)
	cached := s.bodies.counts()
	to <- metrics.Counter(hitsDesc, cached.hits)
	to <- metrics.Counter(missesDesc, cached.misses)
	to <- metrics.Counter(joinsDesc, cached.joins)
	to <- metrics.Gauge(cachedDesc, float64(cached.bytes))
	to <- metrics.Gauge(runningDesc, float64(s.gate.Running()+s.long.Running()))
	to <- metrics.Gauge(waitingDesc, float64(s.gate.Waiting()+s.long.Waiting()))
	s.exports.collect(to)
	to <- metrics.Gauge(budgetDesc, float64(s.budget.Bytes()))
	to <- metrics.Gauge(connectionsDesc, float64(s.callers.Count()))
	to <- metrics.Counter(faultsDesc, s.faults.Count())
	to <- metrics.Counter(panicsDesc, s.panics.Load())
	s.suspects.collect(to)
	to <- metrics.Counter(logDroppedDesc, s.options.AccessLog.Dropped())
	s.collectMemory(to)
	s.collectSnapshot(to)
}

// collectSnapshot collects what the served snapshot is. Without one there is only the number of
// those that answer.
func (s *Server) collectSnapshot(to chan<- prometheus.Metric) {
	held := s.retained.count()
	if s.current.Load() != nil {
		held++
	}
	to <- metrics.Gauge(heldDesc, float64(held))
	v := s.acquire()
	if v == nil {
		return
	}
	defer v.release(s.log)
	manifest := v.bound.snap.Manifest
	to <- metrics.Gauge(infoDesc, 1, manifest.ID, contract.SchemaVersion)
	to <- metrics.Gauge(ageDesc, max(0, time.Since(manifest.SnapshotTime).Seconds()))
	if at := v.published(); !at.IsZero() {
		to <- metrics.Gauge(publishedDesc, seconds(at))
	}
	to <- metrics.Gauge(madeDesc, float64(v.bound.madeBytes()))
	to <- metrics.Gauge(liveDesc, v.live.Seconds())
	for _, source := range tableSources(manifest) {
		if !source.Updated.IsZero() {
			to <- metrics.Gauge(updatedDesc, seconds(source.Updated), source.Table)
		}
		to <- metrics.Gauge(staleDesc, boolean(!source.StaleSince.IsZero()), source.Table)
	}
	refused := v.bound.refusedTables()
	for _, ref := range manifest.Tables {
		to <- metrics.Gauge(refusedDesc, boolean(slices.Contains(refused, ref.Table)), ref.Table)
		to <- metrics.Gauge(rowsDesc, float64(ref.Rows), ref.Table)
		to <- metrics.Gauge(bytesDesc, float64(ref.Bytes), ref.Table)
	}
}

// collect collects what was found of damage.
func (c *suspects) collect(to chan<- prometheus.Metric) {
	for kind, label := range damages {
		to <- metrics.Counter(damageDesc, c.found[kind].Load(), label)
	}
	to <- metrics.Counter(passesDesc, c.scrub.passes.Load())
	to <- metrics.Counter(scrubbedDesc, c.scrub.bytes.Load())
	to <- metrics.Gauge(lastPassDesc, float64(c.scrub.last.Load()))
}

// boolean returns a truth value as Prometheus counts it.
func boolean(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// seconds returns a time as Prometheus counts it, in seconds since 1970.
func seconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1e3 }

// scrape answers with all metrics.
func (s *Server) scrape(ctx *fasthttp.RequestCtx) { metrics.Handler(s.registry, s.log)(ctx) }
