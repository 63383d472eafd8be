//go:build !race

package snapshot

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"hdqs/internal/testkit"
)

// TestBulkAgainstSingle compares reading many numbers at once with reading each.
func TestBulkAgainstSingle(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const rows = 9000
	data := &TableData{Name: "numbers", Rows: rows}
	for _, spread := range []int64{5, 1 << 40} {
		for _, nulls := range []int{0, 3} {
			ints := ColumnData{Name: "int" + string(rune('a'+len(data.Columns))), Kind: Int, Ints: make([]int64, rows)}
			decs := ColumnData{
				Name: "dec" + string(rune('a'+len(data.Columns))), Kind: Decimal,
				Decimals: make([]Dec, rows),
			}
			for i := range rows {
				ints.Ints[i] = r.Int64N(spread) - spread/2
				decs.Decimals[i] = Dec{Mantissa: (r.Int64N(spread)-spread/2)*10 + 1, Scale: uint8(r.IntN(4))}
				if nulls > 0 && r.IntN(nulls) == 0 {
					ints.Ints[i], decs.Decimals[i] = NullInt, Dec{Scale: DecNull}
				}
			}
			data.Columns = append(data.Columns, ints, decs)
		}
	}
	seg := mustRead(t, fileOf(t, data))
	for _, c := range seg.Columns() {
		from, n := uint32(r.IntN(rows/2)), rows/3
		ints, decs := make([]int64, n), make([]Dec, n)
		at, intsAt, decsAt := make([]uint32, n), make([]int64, n), make([]Dec, n)
		for k := range at {
			at[k] = r.Uint32N(rows)
		}
		if c.Kind == Int {
			c.Ints(ints, from)
			c.IntsAt(intsAt, at)
		} else {
			c.Decs(decs, from)
			c.DecsAt(decsAt, at)
		}
		for k := range n {
			if at := from + uint32(k); c.Kind == Int && ints[k] != c.Int(at) || c.Kind == Decimal &&
				decs[k] != c.Dec(at) {
				t.Fatalf("%s (coded: %v) at %d: %d %v, want %v %v", c.Name, c.Coded(), at, ints[k], decs[k],
					c.IsNull(at), c.Len())
			}
			if at := at[k]; c.Kind == Int && intsAt[k] != c.Int(at) || c.Kind == Decimal && decsAt[k] != c.Dec(at) {
				t.Fatalf("%s (coded: %v) at %d, gathered: %d %v, want %v %v", c.Name, c.Coded(), at, intsAt[k],
					decsAt[k], c.IsNull(at), c.Len())
			}
		}
	}
}

// TestPackedScans compares the scans of packed numbers with tests of each number.
func TestPackedScans(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	for round := range 2000 {
		n, width := 1+r.IntN(700), r.IntN(58)
		pack := newPacker(n, width)
		numbers := make([]uint64, n)
		for i := range numbers {
			numbers[i] = r.Uint64() & (1<<width - 1)
			if i > 0 && round%2 == 0 && r.IntN(8) > 0 {
				numbers[i] = numbers[i-1]
			}
			pack.add(numbers[i])
		}
		p := newPacked(pack.bytes(), n, width)
		from := r.IntN(n)
		for i := 1; i <= n; i++ {
			want := i
			for want < n && numbers[want] == numbers[want-1] {
				want++
			}
			if got := p.Change(uint32(i), uint32(n)); got != uint32(want) {
				t.Fatalf("round %d: width %d: change from %d of %d at %d, want %d", round, width, i, n, got, want)
			}
		}
		count := r.IntN(n - from + 1)
		lo := numbers[r.IntN(n)]
		if r.IntN(4) == 0 {
			lo = r.Uint64N(2 << width)
		}
		more := []uint64{0, 1, r.Uint64N(1 << width), 1<<width - 1, 1<<64 - 1 - lo}[r.IntN(5)]
		unpacked := make([]uint64, count)
		if p.Unpack64(unpacked, uint32(from)); !slices.Equal(unpacked, numbers[from:from+count]) {
			t.Fatalf("round %d: width %d unpacked from %d: %v, want %v", round, width, from, unpacked,
				numbers[from:from+count])
		}
		set := make([]uint64, 1+1<<min(width, 16)/64)
		for i := range set {
			set[i] = r.Uint64() & r.Uint64()
		}
		got, want := make([]uint64, n/64+1), make([]uint64, n/64+1)
		got[0], want[0] = 4, 4
		for i, v := range numbers[from : from+count] {
			if v >= lo && v <= lo+more {
				want[i>>6] |= 1 << (i & 63)
			}
		}
		p.Within(uint32(from), count, lo, more, got)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: width %d [%d,+%d] of %d from %d: %x, want %x", round, width, lo, more,
				count, from, got, want)
		}
		if width > 16 {
			continue
		}
		clear(got)
		clear(want)
		for i, v := range numbers[from : from+count] {
			want[i>>6] |= set[v>>6] >> (v & 63) & 1 << (i & 63)
		}
		p.In(uint32(from), count, set, got)
		testkit.EqualLists(t, got, want, "round %d: width %d in a set", round, width)
	}
}

// TestPacked compares every way of reading packed numbers with the numbers, for all widths and for
// lengths around the ends of loads.
func TestPacked(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 11))
	for w := range 59 {
		width := w
		if w == 58 {
			width = 64
		}
		for _, n := range []int{0, 1, 2, 7, 8, 9, 63, 64, 65, 200, 1001} {
			values := make([]uint64, n)
			pack := newPacker(n, width)
			for i := range values {
				values[i] = r.Uint64() & (1<<width - 1)
				pack.add(values[i])
			}
			data := pack.bytes()
			p, err := openPacked(&block{encoding: encPacked, width: uint8(width), count: uint32(n)}, data, n)
			if err != nil {
				t.Fatalf("width %d, %d values: %v", width, n, err)
			}
			for i, want := range values {
				testkit.Equal(t, p.At(uint32(i)), want, "width %d: value %d of %d", width, i, n)
			}
			checkUnpack(t, p, values, r)
			checkWithin(t, p, values, r)
		}
	}
}

func checkUnpack(t *testing.T, p Packed, values []uint64, r *rand.Rand) {
	t.Helper()
	for range 20 {
		from := r.IntN(len(values) + 1)
		dst := make([]uint32, r.IntN(len(values)-from+1))
		p.Unpack(dst, uint32(from))
		for k, got := range dst {
			if want := uint32(values[from+k]); got != want {
				t.Fatalf("width %d: unpacked value %d of %d is %d, want %d", p.Width(), from+k, len(values), got, want)
			}
		}
	}
}

func checkWithin(t *testing.T, p Packed, values []uint64, r *rand.Rand) {
	t.Helper()
	bounds := []uint64{0, r.Uint64() & p.mask, p.mask}
	if len(values) > 0 {
		top := slices.Max(values)
		bounds = append(bounds, top, max(top, 1)-1)
	}
	for _, bound := range bounds {
		want := !slices.ContainsFunc(values, func(v uint64) bool { return v > bound })
		testkit.Equal(t, p.within(bound, nil), want, "width %d, %d values: within %d", p.Width(), len(values), bound)
	}
}

// randomRows makes a bitmap with containers of all types.
func randomRows(r *rand.Rand) *roaring.Bitmap {
	b := roaring.New()
	for chunk := range uint32(r.IntN(6)) {
		base := chunk << 16 * (1 + uint32(r.IntN(3)))
		switch r.IntN(4) {
		case 0:
			b.AddRange(uint64(base)+uint64(r.IntN(1000)), uint64(base)+uint64(1000+r.IntN(65000)))
		case 1:
			for range 1 + r.IntN(100) {
				b.Add(base | uint32(r.IntN(1<<16)))
			}
		case 2:
			b.AddRange(uint64(base), uint64(base)+1<<16)
		default:
			for range 4000 + r.IntN(20_000) {
				b.Add(base | uint32(r.IntN(1<<16)))
			}
		}
	}
	return b
}

// runsOf makes a bitmap with so many runs, and so many rows in all.
func runsOf(runs, rows uint32) *roaring.Bitmap {
	b := roaring.New()
	for at := uint32(0); runs > 0; runs-- {
		length := rows / runs
		b.AddRange(uint64(at), uint64(at+length))
		at, rows = at+length+1, rows-length
	}
	return b
}

// TestAppendFrozen compares frozen bitmaps with those of the library.
func TestAppendFrozen(t *testing.T) {
	t.Parallel()
	bitmaps := []*roaring.Bitmap{
		roaring.New(), roaring.BitmapOf(7), roaring.BitmapOf(5, 6, 7),
		roaring.BitmapOf(1<<16-1, 1<<16),
	}
	for _, runs := range []uint32{1, 2, 3, 7, 1023, 1024, 2047, 2048, 2054, 2055, 2056, 2057, 8000} {
		for rows := 2*runs - 2; rows <= 2*runs+3; rows++ {
			bitmaps = append(bitmaps, runsOf(runs, max(rows, runs)), runsOf(runs, 4*runs+rows))
		}
	}
	for rows := uint32(4094); rows < 4099; rows++ {
		bitmaps = append(bitmaps, runsOf(rows, rows))
	}
	for seed := range uint64(300) {
		bitmaps = append(bitmaps, randomRows(rand.New(rand.NewPCG(seed, 20))))
	}
	var reused freezer
	var loader roaringWriter
	for i, b := range bitmaps {
		rows := b.ToArray()
		got := testkit.Value(reused.append(make([]byte, 8), rows))(t)
		if loaded, err := loader.append(make([]byte, 8), rows); err != nil || !bytes.Equal(loaded, got) {
			t.Errorf("bitmap %d: a load writes %d bytes, %v, a replica %d others", i, len(loaded), err, len(got))
		}
		plain := roaring.BitmapOf(rows...)
		plain.RunOptimize()
		var want bytes.Buffer
		testkit.Value(plain.WriteFrozenTo(&want))(t)
		if !bytes.Equal(got[8:], want.Bytes()) {
			t.Errorf("bitmap %d: %d bytes differ from the library's %d", i, len(got)-8, want.Len())
		}
		frozen := got[8:]
		ends := binary.LittleEndian.AppendUint32(nil, uint32(len(frozen)))
		one := &Postings{n: 1, rows: math.MaxUint32, ends: ends, frozen: frozen}
		if back, err := rowsOf(one, 0); err != nil || !slices.Equal(back, rows) {
			t.Errorf("bitmap %d: read %d rows, %v, want %d", i, len(back), err, len(rows))
		}
	}
}
