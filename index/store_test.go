package index

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"hdqs/snapshot"
)

// TestSelectOnStore asks the segments of a store random queries, as TestSelectAgainstScan does of made-up tables. HDQS_TEST_STORE is the
// store's directory and HDQS_TEST_QUERIES how many queries each segment gets, 100 by default; without the first the test is skipped, as
// a store is no part of the repository.
func TestSelectOnStore(t *testing.T) {
	dir := os.Getenv("HDQS_TEST_STORE")
	if dir == "" {
		t.Skip("HDQS_TEST_STORE names no store")
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
		t.Logf("%s: %d rows, %d of %d queries found some; the index holds %d bytes", seg.Name(), seg.Rows(), some, queries, x.Bytes())
		if err := seg.Close(); err != nil {
			t.Error(err)
		}
	}
}
