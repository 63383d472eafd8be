package render

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
)

// TestRowLengths compares the lengths of random rows with what is rendered, the first time and when
// they are known, with memory for all lengths, for some, and for none, and after they were given
// up.
func TestRowLengths(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	kept := 0
	for n := range 12 {
		rows := 200 + r.IntN(2000)
		tab := randomTable(t, r, rows)
		limit := []int64{1 << 20, 3 * rowLengthsBytes, 1}[n%3]
		cache := encode.NewBlockCache(limit)
		render, err := New(tab.seg, tab.fields, encode.Options{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			var ranges []index.Range
			for at := r.IntN(20); at < rows; at += 1 + r.IntN(40) {
				to := min(at+1+r.IntN(1+r.IntN(4)), rows)
				ranges = append(ranges, index.Range{From: uint32(at), To: uint32(to)})
				at = to
			}
			for _, f := range []*Form{render.JSON(), render.Lines(), render.CSV()} {
				want := len(f.Append(nil, ranges))
				for range 2 {
					if got := f.Length(ranges); got != want {
						t.Fatalf("rows %v: Length is %d, want %d", ranges, got, want)
					}
				}
			}
		}
		if cache.Bytes() > limit {
			t.Errorf("%d bytes are kept, want at most %d", cache.Bytes(), limit)
		}
		kept += int(cache.Bytes())
		if render.Forget(); cache.Bytes() != 0 {
			t.Errorf("%d bytes are kept after Forget", cache.Bytes())
		}
		cache.SetLimit(1 << 20)
		one := []index.Range{{From: 5, To: 6}}
		if got, want := render.JSON().Length(one), len(render.AppendJSON(nil, one)); got != want {
			t.Errorf("after Forget Length is %d, want %d", got, want)
		}
		if cache.Bytes() != rowLengthsBytes {
			t.Errorf("%d bytes are kept for one row, want %d", cache.Bytes(), rowLengthsBytes)
		}
		if cache.SetLimit(rowLengthsBytes - 1); cache.Bytes() != 0 {
			t.Errorf("%d bytes are kept above the limit", cache.Bytes())
		}
	}
	if kept == 0 {
		t.Error("no length was kept")
	}
}

// TestLongRowLengths keeps lengths of two bytes only, and those of neighbours apart.
func TestLongRowLengths(t *testing.T) {
	t.Parallel()
	var l rowLengths
	l.set(6, math.MaxUint16)
	l.set(7, math.MaxUint16+1)
	l.set(8, 3)
	l.set(9, 4)
	for i, want := range map[uint32]uint32{5: 0, 6: math.MaxUint16, 7: 0, 8: 3, 9: 4, 10: 0} {
		if got := l.at(i); got != want {
			t.Errorf("the length of row %d is %d, want %d", i, got, want)
		}
	}
}

// TestRowLengthsAtOnce measures the same rows in several goroutines while lengths are given up.
func TestRowLengthsAtOnce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 1))
	tab := randomTable(t, r, 300)
	render, err := New(tab.seg, tab.fields, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ranges []index.Range
	for at := uint32(0); at < 300; at += 3 {
		ranges = append(ranges, index.Range{From: at, To: at + 1})
	}
	f := render.JSON()
	want := len(f.Append(nil, ranges))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				if got := f.Length(ranges); got != want {
					t.Errorf("Length is %d, want %d", got, want)
				}
			}
		})
	}
	for range 50 {
		render.Forget()
	}
	all.Wait()
	if render.options.Cache.Forget(); render.options.Cache.Bytes() != 0 {
		t.Errorf("%d bytes are kept after Forget", render.options.Cache.Bytes())
	}
}
