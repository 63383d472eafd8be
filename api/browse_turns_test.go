package api

import (
	"testing"
	"time"

	"hdqs/api/wire"
)

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
