package main_test

import (
	"cmp"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/snapshot"
)

// TestDeclaredOrder checks the sample against what endpoints declare about the order of rows.
func TestDeclaredOrder(t *testing.T) {
	parallel(t)
	testDeclaredOrder(t, sampleStore(t))
}

// testDeclaredOrder checks the columns by which rows are sorted, and that the first of them goes
// with the first of the key.
func testDeclaredOrder(t *testing.T, dir string) {
	t.Helper()
	snap := stableSnapshot(t, dir)
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		seg := snap.Segments[e.Table]
		keyOf, orderOf := map[string]string{}, map[string]string{}
		for row := range uint32(seg.Rows()) {
			key, order := cellText(t, seg, e.Key[0], row), cellText(t, seg, e.Order[0], row)
			if last, ok := keyOf[order]; ok && last != key {
				t.Errorf("%s: rows with %s %s have %s %s and %s", e.Table, e.Order[0], order, e.Key[0], last, key)
			}
			if last, ok := orderOf[key]; ok && last != order {
				t.Errorf("%s: rows with %s %s have %s %s and %s", e.Table, e.Key[0], key, e.Order[0], last, order)
			}
			keyOf[order], orderOf[key] = key, order
			if row > 0 && orderOfRows(t, seg, e.Order, row-1, row) > 0 {
				t.Fatalf("%s: row %d sorts before the one above it", e.Table, row)
			}
		}
		if seg.Rows() < 2 {
			t.Errorf("%s: %d rows are too few for this test", e.Table, seg.Rows())
		}
	}
}

// positionIn is the column and its position for a row.
func positionIn(t *testing.T, seg *snapshot.Segment, name string, row uint32) (*snapshot.Column, uint32) {
	t.Helper()
	c, err := seg.Column(name)
	if err != nil {
		t.Fatal(err)
	}
	if c.Group != nil {
		row = uint32(c.Group.Codes.At(row))
	}
	return c, row
}

func cellText(t *testing.T, seg *snapshot.Segment, name string, row uint32) string {
	t.Helper()
	c, at := positionIn(t, seg, name, row)
	if c.Kind == snapshot.Text || c.Kind == snapshot.Enum {
		return c.Text(at)
	}
	return strconv.FormatInt(c.Int(at), 10)
}

// orderOfRows compares two rows by columns: nulls last, enums as declared.
func orderOfRows(t *testing.T, seg *snapshot.Segment, columns []string, a, b uint32) int {
	t.Helper()
	for _, name := range columns {
		c, i := positionIn(t, seg, name, a)
		_, k := positionIn(t, seg, name, b)
		order := 0
		switch {
		case c.IsNull(i) || c.IsNull(k):
			if c.IsNull(i) != c.IsNull(k) {
				order = 1
				if c.IsNull(k) {
					order = -1
				}
			}
		case c.Kind == snapshot.Text:
			order = strings.Compare(c.Text(i), c.Text(k))
		case c.Kind == snapshot.Enum:
			order = cmp.Compare(c.Codes().At(i), c.Codes().At(k))
		default:
			order = cmp.Compare(c.Int(i), c.Int(k))
		}
		if order != 0 {
			return order
		}
	}
	return 0
}
