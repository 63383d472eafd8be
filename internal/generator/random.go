package generator

import (
	"fmt"
	"math/bits"
)

// random is a splitmix64 stream. Each file of the catalog has its own, seeded by the world's seed
// and the file's name, so that files have the same bytes in whatever order and on however many
// cores they are written.
type random struct{ state uint64 }

func newRandom(seed uint64, label string) *random {
	return &random{state: hashOf(seed, label)}
}

// hashOf mixes a seed and a label (FNV-1a, then the finaliser of splitmix64).
func hashOf(seed uint64, label string) uint64 {
	h := uint64(14695981039346656037) ^ mix(seed)
	for i := 0; i < len(label); i++ {
		h = (h ^ uint64(label[i])) * 1099511628211
	}
	return mix(h)
}

func mix(x uint64) uint64 {
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return mix(r.state)
}

// below returns a number in [0, n).
func (r *random) below(n int) int {
	high, _ := bits.Mul64(r.next(), uint64(n))
	return int(high)
}

// between returns a number in [low, high].
func (r *random) between(low, high int) int { return low + r.below(high-low+1) }

// unit returns a number in [0, 1).
func (r *random) unit() float64 { return float64(r.next()>>11) / (1 << 53) }

// chance is true with a probability in per cent.
func (r *random) chance(percent int) bool { return r.below(100) < percent }

// skewed returns a number in [0, limit), small ones more often, like counts of people and events.
func (r *random) skewed(limit int) int {
	u := r.unit()
	u *= u
	return int(u * u * float64(limit))
}

func pick[T any](r *random, from []T) T { return from[r.below(len(from))] }

// uuid returns the identifier of a label, the same in every run with the same seed.
func uuid(seed uint64, label string) string {
	a, b := hashOf(seed, "uuid/1/"+label), hashOf(seed, "uuid/2/"+label)
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>50, b&0xffffffffffff)
}
