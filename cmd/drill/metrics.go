package main

// The metrics that faults move. docs/operating.md has each of them beside its alert and what to do.
const (
	metricChannel  = `hdqs_look_failures_total{stage="channel"}`
	metricManifest = `hdqs_look_failures_total{stage="manifest"}`
	metricSegments = `hdqs_look_failures_total{stage="segments"}`
	metricRunning  = "hdqs_look_running_seconds"
	metricFault    = `hdqs_segment_faults_total{kind="fault"}`
	metricChecksum = `hdqs_segment_faults_total{kind="checksum"}`
	metricWrite    = `hdqs_segment_faults_total{kind="write"}`
	metricRefused  = "hdqs_table_refused"
	metricScrubs   = "hdqs_scrub_passes_total"
	metricNoRoom   = "hdqs_swaps_refused_total"
	metricMemory   = "process_resident_memory_bytes"
	metricLimit    = "hdqs_memory_limit_bytes"
	metricShed     = "hdqs_http_shed_total"
	metricDuration = "hdqs_http_request_duration_seconds"
	metricUp       = "up"
)

// The metrics that tell what a replica does without a fault.
const (
	metricSwapped     = `hdqs_looks_total{outcome="swapped"}`
	metricDropped     = "hdqs_snapshots_dropped_total"
	metricHeld        = "hdqs_snapshots_held"
	metricDescriptors = "process_open_fds"
)
