//go:build !race

package loader

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
)

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
	returnees := testkit.Value(fs.Glob(whole, "returnees/*.csv"))(t)
	refugees := testkit.Value(fs.Glob(whole, "refugees-persons-of-concern/*.csv"))(t)
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
