package columnar

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/snapshot"
)

// randomSegment is a table of all kinds of columns, of rows and of a group, with and without nulls,
// repeated values and exact texts.
func randomSegment(t testing.TB, r *rand.Rand, rows int) *snapshot.Segment {
	t.Helper()
	data := &snapshot.TableData{Name: "things", Rows: rows}
	if rows > 0 {
		g := snapshot.GroupData{Name: "pairs", Tuples: 1 + r.IntN(50), Codes: make([]uint32, rows)}
		if rows > arrowTable {
			g.Tuples = rows
		}
		for i := range g.Codes {
			if g.Codes[i] = uint32(r.IntN(g.Tuples)); g.Tuples == rows {
				g.Codes[i] = uint32(rows - 1 - i) // tuples that no row has are not kept
			}
		}
		if r.IntN(2) == 0 {
			slices.Sort(g.Codes)
		}
		for k := range 6 {
			g.Columns = append(g.Columns, randomColumn(r, fmt.Sprintf("group_%d", k), snapshot.Kind(1+k), g.Tuples))
		}
		data.Groups = append(data.Groups, g)
	}
	for k := range 12 {
		data.Columns = append(data.Columns, randomColumn(r, fmt.Sprintf("row_%d", k), snapshot.Kind(1+k%6), rows))
	}
	data.Columns = append(data.Columns, decimalColumn(r, "lat", rows, 90), decimalColumn(r, "lon", rows, 180))
	path := filepath.Join(t.TempDir(), "things.seg")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(snapshot.WriteSegment(file, data), file.Close()); err != nil {
		t.Fatal(err)
	}
	seg, err := snapshot.OpenSegment(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { seg.Close() })
	return seg
}

func randomColumn(r *rand.Rand, name string, kind snapshot.Kind, n int) snapshot.ColumnData {
	c := snapshot.ColumnData{Name: name, Kind: kind}
	nulls, many := r.IntN(2) == 0, r.IntN(2) == 0
	isNull := func() bool { return nulls && r.IntN(4) == 0 }
	switch kind {
	case snapshot.Text, snapshot.Enum:
		distinct := 1 + r.IntN(40)
		if many && kind == snapshot.Text {
			distinct = n + 1
		}
		for i := range distinct {
			odd := []string{"", "Zoë ", "\"q\",\r\n", "日本", "\x00", strings.Repeat("long ", 60)}[r.IntN(6)]
			c.Values = append(c.Values, fmt.Sprintf("%s%d", odd, i))
		}
		if r.IntN(3) == 0 {
			c.Values[0] = ""
		}
		for range n {
			code := uint32(r.IntN(len(c.Values)))
			if isNull() {
				code = snapshot.NullCode
			}
			c.Codes = append(c.Codes, code)
		}
		if r.IntN(3) == 0 {
			slices.Sort(c.Codes)
		}
	case snapshot.Decimal:
		for range n {
			c.Decimals = append(c.Decimals, randomDec(r, &c, many, isNull()))
		}
	default:
		narrow := 20 * r.IntN(2) // or 64 bits, which nulls have no room beside
		for range n {
			v := int64(r.Uint64()) >> max(narrow, r.IntN(63))
			switch {
			case isNull():
				v = snapshot.NullInt
			case kind == snapshot.Bool:
				v &= 1
			case kind == snapshot.Time:
				v = r.Int64N(4e15) / 1e6 * 1e6
				if !many {
					v += int64(r.IntN(1e6))
				}
			case !many:
				v = int64(r.IntN(30))
			}
			c.Ints = append(c.Ints, v)
		}
		if r.IntN(3) == 0 {
			slices.Sort(c.Ints)
		}
	}
	return c
}

func randomDec(r *rand.Rand, c *snapshot.ColumnData, many, null bool) snapshot.Dec {
	if null {
		return snapshot.Dec{Scale: snapshot.DecNull}
	}
	text := fmt.Sprintf("%d.%d", r.IntN(30)-15, r.IntN(10))
	if many {
		text = fmt.Sprint((r.Float64() - 0.5) * 1e6)
	}
	if r.IntN(20) == 0 {
		text = fmt.Sprintf("%d.000000000000000000000000%d", r.IntN(9), 1+r.IntN(9))
	}
	if d, fits := snapshot.ParseDec(text); fits {
		return d
	}
	plain, _ := snapshot.PlainDecimal(text)
	at := slices.Index(c.Texts, plain)
	if at < 0 {
		at = len(c.Texts)
		c.Texts = append(c.Texts, plain)
	}
	return snapshot.Dec{Mantissa: int64(at), Scale: snapshot.DecText}
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
