package aggregate

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"hdqs/index"
	"hdqs/snapshot"
)

// TestWorkersAgree compares answers of one worker with those of several, who share a table, over
// many chunks.
func TestWorkersAgree(t *testing.T) {
	t.Parallel()
	const rows = 140_000 // three chunks
	r := rand.New(rand.NewPCG(7, 7))
	texts := make([]string, 500)
	for i := range texts {
		texts[i] = string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	data := &snapshot.TableData{Name: "wide", Rows: rows}
	place := snapshot.GroupData{Name: "place", Tuples: 500, Codes: randomCodes(r, rows, 500, 0)}
	place.Columns = []snapshot.ColumnData{{
		Name: "place", Kind: snapshot.Text, Codes: randomCodes(r, 500, 500, 0), Values: texts,
	}}
	data.Groups = append(data.Groups, place)
	numbers, times := make([]int64, rows), make([]int64, rows)
	prices := make([]snapshot.Dec, rows)
	for i := range numbers {
		numbers[i] = r.Int64N(1 << 40)
		if r.IntN(9) == 0 {
			numbers[i] = snapshot.NullInt
		}
		times[i] = r.Int64N(900) * microsPerDay
		prices[i], _ = snapshot.ParseDec([]string{"0.25", "-17.5", "3.14159"}[r.IntN(3)])
		if i%3 > 0 {
			prices[i].Mantissa += 10 * r.Int64N(1<<33)
		}
	}
	data.Columns = []snapshot.ColumnData{
		{
			Name: "kind", Kind: snapshot.Enum, Codes: randomCodes(r, rows, 5, 1), Index: true,
			Values: []string{"v", "w", "x", "y", "z"},
		},
		{Name: "number", Kind: snapshot.Int, Ints: numbers},
		{Name: "time", Kind: snapshot.Time, Ints: times},
		{Name: "price", Kind: snapshot.Decimal, Decimals: prices},
	}
	seg := segmentOf(t, data)
	x, err := index.Open(seg)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Open(x, seg, Options{PeriodStart: "time"})
	if err != nil {
		t.Fatal(err)
	}
	table.chunksPerWorker = 1
	measures := []Measure{
		{Count, ""},
		{Sum, "number"},
		{Mean, "price"},
		{Min, "number"},
		{Max, "price"},
		{Distinct, "time"},
		{Distinct, "kind"},
		{Latest, "kind"},
		{Max, "place"},
	}
	var wait sync.WaitGroup
	for _, q := range []Question{
		{},
		{Groups: []Group{{"place", Whole}}},
		{Groups: []Group{{"kind", Whole}, {"time", Month}}},
		{Groups: []Group{{"place", Whole}, {"time", Whole}}, MaxGroups: 500_000},
	} {
		q.Measures = measures
		for _, filter := range []string{"", "x"} {
			query := &index.Query{}
			if filter != "" {
				query.Filters = []index.Filter{{
					Columns: []string{"kind"}, Op: index.Equal, Value: index.Value{Text: filter},
				}}
			}
			wait.Go(func() {
				one, several := q, q
				one.Query, several.Query, several.Workers = query, query, 3
				want, err := table.Answer(&one)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := table.Answer(&several)
				if err != nil {
					t.Error(err)
					return
				}
				if !slices.Equal(lines(got, &q), lines(want, &q)) {
					t.Errorf("groups %v, filter %q: %d groups of several workers are not the %d of one", q.Groups,
						filter, got.Len(), want.Len())
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
		{Name: "kind", Kind: snapshot.Enum, Codes: randomCodes(r, rows, 2, 2), Index: true, Values: []string{"v", "w"}},
		{Name: "place", Kind: snapshot.Text, Codes: runs, Values: []string{"a", "b", "c", "d", "e", "f", "g"}},
		{Name: "number", Kind: snapshot.Int, Ints: numbers},
	}}
	seg := segmentOf(t, data)
	x, err := index.Open(seg)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Open(x, seg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	some := &index.Query{Filters: []index.Filter{{
		Op: index.Equal, Columns: []string{"kind"}, Value: index.Value{Text: "v"},
	}}}
	for name, c := range map[string]struct {
		q    Question
		want int
	}{
		"ranges":         {Question{Groups: []Group{{"kind", Whole}}}, rows / blockRows},
		"scattered rows": {Question{Query: some, Groups: []Group{{"kind", Whole}}}, rows / 4 / blockRows},
		"runs":           {Question{Groups: []Group{{"place", Whole}}, Measures: []Measure{{Sum, "number"}}}, 7},
		"long runs": {
			Question{Groups: []Group{{"place", Whole}}, Measures: []Measure{{Distinct, "number"}}}, rows / blockRows,
		},
	} {
		n := 0
		c.q.Pause = func() { n++ }
		if _, err := table.Answer(&c.q); err != nil || n < c.want {
			t.Errorf("%s: %d pauses, %v; want %d", name, n, err, c.want)
		}
	}
}
