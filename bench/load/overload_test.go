package load

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestOverload measures servers of a known capacity: four answers at once, ten milliseconds or more
// each.
// One refuses what is above that. The other queues everything, so its answers come too late in the
// open loop.
func TestOverload(t *testing.T) {
	t.Run("refuses", func(t *testing.T) { t.Parallel(); checkOverload(t, false) })
	t.Run("queues", func(t *testing.T) { t.Parallel(); checkOverload(t, true) })
}

func checkOverload(t *testing.T, queues bool) {
	const slots = 4
	var running, length atomic.Int64
	room := make(chan struct{}, slots)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			return
		}
		defer running.Add(-1)
		if running.Add(1) > slots && !queues {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		room <- struct{}{}
		defer func() { <-room }()
		time.Sleep(time.Duration(length.Load()))
		io.WriteString(w, "[]") //nolint:errcheck // the client may have gone
	}))
	defer s.Close()
	v := Overload{
		Server: &Server{Name: "fake", URL: s.URL, PID: os.Getpid()}, Encoding: Identity,
		Queries:     []Query{{Weight: 1, Name: "one", Target: "/one", Status: 200}},
		Connections: slots, Wide: 64, Idle: 20, Rounds: 1, Progress: t.Logf,
	}
	var r *OverloadReport
	// A busy machine may measure so low a usual rate that three times as much is no overload: then
	// again, with a slower server.
	for each := 10 * time.Millisecond; ; each *= 2 {
		length.Store(int64(each))
		v.Patience, v.Burst = 10*each, 25*each
		var err error
		if r, err = v.Run(); err != nil {
			t.Fatal(err)
		}
		if overloadFactor*r.Parts[1].Usual[0][0].PerSecond >= 1.5*slots/each.Seconds() {
			break
		}
	}
	open, retrying := r.Parts[1].Rounds[0], r.Parts[2].Rounds[0]
	if len(r.Parts) != 4 || open.Asked != overloadFactor*r.Parts[1].Usual[0][0].PerSecond || r.Recoveries[0] <= 0 ||
		r.Parts[3].Rate.Median <= 0 || queues != (retrying.Wrong == 0) {
		t.Errorf("%+v", r)
	}
	switch {
	case queues && (open.Wrong != 0 || open.Late+open.Unsent == 0):
		t.Errorf("the queueing server refused %d, %d late, %d unsent; want no refusal, some late or unsent",
			open.Wrong, open.Late, open.Unsent)
	case !queues && (open.Wrong == 0 || open.PerSecond == 0):
		t.Errorf("the refusing server refused %d, %v good answers/s; want both above 0", open.Wrong, open.PerSecond)
	}
	var page bytes.Buffer
	if err := r.WriteMarkdown(&page); err != nil || !strings.Contains(page.String(), "| 12 connections |") {
		t.Errorf("%v\n%s", err, page.String())
	}
}

// TestPatience checks that an answer after the caller's patience counts as late, and that a request
// without a free connection is not sent.
func TestPatience(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if asked.Add(1) == 2 {
			time.Sleep(1200 * time.Millisecond)
		}
	}))
	defer s.Close()
	o, err := (&Server{Name: "fake", URL: s.URL}).Run(Drive{
		Queries: []Query{{Weight: 1, Name: "one", Target: "/one", Status: 200}}, Encoding: Identity, Connections: 1,
		Rate:     12.5,
		Duration: 2 * time.Second, Patience: 600 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.Late == 0 || o.Unsent < 5 || o.Requests+o.Late+o.Unsent != 25 || int64(o.Requests+o.Late) != asked.Load() {
		t.Errorf("%d good, %d late, %d unsent of 25; %d arrived", o.Requests, o.Late, o.Unsent, asked.Load())
	}
}
