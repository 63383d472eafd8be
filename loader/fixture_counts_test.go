//go:build !race

package loader

import (
	"os"
	"testing"
)

func TestFixtureCounts(t *testing.T) {
	t.Parallel()
	dir := fixtureCatalog(t)
	report, err := Build(t.Context(),
		Options{Catalog: os.DirFS(dir), CatalogName: dir, Store: openStore(t), SnapshotTime: someDay})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]RowCounts{}
	for _, r := range report.Resources {
		c := got[r.Role]
		c.add(r.Rows)
		got[r.Role] = c
	}
	for role, want := range fixtureCounts {
		if got[role] != want {
			t.Errorf("%s: got %+v, want %+v", role, got[role], want)
		}
	}
	for _, table := range report.Tables {
		if want, ok := fixtureTables[table.Table]; ok && table.Rows != want {
			t.Errorf("table %s: %d rows, want %d", table.Table, table.Rows, want)
		}
		if table.Duplicates.Identical+table.Duplicates.Different != 0 {
			t.Errorf("table %s: duplicates %+v, want none", table.Table, table.Duplicates)
		}
	}
	if report.Partial {
		t.Errorf("partial: %d dropped, refused %v", report.Rows.Dropped, report.Refused)
	}
	if testing.Verbose() {
		_ = report.WriteText(os.Stderr)
	}
}
