package snapshot

import (
	"errors"
	"io"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestWriteRefusesContradictions: a table that contradicts itself gives an error with the place,
// never a file.
func TestWriteRefusesContradictions(t *testing.T) {
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
	testkit.Must(t, WriteSegment(io.Discard, good()))
	faults := []struct {
		name, says string
		edit       func(t *TableData)
	}{
		{"table_without_name", "table name", func(t *TableData) { t.Name = "" }},
		{"name_too_long", "256 bytes", func(t *TableData) { t.Columns[0].Name = strings.Repeat("x", 256) }},
		{"name_not_utf8", "UTF-8", func(t *TableData) { t.Groups[0].Name = "\xff" }},
		{"rows_negative", "rows", func(t *TableData) { t.Rows = -1 }},
		{"rows_too_many", `group "g" has 2 codes for 3 rows`, func(t *TableData) { t.Rows = 3 }},
		{"group_twice", "two groups", func(t *TableData) { t.Groups = append(t.Groups, t.Groups[0]) }},
		{"column_twice", `two columns "a"`, func(t *TableData) { t.Columns[0].Name = "a" }},
		{"tuple_beyond_last", "row 0 has tuple 2 of 2", func(t *TableData) { t.Groups[0].Codes[0] = 2 }},
		{"tuple_of_null", "tuple", func(t *TableData) { t.Groups[0].Codes[0] = NullCode }},
		{"group_column_indexed", "Index", func(t *TableData) { t.Groups[0].Columns[0].Index = true }},
		{"group_column_short", "1 values for 2", func(t *TableData) { t.Groups[0].Columns[0].Codes = []uint32{0} }},
		{"kind_none", "kind 0", func(t *TableData) { t.Columns[0].Kind = 0 }},
		{"kind_unknown", "kind 7", func(t *TableData) { t.Columns[0].Kind = 7 }},
		{"values_of_another_kind", "0 values", func(t *TableData) { t.Columns[0].Kind = Decimal }},
		{"values_of_two_kinds", "2 types", func(t *TableData) { t.Columns[0].Texts = []string{"1"} }},
		{"code_beyond_last", "code 2 of 2", func(t *TableData) { t.Columns[2].Codes[1] = 2 }},
		{"text_not_utf8", "UTF-8", func(t *TableData) { t.Columns[2].Values[0] = "\xff" }},
		{"enum_value_twice", "duplicate", func(t *TableData) { t.Columns[2].Values[1] = "z" }},
		{"text_value_twice", "duplicate", func(t *TableData) {
			t.Columns[2] = ColumnData{Name: "d", Kind: Text, Codes: []uint32{0, 1}, Values: []string{"z", "z"}}
		}},
		{"bool_of_two", "bool", func(t *TableData) { t.Columns[0].Ints[0] = 2 }},
		{"decimal_with_trailing_zero", "mantissa 10", func(t *TableData) { t.Columns[1].Decimals[0] = Dec{10, 1} }},
		{"decimal_scale_unknown", "scale 19", func(t *TableData) { t.Columns[1].Decimals[0] = Dec{1, 19} }},
		{"exact_text_missing", "1 exact texts", func(t *TableData) { t.Columns[1].Decimals[1].Mantissa = 1 }},
		{"exact_text_negative", "exact texts", func(t *TableData) { t.Columns[1].Decimals[1].Mantissa = -1 }},
		{"exact_text_not_needed", "needs no exact text", func(t *TableData) { t.Columns[1].Texts[0] = "0.1" }},
		{"exact_text_not_plain", "plain digits", func(t *TableData) { t.Columns[1].Texts[0] = "1e30" }},
		{"exact_text_twice", "duplicate", func(t *TableData) {
			c := &t.Columns[1]
			c.Texts = append(c.Texts, c.Texts[0])
			c.Decimals = []Dec{{0, DecText}, {1, DecText}}
		}},
	}
	for _, f := range faults {
		table := good()
		f.edit(table)
		if err := WriteSegment(io.Discard, table); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: %v, want an error with %q", f.name, err, f.says)
		}
	}
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

// TestWriteLeavesItsInput: writing does not change the table.
func TestWriteLeavesItsInput(t *testing.T) {
	t.Parallel()
	table, same := goldenTable(), goldenTable()
	first := fileOf(t, table)
	second := fileOf(t, table)
	third := fileOf(t, same)
	if string(first) != string(second) || string(first) != string(third) {
		t.Error("writing changed the table")
	}
}
