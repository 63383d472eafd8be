package encode

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"hdqs/internal/cache"
	"hdqs/internal/testkit"
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
	r := testkit.Random(t)
	tables, bodies := 12, 12
	if testing.Short() {
		tables, bodies = 2, 4
	}
	for range tables {
		n := 2000 + r.IntN(8000)
		rows := newFakeRows(r, n, r.IntN(3) == 0)
		blocks := cache.NewClock(int64(1+r.IntN(100)) << 10)
		table := NewTable(rows, Options{Cache: blocks})
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
		if used := blocks.Bytes(); used < 0 || used > blocks.Limit() {
			t.Errorf("cache holds %d bytes, the limit is %d", used, blocks.Limit())
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
