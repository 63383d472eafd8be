package main

// The metrics that scenarios look at. docs/operating.md names each beside its alert and what to do.
const (
	metricSwapped     = `hdqs_looks_total{outcome="swapped"}`
	metricChannel     = `hdqs_look_failures_total{stage="channel"}`
	metricManifest    = `hdqs_look_failures_total{stage="manifest"}`
	metricSegments    = `hdqs_look_failures_total{stage="segments"}`
	metricRunning     = "hdqs_look_running_seconds"
	metricDuration    = "hdqs_http_request_duration_seconds"
	metricMemory      = "process_resident_memory_bytes"
	metricDescriptors = "process_open_fds"
	metricHeld        = "hdqs_snapshots_held"
	metricUp          = "up"
	metricShed        = "hdqs_http_shed_total"
	metricScrubs      = "hdqs_scrub_passes_total"
	metricFault       = `hdqs_segment_faults_total{kind="fault"}`
	metricChecksum    = `hdqs_segment_faults_total{kind="checksum"}`
	metricRefused     = "hdqs_table_refused"
	metricLimit       = "hdqs_memory_limit_bytes"
	metricNoRoom      = "hdqs_swaps_refused_total"
	metricDropped     = "hdqs_snapshots_dropped_total"
)
