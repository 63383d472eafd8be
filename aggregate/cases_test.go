//go:build !race

package aggregate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// smallTable has a text, a time and numbers, of nine rows.
func smallTable(t *testing.T) *Table {
	t.Helper()
	day := func(year, month, day int) int64 {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).UnixMicro()
	}
	dec := func(texts ...string) []snapshot.Dec {
		decs := make([]snapshot.Dec, len(texts))
		for i, text := range texts {
			decs[i].Scale = snapshot.DecNull
			if d, ok := snapshot.ParseDec(text); ok {
				decs[i] = d
			}
		}
		return decs
	}
	null := int64(snapshot.NullInt)
	data := &snapshot.TableData{
		Name: "small", Rows: 9,
		Columns: []snapshot.ColumnData{
			{
				Name: "place", Kind: snapshot.Text, Values: []string{"b", "a"},
				Codes: []uint32{1, 1, 1, 0, 0, 0, 0, snapshot.NullCode, snapshot.NullCode},
			},
			{Name: "start", Kind: snapshot.Time, Ints: []int64{
				day(1969, 12, 31), day(1970, 1, 1), day(2024, 4, 1), day(2024, 6, 30), day(2024, 7, 1), day(2024, 7, 1),
				day(2024, 7, 1), null, null,
			}},
			{Name: "people", Kind: snapshot.Int, Ints: []int64{
				math.MaxInt64, math.MaxInt64, math.MaxInt64, 1 << 53, 1, 2, null, null, null,
			}},
			{Name: "price", Kind: snapshot.Decimal, Decimals: dec("0.1", "0.2", "0.3", "1", "1", "2", "", "-5", "")},
			{Name: "empty", Kind: snapshot.Int, Ints: slices.Repeat([]int64{null}, 9)},
		},
	}
	seg := tables.Segment(t, data)
	return opened(t, seg, Options{PeriodStart: "start"})
}

func TestFigures(t *testing.T) {
	t.Parallel()
	table := smallTable(t)
	ofPlace := func(code string) *index.Query {
		return &index.Query{Filters: []index.Filter{{
			Columns: []string{"place"}, Op: index.Equal, Value: index.Value{Text: code},
		}}}
	}
	by := func(column string, part Part) []Group { return []Group{{column, part, nil}} }
	for _, c := range []struct {
		name string
		q    Question
		want string
	}{
		{"sums beyond 64 bits, and beyond a float's 53", Question{
			Groups: by("place", Whole), Measures: []Measure{{Sum, "people"}},
		}, "a | 27670116110564327421; b | 9007199254740995; null | null"},
		{"decimals are exact", Question{
			Groups: by("place", Whole), Measures: []Measure{{Sum, "price"}, {Mean, "price"}, {Count, ""}},
		}, "a | 0.6 | 0.2 | 3; b | 4 | 1.3333333333333333 | 4; null | -5 | -5 | 2"},
		{"a mean is a float", Question{
			Query: ofPlace("a"), Measures: []Measure{{Mean, "people"}},
		}, "9223372036854776000"},
		{"months before 1970", Question{
			Groups: by("start", Month), Measures: []Measure{{Count, ""}},
		}, "1969-12 | 1; 1970-01 | 1; 2024-04 | 1; 2024-06 | 1; 2024-07 | 3; null | 2"},
		{"quarters", Question{
			Groups: by("start", Quarter), Measures: []Measure{{Min, "people"}, {Distinct, "people"}},
		}, "1969-Q4 | 9223372036854775807 | 1; 1970-Q1 | 9223372036854775807 | 1; " +
			"2024-Q2 | 9007199254740992 | 2; 2024-Q3 | 1 | 2; null | null | 0"},
		{"years", Question{
			Groups: by("start", Year), Measures: []Measure{{Max, "place"}},
		}, "1969 | a; 1970 | a; 2024 | b; null | null"},
		{"the newest of several rows", Question{
			Groups: by("place", Whole), Measures: []Measure{{Latest, "price"}, {Latest, "place"}, {Latest, "start"}},
		}, "a | 0.3 | a | 2024-04-01T00:00:00; b | differ | b | 2024-07-01T00:00:00; null | differ | null | null"},
		{"no value", Question{Measures: []Measure{
			{Count, ""},
			{Sum, "empty"},
			{Mean, "empty"},
			{Min, "empty"},
			{Max, "empty"},
			{Distinct, "empty"},
			{Latest, "empty"},
		}}, "9 | null | null | null | null | 0 | null"},
		{"no row, without groups", Question{Query: ofPlace("c"), Measures: []Measure{
			{Count, ""}, {Sum, "people"}, {Max, "place"}, {Distinct, "place"}, {Latest, "people"},
		}}, "0 | null | null | 0 | null"},
		{"no row, in groups", Question{
			Query: ofPlace("c"), Groups: by("place", Whole), Measures: []Measure{{Count, ""}},
		}, ""},
	} {
		got, err := table.Answer(&c.q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if have := strings.Join(lines(got, &c.q), "; "); have != c.want {
			t.Errorf("%s:\n have %s\n want %s", c.name, have, c.want)
		}
	}
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
	if r, err := table.Answer(q); err != nil || r.Len() != 8 {
		t.Errorf("eight groups of at most eight: %v", err)
	}
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
		if _, err := table.Count(&index.Query{}, g); !errors.Is(err, ErrQuestion) {
			t.Errorf("by %v: %v", g, err)
		}
	}
}
