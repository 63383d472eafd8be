package loader

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// textCase is one line of a case file.
type textCase struct {
	t    *testing.T
	at   string // file:line
	line string
}

// cut splits a line at a mark that it must have.
func (c textCase) cut(mark string) (before, after string) {
	c.t.Helper()
	before, after, ok := strings.Cut(c.line, mark)
	if !ok {
		c.t.Fatalf("%s: no %q in %q", c.at, mark, c.line)
	}
	return before, after
}

// readCases reads a case file: one case in each line, # begins a comment, empty lines are skipped.
func readCases(t *testing.T, path string) []textCase {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []textCase
	for i, line := range strings.Split(string(data), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			cases = append(cases, textCase{t, path + ":" + strconv.Itoa(i+1), line})
		}
	}
	if len(cases) == 0 {
		t.Fatalf("%s: no cases", path)
	}
	return cases
}
