package main_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// report is what these tests read of a load's report.
type report struct {
	Snapshot string `json:"snapshot"`
	Outcome  string `json:"outcome"`
	Partial  bool   `json:"partial"`
	Refused  []struct {
		Path, Why string
	} `json:"refused"`
	Resources []struct {
		Role, Path string
		Rows       struct{ Read, Dropped, Kept int }
		Drops      map[string]struct {
			Count int
			First []string
		}
	} `json:"resources"`
	Tables []struct {
		Table  string
		Rows   int
		SHA256 string
	} `json:"tables"`
	Rows struct{ Read, Dropped, Kept int } `json:"rows"`
}

// storedFile is a file of a store.
type storedFile struct {
	data    []byte
	changed time.Time
}

// stored reads every file of a store.
func stored(t *testing.T, store string) map[string]storedFile {
	t.Helper()
	files := map[string]storedFile{}
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(store, path)
		files[name] = storedFile{testkit.ReadFile(t, path), info.ModTime()}
		return err
	})
	testkit.Must(t, err)
	return files
}

// times matches what differs between the reports of two runs.
var times = regexp.MustCompile(`"seconds": [-+.0-9e]+`)

// TestBuildReport checks the report on stdout and the one beside the manifest.
func TestBuildReport(t *testing.T) {
	parallel(t)
	files, store := newCatalog(t, 1), filepath.Join(t.TempDir(), "store")
	o := mustExit(t, 0, "build", "--catalog", files, "--store", store, "--json")
	printed := decode[report](t, []byte(o.stdout))
	if printed.Outcome != "published" || printed.Partial || len(printed.Tables) != len(contract.Endpoints) ||
		printed.Rows.Kept == 0 {
		t.Errorf("report: %+v", printed)
	}
	beside := testkit.ReadFile(t, filepath.Join(store, "manifests", printed.Snapshot+".report.json"))
	kept := decode[report](t, beside)
	if kept.Snapshot != printed.Snapshot || kept.Rows != printed.Rows || len(kept.Tables) != len(contract.Endpoints) {
		t.Errorf("the report beside the manifest differs: %+v", kept)
	}
	if got := mustExit(t, 0, "inspect", "--store", store, "--report", "--json").stdout; got != string(beside) {
		t.Error("inspect --report --json does not print the report beside the manifest")
	}
	text := mustExit(t, 0, "inspect", "--store", store, "--report").stdout
	for _, table := range printed.Tables {
		if !strings.Contains(text, table.Table) {
			t.Errorf("table %s is not in the text of the report", table.Table)
		}
	}
	view, _ := inspect(t, store)
	if view.ID != printed.Snapshot || len(view.Tables) != len(contract.Endpoints) {
		t.Errorf("inspect: snapshot %s with %d tables", view.ID, len(view.Tables))
	}
	for i, table := range view.Tables {
		want := printed.Tables[i]
		if table.Table != want.Table || table.Rows != want.Rows || table.SHA256 != want.SHA256 {
			t.Errorf("inspect: %+v, report: %+v", table, want)
		}
	}
	text = mustExit(t, 0, "inspect", "--store", store, view.ID).stdout
	if !strings.Contains(text, view.ID) || !strings.Contains(text, "conflict_event") {
		t.Errorf("inspect by id: %.300s", text)
	}
}
