package main_test

import (
	"testing"

	"hdqs/internal/testkit"
)

// TestRightSums asks the real input for sums that are right: the checks of wrong sums let all of
// them pass, and none is empty.
func TestRightSums(t *testing.T) {
	parallel(t)
	s := serve(t, "--store", fixtureStore(t))
	sums := testkit.Cases(t, "testdata/right_sums.txt", "?", 2)
	for _, c := range sums {
		a := ask(t, "GET", s.base+with("/api/v2/"+c[0]+"?"+c[1]))
		if a.status != 200 || len(decode[struct{ Data []any }](t, a.body).Data) == 0 {
			t.Errorf("%s: %d %.500s", c, a.status, a.body)
		}
	}
	if len(sums) < 60 {
		t.Errorf("%d sums, want at least 60", len(sums))
	}
}
