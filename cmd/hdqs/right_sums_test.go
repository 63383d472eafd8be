package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestRightSums asks the real input for sums that are right: the checks of wrong sums let all of
// them pass, and none is empty.
func TestRightSums(t *testing.T) {
	parallel(t)
	s := serve(t, "--store", fixtureStore(t))
	asked := 0
	for line := range strings.Lines(string(testkit.ReadFile(t, filepath.Join("testdata", "right_sums.txt")))) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		a := ask(t, "GET", s.base+with("/api/v2/"+line))
		if asked++; a.status != 200 || len(decode[struct{ Data []any }](t, a.body).Data) == 0 {
			t.Errorf("%s: %d %.500s", line, a.status, a.body)
		}
	}
	if asked < 60 {
		t.Errorf("%d sums, want at least 60", asked)
	}
}
