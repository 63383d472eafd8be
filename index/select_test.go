//go:build !race

package index

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

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

// TestSelectAgainstScan runs random queries on random tables, each query three times: the second
// answer may find its predicates in the cache and the third its totals. The chunks of the rows that
// pass to every third are read too. The tables get different memory limits.
func TestSelectAgainstScan(t *testing.T) {
	t.Parallel()
	limits := []Options{{}, {CacheBytes: -1}, {CacheBytes: 1 << 17}}
	for _, c := range []struct{ rows, tables, queries int }{
		{0, 3, 10},
		{1, 6, 30},
		{2, 6, 30},
		{63, 6, 50},
		{64, 6, 50},
		{1000, 9, 120},
		{5000, 6, 80},
		{65535, 1, 20},
		{65536, 3, 15},
		{65537, 2, 15},
		{131072, 1, 20},
		{200_000, 1, 25},
	} {
		if testing.Short() {
			if c.rows > 65537 {
				continue
			}
			c.tables, c.queries = (c.tables+2)/3, (c.queries+4)/5
		}
		t.Run(fmt.Sprintf("rows=%d", c.rows), func(t *testing.T) {
			seed := testkit.Seed()
			for table := range c.tables {
				r := rand.New(rand.NewPCG(seed, uint64(table)))
				seg := randomSegment(t, r, c.rows)
				x := opened(t, seg, limits[table%len(limits)])
				var got, want Page
				for n := range c.queries {
					q := randomQuery(r, seg)
					for range 3 {
						if err := compare(x, seg, q, &got, &want); err != nil {
							t.Fatalf("seed %d table %d: %v", seed, table, err)
						}
						q.Offset /= 2
					}
					if n%3 == 0 {
						var all Page
						testkit.Must(t, Scan(seg, &Query{Filters: q.Filters, Limit: math.MaxInt}, &all))
						if err := comparePassing(x, q, listRanges(all.Ranges), r); err != nil {
							t.Fatalf("seed %d table %d: %v", seed, table, err)
						}
					}
				}
			}
		})
	}
}

// TestDamagedPosting flips one bit of each posting of an open segment. A query then gets ErrPosting
// or, where the damaged bytes are still a bitmap of rows, an answer; never a panic or rows that the
// table does not have.
func TestDamagedPosting(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	damaged, tables := 0, 6
	if testing.Short() {
		tables = 1
	}
	for range tables {
		seg := randomSegment(t, r, 70_000)
		x := opened(t, seg, Options{})
		for _, c := range x.columns {
			if c.space == nil || c.space.checked == nil {
				continue
			}
			for code := range uint32(min(c.space.size, 10)) {
				if data := c.space.postings.Frozen(code); len(data) > 0 {
					data[r.IntN(len(data))] ^= 1 << r.IntN(8)
				}
			}
		}
		var p Page
		for range 100 {
			q := randomQuery(r, seg)
			err := x.Select(q, &p)
			if err != nil && !errors.Is(err, ErrPosting) {
				t.Fatalf("%v: %s", err, describe(q))
			}
			if err != nil {
				damaged++
			}
			if n := len(p.Ranges); p.Total > seg.Rows() || n > 0 && int(p.Ranges[n-1].To) > seg.Rows() ||
				err != nil && n+p.Total > 0 {
				t.Fatalf("total %d of %d rows: %s", p.Total, seg.Rows(), describe(q))
			}
		}
	}
	if damaged == 0 && !testing.Short() {
		t.Error("no query returned ErrPosting")
	}
}

// TestFilterErrors: all ways to ask refuse the same filters, and counts a column that is not there.
func TestFilterErrors(t *testing.T) {
	t.Parallel()
	seg := randomSegment(t, rand.New(rand.NewPCG(1, 1)), 10)
	x := opened(t, seg, Options{})
	for _, f := range []Filter{
		{Columns: []string{"no_such"}, Op: Equal},
		{Columns: []string{"text0", "no_such"}, Op: Equal},
		{Op: Equal},
		{Columns: []string{"text0"}, Op: AtLeast},
		{Columns: []string{"enum"}, Op: Below},
		{Columns: []string{"sorted_text1"}, Op: AtLeastOrNull},
		{Columns: []string{"count"}, Op: Like},
		{Columns: []string{"flag"}, Op: Contains},
		{Columns: []string{"start", "text0"}, Op: AtLeast},
		{Columns: []string{"decimal0"}, Op: Contains},
		{Columns: []string{"level"}, Op: 0},
		{Columns: []string{"level"}, Op: 99},
	} {
		q := &Query{Filters: []Filter{{Columns: []string{"level"}, Op: Equal}, f}, Limit: 10}
		p := Page{Total: 5, Rows: 5, Ranges: []Range{{1, 2}}}
		if err := x.Select(q, &p); !errors.Is(err, ErrFilter) || p.Total+p.Rows+len(p.Ranges) != 0 {
			t.Errorf("%s: %v, page %v", describe(q), err, p)
		}
		testkit.Is(t, Scan(seg, q, &p), ErrFilter, "scan %s", describe(q))
		testkit.Fails(x.Passing(q))(t, ErrFilter, "passing %s", describe(q))
		testkit.Fails(x.Counter(q))(t, ErrFilter, "counter %s", describe(q))
	}
	c := testkit.Value(x.Counter(&Query{}))(t)
	defer c.Close()
	testkit.Fails(c.ByCode("no such column"))(t, ErrFilter, "a column that is not there")
}

// forget drops an entry, to measure what it saves.
func (c answers) forget(key []byte) { c.Delete(unsafe.String(&key[0], len(key))) }

// TestPageByScan checks that reading codes gives the page and the total that sets of rows give,
// whatever the estimates say.
func TestPageByScan(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed()
	answered, refused := 0, 0
	for table := range 4 {
		r := rand.New(rand.NewPCG(seed, uint64(table)))
		seg := randomSegment(t, r, []int{300, 5000, 66_000, 140_000}[table])
		x := opened(t, seg, Options{})
		for range 150 {
			f := randomFilter(r, seg)
			f.Values = randomValues(r, seg, &f)
			q := Query{Filters: []Filter{f}, Limit: r.IntN(400), Offset: uint64(r.IntN(600))}
			var want, got Page
			w := new(scratch)
			w.makeKeys(x, q.Filters)
			testkit.Must(t, x.predicates(w))
			out := emitter{left: q.Limit, skip: q.Offset}
			want.Total = x.walk(w, nil, &out)
			out.finish(&want)

			w = new(scratch)
			w.makeKeys(x, q.Filters)
			x.Forget()
			x.bind(w)
			for _, o := range w.predicates {
				o.cost = []int{cheapCost, 1 << 40}[r.IntN(2)] // few rows may be tested, or all
			}
			out = emitter{left: q.Limit, skip: q.Offset}
			total, ok, err := x.pageByScan(w, &out)
			if err != nil {
				t.Fatalf("seed %d: %v: %s", seed, err, describe(&q))
			}
			if !ok {
				if refused++; out.rows > 0 || len(out.ranges) > 0 || out.skip != q.Offset {
					t.Fatalf("seed %d: %+v though nothing was answered: %s", seed, out, describe(&q))
				}
				continue
			}
			answered++
			got.Total = total
			out.finish(&got)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d: %v, want %v: %s", seed, got, want, describe(&q))
			}
		}
	}
	if answered < 20 || refused < 20 {
		t.Errorf("seed %d: %d pages were read and %d not: the test shows little", seed, answered, refused)
	}
}
