//go:build !race

package loader

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestRefusedBytes checks that a file whose bytes are not what they should be is refused and the
// rest is loaded.
func TestRefusedBytes(t *testing.T) {
	t.Parallel()
	whole := []byte(shorthand.Replace(smallTheme))
	entry := func(rest string) string {
		return `{"format": 1, "resources": [{"role": "location", "path": "reference/location.csv"}, {"role": "pcodes", "path": "reference/pcodes.csv"},
			{"role": "idps", "path": "idps/a.csv"` + rest + `}]}`
	}
	bomb := gzipped(append(slices.Clone(whole), bytes.Repeat([]byte("\n"), 66<<20)...))
	for name, c := range map[string]struct {
		catalog string
		path    string
		data    []byte
		want    string
	}{
		"another sum": {
			entry(`, "sha256": "` + strings.Repeat("0", 64) + `"`), "idps/a.csv", whole,
			"catalog.json says 0000",
		},
		"another size":      {entry(`, "size": 5`), "idps/a.csv", whole, "catalog.json says 5"},
		"not there":         {entry(""), "idps/b.csv", whole, "file does not exist"},
		"no archive":        {"", "idps/a.csv.gz", whole, "gzip: invalid header"},
		"no zstd archive":   {"", "idps/a.csv.zst", whole, "magic number mismatch"},
		"empty archive":     {"", "idps/a.csv.gz", nil, "unexpected EOF"},
		"truncated archive": {"", "idps/a.csv.gz", gzipped(whole)[:150], "unexpected EOF"},
		"empty file":        {"", "idps/a.csv", nil, "no header row"},
		"bomb":              {"", "idps/a.csv.gz", bomb, "unpacks to more than 100 times its size"},
		"zstd bomb": {
			"", "idps/a.csv.zst",
			zstdded(append(slices.Clone(whole),
				bytes.Repeat([]byte("\n"), 66<<20)...)), "unpacks to more than 100 times its size",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := smallCatalog(t)
			delete(files, "idps/a.csv")
			files[c.path] = &fstest.MapFile{Data: c.data}
			if c.catalog != "" {
				files["catalog.json"] = &fstest.MapFile{Data: []byte(c.catalog)}
			}
			st := openStore(t)
			report := build(t, st, files, someDay)
			if len(report.Refused) != 1 || !strings.Contains(report.Refused[0].Why, c.want) || !report.Partial {
				t.Errorf("%s: partial %t, refused %v, want %q", name, report.Partial, report.Refused, c.want)
			}
			if n := openBuilt(t, st, report).Segments["idps"].Rows(); n != 0 {
				t.Errorf("%s: %d rows of the refused file", name, n)
			}
		})
	}
}

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
		for line := range strings.SplitSeq(describeReport(t, report), "\n") {
			if !slices.Contains(strings.Split(wants["report"], "\n"), line) {
				added = append(added, line)
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
