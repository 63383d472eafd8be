//go:build !race

package encode

import (
	"bytes"
	stdflate "compress/flate"
	"io"
	"math/rand/v2"
	"testing"

	"hdqs/internal/testkit"
)

// TestPiecesAgainstPlain encodes random bodies of random tables and decodes them with the standard
// library's gzip and klauspost's zstd. Their bytes do not depend on earlier bodies.
func TestPiecesAgainstPlain(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	tables, bodies := 60, 25
	if testing.Short() {
		tables = 10
	}
	for range tables {
		n := r.IntN(1 + r.IntN(3000))
		rows := newFakeRows(r, n, r.IntN(4) == 0)
		used := NewTable(rows, Options{Tier: Pieces})
		for i := range bodies {
			runs := randomRuns(r, n)
			want, gzip, zstd := body(rows, runs), used.AppendGzip(nil, runs), used.AppendZstd(nil, runs)
			if !bytes.Equal(gunzip(t, gzip), want) || !bytes.Equal(unzstd(t, zstd), want) {
				t.Fatalf("a coding of %d runs differs from the plain body", len(runs))
			}
			if fresh := NewTable(rows, Options{Tier: Pieces}); i%4 == 0 &&
				(!bytes.Equal(gzip, fresh.AppendGzip(nil, runs)) || !bytes.Equal(zstd, fresh.AppendZstd(nil, runs))) {
				t.Fatalf("a coding of %d runs differs from that of a new table", len(runs))
			}
		}
	}
}

// randomSequences gives literals and matches of text to a block and calls flush now and then; it
// returns what they stand for.
func randomSequences(r *rand.Rand, w *block, text []byte, flush func()) (want []byte) {
	for len(text) > 0 || r.IntN(4) > 0 {
		n := min(len(text), r.IntN(40))
		if r.IntN(30) == 0 {
			n = len(text)
		}
		ops := []op{{plain: uint32(n), size: tooMany}}
		w.run(ops, text[:n], 0)
		want = append(want, text[:n]...)
		text = text[n:]
		if len(want) > 0 && r.IntN(3) > 0 {
			distance := 1 + r.IntN(min(len(want), maxDistance))
			if r.IntN(2) == 0 {
				distance = min(len(want), 1<<r.IntN(4)) // soon comes again
			}
			length := shortMatch + r.IntN(1<<r.IntN(11))
			if r.IntN(40) == 0 {
				length += 70_000
			}
			w.run([]op{{length: uint32(length), distance: uint32(distance)}}, nil, -length)
			for range length {
				want = append(want, want[len(want)-distance])
			}
		}
		if r.IntN(5) == 0 {
			flush()
		}
	}
	return want
}

// FuzzBlock checks that the standard library's inflate returns any literals and matches unchanged.
func FuzzBlock(f *testing.F) {
	f.Add([]byte("abcabcabc\x00\x10\x20"), uint64(1))
	f.Add([]byte{}, uint64(2))
	f.Add(bytes.Repeat([]byte{7}, 300), uint64(3))
	f.Add(bytes.Repeat([]byte("0123456789"), 20_000), uint64(4))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		rows := newFakeRows(r, 1, false)
		d := newDeflater(rows, firstDeflater(rows).first)
		d.begin(nil)
		d.matcher.block.bits.out = nil // DEFLATE alone
		d.ensure(r.IntN(10))
		want := randomSequences(r, &d.matcher.block, text, func() {
			if r.IntN(4) > 0 {
				d.nextBatch()
			} else {
				d.flush()
				d.ensure(r.IntN(10))
			}
		})
		d.endDeflate()
		got, err := io.ReadAll(stdflate.NewReader(bytes.NewReader(d.matcher.block.bits.out)))
		testkit.Must(t, err)
		if !bytes.Equal(got, want) {
			t.Fatalf("DEFLATE: %d bytes, want %d", len(got), len(want))
		}
	})
}

// TestHuffmanLimits builds codes for the Fibonacci numbers, for which an unlimited code would be
// far too long.
func TestHuffmanLimits(t *testing.T) {
	t.Parallel()
	var h huffman
	counts, lengths := make([]uint32, 40), make([]uint8, 40)
	a, b := uint32(1), uint32(1)
	for i := range counts {
		counts[i] = a
		a, b = b, a+b
	}
	for _, limit := range []int{7, 9, 15} {
		h.lengths(lengths, counts, limit)
		space := 0
		for _, l := range lengths {
			if l == 0 || int(l) > limit {
				t.Fatalf("limit %d: lengths %v", limit, lengths)
			}
			space += 1 << (limit - int(l))
		}
		if space != 1<<limit {
			t.Errorf("limit %d: the code uses %d of %d", limit, space, 1<<limit)
		}
	}
}

// TestLongWholeRoundTrip compresses bodies of megabytes.
func TestLongWholeRoundTrip(t *testing.T) {
	t.Parallel()
	for _, body := range [][]byte{records(rand.New(rand.NewPCG(1, 2)), 40_000), bytes.Repeat([]byte("0"), 9<<20)} {
		checkWhole(t, body)
	}
}
