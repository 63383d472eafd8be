//go:build linux && amd64

package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hdqs/internal/testkit"
)

// TestExportKillPoints kills an export with SIGKILL before each kind of step, or makes the step
// fail as on a full disk: in turn, or in the long form both. The last whole export stays, or the
// new one is whole, and the next export ends without leftovers.
func TestExportKillPoints(t *testing.T) {
	parallel(t)
	files := newCatalogOf(t, ofOneTheme)
	store := filepath.Join(t.TempDir(), "store")
	whole := filepath.Join(t.TempDir(), "out")
	export := func(dir string) []string {
		return []string{
			"export", dir, "--store", store, "--data-dir", filepath.Join(dir, "data"), "--tables", "org,funding",
			"--formats", "parquet,csv.gz", "--keep", "0",
		}
	}
	mustExit(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", buildTime)
	mustExit(t, 0, export(whole)...)
	old := wholeExport(t, whole)
	changeRows(t, files, "funding")
	mustExit(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", "2026-11-22T00:00:00Z")
	fresh := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "out")
		testkit.Must(t, os.CopyFS(dir, os.DirFS(whole)))
		return dir
	}
	dir := fresh(t)
	good := runTraced(t, dir, injection{}, export(dir)...)
	next := wholeExport(t, dir)
	if good.code != 0 || next == old {
		t.Fatalf("the traced export changes nothing: exit code %d, %s", good.code, good.stderr)
	}
	tried := map[step]bool{}
	for _, s := range good.steps {
		if tried[s] || s.call == "write" || s.call == "chmod" {
			continue
		}
		tried[s] = true
		faults := []syscall.Errno{0, syscall.ENOSPC}
		if at := len(tried) % 2; !testkit.Long() {
			faults = faults[at : at+1]
		}
		for _, fault := range faults {
			in := injection{s, 1, fault}
			t.Run(in.String(), func(t *testing.T) {
				t.Parallel()
				dir := fresh(t)
				got := runTraced(t, dir, in, export(dir)...)
				if id := wholeExport(t, dir); id != old && id != next {
					t.Errorf("exit code %d leaves the export %s", got.code, id)
				}
				age(t, dir)
				mustExit(t, 0, export(dir)...)
				if id := wholeExport(t, dir); id != next {
					t.Errorf("the next export leaves %s", id)
				}
				entries, err := os.ReadDir(dir)
				testkit.Must(t, err)
				for _, e := range entries {
					if strings.HasPrefix(e.Name(), ".") {
						t.Errorf("%s has been left", e.Name())
					}
				}
			})
		}
	}
	if len(tried) < 10 {
		t.Errorf("only %d kinds of steps: this tests too little", len(tried))
	}
}

// wholeExport checks every file of the newest export of a directory and returns its snapshot.
func wholeExport(t *testing.T, dir string) string {
	t.Helper()
	m := readBulkManifest(t, filepath.Join(dir, "latest", "manifest.json"))
	for _, table := range m.Tables {
		for _, f := range table.Files {
			sum := sha256.Sum256(testkit.ReadFile(t, filepath.Join(dir, "latest", filepath.FromSlash(f.Path))))
			if hex.EncodeToString(sum[:]) != f.SHA256 {
				t.Errorf("%s of %s is damaged", f.Path, m.Snapshot)
			}
		}
	}
	return m.Snapshot
}
