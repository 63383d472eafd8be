package list_test

import (
	"bytes"
	"strconv"
	"sync"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/background"
	"hdqs/internal/testkit"
)

// Pages of every second row, of neighbouring rows, and of three rows.
const (
	scatteredPage = "/api/v2/metadata/location?has_hrp=true&app_identifier=" + apitest.Identifier
	runPage       = "/api/v2/metadata/location?limit=2000&app_identifier=" + apitest.Identifier
	shortPage     = "/api/v2/metadata/location?limit=3&app_identifier=" + apitest.Identifier
)

var (
	codedPage = apitest.Fields("Accept-Encoding", "gzip")
	wholePage = apitest.Fields("Accept-Encoding", "zstd")
)

// TestLongAnswersLeaveSlots checks that pages that take long to make wait for slots of their own,
// and that short queries are answered meanwhile.
func TestLongAnswersLeaveSlots(t *testing.T) {
	t.Parallel()
	s := apitest.Server(
		t,
		state.Options{Queries: 1, CacheBytes: -1},
		[]*apitest.Table{apitest.Locations(4*list.ManyCoded,
			nil)},
	)
	a := &s.Lists.Admission
	a.Gate, a.Slow = wire.NewGate(1, testkit.Patience), wire.NewGate(1, testkit.Patience)
	if !s.Lists.Admission.Slow.Enter(false) {
		t.Fatal("the slot is taken")
	}
	const pages = 4
	var done sync.WaitGroup
	for i := range pages {
		done.Go(func() {
			target, header := scatteredPage, codedPage
			if i%2 > 0 {
				target, header = runPage, wholePage
			}
			if got := s.Answer("GET", target, header); got.Status != 200 {
				t.Errorf("a long page is %d %s", got.Status, got.Body)
			}
		})
	}
	testkit.WaitFor(t, "long pages that wait", func() bool { return s.Lists.Admission.Slow.Waiting() == pages })
	if got := s.Answer("GET", shortPage, codedPage); got.Status != 200 || s.Lists.Admission.Gate.Running() != 0 {
		t.Errorf("a short query is %d, with %d slots of short ones taken", got.Status, s.Lists.Admission.Gate.Running())
	}
	if got := s.Answer("GET", scatteredPage, nil); got.Status != 200 {
		t.Errorf("an uncompressed page is %d", got.Status)
	}
	if got := s.Answer("GET", runPage, codedPage); got.Status != 200 {
		t.Errorf("a page of neighbouring rows in gzip is %d", got.Status)
	}
	if n := s.Lists.Admission.Slow.Running(); n != 1 {
		t.Errorf("%d long answers run, want the one that has the slot", n)
	}
	s.Lists.Admission.Slow.Leave()
	done.Wait()
	if s.Lists.Admission.Slow.Running() != 0 || s.Lists.Admission.Gate.Running() != 0 {
		t.Errorf("after that %d and %d slots are taken", a.Slow.Running(), a.Gate.Running())
	}

	s.Lists.Admission.Slow = wire.NewGate(1, time.Millisecond)
	s.Lists.Admission.Slow.Enter(false)
	got := s.Answer("GET", scatteredPage, codedPage)
	if got.Status != 503 || !bytes.Contains(got.Body, []byte(`"rule":"queries at once"`)) ||
		s.Lists.Admission.Gate.Running() != 0 {
		t.Errorf("without a slot in time: %d %s, %d slots of short ones taken", got.Status, got.Body, a.Gate.Running())
	}
	if _, has := apitest.Field(got, "X-Total-Count"); has {
		t.Error("the refusal has the header of the page")
	}
}

// TestAggregatesTakeTurns checks that an aggregate over many groups waits for its turn, and that
// short queries do not.
func TestAggregatesTakeTurns(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{CacheBytes: -1}, []*apitest.Table{apitest.Locations(2*list.ManyCoded, nil)})
	const many = "/api/v2/metadata/location/aggregate?group_by=id&measures=count&limit=10&app_identifier=" + apitest.Identifier
	turns := make([]background.Turn, background.Turns())
	for i := range turns {
		turns[i].Begin()
	}
	done := make(chan api.Answer, 1)
	go func() { done <- s.Answer("GET", many, codedPage) }()
	testkit.WaitFor(t, "the aggregate", func() bool { return s.Lists.Admission.Slow.Running() == 1 })
	if got := s.Answer("GET", shortPage, codedPage); got.Status != 200 {
		t.Errorf("a short query is %d", got.Status)
	}
	select {
	case got := <-done:
		t.Errorf("the aggregate did not wait: %d", got.Status)
	case <-time.After(300 * time.Millisecond):
	}
	for i := range turns {
		turns[i].End()
	}
	if got := <-done; got.Status != 200 || apitest.Header(got, "X-Total-Count") != strconv.Itoa(2*list.ManyCoded) {
		t.Errorf("the aggregate is %d with %s groups", got.Status, apitest.Header(got, "X-Total-Count"))
	}
}
