//go:build !race

package index

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hdqs/internal/tables"
	"hdqs/snapshot"
)

// TestCountStrategies compares what each strategy counts with the codes of the rows that Scan
// finds, read one by one, for rows of every shape.
func TestCountStrategies(t *testing.T) {
	t.Parallel()
	seed, tables := uint64(time.Now().UnixNano()), 0
	for i, rows := range []int{64, 3000, 65_537, 140_000} {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		seg := randomSegment(t, r, rows)
		x, err := Open(seg)
		if err != nil {
			t.Fatal(err)
		}
		var counted countScratch
		for range 6 {
			q := randomQuery(r, seg)
			passing, err := x.Passing(q)
			if err != nil {
				t.Fatal(err)
			}
			counted.collect(x, passing)
			var page Page
			if err := Scan(seg, &Query{Filters: q.Filters, Limit: math.MaxInt}, &page); err != nil {
				t.Fatal(err)
			}
			found := listRanges(page.Ranges)
			for name, c := range x.columns {
				if c.space == nil {
					continue
				}
				want := countCodes(c.space, found)
				for _, by := range []strategy{byRows, byOthers, byPostings, byRuns} {
					if by == byPostings && (!c.space.indexed || c.space.postings.Sorted()) {
						continue
					}
					if by == byRuns {
						counted.built = false
						if counted.runsOf(x, c.space, 1e12) != nil {
							tables++
						}
					}
					if err := counted.count(x, c.space, by); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(counted.counts, want) {
						t.Fatalf("seed %d: strategy %d gives %v by %s, want %v: %s", seed, by, counted.counts, name,
							want, describe(q))
					}
				}
			}
		}
	}
	if tables == 0 {
		t.Errorf("seed %d: no column has runs", seed)
	}
}

// countCodes counts rows by their codes, one by one.
func countCodes(s *codeSpace, rows []uint32) []uint32 {
	counts := make([]uint32, s.size)
	for _, row := range rows {
		counts[s.codes.At(row)]++
	}
	return counts
}

// TestFindRuns compares the runs of codes with the codes.
func TestFindRuns(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	for _, rows := range []int{1, 100, chunkRows - 1, chunkRows, chunkRows + 1, 2*chunkRows + 300} {
		for _, runs := range []int{1, 5, rows / 100, rows / 10} {
			data := &snapshot.TableData{Name: "runs", Rows: rows}
			c := snapshot.ColumnData{Name: "text", Kind: snapshot.Text}
			values := []int{1, 4, 700}[r.IntN(3)]
			for i := range values {
				c.Values = append(c.Values, fmt.Sprintf("%03d", i))
			}
			code := uint32(0)
			for range rows {
				if r.IntN(1+rows/(1+runs)) == 0 {
					code = uint32(r.IntN(values))
				}
				c.Codes = append(c.Codes, code)
			}
			data.Columns = []snapshot.ColumnData{c}
			col, err := tables.Segment(t, data).Column("text")
			if err != nil {
				t.Fatal(err)
			}
			found := findRuns(col.Codes(), rows)
			changes := 0
			for i := range uint32(rows) {
				if i > 0 && (i%chunkRows == 0 || col.Codes().At(i) != col.Codes().At(i-1)) {
					changes++
				}
			}
			if found == nil {
				if changes <= rows/fewRows {
					t.Errorf("seed %d: no runs, though there are only %d in %d rows", seed, changes+1, rows)
				}
				continue
			}
			if len(found.codes) != changes+1 || len(found.ends) != changes+1 {
				t.Fatalf("seed %d: %d runs, want %d", seed, len(found.codes), changes+1)
			}
			at := uint32(0)
			for k := range chunkCount(rows) {
				for i := found.first[k]; i < found.first[k+1]; i++ {
					for end := uint32(k)<<chunkBits + uint32(found.ends[i]); at <= end; at++ {
						if code := uint32(col.Codes().At(at)); code != found.codes[i] {
							t.Fatalf("seed %d: row %d has code %d, its run %d", seed, at, code, found.codes[i])
						}
					}
				}
			}
			if int(at) != rows {
				t.Errorf("seed %d: the runs end at row %d of %d", seed, at, rows)
			}
		}
	}
}

// TestCounterErrors checks that a Counter refuses what it cannot answer.
func TestCounterErrors(t *testing.T) {
	t.Parallel()
	x, err := Open(randomSegment(t, rand.New(rand.NewPCG(1, 1)), 10))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Counter(&Query{Filters: []Filter{{Op: Equal}}}); !errors.Is(err, ErrFilter) {
		t.Errorf("a filter without columns: %v", err)
	}
	c, err := x.Counter(&Query{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.ByCode("no such column"); !errors.Is(err, ErrFilter) {
		t.Errorf("a column that is not there: %v", err)
	}
}
