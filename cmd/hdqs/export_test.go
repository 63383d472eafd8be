package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// bulkManifest is what these tests read of a manifest.
type bulkManifest struct {
	Snapshot string
	Tables   []bulkTable
}

type bulkTable struct {
	Table string
	Rows  int
	Files []struct{ Path, SHA256 string }
}

func readBulkManifest(t *testing.T, path string) (m bulkManifest) {
	t.Helper()
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, path), &m))
	return m
}

// TestReplicaOfBulk: a replica of a remote store downloads bulk files if it serves them, and only
// then. A download that fails is tried again.
func TestReplicaOfBulk(t *testing.T) {
	parallel(t)
	store, data := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "data")
	mustExit(t, 0, "build", "--catalog", newCatalogOf(t, generator.Options{Seed: 1, Small: true}), "--store", store,
		"--snapshot-time", buildTime, "--bulk")
	files := http.FileServer(http.Dir(store))
	var broken atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() && strings.HasPrefix(r.URL.Path, "/bulk/data/") {
			http.Error(w, "broken", http.StatusForbidden)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	args := []string{
		"--store", web.URL, "--allow-http", "--allow-private-hosts", "--data-dir", data, "--snapshot-poll", "1h",
	}
	copied := func() int {
		found, _ := filepath.Glob(filepath.Join(data, "store", "bulk", "*", "*"))
		return len(found)
	}
	s := serve(t, args...)
	s.mustAnswer(t)
	s.stop(t)
	if n := copied(); n != 0 {
		t.Errorf("%d bulk files were downloaded unasked", n)
	}
	broken.Store(true)
	s = serve(t, append(args, "--bulk")...)
	testkit.WaitFor(t, "the failure in the log", func() bool { return s.logged("bulk files could not be downloaded") })
	s.mustAnswer(t)
	broken.Store(false)
	s.signal(t, syscall.SIGHUP)
	id := s.snapshotID(t)
	testkit.WaitFor(t, "the bulk files", func() bool {
		return ask(t, "GET", s.base+"/bulk/"+id+"/manifest.json").status == http.StatusOK
	})
	var m bulkManifest
	testkit.Must(t, json.Unmarshal(ask(t, "GET", s.base+"/bulk/"+id+"/manifest.json").body, &m))
	for _, table := range m.Tables {
		for _, f := range table.Files {
			sum := sha256.Sum256(ask(t, "GET", s.base+"/bulk/"+id+"/"+f.Path).body)
			if hex.EncodeToString(sum[:]) != f.SHA256 {
				t.Errorf("%s has other bytes than the manifest says", f.Path)
			}
		}
	}
}
