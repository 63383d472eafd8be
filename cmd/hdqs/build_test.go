package main_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"testing"
	"time"

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
