package main

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api"
	"hdqs/api/contract"
	"hdqs/snapshot/store"
)

// newBuildInfo returns a metric that is always 1, with what was built as labels.
func newBuildInfo() prometheus.Collector {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "hdqs_build_info", Help: "The program that runs; always 1.",
	}, []string{"version", "commit", "interface", "goversion"})
	info.WithLabelValues(release, built(), contract.InterfaceVersion, runtime.Version()).Set(1)
	return info
}

// stage is the part of a look that failed.
type stage string

// The stages of a look, in their order. Keeping comes after the snapshot is served.
const (
	stageChannel  stage = "channel"
	stageManifest stage = "manifest"
	stageSegments stage = "segments"
	stageOpen     stage = "open"
	stageKeep     stage = "keep"
	stageWarm     stage = "warm"
	stageMemory   stage = "memory"
)

var stages = []stage{
	stageChannel, stageManifest, stageSegments, stageOpen, stageWarm, stageMemory, stageKeep,
}

// stageError is an error of a look with its stage.
type stageError struct {
	stage stage
	error
}

func (e *stageError) Unwrap() error { return e.error }

// atStage notes the stage of an error, unless it has one.
func atStage(at stage, err error) error {
	if _, noted := errors.AsType[*stageError](err); err == nil || noted {
		return err
	}
	return &stageError{at, err}
}

// stageOf returns the stage at which a look failed.
func stageOf(err error) stage {
	if _, ok := errors.AsType[*store.ManifestError](err); ok {
		return stageManifest
	}
	if e, ok := errors.AsType[*stageError](err); ok {
		return e.stage
	}
	return stageOpen
}

// Outcomes of looks and of loads.
const (
	outcomeSwapped     = "swapped"
	outcomePublished   = "published"
	outcomeUnchanged   = "unchanged"
	outcomePartial     = "partial"
	outcomeFailed      = "failed"
	outcomeInterrupted = "interrupted"
)

// outcomes counts the outcomes of something that is repeated, and notes the last success.
type outcomes struct {
	total *prometheus.CounterVec
	last  prometheus.Gauge
}

// newOutcomes registers hdqs_WHATs_total and hdqs_WHAT_last_success_timestamp_seconds.
func newOutcomes(to prometheus.Registerer, what, help string, all ...string) outcomes {
	o := outcomes{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hdqs_" + what + "s_total", Help: help + " by their outcome.",
		}, []string{"outcome"}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hdqs_" + what + "_last_success_timestamp_seconds",
			Help: help + ": when the last one ended that did not fail; 0 before the first.",
		}),
	}
	for _, outcome := range all {
		o.total.WithLabelValues(outcome)
	}
	to.MustRegister(o.total, o.last)
	return o
}

func (o *outcomes) count(outcome string) {
	o.total.WithLabelValues(outcome).Inc()
	if outcome != outcomeFailed && outcome != outcomeInterrupted {
		o.last.SetToCurrentTime()
	}
}

// lookMetrics counts looks at the store.
type lookMetrics struct {
	outcomes
	failures *prometheus.CounterVec
	began    atomic.Pointer[time.Time] // of the look that runs
}

func newLookMetrics(to prometheus.Registerer) *lookMetrics {
	m := &lookMetrics{
		outcomes: newOutcomes(to, "look", "Looks at the store",
			outcomeUnchanged, outcomeSwapped, outcomeFailed, outcomeInterrupted),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hdqs_look_failures_total", Help: "Looks at the store that failed, by the stage that failed.",
		}, []string{"stage"}),
	}
	for _, at := range stages {
		m.failures.WithLabelValues(string(at))
	}
	to.MustRegister(m.failures, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hdqs_look_running_seconds", Help: "How long the present look at the store has taken; 0 if none runs.",
	}, m.running))
	return m
}

func (m *lookMetrics) running() float64 {
	if began := m.began.Load(); began != nil {
		return time.Since(*began).Seconds()
	}
	return 0
}

func (m *lookMetrics) begin() {
	now := time.Now()
	m.began.Store(&now)
}

// ended ends what begin began without counting it.
func (m *lookMetrics) ended() { m.began.Store(nil) }

// end counts a look. ended says that the process ends, which interrupts it.
func (m *lookMetrics) end(changed bool, err error, ended bool) api.Look {
	m.ended()
	look := api.Look{At: time.Now(), Outcome: outcomeUnchanged}
	switch {
	case ended || errors.Is(err, errInterrupted):
		look.Outcome = outcomeInterrupted
	case err != nil:
		at := stageOf(err)
		m.failures.WithLabelValues(string(at)).Inc()
		look.Outcome, look.Reason = outcomeFailed, string(at)+": "+err.Error()
	case changed:
		look.Outcome = outcomeSwapped
	}
	m.count(look.Outcome)
	return look
}

// loadMetrics counts loads of a catalog.
type loadMetrics struct {
	outcomes
	seconds prometheus.Gauge
}

func newLoadMetrics(to prometheus.Registerer) *loadMetrics {
	m := &loadMetrics{
		outcomes: newOutcomes(to, "load", "Loads of the catalog", outcomePublished, outcomeUnchanged, outcomePartial,
			outcomeFailed, outcomeInterrupted),
		seconds: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hdqs_load_duration_seconds", Help: "How long the last load of the catalog took; 0 before the first.",
		}),
	}
	to.MustRegister(m.seconds)
	return m
}

// end counts a load that began at a time.
func (m *loadMetrics) end(ctx context.Context, began time.Time, l *loaded, err error) {
	m.seconds.Set(time.Since(began).Seconds())
	switch {
	case err != nil && ctx.Err() != nil:
		m.count(outcomeInterrupted)
	case err != nil:
		m.count(outcomeFailed)
	case l.partial() != nil:
		m.count(outcomePartial)
	default:
		m.count(l.Outcome)
	}
}
