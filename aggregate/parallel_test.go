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
