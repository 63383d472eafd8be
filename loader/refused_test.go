//go:build !race

package loader

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
)

// TestRefusedKeepsTable checks that the table of a list that cannot be used is kept, with those
// that are joined with it, and that nothing is marked once the file can be used again. TestLosses
// of upstream has files of themes.
func TestRefusedKeepsTable(t *testing.T) {
	t.Parallel()
	whole := smallWorld(t)
	with := func(path string, change func([]byte) []byte) fstest.MapFS {
		files := copyFS(t, whole)
		files[path] = &fstest.MapFile{Data: change(files[path].Data)}
		return files
	}
	without := func(path string) fstest.MapFS {
		files := copyFS(t, whole)
		delete(files, path)
		return files
	}
	rename := func(old, other string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(other), 1) }
	}
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  []string
		why   string
	}{
		"a list": {
			with("reference/org.csv", rename("acronym", "akronym")),
			[]string{"operational_presence", "org"},
			"header lacks acronym",
		},
		"a list gone": {without("reference/market.csv"), []string{"food_price", "market"}, "from"},
		"a list of a list": {
			with("reference/org-type.csv", rename("HR.info ID", "ID")),
			[]string{"operational_presence", "org", "org_type"},
			"header lacks HR.info ID",
		},
		"locations": {
			with("reference/location.csv", rename("Has HRP", "HRP")),
			[]string{"location"},
			"header lacks Has HRP",
		},
		"no locations": {with("reference/location.csv", headerOf), []string{"location"}, "has no row"},
		"units": {
			with("reference/pcodes.csv", rename("P-Code", "Code")),
			[]string{"admin1", "admin2"},
			"header lacks P-Code",
		},
		"units cut off": {
			with("reference/pcodes.csv", func(b []byte) []byte { return append(b, '"', 'x') }),
			[]string{"admin1", "admin2"},
			"a quote is not closed",
		},
		"no units": {with("reference/pcodes.csv", headerOf), []string{"admin1", "admin2"}, "has no row"},
		"units gone": {
			without("reference/pcodes.csv"),
			[]string{"admin1", "admin2"},
			"has no reference/pcodes.csv",
		},
		"units of nowhere": {
			with("reference/pcodes.csv", everyParent("nowhere")),
			[]string{"admin1", "admin2"},
			"admin2 fell from",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			first := build(t, st, whole, someDay)
			for n := range 2 {
				got := build(t, st, c.files, someDay.Add(time.Duration(n+1)*time.Hour))
				paths := stalePaths(t, st, got)
				if !slices.Equal(paths, c.want) || !got.Partial ||
					!strings.Contains(got.Stale[0].Why+got.Stale[len(got.Stale)-1].Why, c.why) {
					t.Errorf("load %d: stale %v, partial %t, %+v; want %v", n, paths, got.Partial, got.Stale, c.want)
				}
				for table, sum := range segmentsOf(first) {
					if segmentsOf(got)[table] != sum {
						t.Errorf("load %d: table %s has changed", n, table)
					}
				}
				if since := someDay.Add(time.Hour); !got.Stale[0].Since.Equal(since) {
					t.Errorf("load %d: stale since %s, want %s", n, got.Stale[0].Since, since)
				}
			}
			again := build(t, st, whole, someDay.Add(3*time.Hour))
			if len(stalePaths(t, st, again)) > 0 || again.Partial {
				t.Errorf("the whole catalog: %+v", again.Stale)
			}
			sameTables(t, "the whole catalog", again, first)
		})
	}
}

// everyParent gives every unit of level 2 the same parent.
func everyParent(name string) func([]byte) []byte {
	return func(b []byte) []byte {
		lines := strings.Split(string(b), "\n")
		at := slices.Index(strings.Split(strings.TrimRight(lines[0], "\r"), ","), "Parent P-Code")
		for i, line := range lines {
			if cells := strings.Split(line, ","); len(cells) > at && cells[1] == "2" {
				cells[at] = name
				lines[i] = strings.Join(cells, ",")
			}
		}
		return []byte(strings.Join(lines, "\n"))
	}
}

func TestRenamedColumns(t *testing.T) {
	t.Parallel()
	for header, why := range map[string]string{
		"location_code,error":                         "",
		"location_code,terror":                        "",
		"location_code,Errors":                        "lacks error and has Errors",
		"dataset_hdx_id,resource_hdx_id":              "",
		"dataset_hdx_provider_stub,resource_hdx_size": "",
		"dataset_id,resource_id":                      "lacks dataset_hdx_id and has dataset_id",
		"hdx_dataset_id,resource_hdx_id":              "lacks dataset_hdx_id and has hdx_dataset_id",
		"dataset_hdx_id,Resource ID":                  "lacks resource_hdx_id and has Resource ID",
		"dataset_hdx_id,error":                        "lacks resource_hdx_id, but has dataset_hdx_id",
	} {
		r, err := newCSV("a.csv", strings.NewReader(header+"\na,b\n"), nil, nil)
		testkit.Must(t, err)
		err = checkRenamed(r)
		if said := fmt.Sprint(err); (err == nil) != (why == "") || !strings.Contains(said, why) && why != "" {
			t.Errorf("%s: %v, want %q", header, err, why)
		}
	}
}

// TestOtherList loads the file of returnees as that of refugees, which has the same columns.
func TestOtherList(t *testing.T) {
	t.Parallel()
	whole := smallWorld(t)
	files := copyFS(t, whole)
	returnees, err := fs.Glob(whole, "returnees/*.csv")
	testkit.Must(t, err)
	refugees, err := fs.Glob(whole, "refugees-persons-of-concern/*.csv")
	testkit.Must(t, err)
	lines := slices.DeleteFunc(strings.SplitAfter(string(whole[returnees[0]].Data), "\n"), func(line string) bool {
		return !strings.Contains(line, ",RET,") && !strings.Contains(line, "population_group")
	})
	for _, path := range refugees {
		files[path] = &fstest.MapFile{Data: []byte(strings.Join(lines, ""))}
	}
	st := openStore(t)
	build(t, st, whole, someDay)
	got := build(t, st, files, someDay.Add(time.Hour))
	if len(got.Stale) != 1 || !strings.Contains(got.Stale[0].Why, "population_group of another list") {
		t.Errorf("stale: %+v", got.Stale)
	}
}
