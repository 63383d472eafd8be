package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// bounds are the upper bounds of the buckets of a Histogram. One more bucket has what is longer.
var bounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, time.Second, 10 * time.Second,
}

// Histogram counts durations. The zero value is empty.
type Histogram struct {
	buckets [len(bounds) + 1]atomic.Int64
	sum     atomic.Int64 // in nanoseconds
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	bucket := 0
	for bucket < len(bounds) && d > bounds[bucket] {
		bucket++
	}
	h.buckets[bucket].Add(1)
	h.sum.Add(int64(d))
}

// count returns how many durations were counted.
func (h *Histogram) count() (n int64) {
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}

// Durations returns what histograms have counted, added up, as a metric in seconds.
func Durations(desc *prometheus.Desc, labels []string, of ...*Histogram) prometheus.Metric {
	upTo, total, sum := make(map[float64]uint64, len(bounds)), uint64(0), time.Duration(0)
	for i := range len(bounds) + 1 {
		for _, h := range of {
			total += uint64(h.buckets[i].Load())
		}
		if i < len(bounds) {
			upTo[bounds[i].Seconds()] = total
		}
	}
	for _, h := range of {
		sum += time.Duration(h.sum.Load())
	}
	return prometheus.MustNewConstHistogram(desc, total, sum.Seconds(), upTo, labels...)
}
