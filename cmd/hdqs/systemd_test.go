package main_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// fakeSystemd does what systemd does for a service with a socket: it opens the socket once, passes
// it to each process of the service, and receives notifications.
type fakeSystemd struct {
	address string
	sockets []*os.File
	names   []string
	notify  string       // the path of NOTIFY_SOCKET
	told    *testkit.Log // a line for each NAME=VALUE
}

func newFakeSystemd(t *testing.T) *fakeSystemd {
	t.Helper()
	f := &fakeSystemd{told: new(testkit.Log)}
	f.address = f.open(t, "public", "127.0.0.1:0")
	f.hear(t)
	return f
}

// hear receives notifications.
func (f *fakeSystemd) hear(t *testing.T) {
	t.Helper()
	f.notify = filepath.Join(t.TempDir(), "notify")
	in := testkit.Value(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: f.notify, Net: "unixgram"}))(t)
	t.Cleanup(func() { in.Close() })
	go func() {
		message := make([]byte, 1<<16)
		for {
			n, err := in.Read(message)
			if err != nil {
				return // the end of the test
			}
			fmt.Fprintf(f.told, "%s\n", message[:n])
		}
	}()
}

// open opens one more socket and returns its address.
func (f *fakeSystemd) open(t *testing.T, name, address string) string {
	t.Helper()
	var plain net.ListenConfig
	plain.SetMultipathTCP(false) // as systemd's
	l := testkit.Value(plain.Listen(t.Context(), "tcp", address))(t)
	defer l.Close()
	file := testkit.Value(l.(*net.TCPListener).File())(t)
	t.Cleanup(func() { file.Close() })
	f.sockets, f.names = append(f.sockets, file), append(f.names, name)
	return l.Addr().String()
}

// start starts `hdqs serve` with the sockets.
func (f *fakeSystemd) start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	// The shell knows the process id that the program will have.
	cmd := exec.Command("/bin/sh", append([]string{
		"-c", `LISTEN_PID=$$ WATCHDOG_PID=$$ exec "$0" serve "$@"`, binary,
	}, args...)...)
	cmd.ExtraFiles = f.sockets
	return startCommand(t, append(slices.Clone(env), "NOTIFY_SOCKET="+f.notify,
		fmt.Sprintf("LISTEN_FDS=%d", len(f.sockets)), "LISTEN_FDNAMES="+strings.Join(f.names, ":")), cmd)
}

// startReady is start that returns once the program has said that it is ready.
func (f *fakeSystemd) startReady(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	before := f.count("READY=1")
	p := f.start(t, env, args...)
	p.waitFor(t, "READY=1", func() bool { return f.count("READY=1") > before })
	return p
}

// count returns how many lines of notifications begin with a text.
func (f *fakeSystemd) count(line string) int { return strings.Count("\n"+f.told.String(), "\n"+line) }

// TestPassedSocket: a flag that contradicts a passed socket is refused, and a socket with the name
// admin is for the admin listener. A connection that comes while a process ends, or none runs,
// waits for the next one: TestRequestDuringShutdown of api has what those get that were accepted.
func TestPassedSocket(t *testing.T) {
	parallel(t)
	f := newFakeSystemd(t)
	for _, env := range [][]string{nil, {"HDQS_LISTEN=127.0.0.1:0"}} {
		args := []string{"--listen", "127.0.0.1:0"}
		if env != nil {
			args = nil
		}
		if p := f.start(t, env, args...); p.wait(t) != 2 || !p.logged("systemd has passed a socket ("+f.address+")") {
			t.Errorf("--listen beside a socket: %v\n%s", p.cmd.ProcessState, p.log)
		}
	}
	admin := f.open(t, "admin", "127.0.0.1:0")
	p := f.start(t, nil, "--admin", "127.0.0.1:0")
	if p.wait(t) != 2 || !p.logged("passed an admin socket ("+admin+")") {
		t.Errorf("--admin beside a socket: %v\n%s", p.cmd.ProcessState, p.log)
	}
	second := f.open(t, "hdqs.socket", "127.0.0.1:0")
	s := f.startReady(t, nil, "--shutdown-delay", "0")
	s.waitFor(t, "printed address of the passed socket", func() bool { // READY=1 takes another way
		return s.logged("listening on http://" + f.address)
	})
	for address, path := range map[string]string{f.address: "/docs", second: "/docs", admin: "/readyz"} {
		if a := ask(t, "GET", "http://"+address+path); a.status != 200 {
			t.Errorf("%s on %s: %d", path, address, a.status)
		}
	}
	// While the process waits for the rest of a request it accepts no other connection: that of the
	// next client is for the next process.
	dial := func(request string) net.Conn {
		conn := testkit.Value(net.Dial("tcp", f.address))(t)
		t.Cleanup(func() { conn.Close() })
		testkit.Value(io.WriteString(conn, request))(t)
		return conn
	}
	const rest = " / HTTP/1.1\r\nHost: x\r\n\r\n"
	held := dial("GET" + rest + "GET")
	testkit.Value(held.Read(make([]byte, 1)))(t)
	s.signal(t, syscall.SIGTERM)
	testkit.WaitFor(t, "the end to begin", func() bool { return f.count("STOPPING=1") > 0 })
	time.Sleep(100 * time.Millisecond)
	next := dial("GET " + with(conflictPath) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	testkit.Must(t, next.SetReadDeadline(time.Now().Add(300*time.Millisecond)))
	if n, err := next.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes, %v of the process that ends", n, err)
	}
	testkit.Value(io.WriteString(held, rest))(t)
	if code := s.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s = f.startReady(t, nil)
	testkit.Must(t, next.SetReadDeadline(time.Now().Add(testkit.Patience)))
	if answer, err := io.ReadAll(next); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK\r\n") {
		t.Errorf("a request from before the start: %.200q, %v", answer, err)
	}
	s.stop(t)
	null := testkit.Value(os.Open(os.DevNull))(t)
	defer null.Close()
	f.sockets, f.names = []*os.File{null}, []string{"other"}
	if p := f.start(t, nil); p.wait(t) != 2 || !p.logged("the passed socket other: ") {
		t.Errorf("a passed file that is no socket: %v\n%s", p.cmd.ProcessState, p.log)
	}
}

// TestNotifications: systemd learns when requests are answered and from which snapshot, when a poll
// that SIGHUP asked for begins and ends, and when the end begins.
func TestNotifications(t *testing.T) {
	parallel(t)
	store, f := sampleStore(t), newFakeSystemd(t)
	s := f.startReady(t, []string{"WATCHDOG_USEC=300000"}, "--store", store, "--snapshot-poll", "0",
		"--drain-timeout", "20s")
	old, _ := inspect(t, store)
	told := f.told.String()
	if before, _, _ := strings.Cut(told, "READY=1"); !strings.Contains(before, "EXTEND_TIMEOUT_USEC=") ||
		!strings.Contains(before, "STATUS=starting: opening store "+store) {
		t.Errorf("before READY=1: %s", before)
	}
	if f.count("STATUS=serving snapshot "+old.ID) != 1 {
		t.Errorf("the status is not that of snapshot %s: %s", old.ID, told)
	}
	beats := f.count("WATCHDOG=1")
	testkit.WaitFor(t, "more WATCHDOG=1", func() bool { return f.count("WATCHDOG=1") >= beats+3 })

	reload := func(status string) {
		t.Helper()
		const begins, ends = "RELOADING=1\nMONOTONIC_USEC=", "READY=1\nSTATUS="
		reloads, done := f.count(begins), f.count(ends)
		s.signal(t, syscall.SIGHUP)
		testkit.WaitFor(t, "the end of a reload", func() bool { return f.count(ends) > done })
		last := f.told.String()
		last = last[strings.LastIndex(last, ends)+len(ends):]
		if f.count(begins) != reloads+1 || !strings.HasPrefix(last, status) {
			t.Errorf("want one more %q, and the status %q:\n%s", begins, status, f.told)
		}
	}
	reload("serving snapshot " + old.ID)
	buildOther(t, store, "2026-12-01T00:00:00Z")
	next, _ := inspect(t, store)
	reload("serving snapshot " + next.ID + ", published 2026-12-01T00:00:00Z\n")
	testkit.ReplaceFile(t, filepath.Join(store, "channels", "stable.json"), []byte("{"))
	reload("serving snapshot " + next.ID + ", published 2026-12-01T00:00:00Z; the last poll of the store failed: ")
	s.stop(t)
	if last := f.told.String(); !strings.Contains(last, "STOPPING=1\nEXTEND_TIMEOUT_USEC=30000000\nSTATUS=ending") {
		t.Errorf("at the end: %.2000s", last[max(0, len(last)-300):])
	}
}

// TestStartWaitsForStore: a service of systemd waits for a remote store that is away, and says so.
// By hand that is an error at once.
func TestStartWaitsForStore(t *testing.T) {
	parallel(t)
	var up atomic.Bool
	files := http.FileServer(http.Dir(smallStore(t)))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			http.Error(w, "not yet", http.StatusForbidden)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer web.Close()
	f := newFakeSystemd(t)
	args := []string{"--store", web.URL, "--allow-http", "--allow-private-hosts", "--data-dir"}
	mustExit(t, 3, append(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), t.TempDir())...)
	p := f.start(t, nil, append(args, t.TempDir())...)
	testkit.WaitFor(t, "the start to wait", func() bool {
		return strings.Contains(f.told.String(), "STATUS=starting: waiting for the store: ")
	})
	if strings.Contains(f.told.String(), "READY=1") {
		t.Error("ready without a snapshot")
	}
	up.Store(true)
	p.signal(t, syscall.SIGHUP) // which does not wait for the next try
	testkit.WaitFor(t, "the start to end", func() bool { return strings.Contains(f.told.String(), "READY=1") })
	if code := p.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	up.Store(false)
	p = f.start(t, nil, append(args, t.TempDir())...)
	testkit.WaitFor(t, "another start to wait", func() bool { return p.logged("no snapshot was kept") })
	if code := p.stop(t); code != 130 {
		t.Errorf("exit code %d while it waits, want 130", code)
	}
}
