package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"hdqs/internal/objects"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
)

// TestMeter checks that bodies are counted in both directions, that a stalled response fails, and
// that a slow reader does not.
func TestMeter(t *testing.T) {
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
	counted := &Meter{Next: http.DefaultTransport, Stall: time.Second}
	client := &http.Client{Transport: counted}
	res := testkit.Value(client.Post(server.URL, "text/plain", strings.NewReader("abc")))(t)
	time.Sleep(3 * counted.Stall)
	if data, err := io.ReadAll(res.Body); err != nil || string(data) != "0123456789" {
		t.Errorf("a slow reader gets %q, %v", data, err)
	}
	testkit.Is(t, res.Body.Close(), nil, "Close")
	res = testkit.Value(client.Get(server.URL + "/stall"))(t)
	if data, err := io.ReadAll(res.Body); err == nil || string(data) != "0123456789" {
		t.Errorf("a stalled response: %q, %v", data, err)
	}
	testkit.Equal(t, counted.Traffic(), (objects.Traffic{Requests: 2, Sent: 3, Received: 20}), "traffic")
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

func TestMain(m *testing.M) { objectstest.Main(m) }

// TestObjects runs the suite with a bucket that is read without keys, as a web server.
func TestObjects(t *testing.T) {
	t.Parallel()
	objectstest.Run(t, func(t *testing.T) objectstest.Kind {
		b := objectstest.NewBucket(t.Name())
		client := New(testOptions())
		return objectstest.Kind{Store: client.Below(b.Web()), Write: b.Write, Bucket: b, ReadOnly: true}
	})
}

// TestSpecialAddresses checks every block of the IANA special-purpose registries, cloud metadata
// addresses, and each form of IPv6 address that embeds an IPv4 address: the error names the block.
// Public addresses are allowed, among them the neighbours of these blocks.
func TestSpecialAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range testkit.Cases(t, "testdata/special.txt", ": ", 2) {
		for _, addr := range strings.Fields(c[1]) {
			err := checkAddress(netip.MustParseAddr(addr))
			if c[0] == "public" {
				testkit.Must(t, err)
			} else if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c[0]) {
				t.Errorf("%s: got %v, want it refused as %q", addr, err, c[0])
			}
		}
	}
}
