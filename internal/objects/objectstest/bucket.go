package objectstest

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bucket implements the part of S3 that this program uses: one bucket, GET with ranges and
// conditions, HEAD, PUT with conditions, DELETE, and a listing.
type Bucket struct {
	name    string
	mu      sync.Mutex
	Objects map[string]Object
	log     []string // method and name of each request
	// Fault, if set, may respond to a request itself; it reports whether it did. It is called
	// without the lock.
	Fault func(w http.ResponseWriter, r *http.Request, name string) bool
	// After, if set, is called when a request has been carried out but not answered. If it returns
	// true the connection is closed.
	After func(r *http.Request, name string) bool
}

// Object is an object of a Bucket.
type Object struct {
	Data     []byte
	Modified time.Time
}

// ETag is the object's, with quotes.
func (o Object) ETag() string {
	sum := md5.Sum(o.Data)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// buckets are the buckets of all tests by name. They share one server, since the address of the
// service is an environment variable of the process.
var buckets sync.Map

// Main runs the tests of a package, and meanwhile an S3 service that the environment names.
func Main(m *testing.M) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if b, ok := buckets.Load(name); ok {
			b.(*Bucket).ServeHTTP(w, r)
			return
		}
		Error(w, http.StatusNotFound, "NoSuchBucket")
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

// NewBucket makes an empty bucket for a test, which Main's service has from then on.
func NewBucket(name string) *Bucket {
	name = strings.NewReplacer("/", "-", " ", "-", "_", "-").Replace(strings.ToLower(name))
	b := &Bucket{Objects: map[string]Object{}, name: name}
	buckets.Store(b.name, b)
	return b
}

// prefix is where in each bucket its objects are.
const prefix = "some/prefix/"

// Address is that of the objects of the bucket.
func (b *Bucket) Address() string { return "s3://" + b.name + "/" + strings.TrimSuffix(prefix, "/") }

// Web is the address at which a client without keys reads the objects.
func (b *Bucket) Web() string {
	return os.Getenv("AWS_ENDPOINT_URL") + "/" + b.name + "/" + strings.TrimSuffix(prefix, "/")
}

// ServeHTTP answers a request for the bucket.
func (b *Bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/"+b.name+"/"), prefix)
	body, err := readBody(r)
	if err != nil {
		w.WriteHeader(400)
		return
	}
	b.mu.Lock()
	b.log = append(b.log, r.Method+" "+name)
	fault, after := b.Fault, b.After
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

func (b *Bucket) answer(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, exists := b.Objects[name]
	match, noneMatch := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch {
	case r.URL.Query().Has("list-type"):
		b.list(w, r)
	case r.URL.Query().Has("location"):
		fmt.Fprint(w, `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`)
	case r.Method == http.MethodPut && (match != "" && (!exists || match != o.ETag()) || noneMatch == "*" && exists):
		Error(w, 412, "PreconditionFailed")
	case r.Method == http.MethodPut:
		o = Object{Data: body, Modified: time.Now()}
		b.Objects[name] = o
		w.Header().Set("ETag", o.ETag())
	case r.Method == http.MethodDelete:
		delete(b.Objects, name)
		w.WriteHeader(204)
	case !exists:
		Error(w, 404, "NoSuchKey")
	case noneMatch == o.ETag():
		w.WriteHeader(304)
	default:
		w.Header().Set("ETag", o.ETag())
		http.ServeContent(w, r, "", o.Modified, bytes.NewReader(o.Data))
	}
}

func (b *Bucket) list(w http.ResponseWriter, r *http.Request) {
	folder := strings.TrimPrefix(r.URL.Query().Get("prefix"), prefix)
	var names []string
	for name := range b.Objects {
		if strings.HasPrefix(name, folder) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	fmt.Fprint(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated>`)
	for _, name := range names {
		o := b.Objects[name]
		fmt.Fprintf(w, "<Contents><Key>%s</Key><LastModified>%s</LastModified>"+
			"<ETag>%s</ETag><Size>%d</Size></Contents>",
			prefix+name, o.Modified.UTC().Format("2006-01-02T15:04:05.000Z"), o.ETag(), len(o.Data))
	}
	fmt.Fprint(w, `</ListBucketResult>`)
}

// Error answers with an error of S3.
func Error(w http.ResponseWriter, status int, code string) {
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

// Write puts an object into the bucket without a request.
func (b *Bucket) Write(name string, data []byte) {
	b.Set(func(b *Bucket) { b.Objects[name] = Object{data, time.Now()} })
}

// Set changes the bucket under its lock.
func (b *Bucket) Set(change func(*Bucket)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

// Take returns the requests since the last call that begin with start.
func (b *Bucket) Take(start string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []string
	for _, line := range b.log {
		if strings.HasPrefix(line, start) {
			found = append(found, line)
		}
	}
	b.log = nil
	return found
}
