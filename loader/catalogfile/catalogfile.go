// Package catalogfile describes the layout of a catalog directory: catalog.json, the roles of files
// and the folders they lie in. The loader reads this layout; package upstream writes it.
package catalogfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Name is the file that lists the others.
const Name = "catalog.json"

// Format is the version of catalog.json that this program reads and writes.
const Format = 1

// MaxBytes bounds catalog.json, and each package file. Both are held in memory whole.
const MaxBytes = 16 << 20

// MaxFiles bounds the files of a catalog, those of its packages included. The published catalog has
// under a thousand.
const MaxFiles = 10_000

// defaultPackages is where package files lie when catalog.json has no pattern for them.
const (
	packageFolder   = "packages"
	defaultPackages = packageFolder + "/*.json"
)

// The roles that need special treatment. A data file has the role of its theme, which is also its
// folder.
const (
	PackageRole  = "package"       // a dataset's description, in the folder packages
	LocationRole = "location"      // the list of countries
	UnitRole     = "pcodes"        // the list of administrative units
	RiskRole     = "national-risk" // its files may be workbooks
)

// ReferenceFolder holds one file for each reference role.
const ReferenceFolder = "reference"

var referenceRoles = []string{
	LocationRole, UnitRole, "org", "org-type", "sector", "market", "commodity", "currency",
}

// IsReference reports whether a role is a list that rows of other roles refer to.
func IsReference(role string) bool { return slices.Contains(referenceRoles, role) }

// File is the content of catalog.json.
type File struct {
	Format       int     `json:"format"`
	CatalogURL   string  `json:"catalog_url,omitempty"`
	SnapshotTime string  `json:"snapshot_time,omitempty"`
	Resources    Entries `json:"resources"`
	Packages     string  `json:"packages,omitempty"` // pattern of package files that Resources does not list

	Datasets Datasets `json:"datasets,omitempty"` // what packages do not say
}

// Dataset describes a dataset that rows name, where no package does.
type Dataset struct {
	ID           string `json:"id"`
	Name         string `json:"name,omitempty"`
	Title        string `json:"title,omitempty"`
	Provider     string `json:"provider,omitempty"` // name of the organisation
	License      string `json:"license,omitempty"`
	LicenseURL   string `json:"license_url,omitempty"`
	Terms        string `json:"terms,omitempty"` // of a license without a name
	Caveats      string `json:"caveats,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
}

// UnmarshalJSON decodes a dataset. Unknown keys are refused.
func (d *Dataset) UnmarshalJSON(data []byte) error {
	type plain Dataset
	return decodeStrict(data, (*plain)(d))
}

// Datasets are descriptions of datasets. At most MaxFiles are decoded.
type Datasets []Dataset

// UnmarshalJSON decodes the list.
func (d *Datasets) UnmarshalJSON(data []byte) error {
	list, err := DecodeList[Dataset](data, MaxFiles, Name+" describes", "datasets")
	*d = list
	return err
}

// Entry is one file of a catalog.
type Entry struct {
	Role         string `json:"role"`
	Path         string `json:"path"`
	Dataset      string `json:"dataset,omitempty"`
	ID           string `json:"id,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Size         int64  `json:"size,omitempty"`
	SHA256       string `json:"sha256,omitempty"`
}

// Entries are the files of a catalog. At most MaxFiles are decoded.
type Entries []Entry

// UnmarshalJSON decodes the list.
func (e *Entries) UnmarshalJSON(data []byte) error {
	list, err := DecodeList[Entry](data, MaxFiles, Name+" lists", "files")
	*e = list
	return err
}

// UnmarshalJSON decodes an entry. Unknown keys are refused.
func (e *Entry) UnmarshalJSON(data []byte) error {
	type plain Entry
	return decodeStrict(data, (*plain)(e))
}

// Parse decodes catalog.json. It does not check what the content means. A key that it does not know
// is an error: a misspelt one would otherwise hide files.
func Parse(data []byte) (*File, error) {
	f := &File{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	return f, nil
}

// UnmarshalJSON decodes the file. Unknown keys are refused.
func (f *File) UnmarshalJSON(data []byte) error {
	type plain File
	return decodeStrict(data, (*plain)(f))
}

// Time is the snapshot time that the file sets, zero when it sets none.
func (f *File) Time() (time.Time, error) {
	if f.SnapshotTime == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, f.SnapshotTime)
	if err != nil {
		return t, fmt.Errorf("%s: snapshot_time %q is not like 2026-11-21T01:02:00Z", Name, f.SnapshotTime)
	}
	return t, nil
}

// PackagePattern matches the paths of package files that Resources does not list.
func (f *File) PackagePattern() string { return cmp.Or(f.Packages, defaultPackages) }

// AddPackages lists package files that are not listed yet.
func (f *File) AddPackages(paths []string) error {
	if n := len(f.Resources) + len(paths); n > MaxFiles {
		what := fmt.Sprintf("%s and the %d files of its packages are", Name, len(paths))
		return &TooManyError{what, MaxFiles, "files"}
	}
	listed := map[string]bool{}
	for _, r := range f.Resources {
		listed[r.Path] = true
	}
	for _, p := range paths {
		if !listed[p] {
			f.Resources = append(f.Resources, Entry{Role: PackageRole, Path: p})
		}
	}
	return nil
}

// Bounds of a path, which are those of common file systems.
const (
	maxPathBytes = 1024
	maxNameBytes = 240 // 255, and room for the suffix of a file that is being written
)

// CheckPath refuses a path that leads out of the catalog, or that is not a possible name of a file.
func (e *Entry) CheckPath() error {
	refuse := func(why string) error {
		return fmt.Errorf("%s: path %.200q of role %.100q %s", Name, e.Path, e.Role, why)
	}
	switch {
	case !fs.ValidPath(e.Path):
		return refuse("does not stay inside the catalog")
	case e.Path == ".", e.Path == Name, strings.HasPrefix(e.Path, Name+"/"):
		return refuse("is not a file of the catalog")
	case len(e.Path) > maxPathBytes:
		return refuse(fmt.Sprintf("has %d bytes, at most %d are allowed", len(e.Path), maxPathBytes))
	case strings.ContainsFunc(e.Path, unicode.IsControl):
		return refuse("has a control character")
	}
	for name := range strings.SplitSeq(e.Path, "/") {
		if len(name) > maxNameBytes {
			return refuse(fmt.Sprintf("has a name of %d bytes, at most %d are allowed", len(name), maxNameBytes))
		}
	}
	return nil
}

// CheckPaths checks each path, and that none is both a file and a folder of another one.
func (f *File) CheckPaths() error {
	files := make(map[string]*Entry, len(f.Resources))
	for i := range f.Resources {
		e := &f.Resources[i]
		if err := e.CheckPath(); err != nil {
			return err
		}
		files[e.Path] = e
	}
	for _, e := range f.Resources {
		for folder := path.Dir(e.Path); folder != "."; folder = path.Dir(folder) {
			if files[folder] != nil {
				return fmt.Errorf("%s: path %q is a file, and the folder of %q", Name, folder, e.Path)
			}
		}
	}
	return nil
}

// TrimCompression removes the suffix of a compressed file.
func TrimCompression(name string) string {
	for _, ext := range []string{".gz", ".zst"} {
		if cut, ok := strings.CutSuffix(name, ext); ok {
			return cut
		}
	}
	return name
}

// IsTable reports whether a file is CSV, compressed or not, or a workbook, by its name.
func IsTable(name string) bool {
	return strings.Contains(strings.ToLower(name), ".csv") || IsWorkbook(name)
}

// IsWorkbook reports whether a file is a spreadsheet rather than CSV.
func IsWorkbook(name string) bool { return strings.HasSuffix(name, ".xlsx") }
