package encode

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// longRuns returns ascending runs of rows that do not touch, most of them long enough for stored
// blocks.
func longRuns(r *rand.Rand, rows int) []Run {
	var runs []Run
	for at := r.IntN(2) * r.IntN(500); at < rows; {
		to := min(at+1+r.IntN(1+r.IntN(4000)), rows)
		runs = append(runs, Run{uint32(at), uint32(to)})
		at = to + 1 + r.IntN(1+r.IntN(300))
		if r.IntN(5) == 0 {
			break
		}
	}
	return runs
}

// TestStoredAgainstPlain requests bodies from several goroutines while stored blocks and row blocks
// are made, swept and made again.
func TestStoredAgainstPlain(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	tables, bodies := 12, 12
	if testing.Short() {
		tables, bodies = 2, 4
	}
	for range tables {
		n := 2000 + r.IntN(8000)
		rows := newFakeRows(r, n, r.IntN(3) == 0)
		cache := NewBlockCache(int64(1+r.IntN(100)) << 10)
		table := NewTable(rows, Options{Cache: cache})
		alwaysCopy(table)
		var all sync.WaitGroup
		for range 3 {
			r := rand.New(rand.NewPCG(r.Uint64(), 2))
			all.Go(func() {
				for range bodies {
					runs := longRuns(r, n)
					if r.IntN(2) == 0 {
						runs = shortRuns(r, n)
					}
					want := body(rows, runs)
					if got := unzstd(t, table.AppendZstd([]byte("front"),
						append([]Run(nil), runs...))[5:]); !bytes.Equal(got, want) {
						t.Errorf("zstd of %v differs: %d bytes, want %d", runs, len(got), len(want))
					}
					if got := gunzip(t, table.AppendGzip([]byte("front"),
						append([]Run(nil), runs...))[5:]); !bytes.Equal(got, want) {
						t.Errorf("gzip of %v differs: %d bytes, want %d", runs, len(got), len(want))
					}
				}
			})
		}
		all.Wait()
		if used := cache.used.Load(); used < 0 || used > cache.limit.Load() {
			t.Errorf("cache holds %d bytes, the limit is %d", used, cache.limit.Load())
		}
	}
}

// TestStoredBlocksAreUsed checks that a page is mostly copied after some requests.
func TestStoredBlocksAreUsed(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	rows := newFakeRows(r, 9000, false)
	table := NewTable(rows, Options{})
	run := Run{77, 8000}
	for range 20 {
		table.AppendGzip(nil, []Run{run})
	}
	stored := 0
	rest, ok := table.blocks.walk(run, true, 1, func(Run, *storedBlock) { stored++ })
	if !ok || stored != 61+0+1 || rest.To-rest.From > smallRows {
		t.Errorf("%d blocks are stored, and %v is left, want 62 and at most 32 rows", stored, rest)
	}
}

// TestSplit checks the results of split for every small run.
func TestSplit(t *testing.T) {
	t.Parallel()
	for from := uint32(0); from < 3*storedRows; from += 7 {
		for to := from; to < 12*storedRows; to += 5 {
			for _, last := range []bool{false, true} {
				p, ok := split(Run{from, to}, last, 2)
				if !ok {
					if to-from > 4*storedRows+2*reach {
						t.Fatalf("%d-%d: no blocks", from, to)
					}
					continue
				}
				if p.small > p.large || p.large+2*storedRows > p.largeEnd || p.largeEnd > p.end || p.end > to ||
					last && p.end == to {
					t.Fatalf("%d-%d, last %v: %v", from, to, last, p)
				}
				if p.small > 0 && p.small < from+reach || p.small == 0 && from > 0 {
					t.Fatalf("%d-%d: the first block of %v refers to rows before the run", from, to, p)
				}
				if p.small%smallRows+p.end%smallRows+p.large%storedRows+p.largeEnd%storedRows != 0 {
					t.Fatalf("%d-%d: %v are not multiples of the block sizes", from, to, p)
				}
			}
		}
	}
}

// crcMultiplySlowly is crcMultiply bit by bit.
func crcMultiplySlowly(a, b uint32) uint32 {
	product := uint32(0)
	for range 32 {
		product ^= b & -(a >> 31)
		a <<= 1
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return product
}

// TestCRCMultiply compares products with those computed bit by bit.
func TestCRCMultiply(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	special := []uint32{0, 1, 1 << 31, 1 << 30, 0x11111111, 0x88888888, 0xffffffff, crc32.IEEE}
	number := func() uint32 {
		if r.IntN(4) == 0 {
			return special[r.IntN(len(special))]
		}
		return r.Uint32()
	}
	for range 20_000 {
		a, b := number(), number()
		if got, want := crcMultiply(a, b), crcMultiplySlowly(a, b); got != want {
			t.Fatalf("%08x times %08x is %08x, want %08x", a, b, got, want)
		}
	}
}

// TestCRC combines the CRCs of two texts.
func TestCRC(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a, b := make([]byte, r.IntN(1000)), make([]byte, r.IntN(1<<r.IntN(20)))
		for i := range a {
			a[i] = byte(r.Uint32())
		}
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		got := crcMultiply(crcShift(len(b)), crc32.ChecksumIEEE(a)) ^ crc32.ChecksumIEEE(b)
		if want := crc32.ChecksumIEEE(append(a, b...)); got != want {
			t.Fatalf("lengths %d and %d: got %08x, want %08x", len(a), len(b), got, want)
		}
	}
}

// FuzzStored checks that bodies with stored blocks decode to the plain body in both codings. Now
// and then rows are missing between them.
func FuzzStored(f *testing.F) {
	f.Add(uint64(1), uint32(0), uint32(3000))
	f.Add(uint64(2), uint32(100), uint32(1000))
	f.Fuzz(func(t *testing.T, seed uint64, from, to uint32) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := uint32(1500 + r.IntN(1000))
		rows := newFakeRows(r, int(n), r.IntN(3) == 0)
		table := NewTable(rows, Options{})
		runs := []Run{{from % n, 0}}
		runs[0].To = runs[0].From + to%(n-runs[0].From+1)
		for last := &runs[0]; r.IntN(3) > 0 && last.To-last.From > 500; last = &runs[len(runs)-1] {
			end, cut := last.To, last.From+400+r.Uint32N(last.To-last.From-401)
			last.To = cut
			runs = append(runs, Run{cut + 1, end})
		}
		want := body(rows, runs)
		for range 3 {
			if got := gunzip(t, table.AppendGzip(nil, slices.Clone(runs))); !bytes.Equal(got, want) {
				t.Fatalf("gzip of %v differs", runs)
			}
			if got := unzstd(t, table.AppendZstd(nil, slices.Clone(runs))); !bytes.Equal(got, want) {
				t.Fatalf("zstd of %v differs", runs)
			}
		}
	})
}

// TestReserve checks that reserved memory leaves half of a cache to blocks, and that what is
// refused is not counted.
func TestReserve(t *testing.T) {
	t.Parallel()
	c := NewBlockCache(100)
	for _, step := range []struct {
		bytes int64
		fits  bool
		used  int64
	}{{30, true, 30}, {30, false, 30}, {20, true, 50}, {1, false, 50}} {
		if got := c.Reserve(step.bytes); got != step.fits || c.Bytes() != step.used {
			t.Errorf("%d bytes: %v, and %d are counted; want %v and %d", step.bytes, got, c.Bytes(), step.fits,
				step.used)
		}
	}
	c.Release(50)
	if c.Bytes() != 0 || !c.Reserve(50) {
		t.Errorf("%d bytes after all are released", c.Bytes())
	}
}
