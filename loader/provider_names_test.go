package loader

import (
	"slices"
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
	if found < 19 { // nine tables down to level 2, one down to level 1
		t.Errorf("%d columns, want 19 or more", found)
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
