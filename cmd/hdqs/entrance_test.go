package main_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/ckantest"
	"hdqs/internal/testkit"
	"hdqs/loader/sample"
)

// TestSiteToMirror: from a site with two files of one name and a table that no role takes, build
// and mirror read both files and name the table, each with exit code 5; a load of the mirror has
// all.
func TestSiteToMirror(t *testing.T) {
	parallel(t)
	site := &ckantest.Site{Files: sample.FS, Edit: func(pkg map[string]any) {
		resources, _ := pkg["resources"].([]any)
		for _, r := range resources {
			if r := r.(map[string]any); pkg["name"] == "hdx-hapi-conflict-event" {
				link, query, _ := strings.Cut(r["url"].(string), "?")
				r["url"] = link[:strings.LastIndex(link, "/")] + "/data.csv?" + query
			}
		}
		if pkg["name"] == "hdx-hapi-funding" {
			pkg["resources"] = append(resources, map[string]any{
				"id": "second-one", "name": "Funding, 2nd", "format": "XLSX", "url": "https://x.example/f.xlsx",
			})
		}
	}}
	server := httptest.NewServer(site)
	defer server.Close()
	data, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
	rows := func(args ...string) string {
		t.Helper()
		store := filepath.Join(t.TempDir(), "store")
		got := run(t, append([]string{"build", "--store", store, "--data-dir", data}, args...)...)
		if named := strings.Contains(got.stderr, `no role takes "Funding, 2nd" (format "XLSX")`); named != (len(args) > 2) ||
			got.code != 0 && !named || got.code != 5 && named {
			t.Errorf("%q: exit code %d, %s", args, got.code, got.stderr)
		}
		return run(t, "query", "--store", store, "--data-dir", data,
			"/api/v2/coordination-context/conflict-events/aggregate?group_by=location_code&measures=count").stdout
	}
	fromSite := rows("--catalog", server.URL, "--allow-http", "--allow-private-hosts")
	got := run(t, "mirror", "--catalog", server.URL, "--to", to, "--data-dir", data, "--allow-http",
		"--allow-private-hosts")
	if got.code != 5 || !strings.Contains(got.stderr, `no role takes "Funding, 2nd"`) {
		t.Errorf("mirror: exit code %d, %s", got.code, got.stderr)
	}
	if fromMirror := rows("--catalog", to); fromMirror != fromSite {
		t.Errorf("the mirror gives %s, the site %s", fromMirror, fromSite)
	}
	local := filepath.Join(t.TempDir(), "local")
	testkit.Must(t, os.CopyFS(local, sample.FS))
	if fromFiles := rows("--catalog", local); fromFiles != fromSite {
		t.Errorf("the files give %s, the site %s", fromFiles, fromSite)
	}
}
