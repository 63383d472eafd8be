//go:build !race

package snapshot

import (
	"bytes"
	"testing"
)

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
			if _, err := ReadSegment(file); err != nil {
				t.Error(err)
			}
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
