// Package metrics counts requests and shows the counts to Prometheus.
//
// Counting a request takes a few atomic additions and no lock. The counters are in several shards,
// so that cores seldom write the same cache line; a connection always uses the same shard. A
// prometheus.Collector adds the shards up when Prometheus reads them. Labels come from fixed lists:
// a request can add no series beyond these lists, whatever it contains.
//
// Counters that are not on the path of a request need none of this. Register them with
// Registry.Register, for example as a prometheus.CounterVec.
package metrics
