package load

import (
	"math/bits"
	"time"
)

// Histogram counts durations in buckets that grow with them: 128 to each doubling, so a quantile is off by less than one per cent,
// from a nanosecond to hours. Its zero value is ready; it is for one goroutine.
type Histogram struct {
	counts [(64 - subBits) << subBits]uint32
	n      uint64
	sum    time.Duration
	max    time.Duration
}

const subBits = 7

// bucket of a duration: below 128 ns each its own, above by the leading bits.
func bucket(ns uint64) int {
	if ns < 1<<subBits {
		return int(ns)
	}
	shift := bits.Len64(ns) - subBits - 1
	return shift<<subBits + int(ns>>shift)
}

// top is the largest duration of a bucket.
func top(b int) uint64 {
	if b < 1<<(subBits+1) {
		return uint64(b)
	}
	shift := b>>subBits - 1
	return uint64(b-shift<<subBits+1)<<shift - 1
}

// Record counts a duration.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(other *Histogram) {
	for i, c := range other.counts {
		h.counts[i] += c
	}
	h.n, h.sum, h.max = h.n+other.n, h.sum+other.sum, max(h.max, other.max)
}

// Count says how many durations there are.
func (h *Histogram) Count() uint64 { return h.n }

// Max is the largest duration, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean of all durations; 0 when there are none.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return h.sum / time.Duration(h.n)
}

// Quantile is the duration that a part q of all durations do not exceed, to within a bucket; 0 when there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := max(uint64(q*float64(h.n)+0.5), 1)
	var seen uint64
	for b, c := range h.counts {
		if seen += uint64(c); seen >= rank {
			return min(time.Duration(top(b)), h.max)
		}
	}
	return h.max
}
