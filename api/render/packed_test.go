//go:build !race

package render

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/internal/cache"
	"hdqs/internal/tables"
	"hdqs/snapshot"
)

// TestPackedNumbers compares numbers written as they are unpacked with the same numbers converted
// before: at the limits of each number of digits, in every scale, with nulls and exact texts.
func TestPackedNumbers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	data := &snapshot.TableData{Name: "numbers", Rows: 6000}
	var fields []Field
	add := func(c snapshot.ColumnData) {
		c.Name = string(rune('a' + len(data.Columns)))
		data.Columns, fields = append(data.Columns, c), append(fields, Field{c.Name, c.Name})
	}
	for _, c := range []struct {
		least         int64
		scales, nulls int
	}{
		{0, 1, 0}, {0, 3, 50}, {0, 9, 0}, {0, 19, 50}, {-1, 5, 0}, {-1, 19, 50}, {-1, 19, 1},
	} {
		decs := snapshot.ColumnData{Kind: snapshot.Decimal, Texts: []string{
			"0.1234567890123456789", "123456789012345678901234567890.1",
		}}
		ints := snapshot.ColumnData{Kind: snapshot.Int}
		for range data.Rows {
			power := int64(powersOfTen[4+r.IntN(13)])
			if r.IntN(16) == 0 {
				power = int64(powersOfTen[r.IntN(4)])
			}
			v := power + r.Int64N(power) - r.Int64N(2)
			if r.IntN(4) == 0 {
				v = int64(r.Uint64() >> (2 + r.IntN(40)))
			}
			if c.least < 0 && r.IntN(2) == 0 {
				v = -v
			}
			d := snapshot.Dec{Mantissa: v, Scale: uint8(r.IntN(c.scales))}
			for d.Scale > 0 && d.Mantissa%10 == 0 { // as in every segment
				d.Mantissa, d.Scale = d.Mantissa/10, d.Scale-1
			}
			switch {
			case c.nulls > 0 && r.IntN(c.nulls) == 0:
				v, d = snapshot.NullInt, snapshot.Dec{Scale: snapshot.DecNull}
			case c.scales == 19 && r.IntN(50) == 0:
				d = snapshot.Dec{Mantissa: r.Int64N(2), Scale: snapshot.DecText}
			}
			ints.Ints, decs.Decimals = append(ints.Ints, v), append(decs.Decimals, d)
		}
		if !slices.ContainsFunc(decs.Decimals, func(d snapshot.Dec) bool { return d.Scale == snapshot.DecText }) {
			decs.Texts = nil
		}
		add(ints)
		add(decs)
	}
	render := newRenderer(t, tables.Segment(t, data), fields, encode.Options{})
	for _, f := range []*Form{render.JSON(), render.CSV()} {
		packed := 0
		pieces := slices.Clone(f.pieces)
		for i := range pieces {
			if pieces[i].numbers != nil {
				packed++
				pieces[i].numbers = nil
			}
		}
		if least := len(fields) / 2; packed < least { // where many are equal, columns have a dictionary
			t.Fatalf("%d columns are written from packed numbers, want at least %d", packed, least)
		}
		o := encode.Options{Cache: cache.NewClock(math.MaxInt32)}
		slow := newFormOf(f.rows, f.fields, f.dialect, pieces, o)
		for range 20 {
			ranges := randomRanges(r, data.Rows)
			if got, want := string(f.Append(nil, ranges)), string(slow.Append(nil, ranges)); got != want {
				t.Fatalf("%v:\n got %s\nwant %s", ranges, difference(got, want), difference(want, got))
			}
		}
		all := []index.Range{{To: uint32(data.Rows)}}
		if got, want := string(f.Append(nil, all)), string(slow.Append(nil, all)); got != want {
			t.Fatalf("all rows:\n got %s\nwant %s", difference(got, want), difference(want, got))
		}
	}
}
