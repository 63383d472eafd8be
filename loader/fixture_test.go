//go:build !race

package loader

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
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
		data := testkit.ReadFile(t, path)
		var p map[string]any
		testkit.Must(t, json.Unmarshal(data, &p))
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
