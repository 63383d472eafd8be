//go:build !race

package snapshot

import (
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestWithinBlocks compares the test of whole blocks with tests of each number, while the block is
// read. Without a number above the bound all of it is read, up to its last piece.
func TestWithinBlocks(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	for width := 1; width <= 40; width++ {
		for range 60 {
			most := uint64(1)<<width - 1
			bound := most - r.Uint64N(most>>r.IntN(width)+1)
			n, at := rangeRows+r.IntN(4*rangeRows), -1
			values := make([]uint64, n)
			for i := range values {
				values[i] = []uint64{r.Uint64N(bound + 1), bound, most >> 1 & bound, 0}[r.IntN(4)]
			}
			if bound < most && r.IntN(2) == 0 {
				at = r.IntN(n)
				values[at] = bound + 1 + []uint64{0, r.Uint64N(most - bound), most - bound - 1}[r.IntN(3)]
			}
			pack := newPacker(n, width)
			for _, v := range values {
				pack.add(v)
			}
			p := newPacked(pack.bytes(), n, width)
			read := reading{data: p.data}
			if got := p.within(bound, &read); got != (at < 0) {
				t.Fatalf("seed %d width %d: within %d of %d numbers is %v, number %d is above", seed, width, bound, n,
					got, at)
			}
			if want := crc32.Checksum(p.data, castagnoli); read.checksum() != want {
				t.Fatalf("seed %d width %d: checksum %08x of %d bytes, want %08x", seed, width, read.sum, len(p.data),
					want)
			}
		}
	}
}

// TestReading compares checksums that are made in steps with those of all bytes.
func TestReading(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 5*pieceCached)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	for range 200 {
		read := reading{data: data[r.IntN(100):][:r.IntN(4*pieceCached)]}
		for range r.IntN(5) {
			read.to(r.IntN(5 * pieceCached))
		}
		if want := crc32.Checksum(read.data, castagnoli); read.checksum() != want {
			t.Fatalf("checksum %08x of %d bytes, want %08x", read.sum, len(read.data), want)
		}
	}
}

// randomDecimals returns packed decimals of at most maxLoad bits. Most pass; now and then one does
// not, for any of the reasons there are.
func randomDecimals(r *rand.Rand) (p packedNumbers, exact exactTexts) {
	p = packedNumbers{decimal: true}
	exact.n = r.IntN(4)
	p.base = []int64{
		0, r.Int64N(1000) - 500, int64(r.Uint64()), math.MaxInt64 - r.Int64N(1000), math.MinInt64 + 1 + r.Int64N(1000),
	}[r.IntN(5)]
	scales := []uint8{0, uint8(1 + r.IntN(MaxScale))}
	for range r.IntN(3) {
		scales = append(scales, []uint8{0, 1, uint8(r.IntN(MaxScale + 1)), DecText, DecNull}[r.IntN(5)])
	}
	slices.Sort(scales)
	scales = slices.Compact(scales)
	p.count = copy(p.scales[:], scales)
	for 1<<p.scaleBits < p.count {
		p.scaleBits++
	}
	width := p.scaleBits + r.IntN(maxLoad-p.scaleBits) + 1
	n, bad := 1+r.IntN(300), r.IntN(300)
	b := p.bounds(&exact)
	pack := newPacker(n, width)
	for i := range n {
		v := r.Uint64() & (1<<width - 1)
		for range 100 {
			k := v & (1<<p.scaleBits - 1)
			high := v >> p.scaleBits
			passes := b.known[k] && high <= b.most[k] && !(b.fraction[k] && (p.base+int64(high))%10 == 0)
			if passes == (i != bad) {
				break
			}
			v = r.Uint64() & (1<<width - 1) >> r.IntN(width)
		}
		pack.add(v)
	}
	p.packed = newPacked(pack.bytes(), n, width)
	return p, exact
}

// TestDecimalBounds compares the check of all decimals at once with that of each.
func TestDecimalBounds(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	passed, rounds := 0, int(fewer(20_000))
	for range rounds {
		p, exact := randomDecimals(r)
		b := p.bounds(&exact)
		err := p.checkEach(&b, &exact)
		if got := p.allPass(&b, nil); got != (err == nil) {
			t.Fatalf("seed %d: all of %d decimals pass: %v; %v", seed, p.packed.n, got, err)
		}
		if err == nil {
			passed++
		}
	}
	if passed < rounds/10 || passed > rounds*9/10 {
		t.Errorf("seed %d: %d of %d lists pass, want some of both", seed, passed, rounds)
	}
}
