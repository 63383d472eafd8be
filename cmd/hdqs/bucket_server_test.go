package main_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// objectStore is a real S3 server, and a gate in front of it that counts what passes, holds it up, or closes.
type objectStore struct {
	direct string   // the server's address, past the gate
	env    []string // of commands that are to use the gate

	mu     sync.Mutex
	passed []*passage // in the order in which they came
	inside int        // how many of them have not gone yet: who asked may have the answer before they are counted
	closed bool
	before func(*http.Request)       // called before a request passes
	cutAt  func(*http.Request) int64 // how much of the answer passes before the connection breaks; 0: all
}

// passage is a request that went through the gate, with the bytes of its body and of the answer's.
type passage struct {
	method, path   string
	ranged, match  string // Range and If-Match
	status         int
	sent, received int64
}

const bucketName = "data"

// newObjectStore starts moto, which HDQS_MOTO names. It ends with the test.
func newObjectStore(t *testing.T) *objectStore {
	t.Helper()
	program := os.Getenv("HDQS_MOTO")
	if program == "" {
		t.Skip("HDQS_MOTO names no S3 server: `make bucket` installs one and runs this")
	}
	o := new(objectStore)
	said := new(log)
	cmd := exec.Command(program, "-H", "127.0.0.1", "-p", "0")
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	waitFor(t, "the S3 server", func() bool {
		if o.direct = motoLine.FindString(said.String()); o.direct == "" {
			return false
		}
		res, err := http.Get(o.direct)
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	o.must(t, http.MethodPut, "", nil)
	target, err := url.Parse(o.direct)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		// Commands that are killed, or have seen enough, leave in the middle of an answer.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.pass(w, r, proxy) }))
	t.Cleanup(gate.Close)
	o.env = []string{
		"AWS_ENDPOINT_URL=" + gate.URL, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1",
		"AWS_EC2_METADATA_DISABLED=true",
	}
	return o
}

// motoLine is where moto says that it listens.
var motoLine = regexp.MustCompile(`http://127\.0\.0\.1:[1-9]\d*`)

// pass is the gate.
func (o *objectStore) pass(w http.ResponseWriter, r *http.Request, proxy http.Handler) {
	o.mu.Lock()
	closed, before, cutAt := o.closed, o.before, o.cutAt
	o.mu.Unlock()
	if closed {
		panic(http.ErrAbortHandler) // the connection breaks, without an answer
	}
	if before != nil {
		before(r)
	}
	counted := &countedWriter{ResponseWriter: w, status: 200}
	if cutAt != nil {
		counted.cut = cutAt(r)
	}
	body := &countedReader{ReadCloser: r.Body}
	r.Body = body
	p := &passage{
		method: r.Method, path: strings.TrimPrefix(r.URL.Path, "/"+bucketName+"/"), ranged: r.Header.Get("Range"), match: r.Header.Get("If-Match"),
	}
	o.mu.Lock()
	o.passed = append(o.passed, p)
	o.inside++
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		p.status, p.sent, p.received = counted.status, body.n, counted.n
		o.inside--
	}()
	proxy.ServeHTTP(counted, r)
}

type countedWriter struct {
	http.ResponseWriter
	status int
	n      int64
	cut    int64
}

func (w *countedWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countedWriter) Write(p []byte) (int, error) {
	if w.cut > 0 && w.n+int64(len(p)) > w.cut {
		_, _ = w.ResponseWriter.Write(p[:w.cut-w.n])
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		w.n = w.cut
		panic(http.ErrAbortHandler)
	}
	w.n += int64(len(p))
	return w.ResponseWriter.Write(p)
}

type countedReader struct {
	io.ReadCloser
	n int64
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.n += int64(n)
	return n, err
}

// take gives what has passed since the last call, when all of it has.
func (o *objectStore) take(t *testing.T) []*passage {
	t.Helper()
	var passed []*passage
	waitFor(t, "requests that are in the gate", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.inside > 0 {
			return false
		}
		passed, o.passed = o.passed, nil
		return true
	})
	return passed
}

// close breaks all connections from now on, or lets them through again.
func (o *objectStore) close(closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = closed
}

// hold calls before ahead of each request; nil for nothing.
func (o *objectStore) hold(before func(*http.Request)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.before = before
}

// cut breaks the connection in the middle of answers; nil for none.
func (o *objectStore) cut(at func(*http.Request) int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cutAt = at
}

// must sends a request past the gate, as someone else would who has the bucket's keys.
func (o *objectStore) must(t *testing.T, method, name string, body []byte) []byte {
	t.Helper()
	req, err := http.NewRequest(method, strings.TrimSuffix(o.direct+"/"+bucketName+"/"+name, "/"), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	// Any signature will do: the server looks only whether there is one.
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %.300s %v", method, name, res.StatusCode, text, err)
	}
	return text
}

func (o *objectStore) get(t *testing.T, name string) []byte {
	return o.must(t, http.MethodGet, name, nil)
}

func (o *objectStore) put(t *testing.T, name string, data []byte) {
	t.Helper()
	o.must(t, http.MethodPut, name, data)
}

func (o *objectStore) remove(t *testing.T, name string) { o.must(t, http.MethodDelete, name, nil) }

// list gives the names and sizes of all objects below a prefix.
func (o *objectStore) list(t *testing.T, prefix string) map[string]int64 {
	t.Helper()
	var answer struct {
		Truncated bool `xml:"IsTruncated"`
		Contents  []struct {
			Key  string `xml:"Key"`
			Size int64  `xml:"Size"`
		} `xml:"Contents"`
	}
	if err := xml.Unmarshal(o.get(t, "?list-type=2&prefix="+url.QueryEscape(prefix)), &answer); err != nil || answer.Truncated {
		t.Fatalf("list %s: %v, truncated %v", prefix, err, answer.Truncated)
	}
	found := map[string]int64{}
	for _, c := range answer.Contents {
		found[c.Key] = c.Size
	}
	return found
}

// run runs a command that uses the gate and wants an exit code.
func (o *objectStore) run(t *testing.T, code int, args ...string) outcome {
	t.Helper()
	got := runWith(t, o.env, "", args...)
	if got.code != code {
		t.Fatalf("hdqs %s: exit code %d, want %d\nstdout: %.2000s\nstderr: %.2000s", strings.Join(args, " "), got.code, code, got.out, got.errors)
	}
	return got
}

// serve starts a replica that looks at its store when it is told to, and at no other time.
func (o *objectStore) serve(t *testing.T, args ...string) *server {
	t.Helper()
	return serveWith(t, o.env, append([]string{"--listen", "127.0.0.1:0", "--snapshot-poll", "1h"}, args...)...)
}

// start starts a command that uses the gate and does not wait for it.
func (o *objectStore) start(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{said: new(log), ended: make(chan struct{})}
	s.cmd = exec.Command(binary, args...)
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = environment(o.env...), s.said, s.said
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
	return s
}

func (p *passage) String() string { return fmt.Sprintf("%s %s %d", p.method, p.path, p.status) }
