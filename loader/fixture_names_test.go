//go:build !race

package loader

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestFixtureProviderNames compares the provider's names with those of the real files, and checks
// that rows of operational presence, of which 29 print alike, are told apart by them.
func TestFixtureProviderNames(t *testing.T) {
	t.Parallel()
	_, snap := buildFiles(t, os.DirFS(fixtureCatalog(t)))
	w := newOracle(t, os.DirFS(fixtureCatalog(t)))
	for role, th := range oracleThemes {
		if th.place != "2" && th.place != "1" {
			continue
		}
		columns := []string{"provider_admin1_name", "provider_admin2_name"}[:th.place[0]-'0']
		got, want := segmentRows(t, snap.Segments[th.table], columns), w.cells(role, columns)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the provider's names are not those of the files", th.table)
		}
	}
	e := readContract(t)["operational_presence"]
	var printed []string
	for _, f := range e.Fields {
		printed = append(printed, f.Name)
	}
	seg := snap.Segments["operational_presence"]
	if n := alike(segmentRows(t, seg, printed)); n != 29 {
		t.Errorf("%d records look like another, want 29", n)
	}
	if n := alike(segmentRows(t, seg, append(printed, "provider_admin1_name", "provider_admin2_name"))); n != 0 {
		t.Errorf("%d records look like another with the provider's names, want none", n)
	}
}

// alike counts the lines that equal an earlier one.
func alike(lines []string) int {
	seen, n := map[string]bool{}, 0
	for _, line := range lines {
		if seen[line] {
			n++
		}
		seen[line] = true
	}
	return n
}

// cells are cells of a role's files, one row in each line.
func (w *oracle) cells(role string, columns []string) (lines []string) {
	names, _ := fs.Glob(w.files, role+"/*.csv")
	for _, name := range names {
		for _, r := range w.read(name) {
			var cells []string
			for _, c := range columns {
				cells = append(cells, r[c])
			}
			lines = append(lines, strings.Join(cells, "|"))
		}
	}
	return lines
}
