package main_test

import (
	"errors"
	"net"
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

	"hdqs/internal/testkit"
)

// faultyServer is a remote store, behind a web server or in a bucket, that can hang.
type faultyServer struct {
	flags []string // of commands that use it
	env   []string
	hangs atomic.Bool // accepts requests and does not answer them
}

// newFaultyServer serves a directory as a remote store of one of the two kinds.
func newFaultyServer(t *testing.T, kind, dir string) *faultyServer {
	t.Helper()
	f := new(faultyServer)
	files := http.StripPrefix("/"+bucketName, http.FileServer(http.Dir(dir)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hung := f.hangs.Load()
		for r.Context().Err() == nil && f.hangs.Load() {
			time.Sleep(20 * time.Millisecond)
		}
		if !hung {
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	if kind == "bucket" {
		f.flags = []string{"--store", "s3://" + bucketName}
		f.env = []string{
			"AWS_ENDPOINT_URL=" + server.URL, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
			"AWS_REGION=us-east-1",
		}
	} else {
		f.flags = []string{"--store", server.URL + "/" + bucketName, "--allow-http", "--allow-private-hosts"}
	}
	return f
}

// args returns the flags of a replica that looks on SIGHUP only.
func (f *faultyServer) args(data string, more ...string) []string {
	args := append([]string{
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--snapshot-poll", "1h", "--data-dir", data,
	}, f.flags...)
	return append(args, more...)
}

// startServe starts the server and waits until its admin listener is open.
func startServe(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	s := &server{process: start(t, env, append([]string{"serve"}, args...)...)}
	s.waitFor(t, "admin listener", func() bool { return adminLine.MatchString(s.log.String()) })
	s.admin = adminLine.FindStringSubmatch(s.log.String())[1]
	return s
}

// TestMoveWhileStoreHangs: a command that moves a channel ends within its timeout when the store
// does not answer, and says what it waits for.
func TestMoveWhileStoreHangs(t *testing.T) {
	parallel(t)
	f := newFaultyServer(t, "bucket", copyStore(t, smallStore(t)))
	f.hangs.Store(true)
	for _, args := range [][]string{{"rollback"}, {"publish", "any"}, {"rollback", "--canary"}, {"gc"}} {
		began := time.Now()
		args = append(append(args, f.flags...), "--store-timeout", "2s", "--data-dir", t.TempDir())
		o := runWith(t, f.env, "", args...)
		if took := time.Since(began); o.code != 3 || took > 20*time.Second ||
			!strings.Contains(o.stderr, "waiting for s3://") ||
			!strings.Contains(o.stderr, "was not done within 2s (--store-timeout)") {
			t.Errorf("%q: exit code %d after %s\n%s", args, o.code, took, o.stderr)
		}
	}
}

// TestStartWhileStoreHangs: a replica with a copy of its store serves the copy, though the store
// does not answer. A poll that hangs is logged, SIGHUP begins another one, and the end does not
// wait for it.
func TestStartWhileStoreHangs(t *testing.T) {
	parallel(t)
	store, data := sampleStore(t), t.TempDir()
	f := newFaultyServer(t, "web", store)
	serveWith(t, f.env, f.args(data)...).stop(t)
	old, _ := inspect(t, store)

	f.hangs.Store(true)
	began := time.Now()
	s := serveWith(t, f.env, f.args(data, "--store-timeout", "5m")...)
	t.Logf("listens after %s", time.Since(began))
	s.mustAnswer(t)
	if id := s.snapshotID(t); id != old.ID || !s.logged("serving the kept snapshot") {
		t.Errorf("snapshot %s is served, want the kept %s\n%s", id, old.ID, s.log)
	}
	testkit.WaitFor(t, "the hang in the log", func() bool { return s.logged("is taking long") })
	if strings.Contains(s.scrape(t), "hdqs_poll_running_seconds 0\n") {
		t.Error("hdqs_poll_running_seconds is 0 while the look hangs")
	}

	buildOther(t, store, "2026-12-01T00:00:00Z")
	next, _ := inspect(t, store)
	s.signalAndWait(t, "the interruption in the log", "SIGHUP has interrupted")
	f.hangs.Store(false)
	s.signal(t, syscall.SIGHUP) // the poll that goes on may be too early or in time
	s.waitFor(t, "the swap to the new snapshot", func() bool { return s.logged("to=" + next.ID) })
	s.mustAnswer(t)

	f.hangs.Store(true)
	s.signal(t, syscall.SIGHUP)
	time.Sleep(100 * time.Millisecond)
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0\n%s", code, s.log)
	}
}

// TestStartWithoutCopy: while a store hangs and there is no copy of it, the admin listener says so.
// SIGHUP begins another poll, SIGTERM ends the process, and the timeout does.
func TestStartWithoutCopy(t *testing.T) {
	parallel(t)
	f := newFaultyServer(t, "web", t.TempDir())
	f.hangs.Store(true)
	s := startServe(t, f.env, f.args(t.TempDir(), "--store-timeout", "5m")...)
	if a := ask(t, "GET", s.admin+"/healthz"); a.status != 200 {
		t.Errorf("/healthz: %d", a.status)
	}
	readiness := func() (status int, reason string) {
		a := ask(t, "GET", s.admin+"/readyz")
		return a.status, decode[struct{ Reason string }](t, a.body).Reason
	}
	testkit.WaitFor(t, "the reason of /readyz", func() bool {
		status, reason := readiness()
		return status == 503 && strings.HasPrefix(reason, "reading channel stable")
	})
	s.signalAndWait(t, "another poll", "polling again")
	testkit.WaitFor(t, "the time in the reason", func() bool {
		_, reason := readiness()
		return regexp.MustCompile(`, for ([5-9]|\d\d+)s so far`).MatchString(reason)
	})
	if code := s.stop(t); code != 130 || s.logged("panic") || s.logged("listening on") {
		t.Errorf("exit code %d after SIGTERM, want 130\n%s", code, s.log)
	}
	short := mustExitWith(t, f.env, 3, append([]string{"serve"}, f.args(t.TempDir(), "--store-timeout", "300ms")...)...)
	if !strings.Contains(short.stderr, "300ms") {
		t.Errorf("stderr %s, want the timeout in it", short.stderr)
	}
}

// TestDeafStore: the timeout also ends a poll whose connection is open and whose handshake hangs.
func TestDeafStore(t *testing.T) {
	parallel(t)
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts connections, and nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := mustExit(t, 3, "serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(),
		"--store", "https://"+l.Addr().String(), "--allow-private-hosts", "--store-timeout", "300ms")
	if !strings.Contains(o.stderr, "300ms") {
		t.Errorf("stderr %s, want the timeout in it", o.stderr)
	}
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
	s.signalAndWait(t, "the failed poll", oldOneStays)
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
