package main_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/ckantest"
	"hdqs/internal/testkit"
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

// TestMirrorFromDirectory: a mirror on any web server loads like the directory it was copied from.
func TestMirrorFromDirectory(t *testing.T) {
	parallel(t)
	files, copied, data := newCatalog(t, 1), filepath.Join(t.TempDir(), "mirror"), t.TempDir()
	mustExit(t, 0, "mirror", "--catalog", files, "--to", copied, "--data-dir", data)
	err := fs.WalkDir(os.DirFS(files), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "catalog.json" {
			return err
		}
		got, want := testkit.ReadFile(t, filepath.Join(copied, name)), testkit.ReadFile(t, filepath.Join(files, name))
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(copied)))
	defer server.Close()
	store := filepath.Join(data, "store")
	mustExit(t, 0, "build", "--catalog", server.URL, "--store", store, "--data-dir", data,
		"--allow-http", "--allow-private-hosts")
	got, _ := inspect(t, store)
	want, _ := inspect(t, sampleStore(t))
	if fmt.Sprint(got.Tables) != fmt.Sprint(want.Tables) {
		t.Errorf("tables from the mirror:\n%v\nfrom the directory:\n%v", got.Tables, want.Tables)
	}
	again := mustExit(t, 0, "mirror", "--catalog", files, "--to", copied, "--data-dir", data)
	if !strings.Contains(again.stdout, ": 0 written") {
		t.Errorf("a second mirror: %s, want 0 written", again.stdout)
	}
}
