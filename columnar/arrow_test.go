package columnar

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// describeArrow is a value as wantValue has it.
func describeArrow(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// writeArrow writes a stream, whose size must be as promised.
func writeArrow(w io.Writer, fields []Field, rows Rows, o ArrowOptions) error {
	stream, err := NewArrowStream(fields, rows, o)
	if err != nil {
		return err
	}
	count := &counter{Writer: w}
	err = stream.Write(count)
	if size, ok := stream.Size(); err == nil && ok && size != count.n {
		return fmt.Errorf("%d bytes, want %d", count.n, size)
	}
	return err
}

// counter counts what is written.
type counter struct {
	io.Writer
	n int
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += n
	return n, err
}

// TestArrowTwin compares streams of random rows of random tables with the values of each row.
func TestArrowTwin(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 3, 300, 6000, arrowTable + 900}
	for seed := range uint64(24) {
		all := sizes[seed%6]
		if testing.Short() && all > arrowTable && seed > 6 {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 2))
		seg := randomSegment(t, r, all)
		fields := slices.DeleteFunc(allFields(t, r, seg), func(f Field) bool { return f.Type() == Point })
		ranges := randomRanges(r, seg.Rows())
		if all > arrowTable {
			ranges = []index.Range{{From: 1, To: 9}, {From: 10, To: uint32(all)}}
		}
		var b bytes.Buffer
		o := ArrowOptions{Zstd: seed%4 == 1, Batch: []int{0, 8, 4096, arrowPart + 8}[r.IntN(4)]}
		testkit.Must(t, writeArrow(&b, fields, slices.Values(ranges), o))
		got, err := testkit.ReadArrow(b.Bytes())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		rows := rowsOf(ranges)
		size := cmp.Or(o.Batch, ArrowBatch)
		if o.Zstd {
			size = arrowPart
		}
		parts := (len(rows) + size - 1) / size
		if len(got.Rows) != len(rows) || got.Batches != parts || len(got.Names) != len(fields) {
			t.Fatalf("seed %d: %d rows in %d batches, want %d", seed, len(got.Rows), got.Batches, len(rows))
		}
		for k, row := range rows {
			for i := range fields {
				if v, want := describeArrow(got.Rows[k][i]), wantValue(&fields[i], row); v != want {
					t.Fatalf("seed %d, row %d, field %s: %s, want %s", seed, row, fields[i].Name, v, want)
				}
			}
		}
		var again bytes.Buffer
		err = writeArrow(&again, fields, slices.Values(ranges), o)
		if err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) {
			t.Fatalf("seed %d: other bytes the second time: %v", seed, err)
		}
		cut := b.Bytes()[:r.IntN(b.Len())]
		if _, err := testkit.ReadArrow(cut); err == nil {
			t.Fatalf("seed %d: no error after %d bytes of %d", seed, len(cut), b.Len())
		}
	}
}

// TestArrowWriteFails checks that errors of the writer are returned.
func TestArrowWriteFails(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	seg := randomSegment(t, r, 100)
	fields := allFields(t, r, seg)
	fields = slices.DeleteFunc(fields, func(f Field) bool { return f.Type() == Point })
	var whole bytes.Buffer
	testkit.Must(t, writeArrow(&whole, fields, All(seg), ArrowOptions{}))
	for range 20 {
		to := &limited{r.IntN(whole.Len()), io.ErrShortWrite}
		if err := writeArrow(to, fields, All(seg), ArrowOptions{}); err == nil {
			t.Error("no error although the writer failed")
		}
	}
}

// TestArrowSize checks which streams have a size: those of one batch, and how many rows of how many
// ranges make one.
func TestArrowSize(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 2))
	seg := randomSegment(t, r, 6000)
	fields := slices.DeleteFunc(allFields(t, r, seg), func(f Field) bool { return f.Type() == Point })
	scattered := make([]index.Range, 0, 2000)
	for row := range uint32(2000) {
		scattered = append(scattered, index.Range{From: 3 * row, To: 3*row + 1})
	}
	for _, test := range []struct {
		ranges []index.Range
		o      ArrowOptions
		sized  bool
	}{
		{nil, ArrowOptions{}, false},
		{[]index.Range{{From: 0, To: 6000}}, ArrowOptions{}, true},
		{[]index.Range{{From: 0, To: 6000}}, ArrowOptions{Zstd: true}, false},
		{[]index.Range{{From: 0, To: 6000}}, ArrowOptions{Batch: 6000}, true},
		{[]index.Range{{From: 0, To: 6000}}, ArrowOptions{Batch: 5992}, false},
		{scattered, ArrowOptions{Batch: 2000}, true},
		{scattered, ArrowOptions{Batch: 1992}, false},
	} {
		stream := testkit.Value(NewArrowStream(fields, slices.Values(test.ranges), test.o))(t)
		var b bytes.Buffer
		testkit.Must(t, stream.Write(&b))
		size, ok := stream.Size()
		if ok != test.sized || ok && size != b.Len() {
			t.Errorf("%d ranges, %+v: size %d, %t; %d bytes written", len(test.ranges), test.o, size, ok, b.Len())
		}
	}
}

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
