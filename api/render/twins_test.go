//go:build !race

package render

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/snapshot"
)

// TestAgainstTwins renders random ranges of random tables. It compares the bytes with those of the
// naive writers, and what the standard decoders read with the values that were put in.
func TestAgainstTwins(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	tables := 100
	if testing.Short() {
		tables = 25
	}
	for range tables {
		rows := r.IntN(1 + r.IntN(3000))
		tab := randomTable(t, r, rows)
		render, err := New(tab.seg, tab.fields, encode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			ranges := randomRanges(r, rows)
			if r.IntN(4) == 0 && rows > 0 {
				ranges = []index.Range{{From: 0, To: uint32(rows)}}
			}
			body := render.AppendJSON([]byte("front"), ranges)
			if got, want := string(body), "front"+naiveJSON(tab, ranges); got != want {
				t.Fatalf("JSON of %v:\n got %s\nwant %s", ranges, difference(got, want), difference(want, got))
			}
			line := render.AppendCSV([]byte("front"), ranges)
			if got, want := string(line), "front"+naiveCSV(tab, ranges); got != want {
				t.Fatalf("CSV of %v:\n got %s\nwant %s", ranges, difference(got, want), difference(want, got))
			}
			checkCoded(t, render.JSON(), ranges, string(body[len("front"):]))
			checkCoded(t, render.CSV(), ranges, string(line[len("front"):]))
			decodeJSON(t, tab, ranges, body[len("front"):])
			decodeCSV(t, tab, ranges, line[len("front"):])
		}
	}
}

// TestManyValues renders columns with too many values for fragments.
func TestManyValues(t *testing.T) {
	t.Parallel()
	n := maxCodes + 10
	tab := &table{rows: n, values: map[string][]any{}, fields: []Field{{"a", "a"}, {"b", "b"}, {"c", "c"}}}
	data := &snapshot.TableData{Name: "wide", Rows: n}
	for name, make := range map[string]func(i int) any{
		"a": func(i int) any { return fmt.Sprintf("%s %d", oddTexts[i%len(oddTexts)], i) },
		"b": func(i int) any { return micros(i) * 1_000_000 },
		"c": func(i int) any { return decimal(strconv.Itoa(i) + ".5") },
	} {
		kind := map[string]string{"a": "text", "b": "time", "c": "decimal"}[name]
		for i := range n {
			v := make(i)
			if i%1000 == 7 {
				v = nil
			}
			tab.values[name] = append(tab.values[name], v)
		}
		data.Columns = append(data.Columns, columnData(t, name, kind, tab.values[name]))
	}
	tab.seg = segment(t, data)
	render, err := New(tab.seg, tab.fields, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ranges := []index.Range{{From: 0, To: 3000}, {From: uint32(n) - 5, To: uint32(n)}}
	if got, want := string(render.AppendJSON(nil, ranges)), naiveJSON(tab, ranges); got != want {
		t.Errorf("JSON:\n got %s\nwant %s", difference(got, want), difference(want, got))
	}
	if got, want := string(render.AppendCSV(nil, ranges)), naiveCSV(tab, ranges); got != want {
		t.Errorf("CSV:\n got %s\nwant %s", difference(got, want), difference(want, got))
	}
}
