package figures

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/state"
	"hdqs/index"
	"hdqs/rowdiff"
)

// changePart is about how many bytes are written at once.
const changePart = 64 << 10

// WriteChanges writes the rows of an endpoint's table that differ between two snapshots, as
// requests for changes have them: as CSV with a header line, or as one JSON object a line, with the
// table before the record. It returns their numbers, of all and as state.RowCounts has them.
func WriteChanges(
	w io.Writer, from, to *state.Bound, e *contract.Endpoint, csv bool,
) (totals rowdiff.Totals, places map[string][rowdiff.Kinds]int, err error) {
	old, current := from.Lists[e.Path], to.Lists[e.Path]
	c, err := newChangeRecords(e, old, current, e.Fields)
	if err != nil {
		return totals, nil, fmt.Errorf("api: %s: %w", e.Table, err)
	}
	names := contract.FieldNames(c.fields)
	var countries []int
	for _, field := range e.CountryFields() {
		countries = append(countries, slices.Index(names, field))
	}
	places = map[string][rowdiff.Kinds]int{}
	var part []byte
	if csv {
		part = render.AppendRecords(part, names, c, csv) // the header
	}
	table := append(render.AppendJSONText([]byte(`{"table":`), e.Table), ',')
	if old.Version != current.Version {
		before, err := old.Passing(new(index.Query))
		now, err2 := current.Passing(new(index.Query))
		if err := errors.Join(err, err2); err != nil {
			return totals, nil, err
		}
		totals, err = c.tables.Compare(before, now, func(change rowdiff.Change) error {
			c.page = append(c.page[:0], change)
			var place []byte
			for i, country := range countries {
				if i > 0 {
					place = append(place, ' ')
				}
				place, _ = c.AppendText(place, 0, country)
			}
			if countries != nil {
				n := places[string(place)]
				n[change.Kind]++
				places[string(place)] = n
			}
			if csv {
				part = render.AppendRecord(part, names, c, 0, csv)
			} else {
				at := len(part) + len(table) - 1 // where the record's brace would be
				part = render.AppendRecord(append(part, table[:len(table)-1]...), names, c, 0, csv)
				part[at] = ','
				part = append(part, '\n')
			}
			if len(part) < changePart {
				return nil
			}
			_, err := w.Write(part)
			part = part[:0]
			return err
		})
		if err != nil {
			return totals, nil, err
		}
	}
	_, err = w.Write(part)
	return totals, places, err
}
