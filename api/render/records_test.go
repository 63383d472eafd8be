//go:build !race

package render

import (
	"encoding/json"
	"testing"

	"hdqs/index"
	"hdqs/internal/testkit"
)

// tableRecords are some rows of a table, as records that are written value by value.
type tableRecords struct {
	rows   []uint32
	values []*Values
}

func (r tableRecords) Len() int { return len(r.rows) }

func (r tableRecords) AppendCell(dst []byte, record, field int, csv bool) []byte {
	return r.values[field].AppendRow(dst, r.rows[record], csv)
}

// TestRecords compares records that are written value by value with the naive writers, and each
// code's value with that of a row.
func TestRecords(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	for range 25 {
		tab := randomTable(t, r, r.IntN(400))
		var ranges []index.Range
		if tab.rows > 0 {
			ranges = randomRanges(r, tab.rows)
		}
		records := tableRecords{}
		for _, rng := range ranges {
			for row := rng.From; row < rng.To; row++ {
				records.rows = append(records.rows, row)
			}
		}
		var names []string
		for _, f := range tab.fields {
			c, err := tab.seg.Column(f.Column)
			testkit.Must(t, err)
			names = append(names, f.Name)
			v := NewValues(c)
			records.values = append(records.values, v)
			for row := range uint32(tab.rows) {
				var want *string
				written := v.AppendRow(nil, row, false)
				if err := json.Unmarshal(written, &want); err != nil { // a number or flag
					want = new(string(written))
				}
				if text, ok := v.AppendText(nil, row); ok != (want != nil) || ok && string(text) != *want {
					t.Fatalf("%s, row %d: the text of %s is %q, %v", f.Name, row, written, text, ok)
				}
			}
		}
		tab.alone = len(tab.fields) == 1
		for csv, want := range map[bool]string{false: naiveJSON(tab, ranges), true: naiveCSV(tab, ranges)} {
			if got := string(AppendRecords([]byte("front"), names, records, csv)); got != "front"+want {
				t.Fatalf("CSV %v of %v:\n got %s\nwant %s", csv, ranges, difference(got, want), difference(want, got))
			}
		}
	}
}

// TestRecordValues checks the values that belong to no column.
func TestRecordValues(t *testing.T) {
	t.Parallel()
	for want, got := range map[string][]byte{
		`"a \"b\", c"`:          AppendText(nil, `a "b", c`, false),
		`"a ""b"", c"`:          AppendText(nil, `a "b", c`, true),
		`true False`:            AppendBool(append(AppendBool(nil, true, false), ' '), false, true),
		`null`:                  AppendNull(AppendNull(nil, true), false),
		`"1970-01-01T00:00:01"`: AppendTime(nil, 1e6, false),
		`1970-01-01 00:00:01`:   AppendTime(nil, 1e6, true),
	} {
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
