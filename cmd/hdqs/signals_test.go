package main_test

import (
	"fmt"
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

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// hangUp sends SIGHUP again and again until stop is closed or the process has ended.
func (p *process) hangUp(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-p.ended:
			return
		case <-time.After(5 * time.Millisecond):
			_ = p.cmd.Process.Signal(syscall.SIGHUP) // fails once the process has ended
		}
	}
}

// TestHangupNeverEnds sends SIGHUP all the time, from the first message to the end of the shutdown.
// The exit code is that of SIGTERM.
func TestHangupNeverEnds(t *testing.T) {
	parallel(t)
	for _, flags := range [][]string{nil, {"--store", sampleStore(t)}} {
		s := startServe(t, nil, append([]string{
			"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--shutdown-delay", "500ms",
		}, flags...)...)
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			s.hangUp(stop)
			close(done)
		}()
		testkit.WaitFor(t, "the server to listen or end", func() bool {
			select {
			case <-s.ended:
				return true
			default:
				return publicLine.MatchString(s.log.String())
			}
		})
		time.Sleep(300 * time.Millisecond)
		if code := s.stop(t); code != 0 {
			t.Errorf("serve %q: %v after SIGHUP and SIGTERM, want exit code 0\n%s", flags, s.cmd.ProcessState, s.log)
		}
		close(stop)
		<-done
	}
}

// TestInterruptedLoad sends SIGTERM or SIGINT while the first snapshot is made. Nothing has been
// served, and the exit code says that the command was interrupted.
func TestInterruptedLoad(t *testing.T) {
	parallel(t)
	catalog := generated(t, generator.Options{Seed: 1, Scale: 0.1}) // takes six times as long as the sample
	for _, sig := range ends {
		testkit.WaitFor(t, "a signal that comes before the first snapshot", func() bool {
			s := startServe(t, nil, "--catalog", catalog, "--data-dir", t.TempDir(),
				"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
			s.signal(t, sig)
			code := s.wait(t)
			if publicLine.MatchString(s.log.String()) {
				return false
			}
			if code != 130 || !s.logged("hdqs: interrupted") {
				t.Errorf("%v: exit code %d, want 130\n%s", sig, code, s.log)
			}
			return true
		})
	}
}

// TestInterruptedReading: a signal ends a command whose flags name a file that cannot be read to
// its end, before it serves anything.
func TestInterruptedReading(t *testing.T) {
	parallel(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	testkit.Must(t, syscall.Mkfifo(pipe, 0o600))
	for _, sig := range ends {
		s := start(t, nil, "serve", "--listen", "127.0.0.1:0", "--boundaries", pipe)
		var writer *os.File // who opens the pipe without waiting fails as long as nobody reads it
		testkit.WaitFor(t, "the pipe to be read", func() (isRead bool) {
			var err error
			writer, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			return err == nil
		})
		defer writer.Close()
		began := time.Now()
		s.signal(t, sig)
		if code := s.wait(t); code != 130 || !s.logged("hdqs: interrupted") {
			t.Errorf("%v: exit code %d after %s, want 130\n%s", sig, code, time.Since(began), s.log)
		}
	}
}

// ends are the signals that end a server.
var ends = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}

// TestSecondSignal: SIGTERM and SIGINT end a server with exit code 0. During a long shutdown a
// second one ends the process at once.
func TestSecondSignal(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	for _, first := range ends {
		s := serve(t, "--store", store, "--shutdown-delay", "0")
		s.signal(t, first)
		if code := s.wait(t); code != 0 {
			t.Errorf("%v: exit code %d, want 0\n%s", first, code, s.log)
		}
		for _, second := range ends {
			s := serve(t, "--store", store, "--shutdown-delay", "1h")
			s.signal(t, first)
			testkit.WaitFor(t, "the shutdown to begin", func() bool {
				return strings.Contains(string(ask(t, "GET", s.admin+"/readyz").body), "shutting down")
			})
			s.signal(t, second)
			if code := s.wait(t); code != 130 {
				t.Errorf("%v and %v: exit code %d, want 130\n%s", first, second, code, s.log)
			}
		}
	}
}

// TestEndIsBounded: a client that never finishes reading, and a poll that never ends, do not make
// the end take longer than the shutdown delay and the drain timeout.
func TestEndIsBounded(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	var hangs atomic.Bool // requests are accepted and not answered
	files := http.FileServer(http.Dir(store))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			<-r.Context().Done()
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	s := serve(t, "--store", web.URL, "--allow-http", "--allow-private-hosts", "--data-dir", t.TempDir(),
		"--snapshot-poll", "1h", "--store-timeout", "5m", "--shutdown-delay", "500ms", "--drain-timeout", "1s")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	testkit.Must(t, err)
	defer conn.Close()
	testkit.Must(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	for range 64 { // more than the buffers of both sides hold
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", with(conflictPath))
	}
	_, err = conn.Read(make([]byte, 1))
	testkit.Must(t, err)
	hangs.Store(true)
	s.signal(t, syscall.SIGHUP)
	answers := func() string {
		counted := regexp.MustCompile(`(?m)^hdqs_http_requests_total.*`)
		return strings.Join(counted.FindAllString(string(ask(t, "GET", s.admin+"/metrics").body), -1), "\n")
	}
	testkit.WaitFor(t, "full buffers", func() bool {
		before := answers()
		time.Sleep(time.Second)
		return answers() == before
	})
	began := time.Now()
	code := s.stop(t)
	took := time.Since(began)
	if code != 0 || took < 500*time.Millisecond {
		t.Errorf("exit code %d after %s, want 0 after the delay\n%s", code, took, s.log)
	}
	// Without a bound it takes a minute, the longest time for an answer. The machine may be busy.
	if !s.logged("did not end in time") || took > 45*time.Second {
		t.Errorf("the end took %s, want 1.5s\n%s", took, s.log)
	}
	t.Logf("the end took %s", took)
}
