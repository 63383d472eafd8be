package columnar

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/snapshot"
)

// randomSegment is a random table with a place. A long one has a group with more tuples than an
// arrowTable has entries.
func randomSegment(t testing.TB, r *rand.Rand, rows int) *snapshot.Segment {
	t.Helper()
	n := 0
	text := func() string {
		if n++; n%40 == 1 {
			return ""
		}
		odd := []string{"", "Zoë ", "\"q\",\r\n", "日本", "\x00", strings.Repeat("long ", 60)}[r.IntN(6)]
		return fmt.Sprintf("%s%d", odd, n)
	}
	data := tables.Random(r, rows, text, []string{"sorted", "clustered"}[:r.IntN(3)]...)
	if rows > arrowTable {
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = uint32(rows - 1 - i)
		}
		data.Groups = append(data.Groups, tables.Group(r, "many", rows, codes, text))
	}
	data.Columns = append(data.Columns, decimalColumn(r, "lat", rows, 90), decimalColumn(r, "lon", rows, 180))
	return tables.Segment(t, data)
}

// decimalColumn has coordinates up to limit, some of them null.
func decimalColumn(r *rand.Rand, name string, n, limit int) snapshot.ColumnData {
	c := snapshot.ColumnData{Name: name, Kind: snapshot.Decimal}
	for range n {
		d, _ := snapshot.ParseDec(fmt.Sprintf("%d.%04d", r.IntN(2*limit)-limit, r.IntN(10_000)))
		if r.IntN(5) == 0 {
			d = snapshot.Dec{Scale: snapshot.DecNull}
		}
		c.Decimals = append(c.Decimals, d)
	}
	return c
}

// allFields are all columns of a segment in a random order, and a point.
func allFields(t testing.TB, r *rand.Rand, seg *snapshot.Segment) []Field {
	t.Helper()
	var fields []Field
	for _, c := range seg.Columns() {
		fields = append(fields, Field{Name: c.Name, Column: c, Meaning: "what " + c.Name + " means"})
	}
	r.Shuffle(len(fields), func(i, k int) { fields[i], fields[k] = fields[k], fields[i] })
	lat, errLat := seg.Column("lat")
	lon, errLon := seg.Column("lon")
	if errLat != nil || errLon != nil {
		t.Fatal(errLat, errLon)
	}
	return append(fields, Field{Name: "point", Column: lat, Lon: lon, Unit: "degrees"})
}

// randomRanges are some ascending ranges of the rows of a table.
func randomRanges(r *rand.Rand, rows int) []index.Range {
	var ranges []index.Range
	for at := 0; at < rows; {
		from := at + r.IntN(1+rows/10)
		to := from + 1 + r.IntN(1+rows/5)
		if to > rows {
			break
		}
		ranges = append(ranges, index.Range{From: uint32(from), To: uint32(to)})
		at = to
	}
	return ranges
}

// rowsOf lists the rows of ranges.
func rowsOf(ranges []index.Range) (rows []uint32) {
	for _, r := range ranges {
		for row := r.From; row < r.To; row++ {
			rows = append(rows, row)
		}
	}
	return rows
}
