package main_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

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
	t.Run("endpoints", s.testEndpoints)
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

func (s *server) testEndpoints(t *testing.T) {
	for _, e := range endpoints(t) {
		t.Run(strings.TrimPrefix(e.Path, "/api/v2/"), func(t *testing.T) {
			total := s.testJSON(t, &e)
			s.testCSV(t, &e, total)
		})
	}
}

// testJSON checks that records have the contract's fields in its order, and that the total is
// right.
func (s *server) testJSON(t *testing.T, e *endpoint) (total int) {
	t.Helper()
	a := ask(t, "GET", s.base+with(e.Path))
	if a.status != 200 || a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %q", a.status, a.header.Get("Content-Type"))
	}
	total, err := strconv.Atoi(a.header.Get("X-Total-Count"))
	testkit.Must(t, err)
	records := decode[struct{ Data []json.RawMessage }](t, a.body).Data
	if len(records) != min(total, 10000) || total == 0 {
		t.Errorf("%d records, X-Total-Count %d", len(records), total)
	}
	for i, record := range records {
		if got := keys(t, record); !slices.Equal(got, e.names()) {
			t.Fatalf("record %d has the fields %q, want %q", i, got, e.names())
		}
	}
	return total
}

// keys returns an object's keys in the order of the text.
func keys(t *testing.T, object []byte) []string {
	t.Helper()
	var names []string
	d := json.NewDecoder(bytes.NewReader(object))
	for at := 0; ; at++ {
		token, err := d.Token()
		if err == io.EOF {
			return names
		}
		testkit.Must(t, err)
		if name, ok := token.(string); ok && at%2 == 1 {
			names = append(names, name)
		}
	}
}

func (s *server) testCSV(t *testing.T, e *endpoint, total int) {
	t.Helper()
	a := ask(t, "GET", s.base+with(e.Path+"?output_format=csv"))
	if a.status != 200 || a.header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Fatalf("CSV: %d %q", a.status, a.header.Get("Content-Type"))
	}
	if d := a.header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment; filename=") {
		t.Errorf("CSV: Content-Disposition %q", d)
	}
	lines, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
	testkit.Must(t, err)
	if !slices.Equal(lines[0], e.names()) {
		t.Errorf("CSV: header %q, want %q", lines[0], e.names())
	}
	if len(lines)-1 != min(total, 10000) {
		t.Errorf("CSV: %d lines, X-Total-Count %d", len(lines)-1, total)
	}
	if !bytes.HasSuffix(a.body, []byte("\r\n")) || bytes.Count(a.body, []byte("\r\n")) < len(lines) {
		t.Errorf("CSV: not all lines end in CR LF")
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
