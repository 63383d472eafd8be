package main_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// csvDump returns all lines of a list of a snapshot, without the header. The endpoint must have no
// more than 10,000.
func csvDump(t *testing.T, s *server, path, id string) []string {
	t.Helper()
	var all []string
	for offset := ""; ; {
		a := ask(t, "GET", s.base+with(path+"?output_format=csv&snapshot="+id+offset), "Accept-Encoding", "identity")
		if a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		lines := strings.SplitAfter(string(a.body), "\r\n")
		all = append(all, lines[1:len(lines)-1]...)
		_, next, more := strings.Cut(a.header.Get("Link"), "offset=")
		if !more || !strings.Contains(a.header.Get("Link"), `rel="next"`) {
			return all
		}
		next, _, _ = strings.Cut(next, ">")
		next, _, _ = strings.Cut(next, "&")
		offset = "&offset=" + next
	}
}

// lineChanges returns the lines that only one of two lists has, as a multiset.
func lineChanges(before, after []string) (removed, added map[string]int) {
	removed, added = map[string]int{}, map[string]int{}
	for _, line := range before {
		removed[line]++
	}
	for _, line := range after {
		if removed[line] > 0 {
			removed[line]--
		} else {
			added[line]++
		}
	}
	return removed, added
}

// csvLine writes cells as the server does.
func csvLine(cells []string) string {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	_ = w.Write(cells) // to memory
	w.Flush()
	return out.String()
}

// parsed writes a line of CSV as csvLine does.
func parsed(t *testing.T, line string) string {
	t.Helper()
	cells, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return csvLine(cells)
}

// testDiffRows compares 'diff --rows' of two snapshots of a store, as CSV and as JSON, with the
// difference of two dumps of each list as CSV, and with the answer to a request for changes.
func testDiffRows(t *testing.T, store, from, to string) (changes int) {
	t.Helper()
	channel := "from-" + from
	mustExit(t, 0, "publish", "--store", store, "--channel", channel, from)
	s := serve(t, "--store", store, "--channel", channel, "--snapshot-poll", "50ms")
	mustExit(t, 0, "publish", "--store", store, "--channel", channel, to)
	testkit.WaitFor(t, "the server to serve the other snapshot", func() bool { return s.snapshotID(t) == to })
	objects := map[string][]map[string]json.RawMessage{}
	for line := range strings.Lines(mustExit(t, 0, "diff", "--store", store, "--rows", from, to).stdout) {
		object := decode[map[string]json.RawMessage](t, []byte(line))
		table := decode[string](t, object["table"])
		objects[table] = append(objects[table], object)
	}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		diff := []string{"diff", "--store", store, "--rows", "--table", e.Table, "--format", "csv", from, to}
		printed := mustExit(t, 0, diff...).stdout
		target := s.base + with(e.Path+"/changes?output_format=csv&since="+from)
		a := ask(t, "GET", target, "Accept-Encoding", "identity")
		if n := strings.Count(printed, "\r\n") - 1; n <= contract.MaxLimit && string(a.body) != printed {
			t.Errorf("%s: the answer to a request for changes is another one: %d %.300s", e.Table, a.status, a.body)
		}
		lines, err := csv.NewReader(strings.NewReader(printed)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(objects[e.Table]) != len(lines)-1 {
			t.Errorf("%s: %d objects, %d lines", e.Table, len(objects[e.Table]), len(lines)-1)
		}
		removed, added := lineChanges(csvDump(t, s, e.Path, from), csvDump(t, s, e.Path, to))
		less := func(of map[string]int, line string) {
			if of[line]--; of[line] < 0 {
				t.Errorf("%s: %q is no difference of the dumps", e.Table, line)
			}
		}
		removed, added = parsedAll(t, removed), parsedAll(t, added)
		for k, line := range lines[1:] {
			last := len(line) - 1
			now := csvLine(line[1:last])
			switch line[0] {
			case "added":
				less(added, now)
			case "removed":
				less(removed, now)
			case "changed":
				less(added, now)
				less(removed, csvLine(oldCells(t, lines[0], line, objects[e.Table][k])))
			default:
				t.Errorf("%s: change %q", e.Table, line[0])
			}
		}
		for _, left := range []map[string]int{removed, added} {
			for line, n := range left {
				if n > 0 {
					t.Errorf("%s: %d times %q is missing", e.Table, n, line)
				}
			}
		}
		changes += len(lines) - 1
	}
	return changes
}

func parsedAll(t *testing.T, lines map[string]int) map[string]int {
	t.Helper()
	all := map[string]int{}
	for line, n := range lines {
		all[parsed(t, line)] += n
	}
	return all
}

// oldCells returns the cells of a changed row as they were.
func oldCells(t *testing.T, header, line []string, object map[string]json.RawMessage) []string {
	t.Helper()
	last := len(line) - 1
	if was := string(object["was"]); line[last] != was || was == "{}" || was == "null" {
		t.Errorf("was is %q in CSV, %s in JSON", line[last], was)
	}
	cells := slices.Clone(line[1:last])
	for name, value := range decode[map[string]json.RawMessage](t, object["was"]) {
		at := slices.Index(header, name)
		if string(object[name]) == string(value) {
			t.Errorf("%s was %s and is that now", name, value)
		}
		cells[at-1] = csvCell(t, value)
	}
	return cells
}

// csvCell is a JSON value as a cell of CSV.
func csvCell(t *testing.T, value json.RawMessage) string {
	t.Helper()
	switch text := string(value); {
	case text == "null":
		return ""
	case text == "true":
		return "True"
	case text == "false":
		return "False"
	case text[0] != '"':
		return text
	}
	text := decode[string](t, value)
	if len(text) == len("2026-11-21T00:00:00") && text[10] == 'T' && text[4] == '-' && text[13] == ':' {
		text = text[:10] + " " + text[11:]
	}
	return text
}

// TestDiffRows compares the sample with a later edition of it, in which places also have other
// numbers.
func TestDiffRows(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	from, _ := inspect(t, store)
	edition := newCatalogOf(t, generator.Options{Seed: 1, Edited: 8})
	renumberPlaces(t, edition)
	run(t, "build", "--catalog", edition, "--store", store, "--snapshot-time", "2026-11-23T00:00:00Z")
	to, _ := inspect(t, store)
	if n := testDiffRows(t, store, from.ID, to.ID); n < 1000 {
		t.Errorf("only %d rows differ", n)
	}
}

// renumberPlaces moves the first half of the list of units behind the second, which gives all units
// other numbers.
func renumberPlaces(t *testing.T, catalog string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(catalog, "reference", "*pcode*.csv"))
	if err != nil || len(files) != 1 {
		t.Fatalf("lists of units: %q, %v", files, err)
	}
	file := files[0]
	lines := strings.SplitAfter(string(testkit.ReadFile(t, file)), "\n")
	head, units := lines[:1], lines[1:]
	half := len(units) / 2
	units = slices.Concat(units[half:len(units)-1], units[:half])
	text := strings.Join(slices.Concat(head, units), "")
	testkit.WriteFile(t, file, []byte(text))
}

// TestFixtureDiffRows compares the real input with the same without some lines, and with places in
// another order. `make soak` also compares in the other direction.
func TestFixtureDiffRows(t *testing.T) {
	parallel(t)
	catalog := filepath.Join(t.TempDir(), "catalog")
	if err := os.CopyFS(catalog, os.DirFS(filepath.Join(testkit.Fixtures(t), "catalog"))); err != nil {
		t.Fatal(err)
	}
	store := fixtureStore(t)
	from, _ := inspect(t, store)
	files, err := filepath.Glob(filepath.Join(catalog, "*", "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Base(filepath.Dir(file)) != "reference" {
			lines := strings.SplitAfter(string(testkit.ReadFile(t, file)), "\n")
			for i := 20; i < len(lines); i += 15 { // no cell has line ends
				lines[i] = ""
			}
			testkit.WriteFile(t, file, []byte(strings.Join(lines, "")))
		}
	}
	renumberPlaces(t, catalog)
	run(t, "build", "--catalog", catalog, "--store", store, "--snapshot-time", "2026-11-23T00:00:00Z")
	to, _ := inspect(t, store)
	for _, ids := range [][2]string{{from.ID, to.ID}, {to.ID, from.ID}}[:testkit.Trials(2, 1)] {
		if n := testDiffRows(t, store, ids[0], ids[1]); n < 1000 {
			t.Errorf("only %d rows differ", n)
		}
	}
}
