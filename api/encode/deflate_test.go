//go:build !race

package encode

import (
	"bytes"
	stdflate "compress/flate"
	"io"
	"math/rand/v2"
	"testing"

	"hdqs/internal/cache"
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
		d.ensure()
		want := randomSequences(r, &d.matcher.block, text, func() {
			if r.IntN(4) > 0 {
				d.nextBatch()
			} else {
				d.flush()
				d.ensure()
			}
		})
		d.endDeflate()
		got := testkit.Value(io.ReadAll(stdflate.NewReader(bytes.NewReader(d.matcher.block.bits.out))))(t)
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
		testkit.Equal(t, space, 1<<limit, "limit %d: the code uses", limit)
	}
}

// TestLongWholeRoundTrip compresses bodies of megabytes.
func TestLongWholeRoundTrip(t *testing.T) {
	t.Parallel()
	for _, body := range [][]byte{records(rand.New(rand.NewPCG(1, 2)), 40_000), bytes.Repeat([]byte("0"), 9<<20)} {
		checkWhole(t, body)
	}
}

// copiedBody returns a gzip body with rows from row blocks, all of which exist or are made.
func copiedBody(t *Table, runs []Run) []byte {
	d := t.writers.Get().(*deflater)
	d.begin(nil)
	d.plain(t.rows.Head())
	d.rowsCopied(runs, t.rows.Cut(), &t.copied, 1<<30)
	d.plain(t.rows.Tail())
	body := d.end()
	t.writers.Put(d)
	return body
}

// TestCopiedAgainstPlain decodes bodies of random rows that are copied from row blocks, and bodies
// without any, which the same table makes in turn.
func TestCopiedAgainstPlain(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	tables, bodies := 150, 20
	if testing.Short() {
		tables = 25
	}
	copies := 0
	for range tables {
		n := 1 + r.IntN(2000)
		rows := newFakeRows(r, n, r.IntN(4) == 0)
		if r.IntN(3) == 0 { // equal neighbours
			for i := range rows.slots {
				s := &rows.slots[i]
				for row := 1; row < n; row++ {
					if row%7 > 2 {
						s.codes[row] = s.codes[row-1]
					}
				}
			}
		}
		table := NewTable(rows, Options{})
		alwaysCopy(table)
		for range bodies {
			runs := shortRuns(r, n)
			if len(runs) == 0 {
				continue
			}
			want := body(rows, runs)
			got := copiedBody(table, runs)
			if !bytes.Equal(gunzip(t, got), want) {
				t.Fatalf("rows from row blocks differ: %v", runs)
			}
			if again := copiedBody(table, runs); !bytes.Equal(got, again) {
				t.Fatalf("the same rows take %d and %d bytes", len(got), len(again))
			}
			if got := gunzip(t, table.pieces(nil, table.frame(), runs, false, nil)); !bytes.Equal(got, want) {
				t.Fatalf("rows that are encoded differ: %v", runs)
			}
		}
		copies += int(table.copied.blocks.cache.Bytes())
	}
	if copies == 0 {
		t.Error("no row block was made")
	}
}

// TestCountedBits compares the bits that counts say ops take with those that are written.
func TestCountedBits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	code := firstDeflater(newFakeRows(r, 1, false)).first
	text := make([]byte, 40_000)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	for range 300 {
		var ops []op
		size := 0
		for range r.IntN(20) {
			x := op{
				length: uint32(r.IntN(1 << r.IntN(11))), distance: uint32(1 + r.IntN(1<<r.IntN(16))),
				plain: uint32(r.IntN(20)), size: tooMany,
			}
			size += int(x.length + x.plain)
			ops = append(ops, x)
		}
		var seen counts
		seen.ops(ops, text[:size], 0)
		b := block{code: &code.table}
		b.write(ops, text[:size], 0)
		if got, want := seen.cost(&code.table)+seen.extra(), uint(b.bits.position()); got != want {
			t.Fatalf("%d bits are counted, %d are written: %v", got, want, ops)
		}
	}
}

// TestRowBlocksWithinLimit checks that row blocks stay within the limit of their cache however many
// a table has.
func TestRowBlocksWithinLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{64 << 10, 64 << 20} {
		rows := newFakeRows(rand.New(rand.NewPCG(3, 4)), 40_000, false)
		blocks := cache.NewClock(limit)
		table := NewTable(rows, Options{Cache: blocks})
		alwaysCopy(table)
		for from := uint32(0); from+2000 <= 40_000; from += 2000 {
			var runs []Run
			for at := from; at < from+2000; at += 20 {
				runs = append(runs, Run{at, at + 17})
			}
			copiedBody(table, runs)
			if used := blocks.Bytes(); used > limit {
				t.Fatalf("%d bytes of row blocks, the limit is %d", used, limit)
			}
		}
	}
}

// TestNumbers compares numbers encoded two characters at a time with the same encoded one by one.
func TestNumbers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	d := newDeflater(newFakeRows(r, 1, false), &blockCode{})
	for c := range 256 {
		d.recent.litLen[c] = uint32(r.IntN(1 << r.IntN(16)))
	}
	d.own.build(&d.huffman, &d.recent)
	const digits = "0123456789.-+/,"
	for range 100_000 {
		n := r.IntN(20)
		text := make([]byte, n+Slack)
		strange := false
		for i := range text {
			text[i] = digits[r.IntN(len(digits))]
			if r.IntN(40) == 0 {
				text[i] = byte(r.Uint32())
			}
			if i < n && bytes.IndexByte([]byte(digits), text[i]) < 0 {
				strange = true
			}
		}
		longest := n + r.IntN(3)
		got, size := d.own.table.number(text, n, longest)
		want := bitWriter{}
		want.reserve(400)
		d.own.table.writeLiterals(&want, text[:n])
		bits := 8*len(want.out) + int(want.nbits)
		if size == tooMany {
			if !strange && longest <= maxNumber && bits <= maxBits {
				t.Fatalf("%q is not encoded", text[:n])
			}
			continue
		}
		have := bitWriter{}
		have.reserve(400)
		have.write(got, uint(size))
		if strange || int(size) != bits || !bytes.Equal(have.out, want.out) || have.acc != want.acc {
			t.Fatalf("%q: %d bits %x, want %d", text[:n], size, got, bits)
		}
	}
}
