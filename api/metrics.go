package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/contract"
	"hdqs/api/files"
	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/api/state"
)

var (
	shedDesc = metrics.NewDesc("hdqs_http_shed_total",
		"Refused requests and connections. The reason is the limit that was reached.", "reason")
	hitsDesc   = metrics.NewDesc("hdqs_body_cache_hits_total", "Bodies found in the cache.")
	missesDesc = metrics.NewDesc("hdqs_body_cache_misses_total", "Bodies that were made.")
	joinsDesc  = metrics.NewDesc("hdqs_body_cache_joins_total",
		"Requests that waited for a body that another request made.")
	cachedDesc      = metrics.NewDesc("hdqs_body_cache_bytes", "Memory of the cached bodies.")
	runningDesc     = metrics.NewDesc("hdqs_queries_running", "List queries that run.")
	waitingDesc     = metrics.NewDesc("hdqs_queries_waiting", "List queries that wait for a slot.")
	budgetDesc      = metrics.NewDesc("hdqs_http_in_flight_bytes", "Bytes of answers that clients have not taken yet.")
	connectionsDesc = metrics.NewDesc("hdqs_http_connections", "Open connections of the public listener.")
	faultsDesc      = metrics.NewDesc("hdqs_connection_faults_total",
		"Messages of the HTTP library, mostly about unreadable requests; at most one a second is logged.")
	logDroppedDesc = metrics.NewDesc("hdqs_access_log_dropped_total", "Lines of the access log that were dropped.")
	panicsDesc     = metrics.NewDesc("hdqs_panics_total", "Requests that panicked.")
	heldDesc       = metrics.NewDesc("hdqs_snapshots_held", "Snapshots that answer: the current one and replaced ones.")
	infoDesc       = metrics.NewDesc("hdqs_snapshot_info", "The served snapshot; always 1.", "id", "schema")
	publishedDesc  = metrics.NewDesc("hdqs_snapshot_published_timestamp_seconds",
		"When the channel was moved to the served snapshot.")
	ageDesc  = metrics.NewDesc("hdqs_snapshot_age_seconds", "Time since the data of the served snapshot was loaded.")
	rowsDesc = metrics.NewDesc("hdqs_table_rows", "Rows of the table.", "table")
	liveDesc = metrics.NewDesc("hdqs_publish_to_live_seconds",
		"Time from the publication of the served snapshot, or a later start of the process, until it was served.")
	updatedDesc = metrics.NewDesc("hdqs_source_updated_timestamp_seconds",
		"When the newest source of the table was changed.", "table")
	staleDesc = metrics.NewDesc("hdqs_source_stale", "1 if the table is older than its source.", "table")
	bytesDesc = metrics.NewDesc("hdqs_table_bytes", "Length of the segment of the table.", "table")

	derivedDesc = metrics.NewDesc("hdqs_derived_bytes", "Memory of caches of the served snapshot.")
)

// collector collects what the server counts itself. What changes with each request is in
// metrics.Requests.
type collector struct{ server *Server }

// Describe implements prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		shedDesc, hitsDesc, missesDesc, joinsDesc, cachedDesc, runningDesc, waitingDesc,
		files.ExportsDesc, files.EndedDesc, budgetDesc,
		connectionsDesc, faultsDesc, panicsDesc, heldDesc, logDroppedDesc, infoDesc, publishedDesc, ageDesc,
		rowsDesc, bytesDesc, liveDesc, updatedDesc, staleDesc,
		derivedDesc,
		state.DroppedDesc, state.SwapsRefusedDesc, state.LimitDesc,
	} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	s := c.server
	for i := range reply.Rules {
		to <- metrics.Counter(shedDesc, s.State.Shed[i].Load(), reply.Rules[i].Reason)
	}
	cached := s.Lists.Bodies.Counts()
	to <- metrics.Counter(hitsDesc, cached.Hits)
	to <- metrics.Counter(missesDesc, cached.Misses)
	to <- metrics.Counter(joinsDesc, cached.Joins)
	to <- metrics.Gauge(cachedDesc, float64(cached.Bytes))
	to <- metrics.Gauge(runningDesc, float64(s.Lists.Admission.Gate.Running()+s.Lists.Admission.Slow.Running()))
	to <- metrics.Gauge(waitingDesc, float64(s.Lists.Admission.Gate.Waiting()+s.Lists.Admission.Slow.Waiting()))
	s.Files.Exports.Collect(to)
	to <- metrics.Gauge(budgetDesc, float64(s.State.Budget.Bytes()))
	to <- metrics.Gauge(connectionsDesc, float64(s.Lists.Callers.Count()))
	to <- metrics.Counter(faultsDesc, s.State.Faults.Count())
	to <- metrics.Counter(panicsDesc, s.State.Panics.Load())
	to <- metrics.Counter(logDroppedDesc, s.State.Options.AccessLog.Dropped())
	s.State.CollectMemory(to)
	c.collectSnapshot(to)
}

// collectSnapshot collects what the served snapshot is. Without one there is only the number of
// those that answer.
func (c collector) collectSnapshot(to chan<- prometheus.Metric) {
	s := c.server
	held := s.State.Snapshots.Retained.Count()
	if s.State.Snapshots.Current.Load() != nil {
		held++
	}
	to <- metrics.Gauge(heldDesc, float64(held))
	v := s.State.Snapshots.Acquire()
	if v == nil {
		return
	}
	defer v.Release(s.State.Log)
	manifest := v.Bound.Snap.Manifest
	to <- metrics.Gauge(infoDesc, 1, manifest.ID, contract.SchemaVersion)
	to <- metrics.Gauge(ageDesc, max(0, time.Since(manifest.SnapshotTime).Seconds()))
	if at := v.Published(); !at.IsZero() {
		to <- metrics.Gauge(publishedDesc, seconds(at))
	}
	to <- metrics.Gauge(derivedDesc, float64(v.Bound.DerivedBytes()))
	to <- metrics.Gauge(liveDesc, v.Live.Seconds())
	for _, source := range state.TableSources(manifest) {
		if !source.Updated.IsZero() {
			to <- metrics.Gauge(updatedDesc, seconds(source.Updated), source.Table)
		}
		to <- metrics.Gauge(staleDesc, boolean(!source.StaleSince.IsZero()), source.Table)
	}
	for _, ref := range manifest.Tables {
		to <- metrics.Gauge(rowsDesc, float64(ref.Rows), ref.Table)
		to <- metrics.Gauge(bytesDesc, float64(ref.Bytes), ref.Table)
	}
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
