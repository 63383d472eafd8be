package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdqs/internal/ckantest"
	"hdqs/internal/testkit"
	"hdqs/loader/sample"
)

// TestLinksOutOfTheCatalog: a symbolic link that leads out of the catalog is refused, and nothing
// of its target is printed or kept. A link to a file of the catalog is read.
func TestLinksOutOfTheCatalog(t *testing.T) {
	parallel(t)
	dir, outside, store := newCatalog(t, 1), filepath.Join(t.TempDir(), "secret"), filepath.Join(t.TempDir(), "store")
	testkit.Must(t, os.Remove(filepath.Join(dir, "catalog.json")))
	testkit.WriteFile(t, outside, []byte("db_password=hunter2,more\nx,y\n"))
	testkit.Must(t, os.Symlink(outside, filepath.Join(dir, "idps", "z.csv")))
	files, err := filepath.Glob(filepath.Join(dir, "funding", "*.csv"))
	testkit.Must(t, err)
	testkit.Must(t, os.Rename(files[0], filepath.Join(dir, "notes.csv")))
	testkit.Must(t, os.Symlink("../notes.csv", files[0]))
	for _, args := range [][]string{
		{"build", "--catalog", dir, "--store", store},
		{"mirror", "--catalog", dir, "--to", filepath.Join(t.TempDir(), "to"), "--data-dir", t.TempDir()},
		{"build", "--catalog", dir, "--store", store, "--dry-run"},
		{"inspect", "--store", store, "--report"},
	} {
		got := run(t, args...)
		said := got.stdout + got.stderr
		if strings.Contains(said, "hunter2") {
			t.Errorf("%q prints what the link leads to:\n%s", args, said)
		}
		if len(args) == 5 && args[0] != "inspect" && (got.code != 5 ||
			!strings.Contains(said, "idps/z.csv: not read, since a symbolic link leads out of the catalog's folder")) {
			t.Errorf("%q: exit code %d\n%s", args, got.code, said)
		}
		if strings.Contains(said, "funding (") {
			t.Errorf("%q: the link within the catalog is not read\n%s", args, said)
		}
	}
	if got := run(t, "inspect", "--store", store); strings.Contains(got.stdout, "humdata.org") ||
		!strings.Contains(got.stdout, " from "+dir+", published") {
		t.Errorf("inspect of a local load:\n%s", got.stdout)
	}
}

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

// TestRefusedInFewLines: a site that refuses everything after a first load gives a line for each
// reason, not one for each of its files.
func TestRefusedInFewLines(t *testing.T) {
	parallel(t)
	site := &ckantest.Site{Files: sample.FS}
	server := httptest.NewServer(site)
	defer server.Close()
	args := []string{
		"build", "--catalog", server.URL, "--allow-http", "--allow-private-hosts", "--data-dir", t.TempDir(),
		"--store", filepath.Join(t.TempDir(), "store"),
	}
	if got := run(t, args...); got.code != 0 {
		t.Fatalf("first load: exit code %d, %s", got.code, got.stderr)
	}
	site.Lock()
	site.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "Blocked due to bot activity", http.StatusForbidden)
		return true
	}
	site.Unlock()
	began := time.Now()
	got := run(t, args...)
	t.Logf("%s:\n%s", time.Since(began), got.stderr)
	if n := strings.Count(got.stderr, "\n"); got.code != 5 || n > 12 || !strings.Contains(got.stderr, "--user-agent") {
		t.Errorf("exit code %d, %d lines:\n%s", got.code, n, got.stderr)
	}
}
