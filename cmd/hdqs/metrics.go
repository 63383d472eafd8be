package main

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/contract"
	"hdqs/internal/follow"
	"hdqs/loader"
)

// newBuildInfo returns a metric that is always 1, with what was built as labels.
func newBuildInfo() prometheus.Collector {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "hdqs_build_info", Help: "The program that runs; always 1.",
	}, []string{"version", "commit", "interface", "goversion"})
	info.WithLabelValues(release, built(), contract.InterfaceVersion, runtime.Version()).Set(1)
	return info
}

type loadMetrics struct {
	follow.Outcomes
	seconds prometheus.Gauge
	found   *prometheus.GaugeVec
	files   *prometheus.GaugeVec
}

func newLoadMetrics(to prometheus.Registerer) *loadMetrics {
	m := &loadMetrics{
		Outcomes: follow.NewOutcomes(to, "load", "Loads of the catalog",
			follow.Published, follow.Unchanged, follow.Partial, follow.Failed, follow.Interrupted),
		seconds: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hdqs_load_duration_seconds", Help: "How long the last load of the catalog took; 0 before the first.",
		}),
		files: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "hdqs_load_files",
			Help: "Files of the last load: read, refused, or unread, since no role takes them.",
		}, []string{"state"}),
	}
	m.found = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "hdqs_load_findings",
		Help: "Rows that the last load dropped or found odd, faults of files, and large changes.",
	}, []string{"reason"})
	m.found.WithLabelValues("fault_in_a_file") // so that it is there before the first load
	to.MustRegister(m.seconds, m.found, m.files)
	m.count(loader.FileCounts{})
	return m
}

func (m *loadMetrics) count(files loader.FileCounts) {
	for state, n := range map[string]int{"read": files.Read, "refused": files.Refused, "unread": files.Unread} {
		m.files.WithLabelValues(state).Set(float64(n))
	}
}

// writeFindings writes what a load has found as a file for the textfile collector of node exporter.
// How a load ends is not in it: the unit that starts it can tell also if it was killed.
func writeFindings(file string, l *loaded) error {
	m, of := newLoadMetrics(prometheus.NewRegistry()), prometheus.NewRegistry()
	of.MustRegister(m.found, m.files)
	m.find(l)
	return prometheus.WriteToTextfile(file, of)
}

func (m *loadMetrics) find(l *loaded) {
	m.found.Reset()
	for reason, n := range l.Counts() {
		m.found.WithLabelValues(reason).Set(float64(n))
	}
	m.count(l.Files)
}

func (m *loadMetrics) end(ctx context.Context, began time.Time, l *loaded, err error) {
	m.seconds.Set(time.Since(began).Seconds())
	if err == nil {
		m.find(l)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		m.Count(follow.Interrupted)
	case err != nil:
		m.Count(follow.Failed)
	case l.partial() != nil:
		m.Count(follow.Partial)
	default:
		m.Count(l.Outcome)
	}
}
