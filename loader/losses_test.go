//go:build !race

package loader

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// TestLostValues changes a file of a catalog between two nights: a column without a value, or with
// other texts than before, keeps the table, and --allow-shrink accepts it. Less is published.
func TestLostValues(t *testing.T) {
	t.Parallel()
	whole := catalogOf(append(readSections(t, "testdata/catalogs/base.txt"),
		readSections(t, "testdata/lost_values.txt")...))
	for _, c := range []struct{ path, from, to, want string }{
		{"operational-presence/a.csv", ",SHL,", ",Shelter,", ""},
		{
			"operational-presence/a.csv", "|,SHL,|,EDU,|", "|,Shl,|,Edu,|",
			`2 of 3 values of column sector_code of table operational_presence are gone, such as "EDU"`,
		},
		{"reference/org.csv", "|,437|,441|", "|,|,|", "column org_type_code of table org has no value any more"},
		{"reference/org.csv", ",437", ",", ""},
		{
			"conflict-events/a.csv", "|,3,1,|,4,0,|", "|,,1,|,,0,|",
			"column events of table conflict_event has no value any more",
		},
		{"conflict-events/a.csv", ",3,1,", ",,1,", ""},
		{
			"reference/currency.csv", "|AFN|XAF|", "|1|2|",
			`2 of 2 values of column code of table currency are gone, such as "AFN"`,
		},
		{"reference/location.csv", "|,Y,Y,|,,Y,|", "|,,,|,,,|", `no country has the flag "Has HRP" any more`},
		{"reference/location.csv", "Nigeria,Y,Y,", "Nigeria,,,", ""},
	} {
		files, from, to := copyFS(t, whole), strings.Split(c.from, "|"), strings.Split(c.to, "|")
		for i := range from {
			if !bytes.Contains(files[c.path].Data, []byte(from[i])) {
				t.Fatalf("%s has no %q", c.path, from[i])
			}
			if from[i] != "" {
				files[c.path].Data = bytes.ReplaceAll(files[c.path].Data, []byte(from[i]), []byte(to[i]))
			}
		}
		for _, shrink := range [][]string{nil, {AllRoles}} {
			st := openStore(t)
			build(t, st, whole, someDay)
			r, err := Build(t.Context(), Options{
				Catalog: files, CatalogName: "test", Store: st, SnapshotTime: someDay.Add(time.Hour),
				AllowShrink: shrink,
			})
			testkit.Must(t, err)
			said := strings.Join(r.Losses(), "\n")
			kept := c.want != "" && shrink == nil
			if kept != strings.Contains(said, "stale since") || kept && !strings.Contains(said, c.want) {
				t.Errorf("%s, %q to %q, shrink %q: %s", c.path, c.from, c.to, shrink, said)
			}
		}
	}
}
