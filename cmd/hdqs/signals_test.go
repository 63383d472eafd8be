package main_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

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

// TestEndIsBounded: a client that never finishes reading does not make the end take longer than the
// shutdown delay and the drain timeout. testdata/scripts/kept_copy.txt has a poll that never ends.
func TestEndIsBounded(t *testing.T) {
	parallel(t)
	s := serve(t, "--shutdown-delay", "500ms", "--drain-timeout", "1s")
	conn := testkit.Value(net.Dial("tcp", strings.TrimPrefix(s.base, "http://")))(t)
	defer conn.Close()
	testkit.Must(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	for range 64 { // more than the buffers of both sides hold
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", with(conflictPath))
	}
	testkit.Value(conn.Read(make([]byte, 1)))(t)
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

// swapRequests are in all forms, and each answer differs between the two snapshots of these tests.
var swapRequests = []struct {
	path   string
	fields []string
}{
	{"/api/v2/coordination-context/conflict-events", nil},
	{"/api/v2/coordination-context/conflict-events?admin_level=2&end_date=2026-06", []string{"Accept-Encoding", "gzip"}},
	{"/api/v2/food-security-nutrition-poverty/food-prices-market-monitor?output_format=csv", nil},
	{"/api/v2/affected-people/humanitarian-needs?offset=100&limit=50", []string{"Accept-Encoding", "zstd"}},
	{"/api/v2/geography-infrastructure/baseline-population?gender=f", []string{"Accept-Encoding", "gzip"}},
	{"/api/v2/metadata/data-availability?location_name=a", nil},
}

// fingerprint is what must come from one snapshot: total, form and bytes.
func fingerprint(a *answer) string {
	h := a.header
	return fmt.Sprintf("%d %s %s %s\n%s",
		a.status, h.Get("X-Total-Count"), h.Get("Content-Type"), h.Get("Content-Encoding"), a.body)
}

// fingerprints sends every request once.
func (s *server) fingerprints(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, r := range swapRequests {
		a := ask(t, "GET", s.base+with(r.path), r.fields...)
		if a.status != 200 || a.header.Get("X-Total-Count") == "0" {
			t.Fatalf("%s: %d with %s rows", r.path, a.status, a.header.Get("X-Total-Count"))
		}
		all = append(all, fingerprint(&a))
	}
	return all
}

// callers send requests in a loop until they are stopped.
type callers struct {
	stop    atomic.Bool
	running sync.WaitGroup
	asked   atomic.Int64
}

// callerPause is the time between two requests of a caller.
var callerPause = time.Duration(testkit.Trials(0, 5)) * time.Millisecond

// start starts n callers. Check gets each answer, and returns whether the caller continues.
func (c *callers) start(n int, s *server, check func(request int, a answer, err error) bool) {
	for worker := range n {
		c.running.Go(func() {
			for i := worker; !c.stop.Load(); i++ {
				time.Sleep(callerPause) // the program shares its cores with other tests
				r := swapRequests[i%len(swapRequests)]
				a, err := tryAsk("GET", s.base+with(r.path), r.fields...)
				c.asked.Add(1)
				if !check(i%len(swapRequests), a, err) {
					return
				}
			}
		})
	}
}

func (c *callers) end() {
	c.stop.Store(true)
	c.running.Wait()
}

// TestShutdownWaitsForSlowReader: an answer that is being sent when SIGTERM comes is sent to its
// end, however slowly the client reads.
func TestShutdownWaitsForSlowReader(t *testing.T) {
	parallel(t)
	s := serve(t)
	whole := ask(t, "GET", s.base+with("/api/v2/coordination-context/conflict-events"))
	conn := testkit.Value(net.Dial("tcp", strings.TrimPrefix(s.base, "http://")))(t)
	defer conn.Close()
	// A small buffer keeps most of the answer in the server. A very small one only slows TCP down.
	testkit.Must(t, conn.(*net.TCPConn).SetReadBuffer(32<<10))
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", with("/api/v2/coordination-context/conflict-events"))
	var got bytes.Buffer
	chunk := make([]byte, 16<<10)
	n := testkit.Value(conn.Read(chunk))(t)
	got.Write(chunk[:n])
	s.signal(t, syscall.SIGTERM)
	for {
		testkit.Must(t, conn.SetReadDeadline(time.Now().Add(testkit.Patience)))
		time.Sleep(time.Millisecond)
		n, err := conn.Read(chunk)
		got.Write(chunk[:n])
		if err != nil {
			break
		}
	}
	_, body, _ := bytes.Cut(got.Bytes(), []byte("\r\n\r\n"))
	if !bytes.Equal(body, whole.body) {
		t.Errorf("%d bytes of %d received", len(body), len(whole.body))
	}
	if code := s.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
