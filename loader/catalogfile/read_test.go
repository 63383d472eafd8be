package catalogfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"hdqs/internal/testkit"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"five": {Data: []byte("12345")}, "folder/x": {}}
	if data, err := ReadFile(files, "five", 5); err != nil || string(data) != "12345" {
		t.Errorf("a file at its limit: %q, %v", data, err)
	}
	for name, want := range map[string]string{
		"five": "five: 5 bytes, at most 4 are read", "folder": "folder: not a regular file but a folder",
	} {
		if _, err := ReadFile(files, name, 4); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if _, err := ReadFile(files, "absent", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	dir := t.TempDir()
	testkit.Must(t, os.Symlink(os.DevNull, filepath.Join(dir, "link")))
	want := "link: not a regular file but a device"
	if _, err := ReadFile(os.DirFS(dir), "link", 4); err == nil || err.Error() != want {
		t.Errorf("a device: got %v, want %q", err, want)
	}
}

func TestDecodeList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[1, 2]`: "[1 2]", ` null `: "[]", `[]`: "[]", `[1,2,3]`: "the list has more than 2 numbers",
		`{}`: "cannot unmarshal", `[1,`: "EOF", `[1] 2`: "text after the end", `["a"]`: "cannot unmarshal", ``: "EOF",
	} {
		got, err := DecodeList[int]([]byte(text), 2, "the list has", "numbers")
		if said := fmt.Sprint(got, err); !strings.Contains(said, want) {
			t.Errorf("%q: got %s, want %s", text, said, want)
		}
	}
}

// TestTooManyFiles decodes a list at its limit and one file over it.
func TestTooManyFiles(t *testing.T) {
	t.Parallel()
	list := func(n int) []byte {
		return []byte(`{"format": 1, "resources": [{}` + strings.Repeat(",{}", n-1) + `]}`)
	}
	if f, err := Parse(list(MaxFiles)); err != nil || len(f.Resources) != MaxFiles {
		t.Errorf("a full list: %v", err)
	}
	var tooMany *TooManyError
	if _, err := Parse(list(MaxFiles + 1)); !errors.As(err, &tooMany) {
		t.Errorf("a list over its limit: %v", err)
	}
}

func TestCheckPaths(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 241)
	for path, want := range map[string]string{
		"idps/a.csv": "", "a/b/c/d.csv": "", "../../outside.csv": "does not stay inside",
		"/etc/passwd":  "does not stay inside",
		".":            "is not a file of the catalog",
		"catalog.json": "is not a file", "catalog.json/x": "is not a file",
		"idps/a\n.csv": "control character", "idps/" + long: "a name of 241 bytes, at most 240",
		strings.Repeat("x/", 600) + "x": "has 1201 bytes, at most 1024",
		"org/o.csv/x.csv":               `"org/o.csv" is a file, and the folder of "org/o.csv/x.csv"`,
	} {
		f := &File{Resources: []Entry{{Role: "idps", Path: path}, {Role: "org", Path: "org/o.csv"}}}
		err := f.CheckPaths()
		if want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want) {
			continue
		}
		t.Errorf("%.60q: got %v, want %q", path, err, want)
	}
}

// FuzzParse checks that any bytes give a file that can be written and read again, or an error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"format": 1, "catalog_url": "https://x.example", "snapshot_time": "2026-11-21T01:02:00Z", "packages": "p/*.json",
			"resources": [{"role": "idps", "path": "idps/a.csv", "dataset": "d", "id": "r", "size": 5, "sha256": "ab"}],
			"datasets": [{"id": "d", "license": "CC0", "last_modified": "2026-01-01"}]}`,
		`{"resources": null, "datasets": []}`, `{"resorces": []}`, `{"datasets": [{"idd": 1}]}`, `[]`, `null`, ``, `{"resources": [`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(file)
		testkit.Must(t, err)
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%s is written %s, which gives %v", data, text, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(text) {
			t.Fatalf("%s is written %s, and that %s, %v", data, text, twice, err)
		}
	})
}
