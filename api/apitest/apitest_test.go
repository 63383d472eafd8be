package apitest_test

import (
	"slices"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/snapshot"
)

func TestMain(m *testing.M) { apitest.Main(m) }

// TestSampleTables: tables have each value of each enumeration, nulls where they may be, and the
// same rows each time.
func TestSampleTables(t *testing.T) {
	t.Parallel()
	tables, again := apitest.SampleTables(t, 200), apitest.SampleTables(t, 200)
	if len(tables) != len(contract.Endpoints) {
		t.Fatalf("%d tables", len(tables))
	}
	for i, table := range tables {
		for _, c := range table.Columns {
			seen := map[any]bool{}
			for k, row := range table.Rows {
				seen[row[c.Name]] = true
				if row[c.Name] != again[i].Rows[k][c.Name] {
					t.Errorf("%s, row %d: %s differs", table.Endpoint.Path, k, c.Name)
				}
			}
			isMissing := func(v string) bool { return !seen[v] }
			if c.Kind == snapshot.Enum && slices.ContainsFunc(c.Enum.Values, isMissing) || seen[nil] != c.Nullable {
				t.Errorf("%s: %s has %d values, null %v", table.Endpoint.Path, c.Name, len(seen), seen[nil])
			}
		}
	}
}
