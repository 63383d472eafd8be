package main_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hdqs/internal/testkit"
)

// startServe starts the server and waits until its admin listener is open.
func startServe(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	return adminListening(t, start(t, env, append([]string{"serve"}, args...)...))
}

func adminListening(t *testing.T, p *process) *server {
	t.Helper()
	s := &server{process: p}
	s.waitFor(t, "admin listener", func() bool { return adminLine.MatchString(s.log.String()) })
	s.admin = adminLine.FindStringSubmatch(s.log.String())[1]
	return s
}

// TestDeadFileSystem: a look at a directory on a file system that does not answer fails after
// --store-timeout. Later looks work, a second one that hangs can be waited for, and the end waits
// for none.
func TestDeadFileSystem(t *testing.T) {
	parallel(t)
	dead := mountDead(t)
	old := sampleStore(t)
	next := copyStore(t, old)
	buildOther(t, next, "2026-12-01T00:00:00Z")
	nextID, _ := inspect(t, next)
	link := filepath.Join(t.TempDir(), "store")
	point := func(to string) {
		t.Helper()
		testkit.Must(t, errors.Join(os.Symlink(to, link+".new"), os.Rename(link+".new", link)))
	}
	point(old)
	s := serve(t, "--store", link, "--snapshot-poll", "1h", "--store-timeout", "10s")
	point(dead)
	s.signalAndWait(t, "the failed poll", "the old one stays")
	if !s.logged("the store does not answer: reading channel stable has taken 10s") {
		t.Errorf("log %s, want the reason", s.log)
	}
	s.mustAnswer(t)
	point(next)
	s.signalAndWait(t, "the swap to the new snapshot", "to="+nextID.ID)
	point(dead)
	s.signal(t, syscall.SIGHUP)
	testkit.WaitFor(t, "the second hang in the log", func() bool { return s.logged("is taking long") })
	s.mustAnswer(t)
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}

	// At the start there is no other store to serve.
	mustExit(t, 3, "serve", "--store", dead, "--listen", "127.0.0.1:0", "--store-timeout", "300ms")
	starting := startServe(t, nil, "--store", dead, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--store-timeout", "5m")
	starting.signal(t, syscall.SIGHUP)
	testkit.WaitFor(t, "the reason of /readyz", func() bool {
		return strings.Contains(string(ask(t, "GET", starting.admin+"/readyz").body), "opening store")
	})
	if code := starting.stop(t); code != 130 {
		t.Errorf("exit code %d after SIGTERM, want 130\n%s", code, starting.log)
	}
}
