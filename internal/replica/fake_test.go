package replica

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/internal/fetch"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// fakeBucket implements the part of S3 that this package uses: one bucket, GET with ranges and
// conditions, HEAD, PUT with conditions, DELETE, and a listing.
type fakeBucket struct {
	name    string
	mu      sync.Mutex
	objects map[string]fakeObject
	log     []string // method and name of each request
	// fault, if set, may respond to a request itself; it reports whether it did. It is called
	// without the lock.
	fault func(w http.ResponseWriter, r *http.Request, name string) bool
	// after, if set, is called when a request has been carried out but not answered. If it returns
	// true the connection is closed.
	after func(r *http.Request, name string) bool
}

type fakeObject struct {
	data     []byte
	modified time.Time
}

func (o fakeObject) etag() string {
	sum := md5.Sum(o.data)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// fakes are the buckets of all tests by name. They share one server, since the address of the
// service is an environment variable of the process.
var fakes sync.Map

func TestMain(m *testing.M) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if b, ok := fakes.Load(name); ok {
			b.(*fakeBucket).ServeHTTP(w, r)
			return
		}
		fakeError(w, http.StatusNotFound, "NoSuchBucket")
	}))
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	server.Close()
	os.Exit(code)
}

// newFake makes a bucket and returns the remote store at a prefix of it.
func newFake(t *testing.T) (*fakeBucket, *Remote) {
	t.Helper()
	return newFakeNamed(t, strings.ToLower(t.Name()))
}

// newFakeNamed is newFake for a test with several buckets.
func newFakeNamed(t *testing.T, name string) (*fakeBucket, *Remote) {
	t.Helper()
	b := &fakeBucket{objects: map[string]fakeObject{}, name: name}
	fakes.Store(b.name, b)
	r, err := Open("s3://"+b.name+"/some/prefix", fetch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Timeout = testkit.Patience // which no load of the machine reaches
	return b, r
}

func (b *fakeBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/"+b.name+"/"), "some/prefix/")
	body, err := readBody(r)
	if err != nil {
		w.WriteHeader(400)
		return
	}
	b.mu.Lock()
	b.log = append(b.log, r.Method+" "+name)
	fault, after := b.fault, b.after
	b.mu.Unlock()
	if fault != nil && fault(w, r, name) {
		return
	}
	answer := httptest.NewRecorder()
	b.answer(answer, r, name, body)
	if after != nil && after(r, name) {
		panic(http.ErrAbortHandler)
	}
	for key, values := range answer.Header() {
		w.Header()[key] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (b *fakeBucket) answer(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, exists := b.objects[name]
	match, noneMatch := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch {
	case r.URL.Query().Has("list-type"):
		b.list(w, r)
	case r.URL.Query().Has("location"):
		fmt.Fprint(w, `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`)
	case r.Method == http.MethodPut && (match != "" && (!exists || match != o.etag()) || noneMatch == "*" && exists):
		fakeError(w, 412, "PreconditionFailed")
	case r.Method == http.MethodPut:
		o = fakeObject{data: body, modified: time.Now()}
		b.objects[name] = o
		w.Header().Set("ETag", o.etag())
	case r.Method == http.MethodDelete:
		delete(b.objects, name)
		w.WriteHeader(204)
	case !exists:
		fakeError(w, 404, "NoSuchKey")
	case noneMatch == o.etag():
		w.WriteHeader(304)
	default:
		w.Header().Set("ETag", o.etag())
		http.ServeContent(w, r, "", o.modified, bytes.NewReader(o.data))
	}
}

func (b *fakeBucket) list(w http.ResponseWriter, r *http.Request) {
	prefix := strings.TrimPrefix(r.URL.Query().Get("prefix"), "some/prefix/")
	var names []string
	for name := range b.objects {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	fmt.Fprint(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated>`)
	for _, name := range names {
		o := b.objects[name]
		fmt.Fprintf(w, "<Contents><Key>some/prefix/%s</Key><LastModified>%s</LastModified>"+
			"<ETag>%s</ETag><Size>%d</Size></Contents>",
			name, o.modified.UTC().Format("2006-01-02T15:04:05.000Z"), o.etag(), len(o.data))
	}
	fmt.Fprint(w, `</ListBucketResult>`)
}

func fakeError(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

// readBody decodes a body that the client sends in signed chunks.
func readBody(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var body []byte
	for in := bufio.NewReader(r.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil || n == 0 {
			return body, err
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil, err
		}
		body = append(body, chunk[:n]...)
	}
}

// set changes the bucket under its lock.
func (b *fakeBucket) set(change func(*fakeBucket)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

// take returns the requests since the last call that begin with prefix.
func (b *fakeBucket) take(prefix string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []string
	for _, line := range b.log {
		if strings.HasPrefix(line, prefix) {
			found = append(found, line)
		}
	}
	b.log = nil
	return found
}

// publishRemote moves a channel of a remote store, whatever it shows.
func publishRemote(
	t *testing.T, r *Remote, channel, id string, at time.Time, trust *store.Store,
) (Version, error) {
	t.Helper()
	base, err := r.Channel(t.Context(), channel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return base, err
	}
	return r.Move(t.Context(), channel, base, id, store.PublishAt(at), trust)
}
