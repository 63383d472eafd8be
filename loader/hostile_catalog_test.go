//go:build !race

package loader

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

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
