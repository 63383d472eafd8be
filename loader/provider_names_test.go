package loader

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"hdqs/snapshot"
)

// TestProviderNamesAreStored checks that every table whose records print a row's units also has
// what the provider called them, in the tuple that holds the units, for the columns that the CSV
// form of the public service adds.
func TestProviderNamesAreStored(t *testing.T) {
	t.Parallel()
	found := 0
	for name, e := range readContract(t) {
		units := slices.ContainsFunc(e.Fields, func(f contractField) bool { return f.Name == "admin_level" })
		if !units || name == "data_availability" {
			continue
		}
		for _, f := range e.Fields {
			if f.Name != "admin1_name" && f.Name != "admin2_name" {
				continue
			}
			found++
			table := tableNamed(name)
			stored, _ := columnOf(table, "stored_"+f.Name)
			c, ok := columnOf(table, "provider_"+f.Name)
			if !ok || c.kind != snapshot.Text || c.nullable || c.group == "" || c.group != stored.group {
				t.Errorf("%s: column provider_%s is %+v, want a text beside stored_%s", name, f.Name, c, f.Name)
			}
		}
	}
	if found != 19 { // nine tables down to level 2, one down to level 1
		t.Errorf("%d columns, want 19", found)
	}
}

// TestProviderNamesAreTheFiles loads rows that differ by nothing but their provider's names: all of
// them stay, and each keeps its names as they are in the file.
func TestProviderNamesAreTheFiles(t *testing.T) {
	t.Parallel()
	sections := append(readSections(t, "testdata/catalogs/base.txt"), section{
		name: "operational-presence/a.csv",
		lines: []string{
			"{ADM},org_acronym,org_name,org_type_description,sector_code,sector_name,{REF}",
			"AFG,Y,Y,Kabul , Deh Sabz,AF01,Kabul,AF0101,Kabul,2,A,Org A,,EDU,Education,2025-01-01,2025-01-31,d,r,,",
			"AFG,Y,Y,KABUL,Kabul,AF01,Kabul,AF0101,Kabul,2,A,Org A,,EDU,Education,2025-01-01,2025-01-31,d,r,,",
			"AFG,Y,Y,,,AF01,Kabul,AF0101,Kabul,2,A,Org A,,EDU,Education,2025-01-01,2025-01-31,d,r,,",
		},
	})
	_, snap := buildFiles(t, catalogOf(sections))
	got := segmentRows(t, snap.Segments["operational_presence"],
		[]string{"provider_admin1_name", "provider_admin2_name", "admin2_name"})
	want := []string{"||Kabul", "KABUL|Kabul|Kabul", "Kabul | Deh Sabz|Kabul"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFixtureProviderNames compares the provider's names with those of the real files, and checks
// that rows of operational presence, of which 29 print alike, are told apart by them.
func TestFixtureProviderNames(t *testing.T) {
	t.Parallel()
	_, snap := buildFiles(t, os.DirFS(fixtureCatalog(t)))
	w := newTwin(t, os.DirFS(fixtureCatalog(t)))
	for role, th := range twinThemes {
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
func (w *twin) cells(role string, columns []string) (lines []string) {
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
