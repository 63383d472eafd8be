package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"hdqs/snapshot"
)

// textOf is value i in the words of plainCounts.
func textOf(c *Counts, i int) string {
	switch {
	case c.IsNull(i):
		return "null"
	case c.Column.Kind == snapshot.Text || c.Column.Kind == snapshot.Enum:
		return "=" + c.Text(i)
	case c.Column.Kind == snapshot.Decimal:
		return c.Column.DecString(c.Dec(i))
	}
	n := c.Int(i)
	switch c.Part {
	case Year:
		return fmt.Sprintf("%04d", n)
	case Quarter:
		return fmt.Sprintf("%04d-Q%d", n/4, n%4+1)
	case Month:
		return fmt.Sprintf("%04d-%02d", n/12, n%12+1)
	}
	return fmt.Sprint(n)
}

// everyBy lists all columns of a table, and all parts of its times.
func everyBy(seg *snapshot.Segment) (all []By) {
	for _, col := range seg.Columns() {
		all = append(all, By{Column: col.Name})
		for part := Year; part <= Month && col.Kind == snapshot.Time; part++ {
			all = append(all, By{col.Name, part})
		}
	}
	return all
}

// TestCountsAtOnce counts from several goroutines, which share what is found once.
func TestCountsAtOnce(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 2))
	seg := newRandomTable(r, 70_000).segment(t)
	x, err := Open(seg)
	if err != nil {
		t.Fatal(err)
	}
	by := slices.DeleteFunc(everyBy(seg), func(b By) bool { return x.columns[b.Column].space == nil })
	q := randomQuery(r, seg)
	words := func() string {
		all, err := x.Counts(q, by...)
		text := fmt.Sprint(err)
		for i := range all {
			for k := range all[i].Len() {
				text += fmt.Sprint(" ", textOf(&all[i], k), all[i].Rows(k))
			}
		}
		return text
	}
	want := words()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 3 {
				if got := words(); got != want {
					t.Errorf("seed %d: the counts differ: %s", seed, describe(q))
				}
			}
		})
	}
	wait.Wait()
}
