//go:build !race

package browse_test

import (
	"strings"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestBrowseSource: the source of a record has the texts of the catalog as they are, whatever
// letters they have. Only its times are shortened.
func TestBrowseSource(t *testing.T) {
	t.Parallel()
	const title, file = "UNITED Nations: Total 2024T00:00:00", "2024T23:59:59 Table.csv"
	tables := apitest.SampleTables(t, 3)
	for _, table := range tables {
		for _, row := range table.Rows {
			if _, has := row["resource_catalog_id"]; has {
				row["resource_catalog_id"] = "one"
			}
			if table.Endpoint.Table == "resource" {
				row["dataset_catalog_title"], row["name"] = title, file
				row["update_date"] = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
			}
		}
	}
	s := apitest.Serve(t, state.Options{}, apitest.StoreSnapshot(t, "sources", apitest.SampleTime, tables))
	page := string(apitest.Browse(s, "/browse/conflict-events?row=0").Body)
	for _, want := range []string{title, file, "2024-05-06 07:08:09"} {
		if !strings.Contains(page, "<bdi>"+want+"</bdi>") {
			t.Errorf("the record's source has no %q", want)
		}
	}
}
