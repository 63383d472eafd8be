//go:build !race

package index

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"hdqs/snapshot"
)

// TestSelectOnStore runs random queries on the segments of a store, as TestSelectAgainstScan does
// on random tables. HDQS_TEST_STORE is the directory of the store, HDQS_TEST_QUERIES the number of
// queries a segment, 100 by default. Without a store it is skipped; the repository has none.
func TestSelectOnStore(t *testing.T) {
	t.Parallel()
	onStore(t, func(r *rand.Rand, seed uint64, seg *snapshot.Segment, x *Index, queries int) {
		var got, want Page
		some := 0
		for range queries {
			q := randomQuery(r, seg)
			for range 2 {
				if err := compare(x, seg, q, &got, &want); err != nil {
					t.Fatalf("seed %d %s: %v", seed, seg.Name(), err)
				}
				q.Offset /= 2
			}
			if got.Total > 0 {
				some++
			}
		}
		t.Logf("%s: %d rows, %d of %d queries found rows; the index takes %d bytes", seg.Name(), seg.Rows(), some,
			queries, x.Bytes())
	})
}

// TestSelectOnStoreCounts counts on the segments of a store, as TestCountStrategies does on random
// tables, with the limits of TestSelectOnStore.
func TestSelectOnStoreCounts(t *testing.T) {
	t.Parallel()
	onStore(t, func(r *rand.Rand, seed uint64, seg *snapshot.Segment, x *Index, queries int) {
		for range queries {
			q := randomQuery(r, seg)
			var page Page
			if err := x.Select(&Query{Filters: q.Filters, Limit: math.MaxInt}, &page); err != nil {
				t.Fatal(err)
			}
			rows := listRanges(page.Ranges)
			counter, err := x.Counter(q)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				name := seg.Columns()[r.IntN(len(seg.Columns()))].Name
				got, err := counter.ByCode(name)
				if err != nil {
					t.Fatal(err)
				}
				if space := x.columns[name].space; space != nil && !slices.Equal(got, countCodes(space, rows)) {
					t.Fatalf("seed %d %s: other counts by %s: %s", seed, seg.Name(), name, describe(q))
				}
			}
			counter.Close()
		}
	})
}

// onStore calls test with each segment of the store in HDQS_TEST_STORE, and with the number of
// queries. Without a store the test is skipped.
func onStore(t *testing.T, test func(r *rand.Rand, seed uint64, seg *snapshot.Segment, x *Index, queries int)) {
	t.Helper()
	dir := os.Getenv("HDQS_TEST_STORE")
	if dir == "" {
		t.Skip("HDQS_TEST_STORE is not set")
	}
	queries, err := strconv.Atoi(os.Getenv("HDQS_TEST_QUERIES"))
	if err != nil {
		queries = 100
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "segments", "*.seg"))
	if len(paths) == 0 {
		t.Fatalf("no segments in %s", dir)
	}
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 6))
	for _, path := range paths {
		seg, err := snapshot.OpenSegment(path)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Open(seg)
		if err != nil {
			t.Fatal(err)
		}
		test(r, seed, seg, x, queries)
		if err := seg.Close(); err != nil {
			t.Error(err)
		}
	}
}
