package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"hdqs/internal/testkit"
)

// TestSegmentRoundTrip writes random tables and compares the segment with the table.
func TestSegmentRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range fewer(300) {
		table := generate(rand.New(rand.NewPCG(seed, 1)))
		var file bytes.Buffer
		if err := WriteSegment(&file, table); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var again bytes.Buffer
		if err := WriteSegment(&again, table); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
			t.Fatalf("seed %d: writing twice gave different bytes (%v)", seed, err)
		}
		s, err := ReadSegment(file.Bytes())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := compareTable(s, table); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestExtremes: numbers at both ends of 64 bits, more than the number for which a dictionary is
// always made, with and without nulls.
func TestExtremes(t *testing.T) {
	t.Parallel()
	const rows = 2 * fewValues
	r := rand.New(rand.NewPCG(1, 30))
	for _, nulls := range []bool{false, true} {
		for _, spread := range []int{1, 2, 6, 7, 8, 40} {
			ints, decs := make([]int64, rows), make([]Dec, rows)
			for i := range ints {
				ints[i] = int64(r.Uint64()) >> spread
				decs[i] = Dec{Mantissa: ints[i]/10*10 + 1, Scale: uint8(r.IntN(MaxScale + 1))}
			}
			ints[5], ints[6] = math.MaxInt64, math.MinInt64+1
			if spread == 1 {
				decs[5], decs[6] = Dec{Mantissa: math.MaxInt64, Scale: 18}, Dec{Mantissa: -math.MaxInt64}
			}
			if nulls {
				ints[7], decs[7] = NullInt, Dec{Scale: DecNull}
			}
			table := &TableData{Name: "extremes", Rows: rows, Columns: []ColumnData{
				{Name: "ints", Kind: Int, Ints: ints}, {Name: "decs", Kind: Decimal, Decimals: decs},
			}}
			s, err := ReadSegment(fileOf(t, table))
			if err != nil {
				t.Fatalf("spread %d, nulls %v: %v", spread, nulls, err)
			}
			testkit.Is(t, compareTable(s, table), nil, "spread %d, nulls %v", spread, nulls)
			testkit.Must(t, s.Verify())
			if c, _ := s.Column("decs"); c.Coded() != (spread < 6) {
				t.Errorf("spread %d, nulls %v: decimals coded %v", spread, nulls, c.Coded())
			}
		}
	}
}

// compareTable returns the first difference between a segment and a table.
func compareTable(s *Segment, table *TableData) error {
	if s.Name() != table.Name || s.Rows() != table.Rows || len(s.Groups()) != len(table.Groups) {
		return fmt.Errorf("segment %q has %d rows, %d groups; the table %q, %d, %d",
			s.Name(), s.Rows(), len(s.Groups()), table.Name, table.Rows, len(table.Groups))
	}
	columns := len(table.Columns)
	for i := range table.Groups {
		g, want := s.Groups()[i], &table.Groups[i]
		columns += len(want.Columns)
		if g.Name != want.Name || g.Codes.Len() != table.Rows {
			return fmt.Errorf("group %q of %d rows, want %q of %d", g.Name, g.Codes.Len(), want.Name, table.Rows)
		}
		next := uint64(0)
		for row := range uint32(table.Rows) {
			if code := g.Codes.At(row); code > next || int(code) >= g.Tuples {
				return fmt.Errorf("group %q: row %d has tuple %d, the next new one is %d of %d", g.Name, row, code,
					next, g.Tuples)
			} else if code == next {
				next++
			}
		}
		if int(next) != g.Tuples {
			return fmt.Errorf("group %q has %d tuples, rows use %d", g.Name, g.Tuples, next)
		}
		if err := comparePostings(&g.Postings, g.Codes, g.Tuples); err != nil {
			return fmt.Errorf("group %q: %w", g.Name, err)
		}
		for k := range want.Columns {
			at := func(row uint32) (uint32, int) { return uint32(g.Codes.At(row)), int(want.Codes[row]) }
			if err := compareColumn(s, g, &want.Columns[k], at); err != nil {
				return err
			}
		}
	}
	for k := range table.Columns {
		if err := compareColumn(s, nil, &table.Columns[k],
			func(row uint32) (uint32, int) { return row, int(row) }); err != nil {
			return err
		}
	}
	if len(s.Columns()) != columns {
		return fmt.Errorf("%d columns, want %d", len(s.Columns()), columns)
	}
	if _, err := s.Column("no such"); !errors.Is(err, ErrNoColumn) {
		return fmt.Errorf("a missing column: %v", err)
	}
	return nil
}

// compareColumn compares row by row. at returns the position in the segment's column and in the
// table's.
func compareColumn(s *Segment, g *Group, want *ColumnData, at func(row uint32) (uint32, int)) error {
	c, err := s.Column(want.Name)
	if err != nil {
		return err
	}
	if c.Kind != want.Kind || c.Group != g {
		return fmt.Errorf("column %q: kind %s, group %v", c.Name, c.Kind, c.Group)
	}
	null := false
	for row := range uint32(s.Rows()) {
		i, k := at(row)
		got, want := textAt(c, i), wantAt(want, k)
		null = null || want == "null"
		if got != want {
			return fmt.Errorf("column %q, row %d: %s, want %s", c.Name, row, got, want)
		}
		if !c.Coded() || c.IsNull(i) {
			continue
		}
		if again := textOf(c, uint32(c.Codes().At(i))); again != want {
			return fmt.Errorf("column %q, row %d: by code %s, want %s", c.Name, row, again, want)
		}
	}
	if c.Nullable != null {
		return fmt.Errorf("column %q: nullable %v, want %v", c.Name, c.Nullable, null)
	}
	if !c.Coded() {
		return nil
	}
	p, ok := c.Postings()
	codes := c.Cardinality()
	if c.Nullable {
		codes++
	}
	if ok != (want.Index && codes > 0) {
		return fmt.Errorf("column %q: postings %v, want %v", c.Name, ok, want.Index)
	}
	if ok {
		if err := comparePostings(&p, c.Codes(), codes); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	return nil
}

// textAt and wantAt print a value of any kind.
func textAt(c *Column, i uint32) string {
	if c.IsNull(i) {
		return "null"
	}
	switch c.Kind {
	case Text, Enum:
		return c.Text(i)
	case Decimal:
		return c.DecString(c.Dec(i))
	}
	return fmt.Sprint(c.Int(i))
}

func textOf(c *Column, code uint32) string {
	switch c.Kind {
	case Text, Enum:
		return c.TextOf(code)
	case Decimal:
		return c.DecString(c.DecOf(code))
	}
	return fmt.Sprint(c.IntOf(code))
}

func wantAt(c *ColumnData, i int) string {
	switch c.Kind {
	case Text, Enum:
		if c.Codes[i] == NullCode {
			return "null"
		}
		return c.Values[c.Codes[i]]
	case Decimal:
		if c.Decimals[i].Scale == DecText {
			return c.Texts[c.Decimals[i].Mantissa]
		}
		return c.Decimals[i].String()
	}
	if c.Ints[i] == NullInt {
		return "null"
	}
	return fmt.Sprint(c.Ints[i])
}

// comparePostings checks that each code has exactly its rows.
func comparePostings(p *Postings, codes Packed, count int) error {
	if p.Len() != count {
		return fmt.Errorf("%d postings for %d codes", p.Len(), count)
	}
	want := make([][]uint32, count)
	for row := range uint32(codes.Len()) {
		want[codes.At(row)] = append(want[codes.At(row)], row)
	}
	for code := range uint32(count) {
		if got, err := rowsOf(p, code); err != nil || !slices.Equal(got, want[code]) {
			return fmt.Errorf("posting %d has %d rows, want %d: %w", code, len(got), len(want[code]), err)
		}
	}
	return nil
}

// rowsOf are the rows of a code.
func rowsOf(p *Postings, code uint32) (rows []uint32, err error) {
	err = p.EachRow(code, func(row uint32) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// TestSegmentShared reads one segment from several goroutines, for the race detector.
func TestSegmentShared(t *testing.T) {
	t.Parallel()
	s := mustRead(t, fileOf(t, goldenTable()))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { touch(s) })
	}
	wg.Wait()
}

// TestAddNulls adds a column of each kind to segments with and without rows.
func TestAddNulls(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, 70_000} {
		n := ColumnData{Name: "n", Kind: Int, Ints: make([]int64, rows)}
		s := mustRead(t, fileOf(t, &TableData{Name: "t", Rows: rows, Columns: []ColumnData{n}}))
		kinds := []Kind{Text, Enum, Int, Decimal, Bool, Time}
		var columns []ColumnData
		for _, k := range kinds {
			columns = append(columns, ColumnData{Name: k.String(), Kind: k})
			if k == Enum {
				columns[len(columns)-1].Values = []string{"b", "a"}
			}
		}
		testkit.Must(t, s.AddNulls(columns))
		for _, k := range kinds {
			c, err := s.Column(k.String())
			if err != nil || c.Kind != k || !slices.Contains(s.Columns(), c) {
				t.Fatalf("%d rows, %s: %v, %v", rows, k, c, err)
			}
			if k == Enum && (c.Cardinality() != 2 || c.TextOf(0) != "b") {
				t.Errorf("values of the enum: %d, the first %q", c.Cardinality(), c.TextOf(0))
			}
			for _, row := range []int{0, rows / 2, rows - 1} {
				if row >= 0 && row < rows && !c.IsNull(c.Position(uint32(row))) {
					t.Errorf("%d rows, %s: row %d is not null", rows, k, row)
				}
			}
		}
		if n, err := s.Column("n"); err != nil || n.Len() != rows {
			t.Errorf("%d rows: the column of the file: %v, %v", rows, n, err)
		}
	}
}

// TestContradictionsAreNotRead: a table that contradicts itself never becomes bytes that can be
// read. Some panic before, such as tuples that do not exist. TestMalformedSegments has more.
func TestContradictionsAreNotRead(t *testing.T) {
	t.Parallel()
	good := func() *TableData {
		return &TableData{
			Name: "t", Rows: 2,
			Groups: []GroupData{{
				Name: "g", Codes: []uint32{1, 0}, Tuples: 2,
				Columns: []ColumnData{{Name: "a", Kind: Text, Codes: []uint32{0, NullCode}, Values: []string{"x"}}},
			}},
			Columns: []ColumnData{
				{Name: "b", Kind: Bool, Ints: []int64{0, NullInt}},
				{
					Name: "c", Kind: Decimal, Decimals: []Dec{{Scale: DecNull}, {Scale: DecText}},
					Texts: []string{"0.1000000000000000055"},
				},
				{Name: "d", Kind: Enum, Codes: []uint32{0, 0}, Values: []string{"z", "a"}},
			},
		}
	}
	mustRead(t, fileOf(t, good()))
	faults := []struct {
		name string
		edit func(t *TableData)
	}{
		{"name_too_long", func(t *TableData) { t.Columns[0].Name = strings.Repeat("x", 256) }},
		{"rows_negative", func(t *TableData) { t.Rows = -1 }},
		{"rows_too_many", func(t *TableData) { t.Rows = 3 }},
		{"group_column_indexed", func(t *TableData) { t.Groups[0].Columns[0].Index = true }},
		{"values_of_another_kind", func(t *TableData) { t.Columns[0].Kind = Decimal }},
		{"text_value_twice", func(t *TableData) {
			t.Columns[2] = ColumnData{Name: "d", Kind: Text, Codes: []uint32{0, 1}, Values: []string{"z", "z"}}
		}},
		{"decimal_scale_unknown", func(t *TableData) { t.Columns[1].Decimals = []Dec{{1, 19}, {1, 19}} }},
		{"exact_text_not_plain", func(t *TableData) { t.Columns[1].Texts[0] = "1e30" }},
		{"exact_text_twice", func(t *TableData) {
			c := &t.Columns[1]
			c.Texts = append(c.Texts, c.Texts[0])
			c.Decimals = []Dec{{0, DecText}, {1, DecText}}
		}},
	}
	for _, f := range faults {
		table := good()
		f.edit(table)
		testkit.Fails(ReadSegment(fileOf(t, table)))(t, ErrCorrupt, "%s", f.name)
	}
	for _, code := range []uint32{2, NullCode} {
		table := good()
		table.Groups[0].Codes[0] = code
		if !panics(func() { _ = WriteSegment(io.Discard, table) }) {
			t.Errorf("tuple %d of 2 does not panic", code)
		}
	}
}

func panics(do func()) (did bool) {
	defer func() { did = recover() != nil }()
	do()
	return false
}

// TestWriterStops: an error of the writer is returned, at whatever byte it happens.
func TestWriterStops(t *testing.T) {
	t.Parallel()
	table := goldenTable()
	size := len(fileOf(t, table))
	for _, room := range []int{0, 7, 8, 1000, size - 1} {
		if err := WriteSegment(&fullWriter{room: room}, table); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("a writer with room for %d of %d bytes: %v", room, size, err)
		}
	}
}

type fullWriter struct{ room int }

func (w *fullWriter) Write(b []byte) (int, error) {
	if len(b) > w.room {
		return 0, io.ErrShortWrite
	}
	w.room -= len(b)
	return len(b), nil
}
