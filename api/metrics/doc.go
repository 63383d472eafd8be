// Package metrics counts requests and shows the counts to Prometheus.
//
// Counting a request takes a few atomic additions and no lock. A prometheus.Collector reads the
// counters when Prometheus does. Labels come from fixed lists: a request can add no series beyond
// these lists, whatever it contains.
//
// Counters that are not on the path of a request need none of this. Register them with
// Registry.Register, for example as a prometheus.CounterVec.
package metrics
