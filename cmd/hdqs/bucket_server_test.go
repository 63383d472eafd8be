package main_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"

	"hdqs/internal/bucket"
	downloads "hdqs/internal/fetch"
	"hdqs/internal/objects"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
)

// objectStore is a real S3 server behind a proxy that counts, delays, cuts or refuses requests.
type objectStore struct {
	direct  string            // the server's address, without the proxy
	network http.RoundTripper // that reaches it
	process *exec.Cmd
	env     []string // of commands that use the proxy

	mu       sync.Mutex
	requests []*proxied // in the order of arrival
	open     int        // requests whose figures are not complete; clients can have the answer before that
	offline  bool
	before   func(*http.Request)       // called before a request is passed on
	cutAt    func(*http.Request) int64 // bytes of the answer before the connection breaks; 0 is all
}

// proxied is a request that the proxy passed on, with the bytes of its body and of the answer's.
type proxied struct {
	method, path   string
	ranged, match  string // Range and If-Match
	status         int
	sent, received int64
}

const (
	bucketName   = "data"
	storeAddress = "s3://" + bucketName + "/store"
)

// s3Server is a program that serves buckets.
type s3Server struct {
	name, variable string // the variable names the program's file
	start          func(o *objectStore, t *testing.T, program string)
}

var s3Servers = []s3Server{
	{"moto", "HDQS_MOTO", (*objectStore).startMoto},
	{"versitygw", "HDQS_VERSITYGW", (*objectStore).startVersity},
}

// newObjectStore starts an S3 server, which ends with the test, and makes a bucket.
func newObjectStore(t *testing.T, s s3Server) *objectStore {
	t.Helper()
	program := os.Getenv(s.variable)
	if program == "" {
		t.Skipf("%s names no S3 server: `make bucket` installs one and runs this", s.variable)
	}
	o := &objectStore{network: http.DefaultTransport}
	s.start(o, t, program)
	testkit.WaitFor(t, "the S3 server", func() bool {
		req := testkit.Value(http.NewRequest(http.MethodGet, o.direct, nil))(t)
		res, err := o.network.RoundTrip(req)
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	o.must(t, http.MethodPut, "", nil)
	target := testkit.Value(url.Parse(o.direct))(t)
	proxy := &httputil.ReverseProxy{
		Transport: o.network,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		// Commands that are killed leave in the middle of an answer, and so do those that need no
		// more of it.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.pass(w, r, proxy) }))
	t.Cleanup(server.Close)
	o.env = []string{
		"AWS_ENDPOINT_URL=" + server.URL, "AWS_ACCESS_KEY_ID=" + bucketKey, "AWS_SECRET_ACCESS_KEY=" + bucketKey,
		"AWS_REGION=" + bucketRegion,
		"AWS_EC2_METADATA_DISABLED=true",
	}
	return o
}

const (
	bucketKey    = "test" // both parts
	bucketRegion = "us-east-1"
)

// motoLine is the address that moto prints.
var motoLine = regexp.MustCompile(`http://127\.0\.0\.1:[1-9]\d*`)

func (o *objectStore) startMoto(t *testing.T, program string) {
	t.Helper()
	log := o.startServer(t, exec.Command(program, "-H", "127.0.0.1", "-p", "0"))
	testkit.WaitFor(t, "the address of the S3 server", func() bool {
		o.direct = motoLine.FindString(log.String())
		return o.direct != ""
	})
}

// startVersity starts versitygw, which serves a folder and checks every signature. It does not
// print its port, so it gets a socket in the file system.
func (o *objectStore) startVersity(t *testing.T, program string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s3-") // t.TempDir is too long for the address of a socket
	testkit.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "socket")
	o.direct, o.network = "http://versitygw", &http.Transport{
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}
	o.startServer(t, exec.Command(program, "--quiet", "--access", bucketKey, "--secret", bucketKey,
		"--region", bucketRegion, "--port", socket, "posix", t.TempDir()))
}

// startServer starts the program of the server.
func (o *objectStore) startServer(t *testing.T, cmd *exec.Cmd) *testkit.Log {
	t.Helper()
	log := new(testkit.Log)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	testkit.Must(t, cmd.Start())
	o.process = cmd
	t.Cleanup(func() {
		o.signal(t, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			text := log.String()
			t.Logf("the S3 server: %s", text[max(0, len(text)-2000):])
		}
	})
	return log
}

// signal sends a signal to the server: SIGSTOP lets requests hang, SIGCONT continues them.
func (o *objectStore) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-o.process.Process.Pid, sig); err != nil {
		t.Errorf("signal %s to the S3 server: %v", sig, err)
	}
}

// pass is the proxy's handler.
func (o *objectStore) pass(w http.ResponseWriter, r *http.Request, proxy http.Handler) {
	o.mu.Lock()
	offline, before, cutAt := o.offline, o.before, o.cutAt
	o.mu.Unlock()
	if offline {
		panic(http.ErrAbortHandler) // the connection breaks, without an answer
	}
	if before != nil {
		before(r)
	}
	answer := &countingWriter{ResponseWriter: w, status: 200}
	if cutAt != nil {
		answer.cut = cutAt(r)
	}
	body := &countingReader{ReadCloser: r.Body}
	r.Body = body
	p := &proxied{
		method: r.Method, path: strings.TrimPrefix(r.URL.Path, "/"+bucketName+"/"),
		ranged: r.Header.Get("Range"), match: r.Header.Get("If-Match"),
	}
	o.mu.Lock()
	o.requests = append(o.requests, p)
	o.open++
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		p.status, p.sent, p.received = answer.status, body.n, answer.n
		o.open--
	}()
	proxy.ServeHTTP(answer, r)
}

type countingWriter struct {
	http.ResponseWriter
	status int
	n      int64
	cut    int64
}

func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.cut > 0 && w.n+int64(len(p)) > w.cut {
		_, _ = w.ResponseWriter.Write(p[:w.cut-w.n])
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		w.n = w.cut
		panic(http.ErrAbortHandler)
	}
	w.n += int64(len(p))
	return w.ResponseWriter.Write(p)
}

type countingReader struct {
	io.ReadCloser
	n int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.n += int64(n)
	return n, err
}

// take returns the requests since the last call, once all of them have ended.
func (o *objectStore) take(t *testing.T) []*proxied {
	t.Helper()
	var requests []*proxied
	testkit.WaitFor(t, "the end of the open requests", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.open > 0 {
			return false
		}
		requests, o.requests = o.requests, nil
		return true
	})
	return requests
}

// setOffline breaks all connections from now on, or no longer.
func (o *objectStore) setOffline(offline bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.offline = offline
}

// beforeEach calls a function before each request; nil ends that.
func (o *objectStore) beforeEach(before func(*http.Request)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.before = before
}

// cutAnswers breaks connections in the middle of answers; nil ends that.
func (o *objectStore) cutAnswers(at func(*http.Request) int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cutAt = at
}

// must sends a request directly to the server, as someone else with the bucket's keys could.
func (o *objectStore) must(t *testing.T, method, name string, body []byte) []byte {
	t.Helper()
	address := strings.TrimSuffix(o.direct+"/"+bucketName+"/"+name, "/")
	req := testkit.Value(http.NewRequest(method, address, bytes.NewReader(body)))(t)
	req.Header.Set("X-Amz-Content-Sha256", fmt.Sprintf("%x", sha256.Sum256(body)))
	res := testkit.Value(o.network.RoundTrip(signer.SignV4(*req, bucketKey, bucketKey, "", bucketRegion)))(t)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %.300s %v", method, name, res.StatusCode, text, err)
	}
	return text
}

func (o *objectStore) get(t *testing.T, name string) []byte {
	t.Helper()
	return o.must(t, http.MethodGet, name, nil)
}

func (o *objectStore) put(t *testing.T, name string, data []byte) {
	t.Helper()
	o.must(t, http.MethodPut, name, data)
}

// list returns the names and sizes of all objects below a prefix.
func (o *objectStore) list(t *testing.T, prefix string) map[string]int64 {
	t.Helper()
	var answer struct {
		Truncated bool `xml:"IsTruncated"`
		Contents  []struct {
			Key  string `xml:"Key"`
			Size int64  `xml:"Size"`
		} `xml:"Contents"`
	}
	text := o.get(t, "?list-type=2&prefix="+url.QueryEscape(prefix))
	if err := xml.Unmarshal(text, &answer); err != nil || answer.Truncated {
		t.Fatalf("list %s: %v, truncated %v", prefix, err, answer.Truncated)
	}
	found := map[string]int64{}
	for _, c := range answer.Contents {
		found[c.Key] = c.Size
	}
	return found
}

// run runs a command through the proxy and fails the test if it exits with another code.
func (o *objectStore) run(t *testing.T, code int, args ...string) cmdResult {
	t.Helper()
	return mustExitWith(t, o.env, code, args...)
}

func (p *proxied) String() string { return fmt.Sprintf("%s %s %d", p.method, p.path, p.status) }

// TestBucketSuite runs the suite of internal/objects with buckets of real S3 servers. It does not
// run beside others, since buckets are opened as the environment says.
func TestBucketSuite(t *testing.T) {
	for _, s := range s3Servers {
		t.Run(s.name, func(t *testing.T) {
			o := newObjectStore(t, s)
			for _, variable := range o.env {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			o.testCut(t)
			objectstest.Run(t, func(t *testing.T) objectstest.Kind {
				folder := strings.ReplaceAll(t.Name(), " ", "-")
				options := downloads.Options{Tries: 3, BackoffMin: time.Millisecond}
				at := testkit.Value(bucket.Open("s3://"+bucketName+"/"+folder, options))(t)
				return objectstest.Kind{Store: at, Write: func(name string, data []byte) {
					path := url.URL{Path: "/" + folder + "/" + name}
					o.put(t, path.EscapedPath()[1:], data)
				}}
			})
		})
	}
}

// testCut: a download that is cut twice goes on where it ended, and asks for the same object only.
func (o *objectStore) testCut(t *testing.T) {
	data := []byte(strings.Repeat("1,2,3\n", 20_000))
	quarter := len(data) / 4
	o.put(t, "cut/file", data)
	n := 0
	o.cutAnswers(func(*http.Request) int64 {
		if n++; n <= 2 {
			return int64(quarter)
		}
		return 0
	})
	defer o.cutAnswers(nil)
	o.take(t)
	at, err := bucket.Open("s3://"+bucketName+"/cut", downloads.Options{Tries: 3, BackoffMin: time.Millisecond})
	testkit.Must(t, err)
	path := filepath.Join(t.TempDir(), "file")
	q := objects.Request{Name: "file", MD5: fmt.Sprintf("%x", md5.Sum(data))}
	testkit.Value(at.Download(t.Context(), q, path))(t)
	var ranges, match []string
	received := 0
	for _, p := range o.take(t) {
		ranges, match, received = append(ranges, p.ranged), append(match, p.match), received+int(p.received)
	}
	etag := `"` + q.MD5 + `"`
	wantRanges := []string{"", fmt.Sprintf("bytes=%d-", quarter), fmt.Sprintf("bytes=%d-", 2*quarter)}
	if !slices.Equal(ranges, wantRanges) || !slices.Equal(match, []string{"", etag, etag}) || received != len(data) {
		t.Errorf("ranges %q if %q, %d bytes; want %q, %s, %d", ranges, match, received, wantRanges, etag, len(data))
	}
}
