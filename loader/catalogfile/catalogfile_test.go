package catalogfile

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
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
	data, err := json.Marshal(want)
	testkit.Must(t, err)
	got, err := Parse(data)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if at, err := got.Time(); err != nil || !at.Equal(time.Date(2026, 11, 21, 1, 2, 0, 0, time.UTC)) {
		t.Errorf("time %s, %v", at, err)
	}
}

// TestUnknownKeys parses files with a misspelt key: each is refused, and the key that was meant is
// named.
func TestUnknownKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"format": 1, "resorces": []}`:                             `catalog.json: unknown key "resorces"; did you mean "resources"?`,
		`{"format": 1, "catalogurl": "https://x.example"}`:          `did you mean "catalog_url"?`,
		`{"resources": [{"rol": "idps", "path": "idps/a.csv"}]}`:    `unknown key "rol"; did you mean "role"?`,
		`{"resources": [{"role": "idps", "checksum_of_it": "ab"}]}`: `unknown key "checksum_of_it"; there are role, path,`,
		`{"format": 1} {}`: "after top-level value",
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
