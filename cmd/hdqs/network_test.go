package main_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"hdqs/internal/ckantest"
)

// TestBuildFromSite loads a catalog from a CKAN site: the rows equal those of its directory. Once
// the site is away, the last good copy is used. TestFaultySite breaks single files.
func TestBuildFromSite(t *testing.T) {
	parallel(t)
	files := newCatalog(t, 1)
	server := httptest.NewServer(&ckantest.Site{Files: os.DirFS(files)})
	defer server.Close()
	data := t.TempDir()
	store := filepath.Join(data, "store")
	load := []string{
		"build", "--catalog", server.URL, "--store", store, "--data-dir", data, "--snapshot-time", buildTime,
		"--catalog-url", "https://catalog.example.org", "--allow-http", "--allow-private-hosts",
		"--location-list", filepath.Join(files, "reference", "location.csv"), // sites publish none
	}
	plain := []string{"build", "--catalog", server.URL, "--store", store, "--data-dir", data}
	mustExit(t, 3, plain...)                         // not https
	mustExit(t, 3, append(plain, "--allow-http")...) // a private address
	mustExit(t, 0, load...)
	direct := sampleStore(t)
	got, _ := inspect(t, store)
	want, _ := inspect(t, direct)
	tables := map[string]string{}
	for _, table := range want.Tables {
		tables[table.Table] = table.SHA256
	}
	for _, table := range got.Tables {
		if table.SHA256 != tables[table.Table] {
			t.Errorf("table %s differs from that of the directory", table.Table)
		}
	}

	server.Close()
	mustExit(t, 0, append(load, "--offline")...)
	mustExit(t, 5, append(load, "--download-timeout", "3s")...) // all tries of a file, which fail
	mustExit(t, 3, "build", "--catalog", server.URL, "--store", store, "--data-dir", t.TempDir(),
		"--allow-http", "--allow-private-hosts", "--download-timeout", "1s")
	if now, _ := inspect(t, store); fmt.Sprint(now.Tables) != fmt.Sprint(got.Tables) {
		t.Error("loads without the site changed the tables")
	}
}
