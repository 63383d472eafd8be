package api

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"hdqs/api/wire"
	"hdqs/internal/testkit"
)

// Pages of every second row, and of three rows.
const (
	scatteredPage = "/api/v2/metadata/location?has_hrp=true&app_identifier=" + goodIdentifier
	shortPage     = "/api/v2/metadata/location?limit=3&app_identifier=" + goodIdentifier
)

var codedPage = []HeaderField{{"Accept-Encoding", "gzip"}}

// TestLongAnswersLeaveSlots checks that pages that take long to make wait for slots of their own,
// and that short queries are answered meanwhile.
func TestLongAnswersLeaveSlots(t *testing.T) {
	t.Parallel()
	s := testServer(t, Options{Queries: 1, CacheBytes: -1}, []*testTable{numberedLocations(4*manyCoded, nil)})
	s.gate, s.long = wire.NewGate(1, testkit.Patience), wire.NewGate(1, testkit.Patience)
	if !s.long.Enter(false) {
		t.Fatal("the slot is taken")
	}
	const pages = 4
	var done sync.WaitGroup
	for range pages {
		done.Go(func() {
			if got := s.Answer("GET", scatteredPage, codedPage); got.Status != 200 {
				t.Errorf("a long page is %d %s", got.Status, got.Body)
			}
		})
	}
	waitFor(t, "long pages that wait", func() bool { return s.long.Waiting() == pages })
	if got := s.Answer("GET", shortPage, codedPage); got.Status != 200 || s.gate.Running() != 0 {
		t.Errorf("a short query is %d, with %d slots of short ones taken", got.Status, s.gate.Running())
	}
	if got := s.Answer("GET", scatteredPage, nil); got.Status != 200 {
		t.Errorf("an uncompressed page is %d", got.Status)
	}
	if n := s.long.Running(); n != 1 {
		t.Errorf("%d long answers run, want the one that has the slot", n)
	}
	s.long.Leave()
	done.Wait()
	if s.long.Running() != 0 || s.gate.Running() != 0 {
		t.Errorf("after that %d and %d slots are taken", s.long.Running(), s.gate.Running())
	}

	s.long = wire.NewGate(1, time.Millisecond)
	s.long.Enter(false)
	got := s.Answer("GET", scatteredPage, codedPage)
	if got.Status != 503 || !bytes.Contains(got.Body, []byte(`"rule":"queries at once"`)) || s.gate.Running() != 0 {
		t.Errorf("without a slot in time: %d %s, %d slots of short ones taken", got.Status, got.Body, s.gate.Running())
	}
	if _, has := got.field("X-Total-Count"); has {
		t.Error("the refusal has the header of the page")
	}
}
