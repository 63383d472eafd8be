package main

import (
	"fmt"
	"slices"
	"time"
)

// The metrics of the table. An operator watches the one beside a figure.
const (
	metricSwapped     = `hdqs_polls_total{outcome="swapped"}`
	metricScrubs      = "hdqs_scrub_passes_total"
	metricNoRoom      = `hdqs_swaps_refused_total{reason="memory"}`
	metricDropped     = `hdqs_snapshots_dropped_total{reason="memory"}`
	metricHeld        = "hdqs_snapshots_held"
	metricMemory      = "process_resident_memory_bytes"
	metricDescriptors = "process_open_fds"
	metricLimit       = "hdqs_memory_limit_bytes"
	metricShed        = "hdqs_http_shed_total"
	metricDuration    = "hdqs_http_request_duration_seconds"
	metricUp          = "up"
)

// rounds are the 99th percentiles of a latency in several rounds, with something that may delay
// answers and without it. The figure is the median of each: load generator, replica and all other
// programs share the cores, so what else runs delays the answers of some rounds. Every round has
// both sides, so that a machine that is busy for long delays both alike.
//
// The times are those of an open loop. They contain up to 1 ms by which the timers of the load
// generator are late, on both sides too.
type rounds struct{ now, usual latencies }

func (r *rounds) add(now, usual latencies) {
	r.now, r.usual = append(r.now, now.quantile(0.99)), append(r.usual, usual.quantile(0.99))
}

// latencies adds a row that compares a latency with another one. In the short form the machine may
// be busy, and it has no bound.
func (t *table) latencies(d *drill, measured string, r *rounds, most float64, note string) {
	now, usual := r.now.quantile(0.5), r.usual.quantile(0.5)
	ratio := float64(now) / float64(max(usual, 1))
	figure := fmt.Sprintf("%.1f ms, else %.1f ms: %.1f times (medians of %d rounds; %s)",
		milliseconds(now), milliseconds(usual), ratio, len(r.now), note)
	if d.short {
		t.report(measured, figure)
		return
	}
	t.add(measured, figure, fmt.Sprintf("%g times", most), metricDuration, ratio <= most)
}

// clean adds a row for a load of which no answer may be bad.
func (t *table) clean(measured string, l *running, metric string) {
	t.add(measured, l.counts(), "0 wrong, 0 failed", metric, l.clean())
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Memory counts as flat if its median over the last third of the readings is at most a tenth and
// some megabytes above that over the middle third. The first third fills caches; in the short form
// the body cache, of 64 MiB, is still filling later.
const (
	flatShare      = 1.10
	flatSlack      = 16 << 20
	flatSlackShort = 64 << 20
)

// flat adds rows that tell whether memory, descriptors and mappings grow.
func (t *table) flat(d *drill, name string, held []usage) {
	slack, connections := int64(flatSlack), int64(4)
	if d.short {
		slack, connections = flatSlackShort, 20 // a busy machine opens connections late
	}
	third := len(held) / 3
	middle, last := held[third:2*third], held[2*third:]
	of := func(part []usage, value func(usage) int64) int64 {
		var all []int64
		for _, u := range part {
			all = append(all, value(u))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	anonymous := func(u usage) int64 { return u.anonymous }
	before, after := of(middle, anonymous), of(last, anonymous)
	t.add(name+"anonymous memory", fmt.Sprintf("%s, later %s", megabytes(before), megabytes(after)),
		"10 % and "+megabytes(slack)+" more", metricMemory, float64(after) <= float64(before)*flatShare+float64(slack))
	for _, kind := range []struct {
		name, metric string
		slack        int64
		value        func(usage) int64
	}{
		{"descriptors", metricDescriptors, connections, func(u usage) int64 { return int64(u.descriptors) }},
		{"mapped segments", metricHeld, 0, func(u usage) int64 { return int64(u.mappings) }},
	} {
		before, after := of(middle, kind.value), of(last, kind.value)
		t.add(name+kind.name, fmt.Sprintf("%d, later %d", before, after), fmt.Sprintf("%d more", kind.slack),
			kind.metric, after <= before+kind.slack)
	}
}
