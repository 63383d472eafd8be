//go:build !race

package loader

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// smallViews are the dumps of the small world, and what becomes of them.
func smallViews(t *testing.T) (fsys fstest.MapFS, wants map[string]string) {
	t.Helper()
	sections := readSections(t, "testdata/views/all.txt")
	wants = map[string]string{}
	for _, s := range sections {
		if want, ok := strings.CutPrefix(s.name, "want "); ok {
			wants[want] = strings.Join(s.lines, "\n")
		}
	}
	return catalogOf(sections), wants
}

// buildViews loads dumps into a fresh store and opens the snapshot.
func buildViews(t *testing.T, fsys fstest.MapFS) (*store.Snapshot, *Report) {
	t.Helper()
	st := openStore(t)
	report := testkit.Value(Build(t.Context(), Options{Catalog: fsys, CatalogName: "dumps", Store: st}))(t)
	return openBuilt(t, st, report), report
}

// describeReport writes what is in a report besides counts. Lists that the case file has no dump of
// are not missing.
func describeReport(t *testing.T, r *Report) string {
	t.Helper()
	small, _ := smallViews(t)
	var lines []string
	for _, f := range r.Resources {
		name, _, _ := strings.Cut(f.Path, ".")
		if len(f.ExtraColumns) > 0 {
			lines = append(lines, name+": extra columns "+strings.Join(f.ExtraColumns, " "))
		}
		for _, fault := range f.Faults {
			lines = append(lines, name+": "+fault)
		}
		for _, why := range slices.Sorted(maps.Keys(f.Drops)) {
			if why != string(placeholderRow) {
				lines = append(lines, fmt.Sprintf("%s: %d dropped %s", name, f.Drops[why].Count, why))
			}
		}
		for _, why := range slices.Sorted(maps.Keys(f.Oddities)) {
			lines = append(lines, fmt.Sprintf("%s: %d kept %s", name, f.Oddities[why].Count, why))
		}
	}
	for _, f := range r.Refused {
		lines = append(lines, f.Role+": refused")
	}
	for _, role := range r.MissingRoles {
		if small[role+".csv"] != nil {
			lines = append(lines, role+": missing")
		}
	}
	slices.Sort(lines)
	return strings.Join(append(lines, r.Notes...), "\n")
}

// TestViews loads the dumps of the case file and compares every table with it.
func TestViews(t *testing.T) {
	t.Parallel()
	fsys, wants := smallViews(t)
	s, report := buildViews(t, fsys)
	checked := map[string]bool{}
	for head, want := range wants {
		if head == "report" {
			if got := describeReport(t, report); got != want {
				t.Errorf("the report says\n%s, want\n%s", got, want)
			}
			continue
		}
		name, columns, _ := strings.Cut(head, ": ")
		checked[name] = true
		if got := strings.Join(segmentRows(t, s.Segments[name], strings.Fields(columns)), "\n"); got != want {
			t.Errorf("table %s holds\n%s\nwant\n%s", name, got, want)
		}
	}
	for table := range readContract(t) {
		if !checked[table] {
			t.Errorf("testdata/views/all.txt has no section for table %s", table)
		}
	}
	if len(s.Segments) != len(tables) {
		t.Errorf("%d tables loaded, want %d", len(s.Segments), len(tables))
	}
	if want := time.Date(2026, 11, 21, 1, 2, 0, 0, time.UTC); !report.SnapshotTime.Equal(want) {
		t.Errorf("loaded at %s, want %s of catalog.json", report.SnapshotTime, want)
	}
	if !report.Partial {
		t.Error("a dropped row makes a load partial, this one is not")
	}
}

// TestViewsWantEveryColumn takes each column that a table reads out of its dump, one at a time: the
// dump is refused.
func TestViewsWantEveryColumn(t *testing.T) {
	t.Parallel()
	whole, _ := smallViews(t)
	columns := 0
	for _, th := range themes {
		name := th.viewName()
		file, ok := whole[name+".csv"]
		if !ok {
			continue
		}
		read := map[string]bool{}
		for _, c := range th.table.columns {
			if linkForms[th.table.name][c.name] == "" && c.name != "is_hxl" && !th.list.Column(c.name).Added {
				read[th.viewHeader(c.name)] = true
			}
		}
		header, rest, _ := strings.Cut(string(file.Data), "\n")
		for i, column := range strings.Split(header, ",") {
			if !read[column] {
				continue
			}
			columns++
			names := strings.Split(header, ",")
			names[i] = "other"
			files := copyFS(t, whole)
			files[name+".csv"] = &fstest.MapFile{Data: []byte(strings.Join(names, ",") + "\n" + rest)}
			l := newLoad(Options{Catalog: files, Store: openStore(t)})
			dump := resourceFile{role: name, path: name + ".csv"}
			l.catalog = &catalog{fsys: files, files: map[string][]resourceFile{name: {dump}}}
			_, _, err := l.readDump(t.Context(), th)
			if err == nil || !strings.Contains(err.Error(), "header lacks "+column) {
				t.Errorf("%s without %s gives the error %v", name, column, err)
			}
		}
	}
	if columns < 250 {
		t.Errorf("%d columns tried", columns)
	}
}

// TestViewsKeepTables checks that a dump that is gone, or has lost more than half of its rows,
// keeps its table, and that this can be allowed.
func TestViewsKeepTables(t *testing.T) {
	t.Parallel()
	whole, _ := smallViews(t)
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		stale  []string
	}{
		"a dump gone": {func(f fstest.MapFS) { delete(f, "sector_view.csv") }, []string{"sector"}},
		"one of four": {cutRows("conflict_event_view.csv", 1), []string{"conflict_event"}},
		"two of four": {cutRows("conflict_event_view.csv", 2), nil},
		"no rows":     {cutRows("resource_view.csv", 0), []string{"resource"}},
		"no location": {cutRows("location_view.csv", 0), []string{"location"}},
		"a column gone": {
			func(f fstest.MapFS) {
				dump := f["operational_presence_view.csv"]
				dump.Data = bytes.Replace(dump.Data, []byte("reference_period_end"), []byte("last_day"), 1)
			},
			[]string{"operational_presence"},
		},
		"a column emptied": {
			func(f fstest.MapFS) {
				dump, column := f["conflict_event_view.csv"], regexp.MustCompile(`(violence|targeting|demonstration),\d+,`)
				dump.Data = column.ReplaceAll(dump.Data, []byte("$1,,"))
			},
			[]string{"conflict_event"},
		},
		"two tables": {
			func(f fstest.MapFS) { cutRows("org_view.csv", 0)(f); cutRows("idps_view.csv", 0)(f) },
			[]string{"idps", "org"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			first := segmentsOf(build(t, st, whole, someDay))
			files := copyFS(t, whole)
			c.change(files)
			got := build(t, st, files, someDay.Add(time.Hour))
			if stale := stalePaths(t, st, got); !slices.Equal(stale, c.stale) || !got.Partial {
				t.Errorf("stale %v, partial %t, want %v", stale, got.Partial, c.stale)
			}
			for table, sum := range segmentsOf(got) {
				changed := c.stale == nil && (table == "conflict_event" || table == "data_availability")
				if sum != first[table] && !changed {
					t.Errorf("table %s has changed", table)
				}
			}
			if c.stale == nil || name == "no location" {
				return
			}
			opts := Options{Catalog: files, CatalogName: "dumps", Store: st, AllowShrink: []string{AllRoles}}
			allowed, err := Build(t.Context(), opts)
			if err != nil || len(allowed.Stale) > 0 {
				t.Errorf("allowed: %v, stale %v", err, allowed.Stale)
			}
		})
	}
	empty := copyFS(t, whole)
	cutRows("location_view.csv", 0)(empty)
	if _, err := Build(t.Context(), Options{Catalog: empty, CatalogName: "dumps", Store: openStore(t)}); err == nil ||
		!strings.Contains(err.Error(), "location_view gives no location") {
		t.Errorf("a new store without a location: %v", err)
	}
}

// cutRows leaves the first rows of a dump.
func cutRows(path string, rows int) func(fstest.MapFS) {
	return func(f fstest.MapFS) {
		lines := strings.SplitAfter(string(f[path].Data), "\n")
		f[path] = &fstest.MapFile{Data: []byte(strings.Join(lines[:rows+1], ""))}
	}
}

// TestAvailabilityDump checks that a dump of the list of available data is used as it is.
func TestAvailabilityDump(t *testing.T) {
	t.Parallel()
	columns := []string{
		"category", "subcategory", "location_name", "location_code", "stored_admin1_name", "stored_admin1_code",
		"stored_admin2_name", "stored_admin2_code", "admin_level", "api_updated_date",
	}
	fsys, _ := smallViews(t)
	s, derived := buildViews(t, fsys)
	rows := segmentRows(t, s.Segments["data_availability"], columns)

	// The derived list as a database would dump it: in any order, with an id.
	var dump bytes.Buffer
	w := csv.NewWriter(&dump)
	header := []string{"id"}
	for _, name := range columns {
		header = append(header, strings.TrimPrefix(name, "stored_"))
	}
	header[len(header)-1] = "hapi_updated_date"
	records := [][]string{header}
	for i, row := range slices.Backward(rows) {
		record := append([]string{strconv.Itoa(i)}, strings.Split(row, "|")...)
		date := &record[len(record)-1]
		*date = strings.Replace(*date, "T", " ", 1)
		records = append(records, record)
	}
	testkit.Must(t, w.WriteAll(records))
	fsys["data_availability_view.csv"] = &fstest.MapFile{Data: dump.Bytes()}
	_, same := buildViews(t, fsys)
	if !maps.Equal(segmentsOf(same), segmentsOf(derived)) || len(same.Notes) > 0 {
		t.Errorf("the dump of the derived list gives another one, and the notes %q", same.Notes)
	}

	other := bytes.Replace(dump.Bytes(), []byte("funding,Alpha"), []byte("funding,Alfa"), 1)
	fsys["data_availability_view.csv"] = &fstest.MapFile{Data: other}
	s, _ = buildViews(t, fsys)
	want := strings.Replace(strings.Join(rows, "\n"), "funding|Alpha", "funding|Alfa", 1)
	if got := strings.Join(segmentRows(t, s.Segments["data_availability"], columns), "\n"); got != want {
		t.Errorf("the dump is not used:\n%s", got)
	}
}

func viewNamed(name string) *theme {
	for _, th := range themes {
		if th.viewName() == name {
			return th
		}
	}
	return nil
}
