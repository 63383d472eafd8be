package snapshot

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestContradictionsAreNotRead: a table that contradicts itself never becomes bytes that can be
// read. Some panic before, such as tuples that do not exist.
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
		{"table_without_name", func(t *TableData) { t.Name = "" }},
		{"name_too_long", func(t *TableData) { t.Columns[0].Name = strings.Repeat("x", 256) }},
		{"name_not_utf8", func(t *TableData) { t.Groups[0].Name = "\xff" }},
		{"rows_negative", func(t *TableData) { t.Rows = -1 }},
		{"rows_too_many", func(t *TableData) { t.Rows = 3 }},
		{"group_twice", func(t *TableData) { t.Groups = append(t.Groups, t.Groups[0]) }},
		{"column_twice", func(t *TableData) { t.Columns[0].Name = "a" }},
		{"group_column_indexed", func(t *TableData) { t.Groups[0].Columns[0].Index = true }},
		{"kind_none", func(t *TableData) { t.Columns[0].Kind = 0 }},
		{"kind_unknown", func(t *TableData) { t.Columns[0].Kind = 7 }},
		{"values_of_another_kind", func(t *TableData) { t.Columns[0].Kind = Decimal }},
		{"text_not_utf8", func(t *TableData) { t.Columns[2].Values[0] = "\xff" }},
		{"enum_value_twice", func(t *TableData) { t.Columns[2].Values[1] = "z" }},
		{"text_value_twice", func(t *TableData) {
			t.Columns[2] = ColumnData{Name: "d", Kind: Text, Codes: []uint32{0, 1}, Values: []string{"z", "z"}}
		}},
		{"bool_of_two", func(t *TableData) { t.Columns[0].Ints[0] = 2 }},
		{"decimal_with_trailing_zero", func(t *TableData) { t.Columns[1].Decimals[0] = Dec{10, 1} }},
		{"decimal_scale_unknown", func(t *TableData) { t.Columns[1].Decimals = []Dec{{1, 19}, {1, 19}} }},
		{"exact_text_not_needed", func(t *TableData) { t.Columns[1].Texts[0] = "0.1" }},
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
		if _, err := ReadSegment(fileOf(t, table)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", f.name, err)
		}
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
