package rowdiff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/index"
)

// TestEqualAgainstPlainCode checks generated pairs of states: rows that are found equal have the
// same values in all columns that are compared, and come in order. Of two states that are the same,
// all rows are found.
func TestEqualAgainstPlainCode(t *testing.T) {
	t.Parallel()
	pairs := 500
	if testing.Short() {
		pairs = 150
	}
	rows, found := 0, 0
	for seed := range uint64(pairs) {
		r := rand.New(rand.NewPCG(seed, 16))
		m := &maker{r: r, shape: shapes[seed%uint64(len(shapes))]}
		states := m.states()
		same := r.IntN(4) == 0
		if same {
			states[before] = states[after]
		}
		columns := m.shape.columns
		compared := slices.Concat(columns.Key, columns.Values)
		tables, err := Open(m.table(t, states[before]), m.table(t, states[after]), columns)
		if err != nil {
			t.Fatal(err)
		}
		got := equalRowsOf(t, tables)
		next, n := uint32(0), 0
		for _, e := range got {
			if e.New < next || e.Rows == 0 {
				t.Fatalf("seed %d: rows %+v come after row %d", seed, e, next)
			}
			next = e.New + e.Rows
			n += int(e.Rows)
			for i := range e.Rows {
				old, now := keyOf(compared, states[before][e.Old+i]), keyOf(compared, states[after][e.New+i])
				if old != now {
					t.Fatalf("seed %d: row %d was %s, is %s", seed, e.New+i, old, now)
				}
			}
		}
		if same && n != len(states[after]) {
			t.Fatalf("seed %d: %d of %d rows are equal to themselves", seed, n, len(states[after]))
		}
		if !same {
			rows += inBoth(compared, states)
			found += n
		}
	}
	t.Logf("%d of %d rows", found, rows)
	if found < rows/2 {
		t.Errorf("only %d of %d rows that are in both states are found", found, rows)
	}
}

// inBoth is the number of rows that two states have in common, in any order.
func inBoth(columns []string, states [sides][]testRow) (n int) {
	left := map[string]int{}
	for _, row := range states[before] {
		left[keyOf(columns, row)]++
	}
	for _, row := range states[after] {
		if k := keyOf(columns, row); left[k] > 0 {
			left[k]--
			n++
		}
	}
	return n
}

// equalRowsOf returns what Equal finds among all rows. It also checks that Equal stops halfway when
// its caller stops the iteration.
func equalRowsOf(t *testing.T, tables *Tables) (got []EqualRows) {
	t.Helper()
	var all [sides]*index.Passing
	for side, seg := range tables.segments {
		x, err := index.Open(seg)
		if err == nil {
			all[side], err = x.Passing(new(index.Query))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tables.Equal(all[before], all[after], func(e EqualRows) bool {
		got = append(got, e)
		return true
	})
	stopped := 0
	tables.Equal(all[before], all[after], func(e EqualRows) bool {
		if fmt.Sprint(e) != fmt.Sprint(got[stopped]) {
			t.Fatalf("%+v, want %+v", e, got[stopped])
		}
		stopped++
		return stopped < len(got)/2
	})
	if stopped > max(1, len(got)/2) {
		t.Fatalf("%d calls after it was told to stop", stopped-len(got)/2)
	}
	return got
}
