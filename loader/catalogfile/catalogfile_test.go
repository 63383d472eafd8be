package catalogfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
)

func TestRoundTrip(t *testing.T) {
	want := &File{
		Format: Format, CatalogURL: "https://x.example", SnapshotTime: "2026-11-21T01:02:00Z", Packages: "sets/*.json",
		Resources: []Entry{{
			Role: "idps", Path: "idps/a.csv", Dataset: "d", ID: "r", LastModified: "2026-01-01", Size: 5, SHA256: "ab",
		}},
	}
	data := testkit.Value(json.Marshal(want))(t)
	got, err := Parse(data)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if at, err := got.Time(); err != nil || !at.Equal(time.Date(2026, 11, 21, 1, 2, 0, 0, time.UTC)) {
		t.Errorf("time %s, %v", at, err)
	}
}

// TestUnknownKeys parses files with a misspelt key: each is refused by name.
func TestUnknownKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"format": 1, "resorces": []}`:                          `catalog.json: json: unknown field "resorces"`,
		`{"resources": [{"rol": "idps", "path": "idps/a.csv"}]}`: `unknown field "rol"`,
		`{"format": 1} {}`:                                       "after top-level value",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestPackages(t *testing.T) {
	f := &File{Resources: []Entry{{Role: PackageRole, Path: "packages/a.json", ID: "a"}}}
	if got := f.PackagePattern(); got != "packages/*.json" {
		t.Errorf("default pattern %q", got)
	}
	f.AddPackages([]string{"packages/a.json", "packages/b.json"})
	if len(f.Resources) != 2 || f.Resources[1] != (Entry{Role: PackageRole, Path: "packages/b.json"}) {
		t.Errorf("resources %+v", f.Resources)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Parse([]byte("{")); err == nil {
		t.Error("half a file was parsed")
	}
	if _, err := (&File{SnapshotTime: "yesterday"}).Time(); err == nil {
		t.Error("a malformed time was parsed")
	}
	for path, ok := range map[string]bool{"idps/a.csv": true, "../a.csv": false, "/a.csv": false, "": false} {
		if err := (&Entry{Path: path}).CheckPath(); (err == nil) != ok {
			t.Errorf("path %q: %v", path, err)
		}
	}
}

// TestDir opens files and folders through symbolic links: those that lead out of the folder are
// refused, and nothing of their target is in the message.
func TestDir(t *testing.T) {
	t.Parallel()
	outside, real := t.TempDir(), t.TempDir()
	testkit.WriteFile(t, filepath.Join(outside, "secret.csv"), []byte("password"))
	testkit.WriteFile(t, filepath.Join(real, "idps", "a.csv"), []byte("a"))
	dir := filepath.Join(t.TempDir(), "catalog") // which may be a link itself
	testkit.Must(t, os.Symlink(real, dir))
	link := func(target, name string) { testkit.Must(t, os.Symlink(target, filepath.Join(real, name))) }
	link("a.csv", "idps/relative.csv")
	link(filepath.Join(real, "idps", "a.csv"), "idps/absolute.csv")
	link("relative.csv", "idps/twice.csv")
	link(filepath.Join(outside, "secret.csv"), "idps/out.csv")
	link("out.csv", "idps/out2.csv")
	link(outside, "funding")
	link("../../nothing", "idps/dangling.csv")
	link("loop.csv", "idps/loop.csv")
	files := Dir(dir)
	for name, ok := range map[string]bool{
		"idps/a.csv": true, "idps/relative.csv": true, "idps/absolute.csv": true, "idps/twice.csv": true,
		"idps/out.csv": false, "idps/out2.csv": false, "funding/secret.csv": false, "idps/dangling.csv": false,
		"idps/loop.csv": false, "../secret.csv": false, "/etc/passwd": false,
	} {
		data, err := ReadFile(files, name, 100)
		if (err == nil) != ok || ok && string(data) != "a" || err != nil && strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if strings.Contains(name, "out") && !strings.Contains(err.Error(), name+": not read, since a symbolic link") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := fs.ReadDir(files, "funding"); err == nil {
		t.Error("a folder outside was listed")
	}
	testkit.Must(t, os.Symlink(outside, filepath.Join(real, "packages")))
	if _, _, err := Find(files, func(role string) bool { return role == "idps" }); err == nil {
		t.Error("packages outside were looked for")
	}
}

func TestForm(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"CSV": "csv", " csv ": "csv", ".csv": "csv", "text/csv": "csv", "text/csv; charset=utf-8": "csv",
		"\u00a0CSV": "csv", "Google Sheet": "googlesheet", "XLSX": "xlsx", "": "", "csv/zip": "zip",
	} {
		if got := Form(format); got != want {
			t.Errorf("%q: %q, want %q", format, got, want)
		}
	}
}

// TestMayHaveRows: whatever is not known to have no rows may be a table.
func TestMayHaveRows(t *testing.T) {
	t.Parallel()
	tables := "e.csv e.CSV e.csv.zip e.csv.part e.tsv e.txt e.xlsx e.xls e.parquet e.json e.zip e.bz2 e.xz e.gz " +
		"e.zst e e.ods e.csv.pdf e.7z e.arrow events_2025 a/b/e"
	for name := range strings.FieldsSeq(tables) {
		if !MayHaveRows("", name) {
			t.Errorf("%s can be no table", name)
		}
	}
	others := "e.pdf e.PDF README readme.md README.txt LICENSE e.png SHA256SUMS e.md5 e.html"
	for name := range strings.FieldsSeq(others) {
		if MayHaveRows("", name) {
			t.Errorf("%s may be a table", name)
		}
	}
	for format, want := range map[string]bool{
		"XLSX": true, "Google Sheet": true, "application/pdf": false, "Web App": false, "Geoservice": false, "?": true,
		"image/png": false, "application/vnd.ms-excel": true, "CSV (zipped)": true,
	} {
		if got := MayHaveRows(format, "download"); got != want {
			t.Errorf("format %q: %t", format, got)
		}
	}
}

// FuzzText checks that any JSON gives a text, that a text is taken as it is, and that nothing else
// fails.
func FuzzText(f *testing.F) {
	for text, want := range map[string]string{
		`"a"`: "a", `""`: "", `5`: "5", `-1.5e3`: "-1.5e3", `true`: "true", `null`: "", `{}`: "", `{"a": "b"}`: "",
		`["CSV"]`: "CSV", `["a", "b"]`: "a", `[]`: "", `[5]`: "", `[["a"]]`: "", `"\u00e9\n"`: "é\n",
	} {
		var got Text
		if err := json.Unmarshal([]byte(text), &got); err != nil || string(got) != want {
			f.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got Text
		if err := json.Unmarshal(data, &got); (err == nil) != json.Valid(data) {
			t.Fatalf("%q: %v", data, err)
		}
		var text string
		if json.Unmarshal(data, &text) == nil && text != string(got) {
			t.Fatalf("%q gives %q", data, got)
		}
	})
}

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
		text := testkit.Value(json.Marshal(file))(t)
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%s is written %s, which gives %v", data, text, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(text) {
			t.Fatalf("%s is written %s, and that %s, %v", data, text, twice, err)
		}
	})
}
