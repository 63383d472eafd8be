//go:build !race

package aggregate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// smallTable has a text, a time and a number, of eight rows.
func smallTable(t *testing.T) *Table {
	t.Helper()
	ints := []int64{0, 1, 2, 3, 4, 5, 6, 7}
	data := &snapshot.TableData{Name: "small", Rows: len(ints), Columns: []snapshot.ColumnData{
		{Name: "place", Kind: snapshot.Text, Values: []string{"a"}, Codes: make([]uint32, len(ints))},
		{Name: "start", Kind: snapshot.Time, Ints: ints},
		{Name: "people", Kind: snapshot.Int, Ints: ints},
	}}
	return opened(t, tables.Segment(t, data), Options{PeriodStart: "start"})
}

func TestBadQuestions(t *testing.T) {
	t.Parallel()
	table := smallTable(t)
	for _, c := range []struct {
		q    Question
		want string
	}{
		{Question{Groups: []Group{{"none", Whole, nil}}}, `no column "none"`},
		{Question{Groups: []Group{{"place", Year, nil}}}, `"place" of kind text has no part`},
		{Question{Measures: []Measure{{Sum, "place"}}}, `"place" of kind text has no measure sum`},
		{Question{Measures: []Measure{{Mean, "start"}}}, `"start" of kind time has no measure mean`},
		{Question{Measures: []Measure{{Count, "place"}}}, "count has no column"},
		{Question{Measures: []Measure{{Func(9), "place"}}}, "no measure unknown"},
	} {
		if _, err := table.Answer(&c.q); !errors.Is(err, ErrQuestion) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.q, err, c.want)
		}
	}
}

func TestTooManyGroups(t *testing.T) {
	t.Parallel()
	table := smallTable(t)
	var many *TooManyGroups
	q := &Question{Groups: []Group{{"start", Whole, nil}, {"people", Whole, nil}}, MaxGroups: 8}
	testkit.Equal(t, testkit.Value(table.Answer(q))(t).Len(), 8, "eight groups of at most eight")
	q.MaxGroups = 7
	if _, err := table.Answer(q); !errors.As(err, &many) || many.Max != 7 {
		t.Errorf("eight groups of at most seven: error %v", err)
	}

	// Values without a dictionary, in a hash table, by one worker and by several.
	const rows = 150_000
	ints := make([]int64, rows)
	for i := range ints {
		ints[i] = int64(i) * 1000
	}
	wide := tables.Segment(t, &snapshot.TableData{
		Name: "wide", Rows: rows, Columns: []snapshot.ColumnData{{Name: "n", Kind: snapshot.Int, Ints: ints}},
	})
	table = opened(t, wide, Options{})
	q = &Question{Groups: []Group{{"n", Whole, nil}}, Measures: []Measure{{Count, ""}}}
	if _, err := table.Answer(q); !errors.As(err, &many) || many.Max != DefaultMaxGroups {
		t.Errorf("error %v", err)
	}
	q.MaxGroups = rows
	r, err := table.Answer(q)
	testkit.Must(t, err)
	if last := fmt.Sprint(r.Group(rows-1, 0)); r.Len() != rows || last != "149999000" {
		t.Errorf("%d groups, the last is %s", r.Len(), last)
	}
	_, err = table.Count(&index.Query{}, Group{"n", Whole, nil})
	if values, ok := errors.AsType[*TooManyValues](err); !ok || values.Column != "n" || values.Max != MaxNumbers {
		t.Errorf("too many numbers are counted: %v", err)
	}
	for _, g := range []Group{{"no such column", Whole, nil}, {"n", Year, nil}} {
		testkit.Fails(table.Count(&index.Query{}, g))(t, ErrQuestion, "by %v", g)
	}
}
