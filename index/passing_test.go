//go:build !race

package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"hdqs/internal/testkit"
)

// comparePassing reads all chunks of a query in random order, from two goroutines, and compares
// them with the rows that Scan finds.
func comparePassing(x *Index, q *Query, want []uint32, r *rand.Rand) error {
	p, err := x.Passing(q)
	if err != nil {
		return err
	}
	if n := p.Chunks(); n != chunkCount(x.Rows()) {
		return fmt.Errorf("%d chunks", n)
	}
	for range 3 {
		offset, limit := r.IntN(len(want)+3), r.IntN(len(want)+3)
		from := min(offset, len(want))
		wanted := want[from:min(from+limit, len(want))]
		ranges := slices.Collect(p.Rows(uint64(offset), limit))
		if got := listRanges(ranges); !slices.Equal(got, wanted) || slices.Contains(ranges, Range{}) {
			return fmt.Errorf("%d rows from %d: %d rows, want %d: %s", limit, offset, len(got), len(wanted),
				describe(q))
		}
	}
	order := r.Perm(p.Chunks())
	var wait sync.WaitGroup
	failures := make(chan error, 2)
	for range cap(failures) {
		counting := r.IntN(2) == 0
		wait.Go(func() {
			var chunk ChunkRows
			for _, k := range order {
				if err := compareChunk(p, &chunk, k, counting, want); err != nil {
					failures <- fmt.Errorf("chunk %d: %w: %s", k, err, describe(q))
					return
				}
			}
		})
	}
	wait.Wait()
	close(failures)
	return <-failures
}

// compareChunk compares all views of chunk k with the rows of the table that pass.
func compareChunk(p *Passing, chunk *ChunkRows, k int, counting bool, all []uint32) error {
	base := uint32(k) << chunkBits
	from, _ := slices.BinarySearch(all, base)
	to, _ := slices.BinarySearch(all, base+chunkRows)
	want := all[from:to]
	if counting {
		if n := p.Count(k, chunk); n != len(want) {
			return fmt.Errorf("counts %d rows, want %d", n, len(want))
		}
	}
	n := p.Read(k, chunk)
	size := chunkSize(p.x.rows, k)
	if n != len(want) || chunk.Len() != n || chunk.Base() != base || chunk.Size() != size ||
		chunk.All() != (n == size) {
		return fmt.Errorf("%d rows, length %d, base %d, size %d, all %t; want %d rows of %d", n, chunk.Len(),
			chunk.Base(), chunk.Size(), chunk.All(), len(want), size)
	}
	kept := Range{7, 8} // what dst had before is kept, even where the first row follows it
	for _, when := range []string{"before Words", "after Words"} {
		ranges := chunk.Ranges([]Range{kept})
		if ranges[0] != kept || !slices.Equal(listRanges(ranges[1:]), want) {
			return fmt.Errorf("ranges %s: %.200s", when, fmt.Sprint(ranges))
		}
		for i := 2; i < len(ranges); i++ {
			if ranges[i-1].To >= ranges[i].From {
				return fmt.Errorf("ranges %v and %v touch", ranges[i-1], ranges[i])
			}
		}
		var bits []uint32
		for i, w := range chunk.Words() {
			for b := uint32(0); w != 0; b, w = b+1, w>>1 {
				if w&1 != 0 {
					bits = append(bits, base+uint32(i)*64+b)
				}
			}
		}
		if !slices.Equal(bits, want) || chunk.Len() != len(want) {
			return fmt.Errorf("%d bits, length %d, want %d rows", len(bits), chunk.Len(), len(want))
		}
	}
	return nil
}

// TestPassingAgainstScan compares the chunks of random queries on random tables with Scan, before
// and after Select has counted the rows.
func TestPassingAgainstScan(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed()
	limits := []Options{{}, {CacheBytes: -1}}
	for i, rows := range []int{0, 1, 64, 3000, 65_536, 65_537, 140_000} {
		queries := 60
		if testing.Short() {
			if queries = 4 - 3*min(1, rows/65_536); rows > 65_537 {
				break
			}
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		seg := randomSegment(t, r, rows)
		x := opened(t, seg, limits[i%len(limits)])
		for range queries {
			q := randomQuery(r, seg)
			var want Page
			testkit.Must(t, Scan(seg, &Query{Filters: q.Filters, Limit: math.MaxInt}, &want))
			for range 2 {
				if err := comparePassing(x, q, listRanges(want.Ranges), r); err != nil {
					t.Fatalf("seed %d, %d rows: %v", seed, rows, err)
				}
				var page Page
				testkit.Must(t, x.Select(q, &page))
			}
		}
	}
}
