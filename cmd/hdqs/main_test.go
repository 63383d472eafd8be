// Whole-program tests: they start the real binary, speak HTTP over loopback and read its files, and know nothing else of it. The binary is
// built once, or HDQS_BINARY names one that is built already. Every process that a test starts has ended when the test has.
package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/generator"
)

// binary is the program under test.
var binary string

// buildTime is the time of every load here, so that equal input gives equal bytes.
const buildTime = "2026-11-21T01:02:00Z"

// identifier names the application hdqs-test and test@example.org.
const identifier = "aGRxcy10ZXN0OnRlc3RAZXhhbXBsZS5vcmc="

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if binary = os.Getenv("HDQS_BINARY"); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "hdqs-whole-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "hdqs")
	args := []string{"build", "-o", binary}
	if raceDetector {
		args = append(args, "-race") // then the server's own races show, not only those of the tests
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// environment is the tester's without the program's own variables, and with extra ones.
func environment(extra ...string) []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "HDQS_") {
			env = append(env, pair)
		}
	}
	return append(env, extra...)
}

// outcome is what a command that has ended left.
type outcome struct {
	code        int
	out, errors string
}

// runWith runs the program to its end with more environment and an input.
func runWith(t *testing.T, env []string, stdin string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = environment(env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("hdqs %s: %v", strings.Join(args, " "), err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), messages.String()}
}

// run runs the program to its end.
func run(t *testing.T, args ...string) outcome {
	t.Helper()
	return runWith(t, nil, "", args...)
}

// wants runs the program and wants an exit code.
func wants(t *testing.T, code int, args ...string) outcome {
	t.Helper()
	o := run(t, args...)
	if o.code != code {
		t.Fatalf("hdqs %s: exit code %d, want %d\nstdout: %.2000s\nstderr: %.2000s", strings.Join(args, " "), o.code, code, o.out, o.errors)
	}
	return o
}

// newCatalog generates the sample's kind of catalog; another seed makes other data.
func newCatalog(t *testing.T, seed uint64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "catalog")
	if _, err := generator.Write(dir, generator.Options{Seed: seed}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newStore builds a catalog into a new store.
func newStore(t *testing.T, catalogDir string) string {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	wants(t, 0, "build", "--catalog", catalogDir, "--store", store, "--snapshot-time", buildTime)
	return store
}

// log collects what a process says while it runs.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// server is a running `hdqs serve`.
type server struct {
	base, admin string // http://127.0.0.1:port
	said        *log
	cmd         *exec.Cmd
	ended       chan struct{} // closed when the process is gone
}

var (
	publicLine = regexp.MustCompile(`(?m)^listening on (http://\S+)$`)
	adminLine  = regexp.MustCompile(`(?m)^admin on (http://[^/\s]+)`)
)

// patience is how long anything that a test waits for may take, on a machine that is busy with other tests.
const patience = time.Minute

// serve starts the server on free ports and waits until it says where it listens.
func serve(t *testing.T, args ...string) *server {
	t.Helper()
	return serveWith(t, nil, append([]string{"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
}

func serveWith(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	s := &server{said: new(log), ended: make(chan struct{})}
	s.cmd = exec.Command(binary, append([]string{"serve"}, args...)...)
	s.cmd.Env, s.cmd.Stderr, s.cmd.Stdout = environment(env...), s.said, s.said
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.ended
	})
	waitFor(t, "the server to listen", func() bool {
		select {
		case <-s.ended:
			t.Fatalf("hdqs serve %s ended: %v\n%s", strings.Join(args, " "), s.cmd.ProcessState, s.said)
		default:
		}
		return publicLine.MatchString(s.said.String())
	})
	s.base = publicLine.FindStringSubmatch(s.said.String())[1]
	if found := adminLine.FindStringSubmatch(s.said.String()); found != nil {
		s.admin = found[1]
	}
	return s
}

// waitFor wants a condition to come true.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}

func (s *server) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// stop asks the server to end and gives its exit code.
func (s *server) stop(t *testing.T) int {
	t.Helper()
	s.signal(t, syscall.SIGTERM)
	return s.wait(t)
}

func (s *server) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		t.Fatalf("the server did not end\n%s", s.said)
	}
	return s.cmd.ProcessState.ExitCode()
}

// answer is an HTTP answer, read whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// client neither follows redirects nor asks for compression by itself.
var client = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       patience,
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
	return tryAskWithin(context.Background(), method, url, fields...)
}

func tryAskWithin(ctx context.Context, method, url string, fields ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
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

// endpoint is what these tests need of an endpoint of the contract.
type endpoint struct {
	Path   string `json:"path"`
	Fields []struct {
		Name string `json:"name"`
	} `json:"fields"`
}

// endpoints reads the list endpoints from the contract.
func endpoints(t *testing.T) []endpoint {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "contract.json"))
	if err != nil {
		t.Fatal(err)
	}
	var contract struct {
		Endpoints []endpoint `json:"endpoints"`
	}
	if err := json.Unmarshal(text, &contract); err != nil {
		t.Fatal(err)
	}
	if len(contract.Endpoints) != 25 {
		t.Fatalf("%d endpoints in the contract, want 25", len(contract.Endpoints))
	}
	return contract.Endpoints
}

// names are the fields of a record, in order.
func (e *endpoint) names() []string {
	var names []string
	for _, f := range e.Fields {
		names = append(names, f.Name)
	}
	return names
}

// decode parses JSON into a new value.
func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return v
}

// snapshotView is what these tests read of `inspect --json`.
type snapshotView struct {
	ID           string    `json:"id"`
	SnapshotTime time.Time `json:"snapshot_time"`
	Rows         int       `json:"rows"`
	Tables       []struct {
		Table  string `json:"table"`
		Rows   int    `json:"rows"`
		SHA256 string `json:"sha256"`
	} `json:"tables"`
}

// inspect gives the snapshot of the store's channel and its rows by table.
func inspect(t *testing.T, store string) (view snapshotView, rows map[string]int) {
	t.Helper()
	view = decode[snapshotView](t, []byte(wants(t, 0, "inspect", "--store", store, "--json").out))
	rows = map[string]int{}
	for _, table := range view.Tables {
		rows[table.Table] = table.Rows
	}
	return view, rows
}
