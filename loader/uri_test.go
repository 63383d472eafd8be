package loader

import "testing"

func TestPrintedLinks(t *testing.T) {
	for _, c := range readCases(t, "testdata/uri/printed.txt") {
		stored, want := c.cut(" -> ")
		if got := normalURI(stored); got != want {
			t.Errorf("%s: %q is printed %q, want %q", c.at, stored, got, want)
		}
		if again := normalURI(want); again != want {
			t.Errorf("%s: %q printed again is %q", c.at, want, again)
		}
	}
}
