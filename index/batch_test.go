package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/snapshot"
)

// TestBatch compares what a batch reads with the values of single rows: of rows in any order, one
// by one and in ranges, in batches of any size and in parts of these.
func TestBatch(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 0
		text := func() string { n++; return fmt.Sprint("text", n) }
		rows := 1 + r.IntN(5000)
		seg := tables.Segment(t, tables.Random(r, rows, text, []string{"sorted", "runs", "any"}[:r.IntN(4)]...))
		for range 4 {
			var ranges []index.Range
			var want []uint32
			longest := []int{1, 5, 200}[r.IntN(3)]
			for range 1 + r.IntN(200) {
				from := uint32(r.IntN(rows))
				one := index.Range{From: from, To: from + 1 + uint32(r.IntN(min(longest, rows-int(from))))}
				ranges = append(ranges, one)
				for row := one.From; row < one.To; row++ {
					want = append(want, row)
				}
			}
			size, part := 1+r.IntN(1000), 1+r.IntN(100)
			var got []uint32
			for b := range index.Batches(slices.Values(ranges), size) {
				if b.Len() == 0 || b.Len() > size {
					t.Fatalf("seed %d: a batch of %d rows, want at most %d", seed, b.Len(), size)
				}
				got = append(got, b.IDs()...)
				compareBatch(t, r, seg, b)
				var ofParts []uint32
				var small index.Batch
				for p := range b.Parts(&small, part) {
					ofParts = append(ofParts, p.IDs()...)
					compareBatch(t, r, seg, p)
				}
				if !slices.Equal(ofParts, b.IDs()) {
					t.Fatalf("seed %d: parts of %d rows have %d of %d", seed, part, len(ofParts), b.Len())
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %d rows, want %d", seed, len(got), len(want))
			}
			compareMixed(t, r, seg)
		}
	}
}

// compareMixed adds ranges and bits, in any order, and compares the batch and its parts.
func compareMixed(t *testing.T, r *rand.Rand, seg *snapshot.Segment) {
	t.Helper()
	var b, small index.Batch
	var want []uint32
	for range 1 + r.IntN(20) {
		from := uint32(r.IntN(seg.Rows()))
		last := uint32(min(int(from)+r.IntN(64), seg.Rows()-1))
		word := uint64(0)
		for row := from; row <= last; row++ {
			word |= 1 << (row - from)
		}
		if r.IntN(2) == 0 {
			word &= r.Uint64()
			if n := b.AddBits(from, []uint64{word, 0}, b.Len()+64); n == 0 {
				t.Fatal("no room for one word")
			}
		} else {
			b.Add(from, last+1, 1<<20)
		}
		for row := from; row <= last; row++ {
			if word>>(row-from)&1 != 0 {
				want = append(want, row)
			}
		}
	}
	if !slices.Equal(b.IDs(), want) {
		t.Fatalf("rows %v, want %v", b.IDs(), want)
	}
	compareBatch(t, r, seg, &b)
	for p := range b.Parts(&small, 1+r.IntN(50)) {
		compareBatch(t, r, seg, p)
		want = want[p.Len():]
	}
	if len(want) > 0 {
		t.Fatalf("%d rows are in no part", len(want))
	}
}

// compareBatch compares some columns, in any order, with their values in each row.
func compareBatch(t *testing.T, r *rand.Rand, seg *snapshot.Segment, b *index.Batch) {
	t.Helper()
	columns := seg.Columns()
	for range 4 {
		c := columns[r.IntN(len(columns))]
		at := b.Positions(c)
		var codes []uint32
		if c.Coded() {
			codes = b.Codes(c)
		}
		for k, row := range b.IDs() {
			i := c.Position(row)
			switch {
			case at[k] != i:
				t.Fatalf("column %q, row %d: position %d, want %d", c.Name, row, at[k], i)
			case codes != nil && codes[k] != uint32(c.Codes().At(i)):
				t.Fatalf("column %q, row %d: code %d, want %d", c.Name, row, codes[k], c.Codes().At(i))
			}
			switch c.Kind {
			case snapshot.Int, snapshot.Bool, snapshot.Time:
				if got := b.Ints(c)[k]; got != c.Int(i) {
					t.Fatalf("column %q, row %d: %d, want %d", c.Name, row, got, c.Int(i))
				}
			case snapshot.Decimal:
				if got := b.Decs(c)[k]; got != c.Dec(i) {
					t.Fatalf("column %q, row %d: %v, want %v", c.Name, row, got, c.Dec(i))
				}
			}
			if packed := c.Numbers().Packed; !c.Coded() && c.Group == nil && b.Numbers(&packed)[k] != packed.At(row) {
				t.Fatalf("column %q, row %d: %d, want %d", c.Name, row, b.Numbers(&packed)[k], packed.At(row))
			}
		}
	}
}
