//go:build !race

package index

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hdqs/snapshot"
)

// plainCount is one line of a plain count: the value in words, what it sorts by, and its rows.
type plainCount struct {
	text  string
	null  bool
	order *big.Rat // of numbers and enums
	rows  int
}

// plainCounts counts rows by a column the plain way, and shares only types with Counts.
func plainCounts(seg *snapshot.Segment, rows []uint32, by By) []plainCount {
	col, err := seg.Column(by.Column)
	if err != nil {
		panic(err)
	}
	counts := map[string]*plainCount{}
	for _, row := range rows {
		if col.Group != nil {
			row = uint32(col.Group.Codes.At(row))
		}
		c := plainCount{text: "null", null: col.IsNull(row)}
		if !c.null {
			switch col.Kind {
			case snapshot.Text:
				c.text = "=" + col.Text(row)
			case snapshot.Enum:
				c.text, c.order = "="+col.Text(row), new(big.Rat).SetInt64(int64(col.Codes().At(row)))
			case snapshot.Decimal:
				if c.text = col.DecString(col.Dec(row)); counts[c.text] == nil {
					c.order, _ = new(big.Rat).SetString(c.text)
				}
			default:
				c.text, c.order = plainPart(col.Int(row), by.Part)
			}
		}
		if counts[c.text] == nil {
			counts[c.text] = &c
		}
		counts[c.text].rows++
	}
	var all []plainCount
	for _, c := range counts {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b plainCount) int {
		switch {
		case a.null != b.null && a.null:
			return 1
		case a.null != b.null:
			return -1
		case a.order != nil && b.order != nil:
			return a.order.Cmp(b.order)
		}
		return cmp.Compare(a.text, b.text)
	})
	return all
}

// plainPart is a number, or the part of a time, in words, and what it sorts by.
func plainPart(n int64, part Part) (string, *big.Rat) {
	order := new(big.Rat).SetInt64(n)
	at := time.Unix(0, 0).UTC().Add(time.Duration(n) * time.Microsecond)
	switch part {
	case Year:
		return at.Format("2006"), order
	case Quarter:
		return fmt.Sprintf("%s-Q%d", at.Format("2006"), (at.Month()+2)/3), order
	case Month:
		return at.Format("2006-01"), order
	}
	return fmt.Sprint(n), order
}

func compareCounts(got *Counts, want []plainCount) error {
	for i := range max(got.Len(), len(want)) {
		switch {
		case i >= got.Len() || i >= len(want):
			return fmt.Errorf("%d values, want %d", got.Len(), len(want))
		case textOf(got, i) != want[i].text || got.Rows(i) != want[i].rows || got.IsNull(i) != want[i].null:
			return fmt.Errorf("value %d is %q with %d rows, want %q with %d", i, textOf(got, i), got.Rows(i),
				want[i].text, want[i].rows)
		}
	}
	return nil
}

// compareTop compares the n most frequent values with a plain sort.
func compareTop(c *Counts, n int) error {
	order := make([]int, c.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(c.Rows(k), c.Rows(i)) })
	if top := c.Top(n); !slices.Equal(top, order[:min(n, len(order))]) {
		return fmt.Errorf("the first %d are %v, want %v", n, top, order[:min(n, len(order))])
	}
	return nil
}

// TestCountsAgainstPlainCounts compares the counts of random queries on random tables, by every
// column, with counts of the rows that Scan finds, one by one.
func TestCountsAgainstPlainCounts(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	limits := []Options{{}, {CacheBytes: -1, SearchBytes: -1}}
	for i, rows := range []int{0, 1, 64, 3000, 65_537, 140_000} {
		queries := 30
		if testing.Short() {
			queries = 6
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		seg := newRandomTable(r, rows).segment(t)
		x, err := OpenWith(seg, limits[i%len(limits)])
		if err != nil {
			t.Fatal(err)
		}
		for k := range queries {
			q := randomQuery(r, seg)
			if k == 0 {
				q.Filters = nil
			}
			var page Page
			if err := Scan(seg, &Query{Filters: q.Filters, Limit: math.MaxInt}, &page); err != nil {
				t.Fatal(err)
			}
			passing := listRanges(page.Ranges)
			by := everyBy(seg)
			r.Shuffle(len(by), func(i, k int) { by[i], by[k] = by[k], by[i] })
			by = by[:max(4, len(by)*500/(500+len(passing)))] // few of long tables, which take long to count
			want := make([][]plainCount, len(by))
			var few []By // without those of too many numbers
			for i, b := range by {
				want[i] = plainCounts(seg, passing, b)
				if col, _ := seg.Column(b.Column); len(want[i]) <= MaxNumbers || col.Kind == snapshot.Text {
					few = append(few, b)
				}
			}
			all, err := x.Counts(q, few...)
			if err != nil {
				t.Fatalf("seed %d: %v: %s", seed, err, describe(q))
			}
			for i, b := range by {
				var got *Counts
				at := slices.Index(few, b)
				if at >= 0 {
					got = &all[at]
				} else if _, err := x.Counts(q, b); err == nil {
					t.Fatalf("seed %d: by %v: %d numbers are counted: %s", seed, b, len(want[i]), describe(q))
				} else if many, ok := errors.AsType[*ManyNumbers](err); !ok || many.Column != b.Column {
					t.Fatalf("seed %d: by %v: %v: %s", seed, b, err, describe(q))
				} else {
					continue
				}
				err := compareCounts(got, want[i])
				if err == nil {
					err = compareTop(got, 1+r.IntN(got.Len()+2))
				}
				if err != nil {
					t.Fatalf("seed %d, %d rows: by %v: %v: %s", seed, rows, b, err, describe(q))
				}
			}
		}
	}
}

// TestWaysToCount compares the ways to count with each other, for rows of every shape.
func TestWaysToCount(t *testing.T) {
	t.Parallel()
	seed, tables := uint64(time.Now().UnixNano()), 0
	for i, rows := range []int{64, 3000, 65_537, 140_000} {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		seg := newRandomTable(r, rows).segment(t)
		x, err := Open(seg)
		if err != nil {
			t.Fatal(err)
		}
		var counted tally
		for range 6 {
			q := randomQuery(r, seg)
			passing, err := x.Passing(q)
			if err != nil {
				t.Fatal(err)
			}
			counted.collect(x, passing)
			for name, c := range x.columns {
				if c.space == nil {
					continue
				}
				if err := counted.count(x, c.space, byRows); err != nil {
					t.Fatal(err)
				}
				want := slices.Clone(counted.counts)
				for _, by := range []way{byOthers, byPostings, byRuns} {
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
						t.Fatalf("seed %d: way %d gives %v by %s, want %v: %s", seed, by, counted.counts, name, want,
							describe(q))
					}
				}
			}
		}
	}
	if tables == 0 {
		t.Errorf("seed %d: no column has runs", seed)
	}
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
			col, err := segmentOf(t, data).Column("text")
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

// TestCountsErrors checks that Counts refuses what it cannot answer.
func TestCountsErrors(t *testing.T) {
	t.Parallel()
	seg := newRandomTable(rand.New(rand.NewPCG(1, 1)), 10).segment(t)
	x, err := Open(seg)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []By{
		{Column: "no such column"}, {Column: "text0", Part: Year}, {Column: "time", Part: Month + 1},
	} {
		if _, err := x.Counts(&Query{}, by); !errors.Is(err, ErrFilter) {
			t.Errorf("by %v: error %v", by, err)
		}
	}
	if _, err := x.Counts(&Query{Filters: []Filter{{Op: Equal}}}, By{Column: "text0"}); !errors.Is(err, ErrFilter) {
		t.Errorf("error %v", err)
	}
}
