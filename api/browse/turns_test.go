package browse_test

import (
	"runtime"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestPagesTakeTurns checks that a page waits for those before it, and that a query does not.
func TestPagesTakeTurns(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, []*apitest.Table{apitest.Locations(3, nil)})
	turns := max(1, runtime.GOMAXPROCS(0)/2)
	for range turns {
		if !s.Lists.Admission.Pages.Enter(false) {
			t.Fatal("a turn is taken")
		}
	}
	done := make(chan int)
	go func() { done <- s.Answer("GET", "/browse/location", nil).Status }()
	testkit.WaitFor(t, "a page that waits", func() bool { return s.Lists.Admission.Pages.Waiting() == 1 })
	if got := s.Answer("GET", "/api/v2/metadata/location?app_identifier="+apitest.Identifier, nil); got.Status != 200 {
		t.Errorf("a query is %d", got.Status)
	}
	for range turns {
		s.Lists.Admission.Pages.Leave()
	}
	if status := <-done; status != 200 {
		t.Errorf("the page is %d", status)
	}
}
