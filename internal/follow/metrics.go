package follow

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/state"
	"hdqs/internal/replica"
	"hdqs/snapshot/store"
)

type stage string

// The stages of a poll, in their order. Keeping comes after the snapshot is served.
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

func stageOf(err error) stage {
	if _, ok := errors.AsType[*store.ManifestError](err); ok {
		return stageManifest
	}
	if e, ok := errors.AsType[*stageError](err); ok {
		return e.stage
	}
	return stageOpen
}

// Outcomes of polls and of loads.
const (
	Swapped     = "swapped"
	Published   = "published"
	Unchanged   = "unchanged"
	Partial     = "partial"
	Failed      = "failed"
	Interrupted = "interrupted"
)

// Outcomes counts the outcomes of something that is repeated, and notes the last success.
type Outcomes struct {
	total *prometheus.CounterVec
	last  prometheus.Gauge
}

// NewOutcomes registers hdqs_WHATs_total and hdqs_WHAT_last_success_timestamp_seconds.
func NewOutcomes(to prometheus.Registerer, what, help string, all ...string) Outcomes {
	o := Outcomes{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hdqs_" + what + "s_total", Help: help + ".",
		}, []string{"outcome"}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hdqs_" + what + "_last_success_timestamp_seconds",
			Help: help + ": when the last success ended; 0 before the first.",
		}),
	}
	for _, outcome := range all {
		o.total.WithLabelValues(outcome)
	}
	to.MustRegister(o.total, o.last)
	return o
}

// Count counts an outcome.
func (o *Outcomes) Count(outcome string) {
	o.total.WithLabelValues(outcome).Inc()
	if outcome != Failed && outcome != Interrupted {
		o.last.SetToCurrentTime()
	}
}

// Metrics counts polls of the store.
type Metrics struct {
	Outcomes
	failures *prometheus.CounterVec
	began    atomic.Pointer[time.Time] // of the poll that runs

	segments, bytes *prometheus.CounterVec // downloaded, by form
	fallbacks       prometheus.Counter
	canary          prometheus.Gauge
}

// The forms in which segments are downloaded.
const (
	formDelta = "delta"
	formWhole = "whole"
)

// NewMetrics registers the metrics of polls.
func NewMetrics(to prometheus.Registerer) *Metrics {
	m := &Metrics{
		Outcomes: NewOutcomes(to, "poll", "Polls of the store",
			Unchanged, Swapped, Failed, Interrupted),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hdqs_poll_failures_total", Help: "Polls of the store that failed.",
		}, []string{"stage"}),
	}
	for _, at := range stages {
		m.failures.WithLabelValues(string(at))
	}
	m.segments = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hdqs_fetched_segments_total",
		Help: "Segments that were downloaded from a remote store, as deltas or whole.",
	}, []string{"form"})
	m.bytes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hdqs_fetched_segment_bytes_total", Help: "Bytes of downloaded segments or deltas.",
	}, []string{"form"})
	m.fallbacks = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "hdqs_delta_fallbacks_total",
		Help: "Deltas that could not be used.",
	})
	m.canary = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "hdqs_canary",
		Help: "1 if the replica serves the snapshot of a canary.",
	})
	m.count(&replica.Fetched{})
	to.MustRegister(m.segments, m.bytes, m.fallbacks, m.canary, m.failures)
	to.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hdqs_poll_running_seconds", Help: "How long the poll of the store that runs has taken; 0 if none runs.",
	}, m.running))
	return m
}

// setCanary notes whether the last poll followed a canary.
func (m *Metrics) setCanary(isCanary bool) {
	m.canary.Set(0)
	if isCanary {
		m.canary.Set(1)
	}
}

// count counts what was downloaded.
func (m *Metrics) count(f *replica.Fetched) {
	m.segments.WithLabelValues(formDelta).Add(float64(f.Deltas))
	m.bytes.WithLabelValues(formDelta).Add(float64(f.DeltaBytes))
	m.segments.WithLabelValues(formWhole).Add(float64(f.Files - f.Deltas))
	m.bytes.WithLabelValues(formWhole).Add(float64(f.Bytes))
	m.fallbacks.Add(float64(f.Fallbacks))
}

func (m *Metrics) running() float64 {
	if began := m.began.Load(); began != nil {
		return time.Since(*began).Seconds()
	}
	return 0
}

// Begin notes that a poll begins, or something before the first that can hang like one.
func (m *Metrics) Begin() {
	now := time.Now()
	m.began.Store(&now)
}

// Ended ends what Begin began without counting it.
func (m *Metrics) Ended() { m.began.Store(nil) }

// end counts a poll. ended says that the process ends, which interrupts it.
func (m *Metrics) end(changed bool, err error, ended bool) state.Poll {
	m.Ended()
	poll := state.Poll{At: time.Now(), Outcome: Unchanged}
	switch {
	case ended || errors.Is(err, ErrInterrupted):
		poll.Outcome = Interrupted
	case err != nil:
		at := stageOf(err)
		m.failures.WithLabelValues(string(at)).Inc()
		poll.Outcome, poll.Reason = Failed, string(at)+": "+err.Error()
	case changed:
		poll.Outcome = Swapped
	}
	m.Count(poll.Outcome)
	return poll
}
