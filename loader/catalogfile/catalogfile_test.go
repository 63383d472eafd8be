package catalogfile

import (
	"encoding/json"
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
