//go:build linux && amd64

package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// mayPass reports whether a load may succeed although the step failed. It then did without
// something that only saves work, or left something that the next load removes. Any other failure
// is an error.
func (s step) mayPass() bool {
	return s.call == "unlink" || s.call == "link" || s.call == "chmod" && strings.HasSuffix(s.kind, "lock") ||
		strings.HasPrefix(strings.Replace(s.kind, "/.", "/", 1), "catalogs/#/load-")
}

// unfinished matches the names of incomplete files.
var unfinished = regexp.MustCompile(`(^|/)(\..+[0-9]{6,}|\.tree-[^/]*|parts/[^/]+|lock)$`)

// diskTrial is a load, with the store before it and after it when nothing fails.
type diskTrial struct {
	load         func(dir string) []string
	whole        string                // the directory before
	before, want map[string]storedFile // of the store
	only         string                // try only steps of kinds that begin so
	kill         bool                  // kill the program before each step; otherwise the step fails
}

const channelFile = "channels/stable.json"

// icebergFiles are made of a store after the channel has moved. The next load makes them if this
// one could not.
const icebergFiles = "bulk/iceberg/"

// TestDiskFaults makes each kind of step by which a load changes its cache and its store fail, with
// the errors of a broken or full disk. The store then shows the complete old snapshot or the
// complete new one, the error names the file, no incomplete file is left, and the next load gives
// the result of a load without failures.
func TestDiskFaults(t *testing.T) { testLoadSteps(t, 50, false) }

// TestDiskFaultsOfBulk does the same with a load that writes bulk files.
func TestDiskFaultsOfBulk(t *testing.T) {
	testLoadSteps(t, 20, false, bulkLoad...)
}

// TestKillPoints kills the load with SIGKILL before each of these steps. It leaves only files with
// temporary names, which the next load removes.
func TestKillPoints(t *testing.T) { testLoadSteps(t, 25, true) }

// TestKillPointsOfBulk does the same with a load that writes bulk files.
func TestKillPointsOfBulk(t *testing.T) {
	testLoadSteps(t, 10, true, bulkLoad...)
}

// ofOneTheme is a catalog whose load has every kind of step: the tables of a theme, and those that
// each snapshot has.
var ofOneTheme = generator.Options{Seed: 1, Small: true, Roles: []string{"funding"}}

// bulkLoad are flags of a load that writes bulk files. Iceberg tables have the address of the
// store.
var bulkLoad = []string{
	"--bulk", "--bulk-tables", "funding", "--bulk-formats", "parquet,csv.gz", "--iceberg-location", "https://store.example",
}

func testLoadSteps(t *testing.T, least int, kill bool, more ...string) {
	parallel(t)
	files := newCatalogOf(t, ofOneTheme)
	mirror := filepath.Join(t.TempDir(), "mirror")
	publish := func() {
		mustExit(t, 0, "mirror", "--catalog", files, "--to", mirror, "--data-dir", filepath.Join(t.TempDir(), "data"))
	}
	publish()
	web := httptest.NewServer(http.FileServer(http.Dir(mirror)))
	t.Cleanup(web.Close)
	only := ""
	if len(more) > 0 {
		only = "store/bulk" // the others are tried without these flags
	}
	whole := filepath.Join(t.TempDir(), "data")
	d := &diskTrial{kill: kill, only: only, whole: whole, load: func(dir string) []string {
		return append([]string{
			"build", "--catalog", web.URL, "--store", filepath.Join(dir, "store"), "--data-dir", dir,
			"--snapshot-time", buildTime,
			"--allow-http", "--allow-private-hosts",
		}, more...)
	}}
	d.run(t, least, func() {
		changeRows(t, files, "funding")
		publish()
	})
}

// TestDiskFaultsOfCopy does the same with the copy that a replica keeps of its store.
func TestDiskFaultsOfCopy(t *testing.T) {
	parallel(t)
	files := smallCatalog(t)
	store := filepath.Join(t.TempDir(), "store")
	publish := func(at string) { mustExit(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", at) }
	publish(buildTime)
	web := httptest.NewServer(http.FileServer(http.Dir(store)))
	t.Cleanup(web.Close)
	d := &diskTrial{whole: filepath.Join(t.TempDir(), "data"), load: func(dir string) []string {
		return []string{"inspect", "--store", web.URL, "--data-dir", dir, "--allow-http", "--allow-private-hosts"}
	}}
	d.run(t, 15, func() {
		changeRows(t, files, "funding")
		publish("2026-11-22T00:00:00Z")
	})
}

// run records the steps of a load after a change, and makes them fail one by one. At least as many
// as given must fail.
func (d *diskTrial) run(t *testing.T, least int, change func()) {
	mustExit(t, 0, d.load(d.whole)...)
	d.before = stored(t, filepath.Join(d.whole, "store"))
	change()
	dir := d.fresh(t)
	good := runTraced(t, dir, injection{}, d.load(dir)...)
	d.want = stored(t, filepath.Join(dir, "store"))
	if good.code != 0 || bytes.Equal(d.before[channelFile].data, d.want[channelFile].data) {
		t.Fatalf("the traced load changes nothing: exit code %d, %s", good.code, good.stderr)
	}
	var trials []injection
	counts := map[step]int{}
	faults := [2]syscall.Errno{syscall.EIO, syscall.ENOSPC}
	// Killed before any other call, the program leaves the same files as before one of these.
	decisive := map[string]bool{"create": true, "fsync": true, "rename": true}
	if d.kill {
		faults = [2]syscall.Errno{}
	}
	for _, s := range good.steps {
		if s.call == "unlink" && unfinished.MatchString(s.kind) {
			continue // it leaves the same files as a killed load
		}
		if !strings.HasPrefix(s.kind, d.only) {
			continue
		}
		if counts[s]++; counts[s] == 1 && (decisive[s.call] || !d.kill) {
			trials = append(trials, injection{s, 1, faults[0]})
		}
	}
	for _, s := range slices.SortedFunc(maps.Keys(counts), func(a, b step) int {
		return strings.Compare(a.String(), b.String())
	}) {
		n, tried := counts[s], decisive[s.call] || s.call == "write" && !d.kill
		if n > 1 && tried && strings.HasPrefix(s.kind, "store/") {
			trials = append(trials, injection{s, n, faults[1]})
		}
	}
	if !testkit.Long() { // a third of the steps, from the first to the last; nightly tries all
		const each = 3
		least /= each
		at := -1
		trials = slices.DeleteFunc(trials, func(injection) bool { at++; return at%each != 0 })
	}
	var failed atomic.Int64
	t.Run("steps", func(t *testing.T) {
		for _, in := range trials {
			t.Run(in.String(), func(t *testing.T) {
				t.Parallel()
				if d.try(t, in) {
					failed.Add(1)
				}
			})
		}
	})
	// Of concurrent calls another one may be the last, so that a few steps do not fail.
	if n := int(failed.Load()); n < len(trials)*9/10 || n < least {
		t.Errorf("only %d of %d steps have failed: this tests too little", n, len(trials))
	} else {
		t.Logf("%d of %d steps have failed", n, len(trials))
	}
}

// fresh returns a copy of the directory before the load.
func (d *diskTrial) fresh(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	testkit.Must(t, os.CopyFS(dir, os.DirFS(d.whole)))
	keepTimes(t, d.whole, dir)
	return dir
}

// try makes one step fail, and reports whether the load reached it.
func (d *diskTrial) try(t *testing.T, in injection) bool {
	dir := d.fresh(t)
	got := runTraced(t, dir, in, d.load(dir)...)
	files := stored(t, filepath.Join(dir, "store"))
	published := bytes.Equal(files[channelFile].data, d.want[channelFile].data)
	if d.kill {
		d.checkKilled(t, got, published)
	} else {
		d.checkFailed(t, in, got, published, dir)
	}
	if !published && got.code != 0 && !bytes.Equal(files[channelFile].data, d.before[channelFile].data) {
		t.Errorf("the channel is %s", files[channelFile].data)
	}
	mayLeave := d.kill || in.call == "unlink"
	d.checkFiles(t, files, published, mayLeave)
	if !mayLeave {
		nothingUnfinished(t, dir)
	}
	if got.code != 0 {
		d.checkNextLoad(t, dir)
	}
	return got.failed
}

// checkKilled checks the result of a load that is killed if it reaches the step.
func (d *diskTrial) checkKilled(t *testing.T, got traced, published bool) {
	t.Helper()
	switch {
	case (got.code == -1) != got.failed:
		t.Errorf("exit code %d of a load that was to be killed: %s", got.code, got.stderr)
	case got.code == 0 && !published:
		t.Errorf("a load that succeeded has published nothing")
	}
}

// checkFailed checks the result of a load whose step fails if it reaches the step.
func (d *diskTrial) checkFailed(t *testing.T, in injection, got traced, published bool, dir string) {
	t.Helper()
	named := strings.Contains(got.stderr, in.fault.Error()) && strings.Contains(got.stderr, dir)
	switch {
	case got.code == 0 && got.failed && !in.mayPass():
		t.Errorf("the load reports no error: %s", got.stderr)
	case got.code == 0 && !published:
		t.Errorf("a load that succeeded has published nothing")
	case got.code != 0 && (got.code != 1 || !got.failed || !named):
		t.Errorf("exit code %d, step failed: %v, %s; want 1 and the file's name with %q",
			got.code, got.failed, got.stderr, in.fault)
	}
}

// checkFiles checks that every file is one of the old or of the new snapshot, that the old snapshot
// is complete, and that the new one is if it is published.
func (d *diskTrial) checkFiles(t *testing.T, files map[string]storedFile, published, mayLeave bool) {
	t.Helper()
	for name, file := range files {
		if mayLeave && unfinished.MatchString(name) {
			continue
		}
		was, old := d.before[name]
		will, next := d.want[name]
		isOld := old && bytes.Equal(file.data, was.data)
		isNew := next && bytes.Equal(normal(file.data), normal(will.data))
		if !isOld && !isNew {
			t.Errorf("%s, %d bytes, is neither an old nor a new file", name, len(file.data))
		}
	}
	for name, file := range d.before {
		if name != channelFile && !strings.HasPrefix(name, "replica/") && !strings.HasPrefix(name, icebergFiles) &&
			!bytes.Equal(files[name].data, file.data) {
			t.Errorf("%s of the old snapshot is lost or changed", name)
		}
	}
	for name := range d.want {
		if _, there := files[name]; published && !there && !strings.HasPrefix(name, icebergFiles) {
			t.Errorf("%s of the new snapshot is missing", name)
		}
	}
}

// checkNextLoad checks that the next load gives the same files as one without failures.
func (d *diskTrial) checkNextLoad(t *testing.T, dir string) {
	t.Helper()
	age(t, dir)
	mustExit(t, 0, d.load(dir)...)
	nothingUnfinished(t, dir)
	after := stored(t, filepath.Join(dir, "store"))
	for name, file := range d.want {
		if !strings.HasSuffix(name, ".report.json") && !bytes.Equal(after[name].data, file.data) {
			t.Errorf("the next load writes a different %s", name)
		}
	}
}

// normal removes a report's times. No other file contains such text.
func normal(data []byte) []byte { return times.ReplaceAll(data, nil) }

// nothingUnfinished checks that a directory has no incomplete files.
func nothingUnfinished(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); unfinished.MatchString(rel) {
			t.Errorf("%s has been left", rel)
		}
		return err
	})
	testkit.Must(t, err)
}

// age makes incomplete files so old that no other process can still be writing them.
func age(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && unfinished.MatchString(path) {
			err = os.Chtimes(path, old, old)
		}
		return err
	})
	testkit.Must(t, err)
}

// keepTimes gives the files of a copy the times of the originals. By them an Iceberg table keeps
// the files that its last version used.
func keepTimes(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(filepath.Join(to, strings.TrimPrefix(path, from)), info.ModTime(), info.ModTime())
	})
	testkit.Must(t, err)
}

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
				entries := testkit.Value(os.ReadDir(dir))(t)
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
