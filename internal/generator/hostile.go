package generator

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Fault is an error in a hostile catalog, and its expected effect.
type Fault struct {
	Path  string // relative to the catalog's root
	Line  int    // of the row; 0: the whole file
	What  string
	Fatal bool // the rest of the file cannot be read: its role may be refused
}

// rowFault is a valid row with some cells made invalid.
type rowFault struct {
	what  string
	cells map[string]string
}

//go:embed faults.txt
var faultsText string

// rowFaults reads the faults of a role. Each makes a loader drop exactly one row.
func rowFaults(role string) (faults []rowFault) {
	for line := range strings.Lines(faultsText) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if parts[0] != role {
			continue
		}
		f := rowFault{parts[1], map[string]string{}}
		for _, part := range parts[2:] {
			column, cell, _ := strings.Cut(part, "=")
			cell = strings.ReplaceAll(cell, `\xff\xfe`, "\xff\xfe")
			if letter, times, found := strings.Cut(cell, "*"); found {
				n, _ := strconv.Atoi(times)
				cell = strings.Repeat(letter, n)
			}
			f.cells[column] = cell
		}
		faults = append(faults, f)
	}
	return faults
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

// brokenFiles cannot be read, or not to their end.
var brokenFiles = []struct{ path, what, text string }{
	{"idps/zz_empty.csv", "empty file", ""},
	{"returnees/zz_page.csv", "a page of HTML", "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n"},
	{"funding/zz_columns.csv", "key columns are missing", "location_code,appeal_name\nAFG,Nothing\n"},
	{"poverty-rate/zz_cut.csv.gz", "gzip stream cut off", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x4a\x2c\x4e"},
	{"food-security/zz_quote.csv", "a quote that never closes", strings.Join(csvHeaders["food-security"], ",") +
		"\nAFG,Y,Y,\"never closed,\nand on it goes\n"},
	{"packages/zz-cut.json", "JSON cut off", `{"id": "zz", "name": "zz", "resources": [{`},
	{"packages/zz-other.json", "JSON that is no package", `["a", "list"]`},
}

// WriteHostile writes the sample (with Small the small catalog) with faults added: a file
// zz_rows.csv with bad rows in every role, and files that are broken as a whole. It returns the
// faults and lists them in faults.json. There is no catalog.json, so that a loader lists the
// folders.
func WriteHostile(dir string, o Options) ([]Fault, error) {
	if _, err := Write(dir, Options{Seed: o.Seed, Small: o.Small}); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(dir, "catalog.json")); err != nil {
		return nil, err
	}
	var faults []Fault
	for _, t := range themes {
		some, err := writeBadRows(dir, t)
		if err != nil {
			return nil, err
		}
		faults = append(faults, some...)
	}
	for _, f := range brokenFiles {
		if _, err := writeWhole(dir, f.path, []byte(f.text)); err != nil {
			return nil, err
		}
		faults = append(faults, Fault{Path: f.path, What: f.what, Fatal: true})
	}
	text, err := json.MarshalIndent(faults, "", " ")
	if err != nil {
		return nil, err
	}
	_, err = writeWhole(dir, "faults.json", append(text, '\n'))
	return faults, err
}

// writeBadRows writes the bad rows of a role, made from the first row of its last file.
func writeBadRows(dir string, t *theme) ([]Fault, error) {
	files, err := filepath.Glob(filepath.Join(dir, t.role, "hdx_*.csv"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("generator: role %s has no files", t.role)
	}
	text, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		return nil, err
	}
	all, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil {
		return nil, err
	}
	header, good := all[0], all[1]
	path := t.role + "/zz_rows.csv"
	l := &line{ends: "\n"}
	l.row(header...)
	var faults []Fault
	at := 1
	for _, f := range rowFaults(t.role) {
		bad := slices.Clone(good)
		for column, cell := range f.cells {
			i := slices.Index(header, column)
			if i < 0 {
				return nil, fmt.Errorf("generator: role %s has no column %s, of %v", t.role, column,
					slices.Collect(maps.Keys(f.cells)))
			}
			bad[i] = cell
		}
		at++
		l.row(bad...)
		faults = append(faults, Fault{Path: path, Line: at, What: f.what})
	}
	for _, broken := range brokenLines {
		before := len(l.buf)
		l.row(good...)
		whole := broken.make(string(l.buf[before : len(l.buf)-1]))
		l.buf = append(append(l.buf[:before], whole...), '\n')
		at++
		faults = append(faults, Fault{Path: path, Line: at, What: broken.what})
	}
	l.row(good...) // a good row after all bad ones
	_, err = writeWhole(dir, path, l.buf)
	return faults, err
}
