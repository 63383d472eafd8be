package cache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/internal/testkit"
)

// twin is a Cache written down slowly: keys in the order of the ring, and which were used.
type twin struct {
	limit, bytes int64
	ring         []int
	hand         int
	used         map[int]bool
	sizes        map[int]int64
}

func (t *twin) drop(at int) {
	key := t.ring[at]
	t.bytes -= t.sizes[key]
	delete(t.sizes, key)
	delete(t.used, key)
	last := len(t.ring) - 1
	t.ring[at] = t.ring[last]
	t.ring = t.ring[:last]
}

func (t *twin) makeRoom(size int64) {
	for t.bytes+size > t.limit && len(t.ring) > 0 {
		t.hand %= len(t.ring)
		if key := t.ring[t.hand]; t.used[key] {
			t.used[key] = false
			t.hand++
			continue
		}
		t.drop(t.hand)
	}
}

func (t *twin) put(key int, size int64) {
	if size > t.limit/4 {
		return
	}
	if at := slices.Index(t.ring, key); at >= 0 {
		t.drop(at)
	}
	t.makeRoom(size)
	t.ring, t.sizes[key] = append(t.ring, key), size
	t.bytes += size
}

// TestCache compares a Cache with its twin: what it has, what it counts, and what leaves it.
func TestCache(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit := int64(1 + r.IntN(400))
		left := map[string]int{}
		c := New[int](limit, func(value string) { left[value]++ })
		want := &twin{limit: limit, used: map[int]bool{}, sizes: map[int]int64{}}
		put := map[string]bool{}
		for step := range 2000 {
			key := r.IntN(40)
			switch r.IntN(20) {
			case 0:
				limit = int64(1 + r.IntN(400))
				c.SetLimit(limit)
				want.limit = limit
				want.makeRoom(0)
			case 1:
				size := r.Int64N(limit)
				c.MakeRoom(size)
				want.makeRoom(size)
			case 2:
				c.Clear()
				for len(want.ring) > 0 {
					want.drop(len(want.ring) - 1)
				}
			case 3:
				c.Delete(key)
				if at := slices.Index(want.ring, key); at >= 0 {
					want.drop(at)
				}
			case 4, 5, 6, 7:
				value, size := fmt.Sprint(key, "/", step), int64(r.IntN(100))
				if c.Put(key, value, size) {
					put[value] = true
				}
				want.put(key, size)
			default:
				_, ok := c.Get(key)
				if _, has := want.sizes[key]; ok != has {
					t.Fatalf("seed %d, step %d: key %d is there: %v, want %v", seed, step, key, ok, has)
				}
				if ok {
					want.used[key] = true
				}
			}
			if c.Bytes() != want.bytes || c.Bytes() > max(limit, 0) || len(c.entries) != len(want.ring) {
				t.Fatalf("seed %d, step %d: %d bytes of %d entries, want %d of %d, at most %d",
					seed, step, c.Bytes(), len(c.entries), want.bytes, len(want.ring), limit)
			}
		}
		c.Clear()
		for value := range put {
			testkit.Equal(t, left[value], 1, "seed %d: %s left times", seed, value)
		}
	}
}

// TestTooLarge: an entry that is larger than a Clock does not stay.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	c := NewClock(10)
	e := &keyed[int, int]{in: New[int, int](0, nil), size: 11}
	if c.Add(e); c.Bytes() != 0 || len(c.ring) != 0 {
		t.Errorf("%d bytes", c.Bytes())
	}
}
