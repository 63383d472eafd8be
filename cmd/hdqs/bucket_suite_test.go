package main_test

import (
	"crypto/md5"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/bucket"
	downloads "hdqs/internal/fetch"
	"hdqs/internal/objects"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
)

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
				at, err := bucket.Open("s3://"+bucketName+"/"+folder, options)
				testkit.Must(t, err)
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
	_, err = at.Download(t.Context(), q, path)
	testkit.Must(t, err)
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
