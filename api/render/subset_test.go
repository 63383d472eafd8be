//go:build !race

package render

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
)

// TestSubsetBytes checks that different subsets take a bounded memory, and that they give it up.
func TestSubsetBytes(t *testing.T) {
	t.Parallel()
	seg, fields := benchTable(t, "events", 200_000)
	r := newRenderer(t, seg, fields, encode.Options{})
	ranges := []index.Range{{From: 0, To: 20_000}}
	all := r.JSON().Append(nil, ranges)
	before, seen := r.Bytes(), map[string]bool{}
	limit := blockBytes(seg.Rows())
	source := rand.New(rand.NewPCG(1, 2))
	most := int64(0)
	for range 120 {
		at := randomFields(source, len(fields))
		seen[fmt.Sprint(at)] = true
		form := r.Subset(r.JSON(), at)
		for range 3 {
			form.AppendCoded(nil, encode.Gzip, ranges)
			most = max(most, r.Bytes()-before)
		}
		if n := r.subsets.Bytes(); n > maxSubsets {
			t.Fatalf("%d forms are kept", n)
		}
	}
	if len(seen) < 60 || most == 0 || most > limit {
		t.Errorf("%d subsets took %d bytes, the limit is %d", len(seen), most, limit)
	}
	r.Forget()
	if left := r.subsets.Bytes() + r.options.Cache.Bytes(); left != 0 {
		t.Errorf("%d forms or bytes are left", left)
	}
	if got := r.JSON().Append(nil, ranges); !slices.Equal(got, all) {
		t.Error("the whole records are different afterwards")
	}
}
