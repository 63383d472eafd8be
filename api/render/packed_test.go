//go:build !race

package render

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/internal/cache"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
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

// TestDigitCount checks the least and the greatest number of each number of digits.
func TestDigitCount(t *testing.T) {
	t.Parallel()
	for n, power := range powersOfTen {
		testkit.Equal(t, digitCount(power), n+1, "digitCount(%d)", power)
		testkit.Equal(t, digitCount(power-1), max(n, 1), "digitCount(%d)", power-1)
	}
	testkit.Equal(t, digitCount(1<<64-1), 20, "digitCount(1<<64 - 1)")
}

// TestCopyRows compares the texts of rows, moved by both ways to do so, with the same texts
// appended one by one. What is written after them stays within overshoot bytes.
func TestCopyRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	source := make([]byte, 4096)
	for i := range source {
		source[i] = byte(r.Uint32())
	}
	text := func(most int) []byte {
		n := r.IntN(most + 1)
		from := r.IntN(len(source) - overshoot - n + 1)
		return source[from : from+n]
	}
	const guard = 0xa5
	to := make([]byte, 0, 1<<20)
	for range 3000 {
		rows, most := 1+r.IntN(batch), 1<<r.IntN(10)
		lanes := make([]joinedLane, 1+r.IntN(6))
		for i := range lanes {
			if r.IntN(3) == 0 {
				lanes[i].same = text(most)
				continue
			}
			lanes[i].texts = new([batch][]byte)
			for k := range rows {
				lanes[i].texts[k] = text(most)
			}
		}
		want := []byte("before")
		for k := range rows {
			for _, l := range lanes {
				if l.texts != nil {
					want = append(want, l.texts[k]...)
				} else {
					want = append(want, l.same...)
				}
			}
		}
		size := len(want) - len("before")
		check := func(name string, got []byte) {
			t.Helper()
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: %d rows of %d lanes of texts up to %d bytes:\n got %q\nwant %q", name, rows, len(lanes),
					most, got, want)
			}
			for i, b := range got[len(got) : len(got)+2*overshoot][overshoot:] {
				testkit.Equal(t, b, guard, "%s: the byte %d after the texts", name, overshoot+i)
			}
		}
		clean := func() {
			for i := range to[:len(want)+2*overshoot] {
				to[:cap(to)][i] = guard
			}
			copy(to[:cap(to)], "before")
		}
		clean()
		check("as rendered", appendTexts(to[:len("before")], lanes, rows, size))
		clean()
		copyRows(to[len("before"):len(want)+overshoot], lanes, rows)
		check("without AVX2", to[:len(want)])
	}
}
