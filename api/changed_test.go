package api

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// changedTables returns the sample tables, and the same with rows removed, added and changed, each
// of the three with one row in oneIn.
func changedTables(t *testing.T, r *rand.Rand, rows, oneIn int) (before, after []*testTable) {
	before = sampleTables(t, rows)
	for _, old := range before {
		table := &testTable{endpoint: old.endpoint, columns: old.columns}
		others := sampleTable(old.endpoint, max(rows/8, 1), r).rows
		for _, row := range old.rows {
			row = maps.Clone(row)
			switch r.IntN(oneIn) {
			case 0:
				continue
			case 1:
				if len(others) > 0 {
					table.rows, others = append(table.rows, others[0]), others[1:]
				}
			case 2:
				f := old.endpoint.Fields[r.IntN(len(old.endpoint.Fields))].Name
				row[f] = old.rows[r.IntN(len(old.rows))][f]
			}
			table.rows = append(table.rows, row)
		}
		after = append(after, table)
	}
	return before, after
}
