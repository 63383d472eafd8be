package main_test

import (
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"hdqs/internal/testkit"
)

var derivedMetric = regexp.MustCompile(`(?m)^hdqs_derived_bytes (\S+)$`)

// made returns the memory of what has been made for answers.
func (s *server) made(t *testing.T) float64 {
	t.Helper()
	found := derivedMetric.FindSubmatch(ask(t, "GET", s.admin+"/metrics").body)
	if found == nil {
		t.Fatal("/metrics has no hdqs_derived_bytes")
	}
	bytes, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestWarmUp checks that the first requests of each endpoint find everything made that they need,
// after a start and after a swap.
func TestWarmUp(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	s := serve(t, "--store", store, "--snapshot-poll", "1h")
	check := func(when string) {
		t.Helper()
		before := s.made(t)
		for _, e := range endpoints(t) {
			for _, r := range []struct{ query, coding string }{
				{"", "identity"},
				{"?output_format=csv", "identity"},
				// Pages of more rows than this make stored blocks, for the first ten requests.
				{"?limit=300", "gzip"},
				{"?output_format=csv&limit=300", "gzip"},
			} {
				if a := ask(t, "GET", s.base+with(e.Path+r.query), "Accept-Encoding", r.coding); a.status != 200 {
					t.Errorf("%s%s: %d", e.Path, r.query, a.status)
				}
			}
		}
		switch after := s.made(t); {
		case s.logged("warming up took too long"):
			t.Logf("%s: the machine is so busy that the warm-up ended early", when)
		// Lengths of single rows at the end of a page are not warmed up: they take microseconds.
		case after < before || after-before > 1e4:
			t.Errorf("%s: the first requests made %.0f bytes, besides %.0f before", when, after-before, before)
		case before < 1e5:
			t.Errorf("%s: only %.0f bytes were made", when, before)
		}
	}
	check("after the start")
	buildOther(t, store, "2026-12-01T00:00:00Z")
	view, _ := inspect(t, store)
	s.signal(t, syscall.SIGHUP)
	testkit.WaitFor(t, "the swap", func() bool { return s.snapshotID(t) == view.ID })
	check("after a swap")
}
