//go:build !race

package snapshot

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestBulkAgainstSingle compares reading many numbers at once with reading each.
func TestBulkAgainstSingle(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const rows = 9000
	data := &TableData{Name: "numbers", Rows: rows}
	for _, spread := range []int64{5, 1 << 40} {
		for _, nulls := range []int{0, 3} {
			ints := ColumnData{Name: "int" + string(rune('a'+len(data.Columns))), Kind: Int, Ints: make([]int64, rows)}
			decs := ColumnData{
				Name: "dec" + string(rune('a'+len(data.Columns))), Kind: Decimal,
				Decimals: make([]Dec, rows),
			}
			for i := range rows {
				ints.Ints[i] = r.Int64N(spread) - spread/2
				decs.Decimals[i] = Dec{Mantissa: (r.Int64N(spread)-spread/2)*10 + 1, Scale: uint8(r.IntN(4))}
				if nulls > 0 && r.IntN(nulls) == 0 {
					ints.Ints[i], decs.Decimals[i] = NullInt, Dec{Scale: DecNull}
				}
			}
			data.Columns = append(data.Columns, ints, decs)
		}
	}
	var file bytes.Buffer
	if err := WriteSegment(&file, data); err != nil {
		t.Fatal(err)
	}
	seg, err := ReadSegment(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range seg.Columns() {
		from, n := uint32(r.IntN(rows/2)), rows/3
		ints, decs := make([]int64, n), make([]Dec, n)
		at, intsAt, decsAt := make([]uint32, n), make([]int64, n), make([]Dec, n)
		for k := range at {
			at[k] = r.Uint32N(rows)
		}
		if c.Kind == Int {
			c.Ints(ints, from)
			c.IntsAt(intsAt, at)
		} else {
			c.Decs(decs, from)
			c.DecsAt(decsAt, at)
		}
		for k := range n {
			if at := from + uint32(k); c.Kind == Int && ints[k] != c.Int(at) || c.Kind == Decimal &&
				decs[k] != c.Dec(at) {
				t.Fatalf("%s (coded: %v) at %d: %d %v, want %v %v", c.Name, c.Coded(), at, ints[k], decs[k],
					c.IsNull(at), c.Len())
			}
			if at := at[k]; c.Kind == Int && intsAt[k] != c.Int(at) || c.Kind == Decimal && decsAt[k] != c.Dec(at) {
				t.Fatalf("%s (coded: %v) at %d, gathered: %d %v, want %v %v", c.Name, c.Coded(), at, intsAt[k],
					decsAt[k], c.IsNull(at), c.Len())
			}
		}
	}
}
