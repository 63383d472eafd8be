package snapshot

import (
	"slices"
	"testing"

	"hdqs/internal/testkit"
)

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
