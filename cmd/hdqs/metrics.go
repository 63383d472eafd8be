package main

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/contract"
)

// newBuildInfo returns a metric that is always 1, with what was built as labels.
func newBuildInfo() prometheus.Collector {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "hdqs_build_info", Help: "The program that runs; always 1.",
	}, []string{"version", "commit", "interface", "goversion"})
	info.WithLabelValues(release, built(), contract.InterfaceVersion, runtime.Version()).Set(1)
	return info
}
