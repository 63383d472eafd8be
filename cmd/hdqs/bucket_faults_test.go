package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestBucketKill kills a load with SIGKILL at each stage of publishing. The bucket shows the
// complete old snapshot until the pointer is written, and the next load succeeds.
func TestBucketKill(t *testing.T) {
	o := onVersity(t)
	files, data := smallCatalog(t), t.TempDir()
	load := []string{"build", "--catalog", files, "--store", storeAddress, "--data-dir", data}

	// Into an empty bucket: there is nothing to see until the load has ended.
	o.killAt(t, "/segments/", 3, append(load, "--snapshot-time", buildTime))
	o.run(t, 1, "verify", "--store", storeAddress)
	o.run(t, 0, append(load, "--snapshot-time", buildTime)...)
	old := o.inspect(t, data).ID

	for i, stage := range []struct {
		name string
		nth  int
	}{{"/segments/", 1}, {"/segments/", 2}, {".report.json", 1}, {"/manifests/", 2}, {"/channels/", 1}} {
		t.Run(fmt.Sprintf("%s %d", strings.Trim(stage.name, "/"), stage.nth), func(t *testing.T) {
			changeRows(t, files, "poverty-rate")
			next := append(load, "--snapshot-time", fmt.Sprintf("2026-11-22T0%d:00:00Z", i))
			o.killAt(t, stage.name, stage.nth, next)
			// The data directory of the killed load, an empty one, and the bucket itself are as
			// before.
			for _, dir := range []string{data, t.TempDir()} {
				if now := o.inspect(t, dir).ID; now != old {
					t.Errorf("the store shows %s, want %s", now, old)
				}
			}
			o.run(t, 0, "verify", "--store", storeAddress)
			if i%2 == 1 { // in every other stage the next load is a different one
				changeRows(t, files, "poverty-rate")
			}
			o.run(t, 0, next...)
			now := o.inspect(t, t.TempDir()).ID
			if now == old {
				t.Error("the next load published nothing")
			}
			old = now
			o.run(t, 0, "verify", "--store", storeAddress)
		})
	}
}

// killAt runs a command and kills it at its nth PUT of a path with the given part.
func (o *objectStore) killAt(t *testing.T, part string, nth int, args []string) {
	t.Helper()
	var load *process
	var mu sync.Mutex
	mu.Lock() // until the process is known
	o.beforeEach(func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, part) {
			return
		}
		if nth--; nth == 0 {
			load.kill()
			panic(http.ErrAbortHandler)
		}
	})
	load = o.start(t, args...)
	mu.Unlock()
	<-load.ended
	o.beforeEach(nil)
	if load.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the load was not killed: %v\n%s", load.cmd.ProcessState, load.log)
	}
}

// pauseAtChannel holds the first request that writes a channel until release is closed.
func (o *objectStore) pauseAtChannel() (reached, release chan struct{}) {
	reached, release = make(chan struct{}), make(chan struct{})
	var once sync.Once
	o.beforeEach(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/channels/") {
			first := false
			once.Do(func() { first = true })
			if first {
				close(reached)
				<-release
			}
		}
	})
	return reached, release
}

// TestBucketLock: one load at a time writes to a data directory. Of two loads on different machines
// the later one finds that the channel has moved.
func TestBucketLock(t *testing.T) {
	o := onVersity(t)
	files, data := smallCatalog(t), t.TempDir()
	load := []string{"build", "--catalog", files, "--store", storeAddress}
	lock := filepath.Join(data, "store", "lock")
	o.run(t, 0, append(load, "--data-dir", data)...)
	changeRows(t, files, "poverty-rate")

	reached, release := o.pauseAtChannel()
	slow := o.start(t, append(load, "--data-dir", data, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	<-reached
	held := fmt.Sprintf("is held by process %d on ", slow.cmd.Process.Pid)
	second := o.run(t, 1, append(load, "--data-dir", data)...)
	if !strings.Contains(second.stderr, held) || !strings.Contains(second.stderr, "build from "+files) {
		t.Errorf("a second load on the same directory: %s, want %q", second.stderr, held)
	}
	for _, command := range []string{"gc", "rollback"} {
		got := o.run(t, 1, command, "--store", filepath.Join(data, "store"))
		if !strings.Contains(got.stderr, held) {
			t.Errorf("%s during a load: %s, want %q", command, got.stderr, held)
		}
	}

	// A load on another machine publishes first.
	changeRows(t, files, "poverty-rate")
	o.run(t, 0, append(load, "--data-dir", t.TempDir(), "--snapshot-time", "2026-11-23T00:00:00Z")...)
	winner := o.inspect(t, t.TempDir()).ID
	close(release)
	if code := slow.wait(t); code != 1 || !slow.logged("moved by someone else") || !slow.logged(winner) {
		t.Errorf("the slower load: exit code %d\n%s", code, slow.log)
	}
	if now := o.inspect(t, data).ID; now != winner {
		t.Errorf("the channel shows %s, want %s, which was published first", now, winner)
	}
	if _, err := os.Stat(lock); !os.IsNotExist(err) {
		t.Errorf("the lock file is still there: %v", err)
	}
	o.run(t, 0, append(load, "--data-dir", data, "--snapshot-time", "2026-11-24T00:00:00Z")...)
}

// TestBucketMistakes: what is wrong with the way to a bucket, or with a channel there, is said.
func TestBucketMistakes(t *testing.T) {
	o := onVersity(t)
	o.run(t, 0, "build", "--catalog", smallCatalog(t), "--store", storeAddress, "--data-dir", t.TempDir())
	data := t.TempDir()
	for _, args := range [][]string{{"inspect"}, {"serve"}, {"query", "/api/v2/metadata/sector"}} {
		got := o.run(t, 1, append(args, "--store", storeAddress, "--channel", "staple", "--data-dir", data)...)
		if want := `has no channel "staple"; it has stable`; !strings.Contains(got.stderr, want) {
			t.Errorf("%q: %s, want %s", args, got.stderr, want)
		}
	}
	wrong := append(slices.Clone(o.env), "AWS_SECRET_ACCESS_KEY=wrong")
	got := runWith(t, wrong, "", "inspect", "--store", storeAddress, "--data-dir", data)
	if got.code != 3 || !strings.Contains(got.stderr, "it refused access, check the credentials") {
		t.Errorf("a wrong secret: %d, %s", got.code, got.stderr)
	}
}
