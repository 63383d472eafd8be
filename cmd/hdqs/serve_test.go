package main_test

import (
	"bytes"
	"regexp"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// TestServeSample starts the program without a catalog, as a newcomer does, and asks for
// everything.
func TestServeSample(t *testing.T) {
	s := serve(t)
	testkit.WaitFor(t, "Last-Modified, which is known after the first poll", func() bool {
		return ask(t, "GET", s.base+with("/api/v2/metadata/location?limit=1")).header.Get("Last-Modified") != ""
	})
	t.Run("printed addresses", s.testPrinted)
	for _, e := range contract.Endpoints { // the judge compares what is in them
		totalOf(t, s, e.Path+"?limit=1")
	}
	t.Run("pages", s.testPages)
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0\n%s", code, s.log)
	}
	if s.logged("panic") {
		t.Errorf("a panic in the log:\n%s", s.log)
	}
}

// testPrinted asks for the addresses that the program prints at its start.
func (s *server) testPrinted(t *testing.T) {
	urls := regexp.MustCompile(`(?m)^ +(http://\S+)`).FindAllStringSubmatch(s.log.String(), -1)
	if len(urls) < 5 {
		t.Fatalf("%d addresses printed, want 5 or more:\n%s", len(urls), s.log)
	}
	for _, url := range urls {
		if a := ask(t, "GET", url[1]); a.status != 200 || len(a.body) == 0 {
			t.Errorf("GET %s: %d with %d bytes", url[1], a.status, len(a.body))
		}
	}
}

// testPages asks for pages, which say that their figures are made up.
func (s *server) testPages(t *testing.T) {
	for _, path := range []string{"/", "/docs", "/browse/idps"} {
		if a := ask(t, "GET", s.base+path); a.status != 200 || !bytes.Contains(a.body, []byte(madeUp)) {
			t.Errorf("%s: %d, without %q", path, a.status, madeUp)
		}
	}
}

// madeUp is what every page of the embedded sample says, and none of a store or a catalog.
const madeUp = "These figures are made up."
