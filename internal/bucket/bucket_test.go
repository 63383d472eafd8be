package bucket

import (
	"strings"
	"testing"
	"time"

	"hdqs/internal/fetch"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
)

func TestMain(m *testing.M) { objectstest.Main(m) }

func TestLocation(t *testing.T) {
	objectstest.Run(t, func(t *testing.T) objectstest.Kind {
		b := objectstest.NewBucket(t.Name())
		l := testkit.Value(Open(b.Address(), fetch.Options{Tries: 4, BackoffMin: time.Millisecond}))(t)
		return objectstest.Kind{Store: l, Write: b.Write, Bucket: b}
	})
}

// TestRoot: the objects of a bucket without a prefix have no slash before their names.
func TestRoot(t *testing.T) {
	b := objectstest.NewBucket(t.Name())
	b.Write("folder/file", []byte("1"))
	l := testkit.Value(Open("s3://"+strings.ToLower(t.Name())+"/", fetch.Options{Tries: 1}))(t)
	if data, _, err := l.Read(t.Context(), "folder/file", "", 10); err != nil || string(data) != "1" {
		t.Errorf("%q, %v", data, err)
	}
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
