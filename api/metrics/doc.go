// Package metrics counts requests and shows the counts to Prometheus.
//
// Counting a request takes a few atomic additions and no lock: each series is looked up once.
// Labels come from fixed lists: a request can add no series beyond these lists, whatever it
// contains.
package metrics
