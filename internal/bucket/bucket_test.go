package bucket

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hdqs/internal/fetch"
	"hdqs/internal/objects"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
)

func TestMain(m *testing.M) { objectstest.Main(m) }

func TestLocation(t *testing.T) {
	objectstest.Run(t, func(t *testing.T) objectstest.Kind {
		b := objectstest.NewBucket(t.Name())
		l, err := Open(b.Address(), fetch.Options{Tries: 4, BackoffMin: time.Millisecond})
		testkit.Must(t, err)
		return objectstest.Kind{Store: l, Write: b.Write, Bucket: b}
	})
}

func TestOpen(t *testing.T) {
	for _, c := range []struct{ address, endpoint, want string }{
		{"s3://bucket", "", "s3://bucket"},
		{"s3://bucket/", "http://127.0.0.1:9000", "s3://bucket"},
		{"s3://bucket/a/b/", "https://objects.example", "s3://bucket/a/b"},
		{"s3:///a", "", ""},
		{"bucket/a", "", ""},
		{"https://bucket/a", "", ""},
		{"s3://bucket", "objects.example", ""},
		{"s3://bucket", "ftp://objects.example", ""},
	} {
		t.Setenv("AWS_ENDPOINT_URL_S3", "")
		t.Setenv("AWS_ENDPOINT_URL", c.endpoint)
		l, err := Open(c.address, fetch.Options{})
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%q with endpoint %q: opened as %s", c.address, c.endpoint, l)
		case c.want != "" && (err != nil || l.String() != c.want):
			t.Errorf("%q with endpoint %q: %v, %v", c.address, c.endpoint, l, err)
		}
	}
	t.Setenv("AWS_ENDPOINT_URL", "")
	l, err := Open("s3://bucket/a/b/", fetch.Options{})
	if err != nil || l.key("x/y") != "a/b/x/y" || l.bucket != "bucket" {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestTraffic checks that bodies are counted in both directions, that a stalled response fails, and
// that a slow reader does not.
func TestTraffic(t *testing.T) {
	t.Parallel()
	stalled := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "0123456789")
		if r.URL.Path == "/stall" {
			_ = http.NewResponseController(w).Flush()
			<-stalled
		}
	}))
	defer server.Close()
	defer close(stalled)
	counted := &traffic{next: http.DefaultTransport, stall: time.Second}
	client := &http.Client{Transport: counted}
	res, err := client.Post(server.URL, "text/plain", strings.NewReader("abc"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * counted.stall)
	if data, err := io.ReadAll(res.Body); err != nil || string(data) != "0123456789" {
		t.Errorf("a slow reader gets %q, %v", data, err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	if res, err = client.Get(server.URL + "/stall"); err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(res.Body); err == nil || string(data) != "0123456789" {
		t.Errorf("a stalled response: %q, %v", data, err)
	}
	l := &Location{Objects: fetch.New(fetch.Options{}).Below(""), traffic: counted}
	if c := l.Traffic(); c != (objects.Traffic{Requests: 2, Sent: 3, Received: 20}) {
		t.Errorf("%+v", c)
	}
}
