//go:build !race

package index

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestPackedNumbers compares filters of numbers without a dictionary with comparisons of floats and
// fractions written out here. Select and Scan share the comparison of decimals, so each would hide
// the other's mistake.
func TestPackedNumbers(t *testing.T) {
	t.Parallel()
	const rows = 9000 // too many distinct numbers for a dictionary in a table this small
	price := snapshot.ColumnData{Name: "price", Kind: snapshot.Decimal}
	texts := make([]string, rows) // "" for null
	for i := range rows {
		switch {
		case i%17 == 0:
			price.Decimals = append(price.Decimals, snapshot.Dec{Scale: snapshot.DecNull})
			continue
		case i%5 == 0:
			texts[i] = strconv.Itoa(i - rows/2)
		default:
			texts[i] = strconv.FormatFloat(float64((i*7919)%9973-5000)/1000, 'f', 3, 64)
		}
		d, ok := snapshot.ParseDec(texts[i])
		if !ok {
			t.Fatalf("%q is no decimal", texts[i])
		}
		price.Decimals = append(price.Decimals, d)
	}
	seg := tables.Segment(t, &snapshot.TableData{Name: "case", Rows: rows, Columns: []snapshot.ColumnData{price}})
	if c, err := seg.Column("price"); err != nil || c.Coded() {
		t.Fatalf("column is not packed: %v", err)
	}
	x, err := Open(seg)
	if err != nil {
		t.Fatal(err)
	}
	for _, bound := range []string{
		"nan", "inf", "-inf", "0", "-0", "1.5", "-4.999", "0.0005", "1499", "1e300",
		texts[1], texts[2], texts[5], texts[1] + "00000000000000000001",
	} {
		float, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			t.Fatal(err)
		}
		values := []Value{{Float: float}}
		if exact, ok := new(big.Rat).SetString(bound); ok {
			values = append(values, Value{Exact: exact})
		}
		for _, v := range values {
			for _, op := range []Op{Equal, AtLeast, Below, AtLeastOrNull} {
				var want []uint32
				for i, text := range texts {
					if passesPlainly(op, text, bound, v.Exact != nil) {
						want = append(want, uint32(i))
					}
				}
				q := &Query{Filters: []Filter{{Columns: []string{"price"}, Op: op, Value: v}}, Limit: rows}
				var got, scan Page
				testkit.Must(t, x.Select(q, &got))
				testkit.Must(t, Scan(seg, q, &scan))
				if !slices.Equal(listRanges(got.Ranges), want) || got.Total != len(want) {
					t.Errorf("op %d, bound %s, exact %t: Select finds %d rows, want %d", op, bound, v.Exact != nil,
						got.Total, len(want))
				}
				if !slices.Equal(listRanges(scan.Ranges), want) || scan.Total != len(want) {
					t.Errorf("op %d, bound %s, exact %t: Scan finds %d rows, want %d", op, bound, v.Exact != nil,
						scan.Total, len(want))
				}
			}
		}
	}
}

// passesPlainly is the rule of the contract: null passes only AtLeastOrNull; no number is at least
// NaN or equals it, and every number is below it.
func passesPlainly(op Op, text, bound string, exact bool) bool {
	if text == "" {
		return op == AtLeastOrNull
	}
	var sign int
	if exact {
		a, _ := new(big.Rat).SetString(text)
		b, _ := new(big.Rat).SetString(bound)
		sign = a.Cmp(b)
	} else {
		a, _ := strconv.ParseFloat(text, 64)
		b, _ := strconv.ParseFloat(bound, 64)
		switch {
		case math.IsNaN(b) || a < b:
			sign = -1
		case a > b:
			sign = 1
		}
	}
	switch op {
	case Equal:
		return sign == 0
	case Below:
		return sign < 0
	}
	return sign >= 0
}
