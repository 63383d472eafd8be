//go:build !race

package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hdqs/internal/testkit"
)

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
