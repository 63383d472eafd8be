package fetch

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdqs/internal/objects"
	"hdqs/internal/testkit"
)

// TestPartOutlivesProcess checks that a second client resumes the download of the first one if the
// file on the server is still the same.
func TestPartOutlivesProcess(t *testing.T) {
	t.Parallel()
	bootID, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Skip("this system has no boot identifier")
	}
	for name, c := range map[string]struct {
		etag, url string
		spoil     func(part string) error
		wantRange string
	}{
		"same file":       {`"v1"`, "/file", nil, "bytes=10-"},
		"replaced file":   {`"v2"`, "/file", nil, "bytes=10-"},
		"another address": {`"v1"`, "/other", nil, ""},
		"after a reboot": {`"v1"`, "/file", func(part string) error {
			text, err := os.ReadFile(part + ".of")
			if err != nil {
				return err
			}
			text = bytes.Replace(text, bytes.TrimSpace(bootID), []byte("other"), 1)
			return os.WriteFile(part+".of", text, 0o644)
		}, ""},
		"longer than the file": {`"v1"`, "/file", func(part string) error {
			return os.WriteFile(part, []byte(content+content), 0o644)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			stopped := true
			var asked []string
			server, _ := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Header.Get("Range"))
				if stopped {
					w.Header().Set("ETag", `"v1"`)
					w.Header().Set("Content-Length", fmt.Sprint(len(content)))
					fmt.Fprint(w, content[:10])
					w.(http.Flusher).Flush()
					<-r.Context().Done()
					return
				}
				w.Header().Set("ETag", c.etag)
				http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
			})
			dir := t.TempDir()
			path, part := filepath.Join(dir, "file"), filepath.Join(dir, "part")
			ctx, cancel := context.WithCancel(t.Context())
			var received int64
			q := objects.Request{Name: server.URL + "/file", Size: int64(len(content)), Part: part}
			q.Received = func(n int64) {
				if received += n; received == 10 {
					cancel()
				}
			}
			if _, err := New(testOptions()).Download(ctx, q, path); err == nil {
				t.Fatal("the first download was not stopped")
			}
			if c.spoil != nil {
				testkit.Must(t, c.spoil(part))
			}
			stopped, asked, received = false, nil, 0
			q.Name = server.URL + c.url
			result, err := New(testOptions()).Download(t.Context(), q, path)
			data, _ := os.ReadFile(path)
			size := int64(len(content))
			if err != nil || string(data) != content || result.Bytes != size || received != size {
				t.Fatalf("got %q %+v %v; %d bytes were reported", data, result, err, received)
			}
			if len(asked) != 1 || asked[0] != c.wantRange {
				t.Errorf("requested ranges %q, want %q", asked, c.wantRange)
			}
			if left, _ := filepath.Glob(part + "*"); left != nil {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// TestSlowDrip checks that a body slower than MinRate fails as a stalled one does.
func TestSlowDrip(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	})
	o := testOptions()
	o.Stall, o.MinRate, o.Tries = time.Second, 1000, 1
	_, _, err := fetchFile(t, o, objects.Request{Name: server.URL})
	if err == nil || !strings.Contains(err.Error(), "body cut after") {
		t.Errorf("got %v", err)
	}
}
