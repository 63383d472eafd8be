package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestCountryPage asks for the 30 figures of a country page for some countries of the sample, and
// compares them with what a second implementation, in Python, adds up from the full pages.
func TestCountryPage(t *testing.T) {
	parallel(t)
	checkCountryPages(t, sampleStore(t), 12)
}

// TestCountryPageFixture does the same for the countries of the real input with data in most lists.
// `make soak` asks for all.
func TestCountryPageFixture(t *testing.T) {
	parallel(t)
	checkCountryPages(t, fixtureStore(t), testkit.Trials(1000, 40))
}

// checkCountryPages runs testdata/country.py for at most so many countries.
func checkCountryPages(t *testing.T, store string, most int) {
	t.Helper()
	s := serve(t, "--store", store)
	cmd := exec.CommandContext(t.Context(), testkit.Program(t, "python3", "python3"),
		filepath.Join("testdata", "country.py"), s.base, s.admin, identifier, fmt.Sprint(most))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) > 1 {
		t.Errorf("%d answers differ:\n%s", len(lines)-1, strings.Join(lines[:min(len(lines)-1, 10)], "\n"))
	}
	var countries, requests, refused, figures int
	var cpu float64
	if _, err := fmt.Sscan(lines[len(lines)-1], &countries, &requests, &refused, &figures, &cpu); err != nil {
		t.Fatalf("%v in %q", err, lines[len(lines)-1])
	}
	t.Logf("%d countries, %d requests, of which %d were refused, %d figures, %.1f ms of the server's CPU time "+
		"for a country", countries, requests, refused, figures, cpu)
	if countries < min(most, 10) || requests != 30*countries || figures < 1000 {
		t.Errorf("%d countries, %d requests, %d figures: too few", countries, requests, figures)
	}
}
