//go:build !race

package loader

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFixtureDatasets compares the datasets of the real files with their packages, read another
// way.
func TestFixtureDatasets(t *testing.T) {
	t.Parallel()
	dir := fixtureCatalog(t)
	report, snap := buildFiles(t, os.DirFS(dir))
	m := snap.Manifest
	if len(m.Datasets) != 16 || report.Snapshot != m.ID {
		t.Errorf("%d datasets, want 16", len(m.Datasets))
	}
	paths, err := filepath.Glob(dir + "/packages/*.json")
	if err != nil || len(paths) < 16 {
		t.Fatalf("%d packages, %v", len(paths), err)
	}
	found := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var p map[string]any
		if err := json.Unmarshal(data, &p); err != nil {
			t.Fatal(err)
		}
		text := func(from map[string]any, key string) string { s, _ := from[key].(string); return s }
		d, ok := m.Dataset(text(p, "id"))
		if !ok {
			continue
		}
		found++
		publisher, _ := p["organization"].(map[string]any)
		if d.Title != text(p, "title") || d.Publisher != text(publisher, "title") || d.License == "" ||
			d.License != text(p, "license_title") || d.LicenseURL != text(p, "license_url") ||
			d.Updated.Format("2006-01-02T15:04:05") != text(p, "last_modified")[:19] ||
			!strings.HasPrefix(strings.TrimSpace(text(p, "license_other")), strings.TrimSuffix(d.Terms, "...")) {
			t.Errorf("%s: got %+v", path, d)
		}
	}
	if found != len(m.Datasets) {
		t.Errorf("%d of %d datasets have a package", found, len(m.Datasets))
	}
	for _, th := range dataThemes {
		modified := map[string]time.Time{}
		resources := snap.Segments["resource"]
		for _, line := range segmentRows(t, resources, []string{"resource_catalog_id", "update_date"}) {
			id, date, _ := strings.Cut(line, "|")
			modified[id], _ = time.Parse("2006-01-02T15:04:05", date)
		}
		var newest time.Time
		for _, id := range segmentRows(t, snap.Segments[th.table.name], []string{"resource_catalog_id"}) {
			if modified[id].After(newest) {
				newest = modified[id]
			}
		}
		if got := m.Source(th.table.name).Updated; !got.Equal(newest) {
			t.Errorf("%s: updated %s, its newest resource %s", th.table.name, got, newest)
		}
	}
}

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
