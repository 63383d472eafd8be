//go:build !race

package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
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
	return data[:testkit.Value(m.FreezeTo(data))(t)]
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
				testkit.Equal(t, cur.countAnd(o, &o.chunks[0]), len(want), "round %d: rows counted", round)
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

// listSet lists all rows of a set.
func listSet(s *set, rows int) []uint32 {
	e := emitter{left: rows}
	var r rowsOf
	for k := range s.chunks {
		r.load(s, &s.chunks[k], chunkSize(rows, k))
		e.addRows(&r, uint32(k)<<chunkBits)
	}
	return listRanges(e.ranges)
}

const (
	bitmapType = byte(snapshot.BitmapContainer)
	arrayType  = byte(snapshot.ArrayContainer)
	runsType   = byte(snapshot.RunContainer)
)

// frozenBytes encodes containers as given, valid or not.
func frozenBytes(containers ...container) []byte {
	var bitsets, pairs, values, keys, counts, types []byte
	for _, c := range containers {
		keys = binary.LittleEndian.AppendUint16(keys, c.key)
		counts = binary.LittleEndian.AppendUint16(counts, c.count)
		types = append(types, c.kind)
		for _, v := range c.values {
			switch c.kind {
			case runsType:
				pairs = binary.LittleEndian.AppendUint16(pairs, v)
			case bitmapType:
			default:
				values = binary.LittleEndian.AppendUint16(values, v)
			}
		}
		if c.kind == bitmapType {
			page := make([]byte, 8*chunkWords)
			for _, v := range c.values {
				page[v/8] |= 1 << (v % 8)
			}
			bitsets = append(bitsets, page...)
		}
	}
	header := binary.LittleEndian.AppendUint32(nil, uint32(len(containers))<<15|13766)
	return slices.Concat(bitsets, pairs, values, keys, counts, types, header)
}

type container struct {
	key, count uint16
	kind       byte
	values     []uint16
}

func TestFrozenFaults(t *testing.T) {
	t.Parallel()
	const rows = chunkRows + 100
	good := frozenBytes(
		container{0, 1, arrayType, []uint16{3, 9}},
		container{1, 2, runsType, []uint16{0, 4, 6, 93}},
	)
	for name, data := range map[string][]byte{
		"empty":                      {},
		"header only half":           {0xc6, 0x35},
		"wrong cookie":               append(good[:len(good)-4:len(good)-4], 1, 0, 1, 0),
		"more containers than bytes": append([]byte{0}, good[len(good)-4:]...),
		"a byte too many":            append([]byte{0}, good...),
		"a byte too few":             good[1:],
		"type 4":                     frozenBytes(container{0, 0, 4, []uint16{3}}),
		"type 0":                     frozenBytes(container{0, 0, 0, []uint16{3}}),
		"keys fall": frozenBytes(container{1, 0, arrayType, []uint16{3}},
			container{0, 0, arrayType, []uint16{3}}),
		"key twice": frozenBytes(container{0, 0, arrayType, []uint16{3}},
			container{0, 0, arrayType, []uint16{4}}),
		"key beyond the table": frozenBytes(container{2, 0, arrayType, []uint16{3}}),
		"too many containers": frozenBytes(container{0, 0, arrayType, []uint16{3}},
			container{1, 0, arrayType, []uint16{3}},
			container{2, 0, arrayType, []uint16{3}}),
		"row beyond the table":  frozenBytes(container{1, 0, arrayType, []uint16{100}}),
		"values fall":           frozenBytes(container{0, 1, arrayType, []uint16{9, 3}}),
		"value twice":           frozenBytes(container{0, 1, arrayType, []uint16{9, 9}}),
		"array too long":        frozenBytes(container{0, maxArray, arrayType, make([]uint16, maxArray+1)}),
		"no run":                frozenBytes(container{0, 0, runsType, nil}),
		"run beyond the table":  frozenBytes(container{1, 1, runsType, []uint16{90, 10}}),
		"run beyond the chunk":  frozenBytes(container{0, 1, runsType, []uint16{65535, 1}}),
		"runs touch":            frozenBytes(container{0, 2, runsType, []uint16{3, 2, 6, 1}}),
		"runs overlap":          frozenBytes(container{0, 2, runsType, []uint16{3, 2, 5, 1}}),
		"runs fall":             frozenBytes(container{0, 2, runsType, []uint16{30, 2, 5, 1}}),
		"bitset miscounted":     frozenBytes(container{0, 5, bitmapType, []uint16{1, 2, 3}}),
		"bitset beyond, word":   frozenBytes(container{1, 1, bitmapType, []uint16{1, 101}}),
		"bitset beyond, page":   frozenBytes(container{1, 1, bitmapType, []uint16{1, 60_000}}),
		"bitset missing":        frozenBytes(container{0, 1, arrayType, []uint16{3, 9}})[4:],
		"runs counted too high": frozenBytes(container{0, 3, runsType, []uint16{3, 2, 9, 2}}),
	} {
		var s set
		testkit.Is(t, openFrozen(&s, data, rows, false), ErrPosting, "%s", name)
	}
	var s set
	if err := openFrozen(&s, good, rows, false); err != nil || s.rows != 2+5+94 {
		t.Errorf("the good one: %v, %d rows", err, s.rows)
	}
}

// FuzzFrozen: any bytes give ErrPosting, or a set of ascending rows of the table, as many as
// counted, that every operation accepts; never a panic.
func FuzzFrozen(f *testing.F) {
	f.Add(frozenBytes(container{0, 1, arrayType, []uint16{3, 9}}, container{1, 2, runsType, []uint16{0, 4, 6, 93}}),
		uint32(chunkRows+100))
	f.Add(frozenBytes(container{0, 2, bitmapType, []uint16{1, 2, 3}}), uint32(64))
	f.Add(frozenBytes(container{0, 0, arrayType, []uint16{0}}), uint32(1))
	f.Add([]byte{}, uint32(0))
	f.Fuzz(func(t *testing.T, data []byte, rows uint32) {
		rows %= 3 * chunkRows
		var s set
		if err := openFrozen(&s, data, int(rows), false); err != nil {
			if !errors.Is(err, ErrPosting) {
				t.Fatalf("error %v, want ErrPosting", err)
			}
			return
		}
		list := listSet(&s, int(rows))
		if len(list) != s.rows || len(list) > 0 && list[len(list)-1] >= rows || !slices.IsSorted(list) {
			t.Fatalf("%d rows of %d, %d counted", len(list), rows, s.rows)
		}
		var again set
		if err := openFrozen(&again, data, int(rows), true); err != nil ||
			!slices.Equal(listSet(&again, int(rows)), list) {
			t.Fatalf("read with checked it has other rows: %v", err)
		}
		var b builder
		b.reset(int(rows))
		b.add(&s)
		b.negate()
		if others := b.build(); others.rows+s.rows != int(rows) {
			t.Fatalf("%d rows and %d in the complement, of %d", s.rows, others.rows, rows)
		}
		b.negate()
		if same := b.build(); !slices.Equal(listSet(same, int(rows)), list) {
			t.Fatalf("complement of the complement has %d rows, want %d", same.rows, len(list))
		}
	})
}
