//go:build !race

package loader

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
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
		{
			"operational-presence/a.csv", ",SHL,", ",Shelter,",
			`note: sector_code of operational_presence: new: "Shelter"; gone: "SHL"`,
		},
		{
			"operational-presence/a.csv", "|,SHL,|,EDU,|", "|,Shl,|,Edu,|",
			`2 of 3 values of column sector_code of table operational_presence are gone, such as "EDU"`,
		},
		{"reference/org.csv", "|,437|,441|", "|,|,|", "column org_type_code of table org fell from 2 to 0 values"},
		{"reference/org.csv", ",437", ",", ""},
		{
			"conflict-events/a.csv", "|,3,1,|,4,0,|,7,1,|,8,0,|", "|,,1,|,,0,|,,1,|,,0,|",
			"column events of table conflict_event fell from 38 to 0 values",
		},
		{"conflict-events/a.csv", ",7,1,", ",,1,", "column events of table conflict_event fell from 38 to 14 values"},
		{"conflict-events/a.csv", ",8,0,", ",,0,", "fewer rows: conflict_event: 26 values of events, 38 before"},
		{"conflict-events/a.csv", ",3,1,", ",,1,", ""},
		{
			"reference/currency.csv", "|AFN|XAF|", "|1|2|",
			`2 of 2 values of column code of table currency are gone, such as "AFN"`,
		},
		{"reference/location.csv", "|,Y,Y,|,,Y,|", "|,,,|,,,|", `no country has the flag "Has HRP" any more`},
		{"reference/location.csv", "Nigeria,Y,Y,", "Nigeria,,,", `note: has_hrp of location has changed: NGA: "false", was "true"`},
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
		if emptied, ok := strings.CutSuffix(c.want, " to 0 values"); ok {
			column, table, _ := strings.Cut(strings.TrimPrefix(emptied, "column "), " of table ")
			table, _, _ = strings.Cut(table, " fell")
			note := table + ": no row has a value in " + column
			if first := build(t, openStore(t), files, someDay); !slices.Contains(first.Notes, note) {
				t.Errorf("a first load lacks the note %q: %q", note, first.Notes)
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
			isNote := strings.HasPrefix(c.want, "note: ") || strings.HasPrefix(c.want, "fewer rows: ")
			kept := c.want != "" && shrink == nil && !isNote
			if kept != strings.Contains(said, "stale since") ||
				(kept || isNote && shrink == nil) && !strings.Contains(said, c.want) {
				t.Errorf("%s, %q to %q, shrink %q: %s", c.path, c.from, c.to, shrink, said)
			}
		}
	}
}

// TestEqualRowsOfFiles checks that a load says when a file repeats another one, and not when two
// files overlap at their edges, or a file repeats its own rows.
func TestEqualRowsOfFiles(t *testing.T) {
	t.Parallel()
	const said = "note: duplicate rows: idps: 150 rows equal to the one kept, first: idps/a.csv:2 and idps/b.csv:2; "
	whole := idpsOf(map[string]int{"AFG AF0101 2": 150})
	lines := strings.SplitAfter(string(whole.Data), "\n")
	for name, c := range map[string]struct {
		other string
		want  bool
	}{
		"copy":    {string(whole.Data), true},
		"edge":    {lines[0] + lines[1], false},
		"own row": {lines[0] + strings.Repeat(strings.Replace(lines[1], "2025-01-01", "2024-12-01", 1), 9), false},
	} {
		files := smallCatalog(t)
		files["idps/a.csv"], files["idps/b.csv"] = whole, &fstest.MapFile{Data: []byte(c.other)}
		lines := strings.Join(build(t, openStore(t), files, someDay).Losses(), "\n")
		if got := strings.Contains(lines, said); got != c.want || got != strings.Contains(lines, "duplicate rows") {
			t.Errorf("%s: %s", name, lines)
		}
	}
}
