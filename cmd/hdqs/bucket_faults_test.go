package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

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
