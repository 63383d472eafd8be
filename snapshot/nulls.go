package snapshot

import (
	"bytes"
	"maps"
)

// AddNulls adds columns that the segment does not have, with null in every row. Of each, name and
// kind are used, and the values of an Enum. It must not be called while another goroutine uses the
// segment.
func (s *Segment) AddNulls(columns []ColumnData) error {
	one := GroupData{Name: "columns that are not in the file", Codes: make([]uint32, s.rows), Tuples: min(1, s.rows)}
	for _, c := range columns {
		null := ColumnData{Name: c.Name, Kind: c.Kind, Values: c.Values}
		if one.Tuples > 0 {
			switch c.Kind {
			case Text, Enum:
				null.Codes = []uint32{NullCode}
			case Decimal:
				null.Decimals = []Dec{{Scale: DecNull}}
			default:
				null.Ints = []int64{NullInt}
			}
		}
		one.Columns = append(one.Columns, null)
	}
	var file bytes.Buffer
	if err := WriteSegment(&file, &TableData{Name: s.name, Rows: s.rows, Groups: []GroupData{one}}); err != nil {
		return err
	}
	nulls, err := ReadSegment(file.Bytes())
	if err != nil {
		return err
	}
	s.groups = append(s.groups, nulls.groups...)
	s.columns = append(s.columns, nulls.columns...)
	maps.Copy(s.byName, nulls.byName)
	return nil
}
