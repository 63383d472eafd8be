package columnar

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"hdqs/index"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// openFile opens what WriteParquet wrote.
func openFile(t testing.TB, data []byte) *parquet.File {
	t.Helper()
	return testkit.Value(parquet.OpenFile(bytes.NewReader(data), int64(len(data))))(t)
}

// readRows reads all rows of a file, each value as describe does.
func readRows(t testing.TB, f *parquet.File) (rows [][]string) {
	t.Helper()
	for _, group := range f.RowGroups() {
		from := group.Rows()
		space := make([]parquet.Row, 100)
		for {
			n, err := from.ReadRows(space)
			for _, row := range space[:n] {
				var texts []string
				for _, v := range row {
					texts = append(texts, describe(v))
				}
				rows = append(rows, texts)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			testkit.Must(t, err)
		}
		testkit.Must(t, from.Close())
	}
	return rows
}

func describe(v parquet.Value) string {
	if v.IsNull() {
		return "null"
	}
	switch v.Kind() {
	case parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case parquet.ByteArray:
		return strconv.Quote(string(v.ByteArray()))
	}
	return v.String()
}

// wantValue is the value of a field in a row, worked out from the column's accessors of single
// values.
func wantValue(f *Field, row uint32) string {
	at := func(c *snapshot.Column) (uint32, bool) {
		i := row
		if c.Group != nil {
			i = uint32(c.Group.Codes.At(row))
		}
		return i, c.IsNull(i)
	}
	number := func(c *snapshot.Column) (float64, bool) {
		i, null := at(c)
		f, _ := strconv.ParseFloat(c.DecString(c.Dec(i)), 64)
		return f, null
	}
	c := f.Column
	i, null := at(c)
	if f.Lon != nil {
		lon, noLon := number(f.Lon)
		lat, noLat := number(c)
		if noLat || noLon {
			return "null"
		}
		point := binary.LittleEndian.AppendUint32([]byte{1}, 1)
		point = binary.LittleEndian.AppendUint64(point, math.Float64bits(lon))
		return strconv.Quote(string(binary.LittleEndian.AppendUint64(point, math.Float64bits(lat))))
	}
	if null {
		return "null"
	}
	switch c.Kind {
	case snapshot.Text, snapshot.Enum:
		return strconv.Quote(c.Text(i))
	case snapshot.Time:
		if at := time.UnixMicro(c.Int(i)).UTC(); f.TimeText && at.Nanosecond() == 0 {
			return strconv.Quote(at.Format("2006-01-02T15:04:05"))
		} else if f.TimeText {
			return strconv.Quote(at.Format("2006-01-02T15:04:05.000000"))
		}
	case snapshot.Decimal:
		f, _ := number(c)
		return strconv.FormatFloat(f, 'g', -1, 64)
	case snapshot.Bool:
		return strconv.FormatBool(c.Int(i) == 1)
	}
	return strconv.FormatInt(c.Int(i), 10)
}

// TestParquetTwin compares files of random rows of random tables with the values of each row.
func TestParquetTwin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		seg := randomSegment(t, r, []int{0, 1, 3, 300, 6000}[seed%5])
		fields := allFields(t, r, seg)
		for _, c := range seg.Columns() {
			if c.Kind == snapshot.Time {
				fields = append(fields, Field{Name: c.Name + " as text", Column: c, TimeText: true})
			}
		}
		text := slices.IndexFunc(fields, func(f Field) bool { return f.Type() == String })
		fields[0], fields[text] = fields[text], fields[0]
		ranges := randomRanges(r, seg.Rows())
		if seed%2 == 0 && seg.Rows() > 0 {
			ranges = []index.Range{{From: 0, To: uint32(seg.Rows())}}
		}
		o := ParquetOptions{RowGroup: 1 + r.IntN(2500), Bloom: []string{fields[0].Name}}
		var file, again bytes.Buffer
		n := testkit.Value(WriteParquet(&file, fields, slices.Values(ranges), o))(t)
		testkit.Value(WriteParquet(&again, fields, slices.Values(ranges), o))(t)
		if !bytes.Equal(file.Bytes(), again.Bytes()) {
			t.Errorf("seed %d: the same rows gave other bytes", seed)
		}
		rows := rowsOf(ranges)
		f := openFile(t, file.Bytes())
		got := readRows(t, f)
		if n != len(rows) || len(got) != len(rows) || f.NumRows() != int64(len(rows)) {
			t.Fatalf("seed %d: %d rows counted, %d in the footer, %d read, want %d", seed, n, f.NumRows(), len(got),
				len(rows))
		}
		for k, row := range rows {
			for i := range fields {
				if want := wantValue(&fields[i], row); got[k][i] != want {
					t.Fatalf("seed %d, row %d, field %s (%s): %.80s, want %.80s", seed, row, fields[i].Name,
						fields[i].Column.Kind, got[k][i], want)
				}
			}
		}
		checkStatistics(t, f, fields, rows, o.RowGroup)
	}
}

// checkStatistics checks that the bounds of row groups and pages contain their values, and that
// bloom filters have them: readers skip what is outside.
func checkStatistics(t *testing.T, f *parquet.File, fields []Field, rows []uint32, size int) {
	t.Helper()
	for g, group := range f.RowGroups() {
		if n := min(size, len(rows)-g*size); group.NumRows() != int64(n) {
			t.Fatalf("row group %d has %d rows, want %d", g, group.NumRows(), n)
		}
		for i, chunk := range group.ColumnChunks() {
			bounds := &f.Metadata().RowGroups[g].Columns[i].MetaData.Statistics
			index := testkit.Value(chunk.ColumnIndex())(t)
			nulls := int64(0)
			pages := chunk.Pages()
			for at := 0; ; at++ {
				page, err := pages.ReadPage()
				if errors.Is(err, io.EOF) {
					break
				}
				testkit.Must(t, err)
				values := make([]parquet.Value, page.NumValues())
				if n, err := page.Values().ReadValues(values); n != len(values) {
					t.Fatal(n, err)
				}
				for _, v := range values {
					if v.IsNull() {
						nulls++
						continue
					}
					kind := chunk.Type()
					least, most := kind.Kind().Value(bounds.MinValue), kind.Kind().Value(bounds.MaxValue)
					if kind.Compare(v, least) < 0 || kind.Compare(v, most) > 0 {
						t.Fatalf("field %s: %v is outside of its row group, %v to %v", fields[i].Name, v, least, most)
					}
					if kind.Compare(v, index.MinValue(at)) < 0 || kind.Compare(v, index.MaxValue(at)) > 0 {
						t.Fatalf("field %s: %v is outside of its page, %v to %v", fields[i].Name, v, index.MinValue(at),
							index.MaxValue(at))
					}
					if filter := chunk.BloomFilter(); filter != nil {
						if has, err := filter.Check(v); !has || err != nil {
							t.Fatalf("field %s: the bloom filter does not have %v: %v", fields[i].Name, v, err)
						}
					}
				}
				parquet.Release(page)
			}
			testkit.Must(t, pages.Close())
			if bounds.NullCount != nulls {
				t.Fatalf("field %s: %d nulls counted in a row group of %d", fields[i].Name, bounds.NullCount, nulls)
			}
			if hasFilter := chunk.BloomFilter() != nil; hasFilter != (i == 0 && nulls < group.NumRows()) {
				t.Fatalf("field %s: bloom filter: %v", fields[i].Name, hasFilter)
			}
		}
	}
}

// TestParquetSchema checks names, order, types, field ids and metadata of a file.
func TestParquetSchema(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	seg := randomSegment(t, r, 100)
	fields := allFields(t, r, seg)
	var file bytes.Buffer
	o := ParquetOptions{Metadata: map[string]string{"title": "Things"}}
	testkit.Value(WriteParquet(&file, fields, All(seg), o))(t)
	f := openFile(t, file.Bytes())
	schema := f.Metadata().Schema[1:]
	if len(schema) != len(fields) {
		t.Fatalf("%d columns, want %d", len(schema), len(fields))
	}
	for i := range fields {
		e := schema[i]
		if e.Name != fields[i].Name || e.FieldID != int32(i+1) || e.RepetitionType.V != format.Optional {
			t.Errorf("column %d is %s with id %d, %v; want %s, %d, optional", i, e.Name, e.FieldID, e.RepetitionType,
				fields[i].Name, i+1)
		}
		got := fmt.Sprint(e.Type.V)
		if e.LogicalType.Value != nil {
			got = fmt.Sprint(e.LogicalType.Value)
		}
		want := map[Type]string{
			String: "STRING", Boolean: "BOOLEAN", Int64: "INT(64,true)", Double: "DOUBLE",
			Timestamp: "TIMESTAMP(isAdjustedToUTC=false,unit=MICROS)", Point: "BYTE_ARRAY",
		}[fields[i].Type()]
		testkit.Equal(t, got, want, "column %s is of type", e.Name)
		if meaning, _ := f.Lookup("meaning:" + e.Name); meaning != fields[i].Meaning {
			t.Errorf("column %s means %q, want %q", e.Name, meaning, fields[i].Meaning)
		}
	}
	if unit, _ := f.Lookup("unit:point"); unit != "degrees" {
		t.Errorf("unit of the point: %q", unit)
	}
	if title, _ := f.Lookup("title"); title != "Things" {
		t.Errorf("title: %q", title)
	}
	checkGeo(t, f, seg)
}

func checkGeo(t *testing.T, f *parquet.File, seg *snapshot.Segment) {
	t.Helper()
	text, _ := f.Lookup("geo")
	var geo struct {
		Version string `json:"version"`
		Primary string `json:"primary_column"`
		Columns map[string]struct {
			Encoding string     `json:"encoding"`
			Types    []string   `json:"geometry_types"`
			Box      [4]float64 `json:"bbox"`
		} `json:"columns"`
	}
	if err := json.Unmarshal([]byte(text), &geo); err != nil {
		t.Fatalf("%v in the metadata geo: %s", err, text)
	}
	c := geo.Columns["point"]
	if geo.Version != "1.1.0" || geo.Primary != "point" || c.Encoding != "WKB" || fmt.Sprint(c.Types) != "[Point]" {
		t.Errorf("metadata geo: %s", text)
	}
	want := [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	lat, _ := seg.Column("lat")
	lon, _ := seg.Column("lon")
	for row := range uint32(seg.Rows()) {
		if lat.IsNull(row) || lon.IsNull(row) {
			continue
		}
		x, y := lon.Dec(row).Float(), lat.Dec(row).Float()
		want = [4]float64{min(want[0], x), min(want[1], y), max(want[2], x), max(want[3], y)}
	}
	testkit.Equal(t, c.Box, want, "box")
}

// TestParquetWriteFails checks that an error of the writer comes back, wherever it happens.
func TestParquetWriteFails(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	seg := randomSegment(t, r, 500)
	fields := allFields(t, r, seg)
	var whole bytes.Buffer
	testkit.Value(WriteParquet(&whole, fields, All(seg), ParquetOptions{RowGroup: 100}))(t)
	full := errors.New("disk full")
	for room := 0; room < whole.Len(); room += 1 + whole.Len()/50 {
		_, err := WriteParquet(&limited{room, full}, fields, All(seg), ParquetOptions{RowGroup: 100})
		testkit.Is(t, err, full, "room for %d of %d bytes: error", room, whole.Len())
	}
}

// limited fails after some bytes.
type limited struct {
	room int
	err  error
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.room {
		return l.room, l.err
	}
	l.room -= len(b)
	return len(b), nil
}

// TestOrderTwin compares SortedBy and Bounds with plain code over the values of each row.
func TestOrderTwin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		seg := randomSegment(t, r, []int{1, 4, 40, 400}[seed%4])
		fields := allFields(t, r, seg)[:6]
		ranges := randomRanges(r, seg.Rows())
		rows := rowsOf(ranges)
		least, most := make([]string, len(fields)), make([]string, len(fields))
		for i := range fields {
			f := &fields[i]
			if f.Type() != String && f.Type() != Timestamp {
				continue
			}
			some := false
			for _, row := range rows {
				v := wantBound(f, row)
				if v == nil {
					continue
				}
				if !some || *v < least[i] {
					least[i] = *v
				}
				if !some || *v > most[i] {
					most[i] = *v
				}
				some = true
			}
			gotLeast, gotMost, ok := Bounds(f, slices.Values(ranges))
			if gotLeast != least[i] || gotMost != most[i] || ok != some {
				t.Errorf("seed %d, field %s: bounds %q, %q, %v; want %q, %q, %v", seed, f.Name, gotLeast, gotMost, ok,
					least[i], most[i], some)
			}
		}
		sortable := fields[r.IntN(len(fields))]
		if kind := sortable.Type(); kind == String || kind == Boolean || kind == Timestamp {
			checkSorted(t, &sortable, ranges, rows)
		}
		got := SortedBy(fields, slices.Values(ranges))
		testkit.Equal(t, len(got), sortedBy(fields, rows), "seed %d: sorted by the first fields", seed)
	}
}

// checkSorted compares Sorted with a stable sort of the rows.
func checkSorted(t *testing.T, f *Field, ranges []index.Range, rows []uint32) {
	t.Helper()
	got := rowsOf(slices.Collect(Sorted(f, slices.Values(ranges))))
	want := slices.Clone(rows)
	slices.SortStableFunc(want, func(a, b uint32) int { return compareIn(f, a, b) })
	testkit.EqualLists(t, got, want, "rows by %s", f.Name)
}

func wantBound(f *Field, row uint32) *string {
	text := wantValue(f, row)
	if text == "null" {
		return nil
	}
	if f.Type() == String {
		text, _ = strconv.Unquote(text)
		return &text
	}
	micros, _ := strconv.ParseInt(text, 10, 64)
	text = formatTime(micros)
	return &text
}

// sortedBy tries one field more while the rows are sorted by those before.
func sortedBy(fields []Field, rows []uint32) int {
	for n := range fields {
		if fields[n].Type() == Double || fields[n].Type() == Point {
			return n
		}
		for k := 1; k < len(rows); k++ {
			c := 0
			for i := 0; i <= n && c == 0; i++ {
				c = compareIn(&fields[i], rows[k-1], rows[k])
			}
			if c > 0 {
				return n
			}
		}
	}
	return len(fields)
}

// compareIn compares the values of a field in two rows, nulls last.
func compareIn(f *Field, a, b uint32) int {
	x, y := wantValue(f, a), wantValue(f, b)
	switch {
	case x == y:
		return 0
	case x == "null":
		return 1
	case y == "null":
		return -1
	}
	switch f.Type() {
	case String:
		x, _ = strconv.Unquote(x)
		y, _ = strconv.Unquote(y)
		return strings.Compare(x, y)
	case Boolean:
		return strings.Compare(x, y)
	}
	m, _ := strconv.ParseInt(x, 10, 64)
	n, _ := strconv.ParseInt(y, 10, 64)
	return cmp.Compare(m, n)
}
