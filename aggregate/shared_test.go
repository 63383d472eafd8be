package aggregate

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestShared compares the answers of a table that several goroutines share, of rows of two chunks,
// with those of one that nobody shares.
func TestShared(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	seg := generate(t, r, 70_000)
	o := Options{PeriodStart: "start", PeriodEnd: "end"}
	table, alone := opened(t, seg, o), opened(t, seg, o)
	var wait sync.WaitGroup
	for range 3 {
		q := randomQuestion(r, seg)
		answer, err := alone.Answer(q)
		testkit.Must(t, err)
		want := lines(answer, q)
		for range 2 {
			wait.Go(func() {
				got, err := table.Answer(q)
				if err != nil {
					t.Error(err)
				} else if have := lines(got, q); !slices.Equal(have, want) {
					t.Errorf("%+v: %d groups are not the %d of one alone", q, len(have), len(want))
				}
			})
		}
	}
	wait.Wait()
}

// TestPauses checks that every kind of work pauses at least once for each block of rows: ranges,
// scattered rows, and runs, with measures that can add those and with others.
func TestPauses(t *testing.T) {
	t.Parallel()
	const rows = 70_000
	r := rand.New(rand.NewPCG(1, 2))
	numbers, runs := make([]int64, rows), make([]uint32, rows)
	for i := range numbers {
		numbers[i], runs[i] = r.Int64N(1<<40), uint32(i/10_000)
	}
	data := &snapshot.TableData{Name: "table", Rows: rows, Columns: []snapshot.ColumnData{
		{
			Name: "kind", Kind: snapshot.Enum, Index: true,
			Codes: tables.Codes(r, rows, 2, 2), Values: []string{"v", "w"},
		},
		{Name: "place", Kind: snapshot.Text, Codes: runs, Values: []string{"a", "b", "c", "d", "e", "f", "g"}},
		{Name: "number", Kind: snapshot.Int, Ints: numbers},
	}}
	seg := tables.Segment(t, data)
	table := opened(t, seg, Options{})
	some := &index.Query{Filters: []index.Filter{{
		Op: index.Equal, Columns: []string{"kind"}, Value: index.Value{Text: "v"},
	}}}
	for name, c := range map[string]struct {
		q    Question
		want int
	}{
		"ranges":         {Question{Groups: []Group{{"kind", Whole, nil}}}, rows / blockRows},
		"scattered rows": {Question{Query: some, Groups: []Group{{"kind", Whole, nil}}}, rows / 4 / blockRows},
		"runs":           {Question{Groups: []Group{{"place", Whole, nil}}, Measures: []Measure{{Sum, "number"}}}, 7},
		"long runs": {
			Question{Groups: []Group{{"place", Whole, nil}}, Measures: []Measure{{Distinct, "number"}}},
			rows / blockRows,
		},
	} {
		n := 0
		c.q.Pause = func() { n++ }
		if _, err := table.Answer(&c.q); err != nil || n < c.want {
			t.Errorf("%s: %d pauses, %v; want %d", name, n, err, c.want)
		}
	}
}
