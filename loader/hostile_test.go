//go:build !race

package loader

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// TestHostileCatalog loads a catalog full of faults: each bad row must be dropped and reported by
// file and line, each useless file refused, and the tables must be those of the catalog without
// faults.
func TestHostileCatalog(t *testing.T) {
	t.Parallel()
	hostile, sound := t.TempDir(), t.TempDir()
	faults := writeHostile(t, hostile)
	_, err := generator.Write(sound, generator.Options{Seed: 1})
	testkit.Must(t, err)
	// The hostile one has no catalog.json, which would name the site.
	load := func(dir string) *Report {
		t.Helper()
		report, err := Build(t.Context(),
			Options{
				Catalog: os.DirFS(dir), Store: openStore(t), SnapshotTime: someDay,
				CatalogURL: "https://example.com",
			})
		testkit.Must(t, err)
		return report
	}
	report := load(hostile)
	reported := map[string]bool{}
	for _, f := range report.Resources {
		for _, e := range f.Drops {
			for _, example := range e.First {
				reported[strings.Join(strings.SplitN(example, ":", 3)[:2], ":")] = true
			}
		}
	}
	for _, r := range report.Refused {
		reported[r.Path] = true
	}
	rows, files := 0, 0
	for _, fault := range faults {
		at := fault.path
		if files++; fault.line > 0 {
			rows, files, at = rows+1, files-1, fmt.Sprintf("%s:%d", fault.path, fault.line)
		}
		if !reported[at] {
			t.Errorf("%s: %s: not in the report", at, fault.what)
		}
	}
	if report.Rows.Dropped != rows || len(report.Refused) != files || !report.Partial {
		t.Errorf("%d rows dropped, %d files refused, partial %t; want %d, %d, true", report.Rows.Dropped,
			len(report.Refused), report.Partial, rows, files)
	}
	want := segmentsOf(load(sound))
	for table, sum := range segmentsOf(report) {
		if want[table] != sum {
			t.Errorf("table %s is not that of the sound catalog", table)
		}
	}
}

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

// hostileFault is an error in a hostile catalog.
type hostileFault struct {
	path string // relative to the catalog's root
	line int    // of the row; 0: the whole file
	what string
}

// brokenLines make a loader drop one row each. They are lines without their end.
var brokenLines = []struct {
	what string
	make func(good string) string
}{
	{"a cell too few", func(good string) string { return good[:strings.LastIndexByte(good, ',')] }},
	{"a cell too many", func(good string) string { return good + ",more" }},
	{"longer than a mebibyte", func(good string) string { return good + strings.Repeat("x", 1<<20+1) }},
	{"one word", func(string) string { return "word" }},
}

// brokenFiles cannot be read, or not to their end. HEADER is the header of the role's files.
var brokenFiles = []struct{ path, what, text string }{
	{"idps/zz_empty.csv", "empty file", ""},
	{"returnees/zz_page.csv", "a page of HTML", "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n"},
	{"funding/zz_columns.csv", "key columns are missing", "location_code,appeal_name\nAFG,Nothing\n"},
	{"poverty-rate/zz_cut.csv.gz", "gzip stream cut off", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x4a\x2c\x4e"},
	{"food-security/zz_quote.csv", "a quote that never closes", "HEADER\nAFG,Y,Y,\"never closed,\nand on it goes\n"},
	{"packages/zz-cut.json", "JSON cut off", `{"id": "zz", "name": "zz", "resources": [{`},
	{"packages/zz-other.json", "JSON that is no package", `["a", "list"]`},
}

// writeHostile writes the sample with faults added: a file zz_rows.csv with bad rows in every role,
// and files that are broken as a whole. It returns the faults. There is no catalog.json, so that a
// loader lists the folders.
func writeHostile(t *testing.T, dir string) (faults []hostileFault) {
	t.Helper()
	_, err := generator.Write(dir, generator.Options{Seed: 1})
	testkit.Must(t, err)
	testkit.Must(t, os.Remove(filepath.Join(dir, "catalog.json")))
	headers := map[string]string{}
	rowFaults := strings.Split(string(testkit.ReadFile(t, "testdata/hostile.txt")), "\n")
	for _, role := range generator.Roles() {
		files, _ := filepath.Glob(filepath.Join(dir, role, "hdx_*.csv"))
		text := bytes.TrimPrefix(testkit.ReadFile(t, files[len(files)-1]), []byte("\ufeff"))
		all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		testkit.Must(t, err)
		header, good := csvLine(all[0]), csvLine(all[1])
		path, lines := role+"/zz_rows.csv", []string{header}
		add := func(what, line string) {
			lines = append(lines, line)
			faults = append(faults, hostileFault{path, len(lines), what})
		}
		for _, f := range rowFaults {
			if parts := strings.Split(f, "|"); parts[0] == role {
				add(parts[1], csvLine(badRow(t, all[0], all[1], parts[2:])))
			}
		}
		for _, broken := range brokenLines {
			add(broken.what, broken.make(good))
		}
		lines = append(lines, good, "") // a good row after all bad ones
		testkit.WriteFile(t, filepath.Join(dir, path), []byte(strings.Join(lines, "\n")))
		headers[role] = header
	}
	for _, f := range brokenFiles {
		text := strings.ReplaceAll(f.text, "HEADER", headers[filepath.Dir(f.path)])
		testkit.WriteFile(t, filepath.Join(dir, f.path), []byte(text))
		faults = append(faults, hostileFault{path: f.path, what: f.what})
	}
	return faults
}

// badRow is a valid row with some cells made invalid. A loader drops it.
func badRow(t *testing.T, header, good, changes []string) []string {
	t.Helper()
	bad := slices.Clone(good)
	for _, change := range changes {
		column, cell, _ := strings.Cut(change, "=")
		cell = strings.ReplaceAll(cell, `\xff\xfe`, "\xff\xfe")
		if letter, times, found := strings.Cut(cell, "*"); found {
			n, _ := strconv.Atoi(times)
			cell = strings.Repeat(letter, n)
		}
		i := slices.Index(header, column)
		if i < 0 {
			t.Fatalf("no column %s in %q", column, header)
		}
		bad[i] = cell
	}
	return bad
}

// csvLine is a line of CSV without its end.
func csvLine(cells []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(cells) // to memory
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
