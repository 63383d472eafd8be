//go:build !race

package loader

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// TestViewFaults changes one thing in the small world and compares the report with the case.
func TestViewFaults(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/views/faults.txt") {
		change, want := c.cut(" -> ")
		name, change, ok := strings.Cut(change, ": ")
		if !ok {
			t.Fatalf("%s: no dump named", c.at)
		}
		fsys, wants := smallViews(t)
		applyChange(t, c, fsys, name, change)
		s, report := buildViews(t, fsys)
		var added []string
		for line := range strings.Lines(describeReport(report)) {
			if !strings.Contains(wants["report"], line) {
				added = append(added, strings.TrimSpace(line))
			}
		}
		got := cmp.Or(strings.Join(added, "; "), "nothing")
		if th := viewNamed(name); th != nil {
			got = fmt.Sprintf("%d rows, %s", s.Segments[th.table.name].Rows(), got)
		}
		if got != want {
			t.Errorf("%s: %s: %s\n gives %s\n want  %s", c.at, name, change, got, want)
		}
	}
}

// applyChange makes the change of a case: remove, hash TEXT, or "old" => "new" in the dump's text.
func applyChange(t *testing.T, c textCase, fsys fstest.MapFS, name, change string) {
	t.Helper()
	dump := fsys[name+".csv"]
	switch {
	case change == "remove":
		delete(fsys, name+".csv")
	case strings.HasPrefix(change, "new "):
		fsys[name+".csv"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(change[4:], "|", "\n") + "\n")}
	case strings.HasPrefix(change, "hash "):
		fsys[name+".hash"] = &fstest.MapFile{Data: []byte(change[5:])}
	default:
		old, now, ok := strings.Cut(change, " => ")
		if !ok || !bytes.Contains(dump.Data, []byte(old)) {
			t.Fatalf("%s: %q changes nothing in %s", c.at, change, name)
		}
		dump.Data = []byte(strings.ReplaceAll(string(dump.Data), old, now))
	}
}
