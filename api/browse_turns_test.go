package api

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/wire"
)

// panicHere is in the stack of a panic in the background.
func panicHere() error {
	var none []int
	return map[int]error{}[none[len(none)]]
}

// TestPanicInBackground checks that a panic in work that has a thread of its own costs only its
// request, and that the log has the stack of where it was.
func TestPanicInBackground(t *testing.T) {
	t.Parallel()
	var log lockedLog
	o := Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	s := testServer(t, o, []*testTable{numberedLocations(3, nil)})
	s.add(s.mounts[0], "/api/break", route{handler: func(*fasthttp.RequestCtx) { _ = inBackground(panicHere) }})
	if got := s.Answer("GET", "/api/break?app_identifier="+goodIdentifier, nil); got.Status != 500 {
		t.Errorf("status %d", got.Status)
	}
	if text := log.String(); !strings.Contains(text, "panicHere") || !strings.Contains(text, "index out of range") ||
		s.panics.Load() != 1 {
		t.Errorf("%d panics: %s", s.panics.Load(), text)
	}
}

// TestPagesTakeTurns checks that a page waits for those before it, and that a query does not.
func TestPagesTakeTurns(t *testing.T) {
	t.Parallel()
	s := testServer(t, Options{}, []*testTable{numberedLocations(3, nil)})
	s.pages = wire.NewGate(1, time.Minute)
	if !s.pages.Enter(false) {
		t.Fatal("the turn is taken")
	}
	done := make(chan int)
	go func() { done <- s.Answer("GET", "/browse/location", nil).Status }()
	waitFor(t, "a page that waits", func() bool { return s.pages.Waiting() == 1 })
	if got := s.Answer("GET", "/api/v2/metadata/location?app_identifier="+goodIdentifier, nil); got.Status != 200 {
		t.Errorf("a query is %d", got.Status)
	}
	s.pages.Leave()
	if status := <-done; status != 200 {
		t.Errorf("the page is %d", status)
	}
}
