//go:build !race

package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"hdqs/internal/testkit"
)

// rowsIn lists the rows of a chunk of a set.
func rowsIn(s *set, k int, size int) []uint32 {
	var r rowsOf
	r.load(s, &s.chunks[k], size)
	return listRows(&r)
}

func listRows(r *rowsOf) []uint32 {
	e := emitter{left: chunkRows}
	e.addRows(r, 0)
	return listRanges(e.ranges)
}

// randomRows returns random rows below size in one of several textures. Together they lead to all
// shapes of chunk.
func randomRows(r *rand.Rand, size int) []uint32 {
	var rows []uint32
	from, to := 0, size
	if r.IntN(3) == 0 { // only a part of the chunk
		from = r.IntN(size)
		to = from + 1 + r.IntN(size-from)
	}
	switch texture := r.IntN(6); texture {
	case 0:
		for range r.IntN(20) {
			rows = append(rows, uint32(from+r.IntN(to-from)))
		}
	case 1, 2:
		one := []int{2, 20, 200}[r.IntN(3)]
		for row := from; row < to; row++ {
			if r.IntN(one) == 0 {
				rows = append(rows, uint32(row))
			}
		}
	case 3, 4:
		longest := []int{3, 50, 3000}[r.IntN(3)]
		for row := from; row < to; row += 1 + r.IntN(longest) {
			for n := r.IntN(longest); n >= 0 && row < to; n-- {
				rows = append(rows, uint32(row))
				row++
			}
		}
	case 5:
		for row := from; row < to; row++ {
			rows = append(rows, uint32(row))
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// setOf makes the set of rows in one of the ways the product does. All chunks but the last are
// empty.
func setOf(t *testing.T, r *rand.Rand, rows []uint32, size int) *set {
	switch r.IntN(3) {
	case 0: // from ranges, as for sorted postings
		var e emitter
		e.left = len(rows)
		for _, row := range rows {
			e.append(row, row+1)
		}
		return rangesSet(e.ranges, size)
	case 1: // from a frozen bitmap
		s := new(set)
		testkit.Must(t, openFrozen(s, freeze(t, rows), size, r.IntN(2) == 0))
		return s
	}
	var b builder
	b.reset(size)
	for _, row := range rows {
		b.addRange(row, row+1)
	}
	if r.IntN(2) == 0 {
		b.negate()
		b.negate()
	}
	return b.build()
}

func freeze(t testing.TB, rows []uint32) []byte {
	m := roaring.BitmapOf(rows...)
	m.RunOptimize()
	return freezeBitmap(t, m)
}

// freezeBitmap leaves room after the bitmap: FreezeTo converts pointers of empty parts to pointers
// to words, which the race detector refuses at the end of an allocation.
func freezeBitmap(t testing.TB, m *roaring.Bitmap) []byte {
	data := make([]byte, m.GetFrozenSizeInBytes()+64)
	n, err := m.FreezeTo(data)
	testkit.Must(t, err)
	return data[:n]
}

// TestChunkAgainstLists intersects random chunks of all shapes in random order and compares rows
// and counts with plain lists.
func TestChunkAgainstLists(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	shapes := make(map[string]int)
	var never []string // pairs of shapes not intersected yet
	for _, a := range []shape{full, runs, array, bitmap} {
		for _, b := range []shape{empty, full, runs, array, bitmap} {
			never = append(never, fmt.Sprint(a, "&", b))
		}
	}
	var cur rowsOf
	rounds, most := 2000, 200_000 // the rarest pair comes about once in 200
	if testing.Short() {
		rounds, most = 200, 0
	}
	for round := 0; round < rounds || len(never) > 0 && round < most; round++ {
		never = slices.DeleteFunc(never, func(pair string) bool { return shapes[pair] > 0 })
		size := []int{chunkRows, chunkRows, 40_000, 64, 100, 1}[r.IntN(6)]
		want := randomRows(r, size)
		s := setOf(t, r, want, size)
		if got := rowsIn(s, 0, size); !slices.Equal(got, want) || s.rows != len(want) {
			t.Fatalf("round %d: set of %d rows has %d", round, len(want), len(got))
		}
		cur.loadAll(size)
		cur.and(s, &s.chunks[0])
		for range 1 + r.IntN(3) {
			other := randomRows(r, size)
			o := setOf(t, r, other, size)
			want = slices.DeleteFunc(slices.Clone(want), func(row uint32) bool {
				_, found := slices.BinarySearch(other, row)
				return !found
			})
			shapes[fmt.Sprint(cur.shape, "&", o.chunks[0].shape)]++
			if r.IntN(4) == 0 {
				if n := cur.countAnd(o, &o.chunks[0]); n != len(want) {
					t.Fatalf("round %d: %d rows counted, want %d", round, n, len(want))
				}
			}
			cur.and(o, &o.chunks[0])
			got := listRows(&cur)
			if !slices.Equal(got, want) || cur.count() != len(want) {
				t.Fatalf("round %d: %d rows left, counted %d, want %d", round, len(got), cur.count(),
					len(want))
			}
		}
	}
	if len(never) > 0 && !testing.Short() {
		t.Errorf("pairs of shapes %s never intersected", never)
	}
}
