//go:build !race

package snapshot

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"hdqs/internal/testkit"
)

// wideTable is shaped like real tables: a leading group in runs, one like organisations and one
// like periods in random order, indexed enums, numbers that repeat and some that do not, decimals.
func wideTable(rows int) *TableData {
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	t := &TableData{Name: "wide", Rows: rows}
	group := func(name string, tuples int, code func(row int) uint32) {
		g := GroupData{Name: name, Tuples: tuples, Codes: make([]uint32, rows)}
		for row := range g.Codes {
			g.Codes[row] = code(row)
		}
		values := make([]string, tuples)
		for i := range values {
			values[i] = fmt.Sprintf("%s number %d", name, i)
		}
		for k := range 4 {
			codes := make([]uint32, tuples)
			for i := range codes {
				codes[i] = uint32(i)
			}
			g.Columns = append(g.Columns, ColumnData{
				Name: fmt.Sprintf("%s%d", name, k), Kind: Text, Codes: codes,
				Values: values,
			})
		}
		t.Groups = append(t.Groups, g)
	}
	tuples := max(1, rows/300)
	group("where", tuples, func(row int) uint32 { return uint32(row * tuples / rows) })
	group("who", 2500, func(int) uint32 { return uint32(r.IntN(2500)) })
	group("when", 190, func(row int) uint32 { return uint32(row % 190) })
	for k, values := range []int{3, 20, 300, 30000} {
		c := ColumnData{Name: fmt.Sprintf("e%d", k), Kind: Text, Index: true, Codes: make([]uint32, rows)}
		for i := range values {
			c.Values = append(c.Values, fmt.Sprintf("value %d", i))
		}
		for row := range c.Codes {
			c.Codes[row] = uint32(r.IntN(values))
		}
		t.Columns = append(t.Columns, c)
	}
	few, many := make([]int64, rows), make([]int64, rows)
	decimals := make([]Dec, rows)
	for row := range rows {
		few[row] = int64(r.ExpFloat64() * 10)
		many[row] = r.Int64N(1 << 20)
		decimals[row], _ = ParseDec(fmt.Sprintf("%.4f", r.Float64()*1000))
	}
	t.Columns = append(t.Columns, ColumnData{Name: "few", Kind: Int, Ints: few},
		ColumnData{Name: "many", Kind: Int, Ints: many},
		ColumnData{Name: "decimal", Kind: Decimal, Decimals: decimals})
	return t
}

func BenchmarkWriteSegment(b *testing.B) {
	table := wideTable(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		var n counter
		testkit.Must(b, WriteSegment(&n, table))
		b.ReportMetric(float64(n)/float64(table.Rows), "B/row")
	}
	b.ReportMetric(float64(table.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// BenchmarkOpenSegment opens a file that is in the page cache: checksums and all checks.
func BenchmarkOpenSegment(b *testing.B) {
	for _, rows := range []int{100_000, 3_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "wide.seg")
			testkit.WriteFile(b, path, fileOf(b, wideTable(rows)))
			b.ReportAllocs()
			for b.Loop() {
				s, err := OpenSegment(path)
				if err != nil || s.Rows() != rows {
					b.Fatal(err)
				}
				testkit.Must(b, s.Close())
			}
		})
	}
}

func TestWideTable(t *testing.T) {
	t.Parallel()
	table := wideTable(70_000)
	s := mustRead(t, fileOf(t, table))
	testkit.Must(t, compareTable(s, table))
	testkit.Must(t, s.Verify())
}

// TestReadingAllocatesNothing calls the accessors that every request uses.
func TestReadingAllocatesNothing(t *testing.T) {
	s := mustRead(t, fileOf(t, goldenTable()))
	town, _ := s.Column("town")
	day, _ := s.Column("day")
	exact, _ := s.Column("exact")
	place, colour := s.Groups()[0], s.Groups()[1]
	codes := make([]uint32, 1000)
	length := 0
	if n := testing.AllocsPerRun(100, func() {
		length += len(town.Text(1)) + int(day.Int(4000)) + int(exact.Dec(4000).Scale) +
			len(exact.DecString(Dec{Scale: DecText}))
		length += len(colour.Postings.Frozen(1)) + int(place.Postings.Start(1))
		place.Codes.Unpack(codes, 7)
	}); n > 0 {
		t.Errorf("%v allocations a round of accessors, want 0", n)
	}
}

// TestOpeningAllocatesByColumn: the memory of an open segment grows with its columns, not with its
// rows.
func TestOpeningAllocatesByColumn(t *testing.T) {
	small, large := fileOf(t, wideTable(1000)), fileOf(t, wideTable(100_000))
	allocations := func(file []byte) float64 {
		return testing.AllocsPerRun(10, func() {
			testkit.Value(ReadSegment(file))(t)
		})
	}
	if a, b := allocations(small), allocations(large); b > a+10 {
		t.Errorf("opening 1,000 rows takes %v allocations, 100,000 rows %v", a, b)
	}
}

// TestBytesARow checks the size of a table of the usual kinds of columns.
func TestBytesARow(t *testing.T) {
	const rows, most = 100_000, 40.0 // postings of four columns without any order are most of it
	if got := float64(len(fileOf(t, wideTable(rows)))) / rows; got > most {
		t.Errorf("%.1f bytes a row, the budget is %.1f", got, most)
	}
	var file bytes.Buffer
	if err := WriteSegment(&file, &TableData{Name: "empty"}); err != nil || file.Len() > 64 {
		t.Errorf("an empty table takes %d bytes (%v)", file.Len(), err)
	}
}
