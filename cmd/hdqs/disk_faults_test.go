//go:build linux && amd64

package main_test

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// mayPass tells whether a load may go through although a step failed: it then did without something that only saves work, or left behind what
// the next load clears away. Everything else is an error.
func (s step) mayPass() bool {
	return s.call == "unlink" || s.call == "link" || strings.HasPrefix(strings.Replace(s.kind, "/.", "/", 1), "catalogs/#/load-")
}

// unfinished are names of files that are not whole yet.
var unfinished = regexp.MustCompile(`(^|/)(\..+[0-9]{6,}|\.tree-[^/]*|parts/[^/]+|lock)$`)

// diskTrial is a load, and what the store is before and after it when nothing happens.
type diskTrial struct {
	load         func(dir string) []string
	whole        string                // the directory before
	before, want map[string]storedFile // of the store
	kill         bool                  // the program is killed before each step; else the step fails
}

const channelFile = "channels/stable.json"

// TestDiskFaults lets every kind of step by which a load changes its cache and its store fail, as a disk fails that is broken or full. The old snapshot
// stays, whole, or the new one is there, whole; the error names the file; nothing half-written is left; and the next load makes what one does
// that nothing happened to.
func TestDiskFaults(t *testing.T) { testLoadSteps(t, 50, false) }

// TestKillPoints ends the load by kill -9 before each of these steps. Only what has a temporary name is left of it, and the next load clears that away.
func TestKillPoints(t *testing.T) { testLoadSteps(t, 25, true) }

func testLoadSteps(t *testing.T, least int, kill bool) {
	files, mirror := newCatalog(t, 1), filepath.Join(t.TempDir(), "mirror")
	if err := os.RemoveAll(filepath.Join(files, "packages")); err != nil { // for speed
		t.Fatal(err)
	}
	publish := func() {
		wants(t, 0, "mirror", "--catalog", files, "--to", mirror, "--data-dir", filepath.Join(t.TempDir(), "data"))
	}
	publish()
	web := httptest.NewServer(http.FileServer(http.Dir(mirror)))
	t.Cleanup(web.Close)
	d := &diskTrial{kill: kill, whole: filepath.Join(t.TempDir(), "data"), load: func(dir string) []string {
		return []string{
			"build", "--catalog", web.URL, "--store", filepath.Join(dir, "store"), "--data-dir", dir, "--snapshot-time", buildTime,
			"--allow-http", "--allow-private-hosts",
		}
	}}
	d.run(t, least, func() {
		dropRow(t, files, "funding")
		publish()
	})
}

// TestDiskFaultsOfCopy is the same for the copy that a replica keeps of its store.
func TestDiskFaultsOfCopy(t *testing.T) {
	files, store := newCatalog(t, 1), filepath.Join(t.TempDir(), "store")
	publish := func(at string) { wants(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", at) }
	publish(buildTime)
	web := httptest.NewServer(http.FileServer(http.Dir(store)))
	t.Cleanup(web.Close)
	d := &diskTrial{whole: filepath.Join(t.TempDir(), "data"), load: func(dir string) []string {
		return []string{"inspect", "--store", web.URL, "--data-dir", dir, "--allow-http", "--allow-private-hosts"}
	}}
	d.run(t, 15, func() {
		dropRow(t, files, "funding")
		publish("2026-11-22T00:00:00Z")
	})
}

// run looks at which steps a load takes once the world has changed, and lets them fail one by one: at least as many as given.
func (d *diskTrial) run(t *testing.T, least int, change func()) {
	wants(t, 0, d.load(d.whole)...)
	d.before = stored(t, filepath.Join(d.whole, "store"))
	change()
	dir := d.fresh(t)
	good := runTraced(t, dir, injection{}, d.load(dir)...)
	d.want = stored(t, filepath.Join(dir, "store"))
	if good.code != 0 || bytes.Equal(d.before[channelFile].data, d.want[channelFile].data) {
		t.Fatalf("what is traced changes nothing: exit code %d, %s", good.code, good.errors)
	}
	var trials []injection
	counts := map[step]int{}
	faults := [2]syscall.Errno{syscall.EIO, syscall.ENOSPC}
	// To be killed before any other call than these leaves what one of them leaves.
	telling := map[string]bool{"create": true, "fsync": true, "rename": true}
	if d.kill {
		faults = [2]syscall.Errno{}
	}
	for _, s := range good.steps {
		if s.call == "unlink" && unfinished.MatchString(s.kind) {
			continue // what is left then is what a killed load leaves
		}
		if counts[s]++; counts[s] == 1 && (telling[s.call] || !d.kill) {
			trials = append(trials, injection{s, 1, faults[0]})
		}
	}
	for s, n := range counts {
		if n > 1 && strings.HasPrefix(s.kind, "store/") && (telling[s.call] || s.call == "write" && !d.kill) {
			trials = append(trials, injection{s, n, faults[1]})
		}
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
	// Of several calls at the same time another one may be the last.
	if n := int(failed.Load()); n < len(trials)*9/10 || n < least {
		t.Errorf("%d of %d steps have failed: this tests too little", n, len(trials))
	} else {
		t.Logf("%d of %d steps have failed", n, len(trials))
	}
}

// fresh is a directory as the load finds it.
func (d *diskTrial) fresh(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(d.whole)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// try lets one step fail, and tells whether it came to that.
func (d *diskTrial) try(t *testing.T, in injection) bool {
	dir := d.fresh(t)
	store := filepath.Join(dir, "store")
	got := runTraced(t, dir, in, d.load(dir)...)
	now := stored(t, store)
	published := bytes.Equal(now[channelFile].data, d.want[channelFile].data)
	mayLeave := d.kill || in.call == "unlink"
	switch {
	case d.kill && (got.code == -1) != got.failed:
		t.Errorf("exit code %d of a load that was to be killed: %s", got.code, got.errors)
	case got.code == 0 && got.failed && !in.mayPass():
		t.Errorf("nobody is told: %s", got.errors)
	case got.code == 0 && !published:
		t.Errorf("a load that went through has published nothing")
	case got.code == 0:
	case d.kill && !published && bytes.Equal(now[channelFile].data, d.before[channelFile].data):
	case d.kill && published:
	case got.code != 1 || !got.failed || !strings.Contains(got.errors, in.fault.Error()) || !strings.Contains(got.errors, dir):
		t.Errorf("exit code %d, failed %v: %s; want 1 and the file's name with %q", got.code, got.failed, got.errors, in.fault)
	case !published && !bytes.Equal(now[channelFile].data, d.before[channelFile].data):
		t.Errorf("the channel is %s", now[channelFile].data)
	}
	// Whatever is there is what was there, or what the load was to make.
	for name, file := range now {
		was, old := d.before[name]
		will, next := d.want[name]
		if mayLeave && unfinished.MatchString(name) {
			continue
		}
		if !(old && bytes.Equal(file.data, was.data) || next && bytes.Equal(normal(file.data), normal(will.data))) {
			t.Errorf("%s, %d bytes, is neither old nor new", name, len(file.data))
		}
	}
	for name, file := range d.before {
		if name != channelFile && !strings.HasPrefix(name, "replica/") && !bytes.Equal(now[name].data, file.data) {
			t.Errorf("%s of the old snapshot is another one, or lost", name)
		}
	}
	for name := range d.want {
		if _, there := now[name]; published && !there {
			t.Errorf("%s of the new snapshot is not there", name)
		}
	}
	if !mayLeave {
		nothingUnfinished(t, dir)
	}
	if got.code != 0 {
		age(t, dir)
		wants(t, 0, d.load(dir)...)
		nothingUnfinished(t, dir)
		after := stored(t, store)
		for name, file := range d.want {
			if !strings.HasSuffix(name, ".report.json") && !bytes.Equal(after[name].data, file.data) {
				t.Errorf("the next load makes another %s", name)
			}
		}
	}
	return got.failed
}

// normal is a report without its times; other files have none like them.
func normal(data []byte) []byte { return times.ReplaceAll(data, nil) }

// nothingUnfinished wants all files of a directory to be whole ones.
func nothingUnfinished(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); unfinished.MatchString(rel) {
			t.Errorf("%s is left", rel)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// age makes what was left older than anything that another process could be about to write to.
func age(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && unfinished.MatchString(path) {
			err = os.Chtimes(path, old, old)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
