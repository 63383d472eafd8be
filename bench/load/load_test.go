package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/internal/testkit"
)

// TestQuantiles: the histogram's figures of two connections are those of all answers, to one per
// cent, and the slowest is exact.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	o, half := newOutcome(), newOutcome()
	for i := range 1000 {
		of := o
		if i%2 == 0 {
			of = half
		}
		of.count(&Query{Status: 200}, &fasthttp.Response{}, nil, time.Duration(i+1)*time.Microsecond)
	}
	o.add(half)
	for q, want := range map[float64]int{0.5: 500, 0.9: 900, 0.99: 990, 1: 1000} {
		got := int(o.Quantile(q) / time.Microsecond)
		if got < want || got > want+want/100 {
			t.Errorf("quantile %g is %d µs, want %d", q, got, want)
		}
	}
	if o.Requests != 1000 || o.Slowest != time.Millisecond {
		t.Errorf("%d requests, the slowest %v", o.Requests, o.Slowest)
	}
}

func TestMix(t *testing.T) {
	mix, err := ReadMix(strings.NewReader("# names\n\n3 a /x?y=1 status=422\n1 b /z conditional anonymous " +
		"gzip:cpu/nginx<=1.2 gzip:bytes/gzip6<=1.3\n"))
	want := []Query{
		{Weight: 3, Name: "a", Target: "/x?y=1", Status: 422},
		{
			Weight: 1, Name: "b", Target: "/z", Status: 304, Conditional: true, Anonymous: true,
			Bounds: []Bound{{Encoding: Gzip, Other: "nginx", Most: 1.2}, {Encoding: Gzip, Level: 6, Most: 1.3}},
		},
	}
	if err != nil || !reflect.DeepEqual(mix, want) {
		t.Errorf("got %v, %v", mix, err)
	}
	for _, bad := range []string{
		"", "1 a", "x a /", "-1 a /", "1 a b", "1 a / status=x", "1 a / strange", "1 a / body=%", "1 a /\n1 a /",
		"1 a / br:cpu/x<=1", "1 a / gzip:cpu/x<=x", "1 a / gzip:cpu/x<=0", "1 a / gzip:bytes/gzip12<=1",
		"1 a / gzip:cpu/<=1", "1 a / gzip:speed<=1", "1 a / gzip:cpu<=1",
	} {
		if _, err := ReadMix(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	f, err := os.Open("../mixes/typical.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if mix, err := ReadMix(f); err != nil || len(mix) < 20 {
		t.Errorf("typical mix: %d queries, %v", len(mix), err)
	}
}

// list answers a few records in various notations and transfer forms.
func list(w http.ResponseWriter, r *http.Request) {
	body := `{"data":[{"a":1.50,"b":"x"},{"b":null,"a":2}]}`
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", `"v1"`)
	switch {
	case r.Header.Get("If-None-Match") == `"v1"`:
		w.WriteHeader(http.StatusNotModified)
		return
	case r.URL.Path == "/close":
		w.Header().Set("Connection", "close")
	case r.URL.Path == "/chunked":
		w.(http.Flusher).Flush()
	case r.URL.Path == "/raw" && r.URL.RawQuery != "a=3%2B&b=%20x", r.URL.Path == "/bad":
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	fmt.Fprint(w, body)
}

func TestDrives(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(list))
	defer server.Close()
	s := &Server{Name: "test", URL: server.URL, PID: os.Getpid()}
	queries := []Query{
		{Weight: 2, Name: "length", Target: "/", Status: 200},
		{Weight: 1, Name: "chunked", Target: "/chunked", Status: 200},
		{Weight: 1, Name: "raw", Target: "/raw?a=3%2B&b=%20x", Status: 200},
		{Weight: 1, Name: "close", Target: "/close", Status: 200},
		{Weight: 1, Name: "bad", Target: "/bad", Status: 422},
		{Weight: 1, Name: "known", Target: "/", Status: 304, Conditional: true},
		{Weight: 1, Name: "wrong", Target: "/bad", Status: 200},
		{Weight: 0, Name: "never", Target: "/never", Status: 999},
	}
	for _, d := range []Drive{{Duration: 300 * time.Millisecond}, {Rate: 500, Duration: 300 * time.Millisecond}} {
		d.Queries, d.Encoding, d.Connections = queries, Identity, 4
		rate := d.Rate
		o, err := s.Run(d)
		if err != nil {
			t.Fatal(err)
		}
		asked := o.Requests + o.Wrong
		if o.Failed > 0 || o.Wrong == 0 || o.Wrong > asked/8+5 || o.FirstWrong != "wrong: status 422, want 200" {
			t.Errorf("rate %g: %d good, %d wrong, %d failed, %s", rate, o.Requests, o.Wrong, o.Failed, o.FirstWrong)
		}
		if rate > 0 && asked != 150 {
			t.Errorf("%d requests in 300 ms at %g a second", asked, rate)
		}
		if int(o.Latency.TotalCount()) != o.Requests || o.Bytes == 0 {
			t.Errorf("%d latencies of %d requests, %d bytes", o.Latency.TotalCount(), o.Requests, o.Bytes)
		}
	}
}

// TestStallsCount delays a server for a while. Requests that were due meanwhile must count as slow,
// although each was answered at once when it was sent.
func TestStallsCount(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 20 {
			time.Sleep(300 * time.Millisecond)
		}
		list(w, r)
	}))
	defer server.Close()
	s := &Server{Name: "test", URL: server.URL}
	o, err := s.Run(Drive{
		Queries: []Query{{Weight: 1, Name: "q", Target: "/", Status: 200}}, Encoding: Identity,
		Connections: 1, Rate: 200, Duration: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	// Sixty of two hundred were due during the stall, so the slowest quarter waited long.
	if o.Requests < 190 || o.Quantile(0.85) < 50*time.Millisecond {
		t.Errorf("%d requests, 85 %% within %v", o.Requests, o.Quantile(0.85))
	}
}

// TestSpareConnections uses many more connections than the rate needs. Their next requests are due
// long after the end of the drive, and waiting for them must not count as time of the drive.
func TestSpareConnections(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(list))
	defer server.Close()
	s := &Server{Name: "test", URL: server.URL}
	o, err := s.Run(Drive{
		Queries: []Query{{Weight: 1, Name: "q", Target: "/", Status: 200}}, Encoding: Identity,
		Connections: 200, Rate: 10, Duration: 300 * time.Millisecond,
	})
	if err != nil || o.Requests != 3 || o.Elapsed > 15*time.Second { // the next is due after 20s
		t.Errorf("%+v, %v: want 3 requests in 300 ms", o, err)
	}
}

func TestUsageOfThisProcess(t *testing.T) {
	before, err := UsageOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	after := before
	for end := time.Now().Add(testkit.Patience); after.CPU <= before.CPU && time.Now().Before(end) && err == nil; {
		after, err = UsageOf(os.Getpid())
	}
	if err != nil || after.CPU <= before.CPU || after.Resident < 1<<20 || after.Peak < after.Resident/2 {
		t.Errorf("before %+v, after %+v, %v", before, after, err)
	}
	if _, err := UsageOf(1 << 30); err == nil {
		t.Error("no error for a process that does not exist")
	}
}

func TestRatioOfRounds(t *testing.T) {
	if r := ratio([]float64{2, 9, 4, 5, 0}, []float64{1, 3, 4, 0, 1}); r != (Ratio{2, 1, 3}) {
		t.Errorf("%v", r)
	}
}
