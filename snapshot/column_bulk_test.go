package snapshot

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestBulkAgainstSingle reads numbers in one sweep and one by one.
func TestBulkAgainstSingle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows = 9000
	data := &TableData{Name: "numbers", Rows: rows}
	for _, spread := range []int64{5, 1 << 40} {
		for _, nulls := range []int{0, 3} {
			ints := ColumnData{Name: "int" + string(rune('a'+len(data.Columns))), Kind: Int, Ints: make([]int64, rows)}
			decs := ColumnData{Name: "dec" + string(rune('a'+len(data.Columns))), Kind: Decimal, Decimals: make([]Dec, rows)}
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
		if c.Kind == Int {
			c.Ints(ints, from)
		} else {
			c.Decs(decs, from)
		}
		for k := range n {
			if at := from + uint32(k); c.Kind == Int && ints[k] != c.Int(at) || c.Kind == Decimal && decs[k] != c.Dec(at) {
				t.Fatalf("%s (coded: %v) at %d: %d %v, want %v %v", c.Name, c.Coded(), at, ints[k], decs[k], c.IsNull(at), c.Len())
			}
		}
	}
}
