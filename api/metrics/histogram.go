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

// Sums are the contents of histograms, added up.
type Sums struct {
	buckets [len(bounds) + 1]int64
	sum     int64
}

// Add adds a histogram.
func (s *Sums) Add(h *Histogram) {
	for i := range h.buckets {
		s.buckets[i] += h.buckets[i].Load()
	}
	s.sum += h.sum.Load()
}

// count returns how many durations were counted.
func (s *Sums) count() (n int64) {
	for _, in := range s.buckets {
		n += in
	}
	return n
}

// Metric returns the sums as a metric in seconds.
func (s *Sums) Metric(desc *prometheus.Desc, labels ...string) prometheus.Metric {
	upTo := make(map[float64]uint64, len(bounds))
	total := uint64(0)
	for i, bound := range bounds {
		total += uint64(s.buckets[i])
		upTo[bound.Seconds()] = total
	}
	sum := time.Duration(s.sum).Seconds()
	return prometheus.MustNewConstHistogram(desc, uint64(s.count()), sum, upTo, labels...)
}
